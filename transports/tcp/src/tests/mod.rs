//! Tests of handshakes, items and long messages, and random programs whose ranks are connected over
//! loopback.

mod descriptors;
mod fair;
mod handshakes;
mod hostile;
mod items;
mod long;
mod programs;
mod vanished;

use crate::handshake::Key;
use crate::listener::Listener;
use crate::{Conditions, TcpFabric, Tls};
use goal_engine::transport::{Header, Kind, Transport};
use goal_filetest::patience;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::ops::ControlFlow;
use std::sync::OnceLock;
use std::time::Instant;

/// The time since the first call.
fn now_ns() -> u64 {
    static BEGIN: OnceLock<Instant> = OnceLock::new();
    BEGIN.get_or_init(Instant::now).elapsed().as_nanos() as u64 + 1
}

/// Returns the nanoseconds of a [`patience`].
fn patience_ns(seconds: u64) -> u64 {
    patience(seconds).as_nanos() as u64
}

/// The addresses of loopback.
const V4: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const V6: IpAddr = IpAddr::V6(Ipv6Addr::LOCALHOST);

fn key() -> Key {
    Key::new(&[7; 32])
}

/// Returns the fabrics of `ranks` ranks.
fn fabrics(ranks: usize, address: IpAddr, first_room: u64) -> Vec<TcpFabric> {
    encrypted(ranks, address, first_room, false)
}

/// Returns the fabrics of `ranks` ranks. Their connections are encrypted if `is_encrypted` is true.
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

/// Polls both ends until a message from the first to the second has arrived, or for some time.
fn exchange(ends: &mut [TcpFabric]) -> bool {
    let mut request = Header::new(Kind::Rts, 0);
    request.cookie = 77;
    let (mut is_sent, mut has_arrived) = (false, false);
    let (since_ns, limit_ns) = (now_ns(), patience_ns(10));
    while !has_arrived && now_ns() - since_ns < limit_ns {
        is_sent = is_sent || ends[0].try_send(1, &request, |_| {}).is_ok();
        ends[0].poll(1, |_, _| ControlFlow::Continue(()));
        ends[1].poll(1, |header, _| {
            has_arrived = header.cookie == 77;
            ControlFlow::Continue(())
        });
    }
    has_arrived
}
