//! Tests of handshakes and items, and random programs whose ranks are connected over loopback.

mod handshakes;
mod hostile;
mod items;
mod programs;

use crate::handshake::Key;
use crate::listener::Listener;
use crate::{Conditions, TcpFabric, Tls};
use goal_engine::memory::{Imported, Span};
use goal_engine::transport::{Full, Header, Transport};
use goal_fabric::Fabric;
use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::ops::ControlFlow;
use std::sync::OnceLock;
use std::time::Instant;

/// The time since the first call.
fn now_ns() -> u64 {
    static BEGIN: OnceLock<Instant> = OnceLock::new();
    BEGIN.get_or_init(Instant::now).elapsed().as_nanos() as u64 + 1
}

/// The addresses of loopback.
const V4: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const V6: IpAddr = IpAddr::V6(Ipv6Addr::LOCALHOST);

fn key() -> Key {
    Key::new(&[7; 32])
}

/// Returns the ends of so many ranks.
fn fabrics(ranks: usize, address: IpAddr, first_room: u64) -> Vec<TcpFabric> {
    encrypted(ranks, address, first_room, false)
}

/// The same, perhaps with encrypted connections.
fn encrypted(ranks: usize, address: IpAddr, first_room: u64, is_encrypted: bool) -> Vec<TcpFabric> {
    let listeners: Vec<_> =
        (0..ranks).map(|_| Listener::bind(address, 0..=0).expect("a port")).collect();
    let at = |listener: &Listener| SocketAddr::new(address, listener.port());
    let addresses: Vec<_> = listeners.iter().map(at).collect();
    let ends = (0..).zip(listeners);
    let fabric = |(rank, listener)| {
        TcpFabric::new(rank, addresses.clone(), listener, key(), now_ns)
            .expect("epoll")
            .with_first_room(first_room)
            .with_conditions(Conditions {
                tls: is_encrypted.then(|| Tls::new().expect("random numbers")),
                ..Conditions::default()
            })
    };
    ends.map(fabric).collect()
}

/// The transports of a rank: a queue to itself, and connections with others.
struct Ways {
    rank: u32,
    own: VecDeque<(Header, Vec<u8>)>,
    own_room: u64,
    tcp: TcpFabric,
}

impl Ways {
    fn new(rank: u32, tcp: TcpFabric) -> Self {
        Self { rank, own: VecDeque::new(), own_room: 0, tcp }
    }
}

impl Transport for Ways {
    fn short_max(&self) -> usize {
        self.tcp.short_max()
    }

    fn payload_max(&mut self, to: u32) -> usize {
        self.tcp.payload_max(to)
    }

    fn part_max(&mut self, to: u32) -> usize {
        self.tcp.part_max(to)
    }

    fn try_send(
        &mut self,
        to: u32,
        header: &Header,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<(), Full> {
        if to != self.rank {
            let mut fill = Some(fill);
            let mut once = |out: &mut [u8]| (fill.take().expect("it is called once"))(out);
            return self.tcp.try_send(to, header, &mut once);
        }
        let mut payload = vec![0; header.payload_len()];
        fill(&mut payload);
        self.own.push_back((*header, payload));
        Ok(())
    }

    fn poll(
        &mut self,
        messages_max: usize,
        mut sink: impl FnMut(&Header, &[u8]) -> ControlFlow<()>,
    ) -> usize {
        let mut taken = self.tcp.poll(messages_max, &mut sink);
        while let Some((header, payload)) = self.own.pop_front() {
            taken += 1;
            if sink(&header, &payload).is_break() {
                break;
            }
        }
        taken
    }

    fn announce_room(&mut self, bytes: u64, most: u64) {
        self.own_room = bytes;
        self.tcp.announce_room(bytes, most);
    }

    fn room(&self, to: u32) -> u64 {
        if to == self.rank { self.own_room } else { self.tcp.room(to) }
    }

    fn pushed_max(&mut self, to: u32, _bytes: Option<Span>) -> u64 {
        if to == self.rank { 0 } else { self.tcp.pushed_max(to) }
    }

    fn export(&self, _to: u32, _bytes: Span) -> Option<u64> {
        None
    }

    fn import(&self, _source: u32, _address: u64, _len: u64) -> Option<Imported<'_>> {
        None
    }
}
