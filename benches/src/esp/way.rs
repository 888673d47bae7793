//! The ways of a message from one host to another.

use super::stream::Stream;
use super::train::{Raw, Train, Udp};
use crate::frames::{LIMIT, tcp_pair};
use clap::ValueEnum;
use goal_cluster::Cluster;
use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::time::Instant;

pub(super) const PORTS: [u16; 2] = [1, 2];

/// One end of a way.
pub(super) trait Way: Send {
    fn send(&mut self, message: &[u8]) -> io::Result<()>;

    /// Waits for a message as long as `message`.
    fn receive(&mut self, message: &mut [u8]) -> io::Result<()>;

    /// Makes the progress that the other end may still need after the last message. The caller must
    /// call this again and again.
    fn tend(&mut self) {}
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Kind {
    /// ESP over the driver of packet sockets, each frame with a tag over all of it
    Esp,
    /// The same, but data has no tag
    Untagged,
    /// Frames by that driver
    Frames,
    Udp,
    Tcp,
}

impl Kind {
    pub(super) const ALL: [Self; 5] =
        [Self::Esp, Self::Untagged, Self::Frames, Self::Udp, Self::Tcp];
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Esp => "esp",
            Self::Untagged => "untagged",
            Self::Frames => "frames",
            Self::Udp => "udp",
            Self::Tcp => "tcp",
        })
    }
}

/// Opens both ends.
pub(super) fn pair(
    cluster: &Cluster,
    mtu: usize,
    kind: Kind,
    spins: bool,
) -> io::Result<(Box<dyn Way>, Box<dyn Way>)> {
    let [one, other] = cluster.hosts() else { return Err(io::Error::other("not two hosts")) };
    Ok(match kind {
        Kind::Esp | Kind::Untagged => {
            let addresses = [(one.mac(), PORTS[0]), (other.mac(), PORTS[1])];
            let has_tags = kind == Kind::Esp;
            let first = one.call(|| Stream::open(0, addresses, spins, has_tags))??;
            (
                Box::new(first),
                Box::new(other.call(|| Stream::open(1, addresses, spins, has_tags))??),
            )
        }
        Kind::Frames => {
            let first = one.call(|| Raw::open(PORTS[0], (other.mac(), PORTS[1])))??;
            let second = other.call(|| Raw::open(PORTS[1], (one.mac(), PORTS[0])))??;
            (Box::new(Train::new(first, spins)), Box::new(Train::new(second, spins)))
        }
        Kind::Udp => {
            let [here, there] = [(one.ip(), 7001), (other.ip(), 7002)];
            let first = one.call(|| UdpSocket::bind(here))??;
            let second = other.call(|| UdpSocket::bind(there))??;
            first.connect(there)?;
            second.connect(here)?;
            let udp = |socket| Udp::new(socket, mtu, spins);
            (Box::new(Train::new(udp(first)?, spins)), Box::new(Train::new(udp(second)?, spins)))
        }
        Kind::Tcp => {
            let [first, second] = tcp_pair(one, other, spins)?;
            (Box::new(first), Box::new(second))
        }
    })
}

impl Way for TcpStream {
    fn send(&mut self, message: &[u8]) -> io::Result<()> {
        let (mut done, mut patience) = (0, Patience::new());
        while done < message.len() {
            match self.write(&message[done..]) {
                Ok(len) => {
                    done += len;
                    patience = Patience::new();
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => patience.check()?,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn receive(&mut self, message: &mut [u8]) -> io::Result<()> {
        let (mut done, mut patience) = (0, Patience::new());
        while done < message.len() {
            match self.read(&mut message[done..]) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(len) => {
                    done += len;
                    patience = Patience::new();
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => patience.check()?,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// The time since the last message. Reads the clock rarely.
pub(super) struct Patience {
    looks: u32,
    start: Option<Instant>,
}

impl Patience {
    pub(super) fn new() -> Self {
        Self { looks: 0, start: None }
    }

    /// Notes that no message was there. The caller must call this after each such look.
    pub(super) fn check(&mut self) -> io::Result<()> {
        self.looks += 1;
        // A side that sleeps checks the time only after such a wait.
        if self.looks % 1024 < 4 && self.start.get_or_insert_with(Instant::now).elapsed() > LIMIT {
            return Err(ErrorKind::TimedOut.into());
        }
        Ok(())
    }
}
