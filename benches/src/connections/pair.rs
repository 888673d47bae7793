//! Two ranks, each a thread with a processor, and what they measure.

use super::idle;
use super::{Figure, Sample, Wait};
use crate::frames::pin;
use crate::measure::median;
use goal_engine::Options;
use goal_engine::transport::{Header, Kind, Transport};
use goal_eth::now_ns;
use goal_fabric::Fabric;
use goal_tcp::handshake::Key;
use goal_tcp::{Listener, TcpFabric};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io::{self, Read};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::ops::ControlFlow;
use std::thread;
use std::time::{Duration, Instant};

/// Round trips before the first one that counts.
const WARM_TRIPS: u32 = 1_000;
/// The bytes of a stream.
const STREAM_BYTES: u64 = 64 << 20;
pub(super) const PING_BYTES: usize = 8;

/// The longest time without progress.
const LIMIT: Duration = Duration::from_secs(30);

/// The settings of two ranks.
pub(super) struct Pair {
    pub(super) processors: [u32; 2],
    pub(super) wait: Wait,
    /// Other connections of each rank.
    pub(super) connections: u32,
    /// Counted round trips, and streams.
    pub(super) trips: u32,
    pub(super) streams: u32,
}

impl Pair {
    /// Measures the latency, and the bandwidth with messages of these sizes.
    ///
    /// # Errors
    /// Those of the system, or nothing arrived for too long.
    pub(super) fn run(&self, sizes: &[u64]) -> io::Result<Vec<Sample>> {
        let mut secret = [0; 32];
        std::fs::File::open("/dev/urandom")?.read_exact(&mut secret)?;
        let key = Key::new(&secret);
        let local = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let listen = || Listener::bind(local, 0..=0).map_err(io::Error::other);
        let listeners = [listen()?, listen()?];
        let at = listeners.each_ref().map(|listener| SocketAddr::new(local, listener.port()));
        // Nobody connects to the others, so they need no address of their own.
        let idle = (0..self.connections).map(|_| at[0]);
        let addresses: Vec<SocketAddr> = at.into_iter().chain(idle).collect();
        thread::scope(|scope| {
            let ranks = [0, 1].into_iter().zip(listeners).map(|(rank, listener)| {
                let (addresses, key) = (addresses.clone(), key.clone());
                scope.spawn(move || {
                    let fabric = TcpFabric::new(rank, addresses, listener, key, now_ns)?;
                    End::new(self, rank, fabric)?.run(sizes)
                })
            });
            let ranks: Vec<_> = ranks.collect();
            let open = |to: u32| idle::connect(self.connections, to, at[to as usize], &key);
            // Rank 0 sends as soon as all have connected with it.
            let opened = [open(1), open(0)];
            let joined = ranks.into_iter().map(|rank| rank.join().expect("a rank does not panic"));
            let measured = joined.collect::<io::Result<Vec<_>>>()?;
            // Idle connections stay open until both ranks are done.
            for sockets in opened {
                drop(sockets?);
            }
            Ok(measured.concat())
        })
    }
}

/// One of the two ranks.
struct End<'a> {
    pair: &'a Pair,
    rank: u32,
    fabric: TcpFabric,
    /// The payloads of a message that arrived, and their number of bytes.
    message: Vec<u8>,
    taken: usize,
}

impl<'a> End<'a> {
    fn new(pair: &'a Pair, rank: u32, mut fabric: TcpFabric) -> io::Result<Self> {
        pin(pair.processors[rank as usize] as usize)?;
        let room = Options::UNEXPECTED_LIMIT;
        fabric.announce_room(room, room);
        Ok(Self { pair, rank, fabric, message: Vec::new(), taken: 0 })
    }

    /// Measures everything. Rank 0 returns the figures.
    fn run(&mut self, sizes: &[u64]) -> io::Result<Vec<Sample>> {
        if self.rank == 0 {
            self.accept()?;
        }
        let mut samples = vec![(Figure::Latency, self.latency()?)];
        for &size in sizes {
            samples.push((Figure::Bandwidth(size), self.bandwidth(size as usize)?));
        }
        let others = self.fabric.connections() - 1;
        if others != self.pair.connections as usize {
            return Err(io::Error::other(format!("only {others} other connections are open")));
        }
        let Pair { wait, connections, .. } = *self.pair;
        let sample = |(figure, value)| Sample { wait: wait.name(), figure, connections, value };
        Ok(if self.rank == 0 { samples.into_iter().map(sample).collect() } else { Vec::new() })
    }

    /// Waits until all other ranks are connected. Rank 1 accepts its own while it waits for the
    /// first message.
    fn accept(&mut self) -> io::Result<()> {
        let mut since = Instant::now();
        let mut open = 0;
        while open < self.pair.connections as usize {
            self.take_grants()?;
            self.sleep()?;
            if std::mem::replace(&mut open, self.fabric.connections()) != open {
                since = Instant::now();
            }
            check(since)?;
        }
        Ok(())
    }

    /// Returns half a round trip in microseconds: the median.
    fn latency(&mut self) -> io::Result<f64> {
        let mut trips_us = Vec::new();
        for trip in 0..WARM_TRIPS + self.pair.trips {
            let begin = Instant::now();
            let ping = u64::from(trip).to_le_bytes();
            if self.rank == 0 {
                self.send(&ping)?;
            }
            self.receive(PING_BYTES, &ping)?;
            if self.rank == 1 {
                self.send(&ping)?;
            }
            trips_us.push(begin.elapsed().as_secs_f64() * 1e6 / 2.0);
        }
        Ok(median(trips_us.split_off(WARM_TRIPS as usize)))
    }

    /// Returns MB/s of a stream from rank 0 to rank 1, which answers at its end: the median.
    fn bandwidth(&mut self, size: usize) -> io::Result<f64> {
        let messages = (STREAM_BYTES / size as u64).max(1);
        let mut message = vec![0; size];
        let mut rates = Vec::new();
        for _ in 0..self.pair.streams {
            let begin = Instant::now();
            for number in 0..messages {
                let mark = &number.to_le_bytes()[..size.min(PING_BYTES)];
                if self.rank == 0 {
                    message[..mark.len()].copy_from_slice(mark);
                    self.send(&message)?;
                } else {
                    self.receive(size, mark)?;
                }
            }
            let answer = messages.to_le_bytes();
            if self.rank == 0 {
                self.receive(PING_BYTES, &answer)?;
            } else {
                self.send(&answer)?;
            }
            rates.push((messages * size as u64) as f64 / begin.elapsed().as_secs_f64() / 1e6);
        }
        Ok(median(rates))
    }

    /// Sends a message: in one piece, or in parts as an engine does.
    fn send(&mut self, message: &[u8]) -> io::Result<()> {
        let to = 1 - self.rank;
        let is_whole = message.len() <= self.fabric.payload_max(to);
        let (kind, len) = match is_whole {
            true => (Kind::Eager, message.len()),
            false => (Kind::Data, self.fabric.part_max(to)),
        };
        let mut header = Header { kind: kind as u8, source: self.rank, ..Header::default() };
        for part in message.chunks(len) {
            header.size = part.len() as u64;
            let since = Instant::now();
            while self.fabric.try_send(to, &header, |out| out.copy_from_slice(part)).is_err() {
                self.take_grants()?;
                check(since)?;
            }
            header.offset += header.size;
        }
        self.fabric.send_written();
        Ok(())
    }

    /// Opens the connection, or reads the grants of room of the other rank, which sends nothing
    /// else meanwhile.
    fn take_grants(&mut self) -> io::Result<()> {
        self.fabric.progress();
        match self.fabric.poll(1, |_, _| ControlFlow::Continue(())) {
            0 => Ok(()),
            _ => Err(io::Error::other("a message arrived before it was expected")),
        }
    }

    /// Waits for a message of `bytes` bytes, which must begin with `mark`.
    fn receive(&mut self, bytes: usize, mark: &[u8]) -> io::Result<()> {
        self.message.resize(bytes, 0);
        self.taken = 0;
        let mut looks = 0u32;
        let mut since = None;
        loop {
            let before = self.taken;
            let Self { fabric, message, taken, .. } = self;
            fabric.poll(usize::MAX, |header, payload| {
                let at = header.offset as usize;
                message[at..][..payload.len()].copy_from_slice(payload);
                *taken += payload.len();
                // The next message of a stream has the same place.
                if *taken < bytes { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            if self.taken >= bytes {
                break;
            }
            if self.taken > before {
                since = None;
                continue;
            }
            if self.pair.wait == Wait::Sleep {
                self.sleep()?;
            }
            looks += 1;
            if looks.is_multiple_of(1024) || self.pair.wait == Wait::Sleep {
                check(*since.get_or_insert_with(Instant::now))?;
            }
        }
        if self.message[..mark.len()] != *mark {
            return Err(io::Error::other("another message than the expected one arrived"));
        }
        Ok(())
    }

    /// Sleeps until there may be work.
    fn sleep(&mut self) -> io::Result<()> {
        if let Some((rank, why)) = self.fabric.lost() {
            return Err(io::Error::other(format!("rank {rank} is lost: {why}")));
        }
        if self.fabric.has_work() {
            return Ok(());
        }
        let limit = PollTimeout::try_from(Duration::from_millis(100)).map_err(io::Error::other)?;
        for descriptor in self.fabric.descriptors() {
            poll(&mut [PollFd::new(descriptor, PollFlags::POLLIN)], limit)?;
        }
        Ok(())
    }
}

/// # Errors
/// The time since the last progress is too long.
fn check(since: Instant) -> io::Result<()> {
    match since.elapsed() > LIMIT {
        true => Err(io::Error::new(
            io::ErrorKind::TimedOut,
            "nothing arrived for too long: do others use the processors?",
        )),
        false => Ok(()),
    }
}
