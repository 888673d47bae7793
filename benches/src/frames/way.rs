//! The ways of a payload from one host to another.

use goal_cluster::{Cluster, Host, INTERFACE};
use goal_esp::wire::{ETHERTYPE_ESP, Frame, Mac};
use goal_eth::{AnyDriver, Driver, DriverKind};
use goal_job::Named;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

/// The time after which a payload counts as lost.
pub(crate) const LIMIT: Duration = Duration::from_secs(5);
/// The offset of the payload in a raw frame: behind the ports, at a multiple of 8.
const PAYLOAD_AT: usize = 24;
const PORTS: [u16; 2] = [1, 2];

#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    Frames(DriverKind),
    Udp,
    Tcp,
}

impl Kind {
    pub(super) const ALL: [Self; 4] =
        [Self::Frames(DriverKind::Packet), Self::Frames(DriverKind::Xdp), Self::Udp, Self::Tcp];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Frames(kind) => kind.name(),
            Self::Udp => "UDP",
            Self::Tcp => "TCP",
        }
    }
}

/// One end of a way.
pub(super) enum Way {
    Frames { driver: AnyDriver, to: (Mac, u16), spins: bool },
    Udp(UdpSocket),
    Tcp(TcpStream),
}

/// Returns both ends of a TCP connection that sends without delay.
pub(crate) fn tcp_pair(one: &Host, other: &Host, spins: bool) -> io::Result<[TcpStream; 2]> {
    // Port 0, since the system may still hold the port of the last turn.
    let listener = other.call(|| TcpListener::bind((other.ip(), 0)))??;
    let address = listener.local_addr()?;
    let first = one.call(|| TcpStream::connect(address))??;
    let (second, _) = listener.accept()?;
    for stream in [&first, &second] {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(LIMIT))?;
        stream.set_nonblocking(spins)?;
    }
    Ok([first, second])
}

/// Opens both ends.
pub(super) fn pair(cluster: &Cluster, kind: Kind, spins: bool) -> io::Result<(Way, Way)> {
    let [one, other] = cluster.hosts() else { return Err(io::Error::other("not two hosts")) };
    let [here, there] = [(one.ip(), 7001), (other.ip(), 7002)];
    match kind {
        Kind::Frames(kind) => {
            let open = |port| {
                let opened = AnyDriver::open(kind, INTERFACE, &[ETHERTYPE_ESP], Some(port));
                match opened.map_err(io::Error::other)? {
                    (driver, None) => Ok(driver),
                    (_, Some(why_not)) => Err(io::Error::other(why_not)),
                }
            };
            let way = |driver, to| Way::Frames { driver, to, spins };
            let first = one.call(|| open(PORTS[0]))??;
            let second = other.call(|| open(PORTS[1]))??;
            Ok((way(first, (other.mac(), PORTS[1])), way(second, (one.mac(), PORTS[0]))))
        }
        Kind::Udp => {
            let first = one.call(|| UdpSocket::bind(here))??;
            let second = other.call(|| UdpSocket::bind(there))??;
            first.connect(there)?;
            second.connect(here)?;
            for socket in [&first, &second] {
                socket.set_read_timeout(Some(LIMIT))?;
                socket.set_nonblocking(spins)?;
            }
            Ok((Way::Udp(first), Way::Udp(second)))
        }
        Kind::Tcp => {
            let [first, second] = tcp_pair(one, other, spins)?;
            Ok((Way::Tcp(first), Way::Tcp(second)))
        }
    }
}

impl Way {
    pub(super) fn send(&mut self, payload: &[u8]) -> io::Result<()> {
        match self {
            Self::Frames { driver, to: (mac, port), .. } => {
                let from = driver.mac();
                let write = |out: &mut [u8]| {
                    Frame::new_checked(&mut *out).ok()?.emit(from, *mac, ETHERTYPE_ESP);
                    out[20..22].copy_from_slice(&port.to_be_bytes());
                    out[PAYLOAD_AT..][..payload.len()].copy_from_slice(payload);
                    Some(PAYLOAD_AT + payload.len())
                };
                driver.send(write).map_err(|_| ErrorKind::WouldBlock)?;
                driver.flush().map_err(io::Error::other)
            }
            Self::Udp(socket) => socket.send(payload).map(drop),
            Self::Tcp(stream) => stream.write_all(payload),
        }
    }

    pub(super) fn receive(&mut self, payload: &mut [u8]) -> io::Result<()> {
        let start = Instant::now();
        let mut looks = 0_u32;
        let mut is_late = || {
            looks = looks.wrapping_add(1);
            // A side that sleeps checks the time only after such a wait.
            (looks < 4 || looks.is_multiple_of(1024)) && start.elapsed() > LIMIT
        };
        let mut done = 0;
        while done < payload.len() {
            let received = match self {
                Self::Frames { driver, spins, .. } => {
                    if !*spins {
                        driver.wait(Some(LIMIT)).map_err(io::Error::other)?;
                    }
                    let mut len = 0;
                    driver.receive(1, |frame| {
                        len = payload.len();
                        payload.copy_from_slice(&frame[PAYLOAD_AT..][..len]);
                    });
                    if len > 0 { Ok(len) } else { Err(ErrorKind::WouldBlock.into()) }
                }
                Self::Udp(socket) => socket.recv(payload),
                Self::Tcp(stream) => stream.read(&mut payload[done..]),
            };
            match received {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(len) => done += len,
                Err(error) if error.kind() == ErrorKind::WouldBlock && !is_late() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
