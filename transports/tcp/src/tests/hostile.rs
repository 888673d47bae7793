//! Tests unknown peers at the port: garbage, silence, wrong keys, and too many connections.

use super::{V4, encrypted, exchange, fabrics, key, now_ns, patience_ns};
use crate::handshake::{Connecting, Ends, Key};
use crate::limits::{CALLERS_MAX, OPEN_NS};
use crate::listener::Listener;
use crate::{Conditions, TcpFabric};
use goal_engine::transport::{Header, Kind, Transport};
use goal_fabric::Fabric;
use goal_filetest::patience;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

fn caller(to: &TcpFabric, of: usize) -> TcpStream {
    let stream = TcpStream::connect(to.addresses[of]).unwrap();
    stream.set_read_timeout(Some(patience(10))).unwrap();
    stream
}

/// Polls an end until the caller's connection is closed. Returns the number of bytes that it got.
fn closed(end: &mut TcpFabric, caller: &mut TcpStream) -> usize {
    caller.set_nonblocking(true).unwrap();
    let (since_ns, mut got) = (now_ns(), 0);
    let mut bytes = [0; 256];
    loop {
        assert!(now_ns() - since_ns < patience_ns(20), "it stays open");
        end.poll(1, |_, _| panic!("a message of a caller without the key"));
        match caller.read(&mut bytes) {
            Ok(0) => return got,
            Ok(len) => got += len,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(_) => return got,
        }
    }
}

#[test]
fn garbage_is_closed_and_others_connect() {
    let mut ends = fabrics(2, V4, 0);
    let mut scanner = caller(&ends[1], 1);
    scanner.write_all(&[b"GET / HTTP/1.1\r\n\r\n".as_slice(), &[b' '; 100]].concat()).unwrap();
    let mut silent = caller(&ends[1], 1);
    assert!(exchange(&mut ends));
    assert_eq!(closed(&mut ends[1], &mut scanner), 0, "it is told nothing");
    assert_eq!(closed(&mut ends[1], &mut silent), 0, "it has some seconds");
    assert_eq!(ends[1].lost(), None);
}

/// Something on the way accepts connections and passes nothing on.
#[test]
fn a_way_that_is_silent_makes_the_rank_unreachable() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let addresses = vec![silent.local_addr().unwrap(); 2];
    let listener = Listener::bind(V4, 0..=0).expect("a port");
    let conditions = Conditions { silence_s: 1, ..Conditions::default() };
    let mut end = TcpFabric::new(0, addresses, listener, key(), now_ns)
        .expect("epoll")
        .with_conditions(conditions);
    let header = Header::new(Kind::Fin, 0);
    silent.set_nonblocking(true).unwrap();
    let (mut held, mut attempts, since_ns) = (None, 0, now_ns());
    while end.unreachable(1).is_none() {
        assert!(now_ns() - since_ns < patience_ns(30), "it is tried for ever: {attempts} attempts");
        assert!(end.try_send(1, &header, |_| {}).is_err());
        end.progress();
        if let Ok((stream, _)) = silent.accept() {
            (held, attempts) = (Some((stream, now_ns())), attempts + 1);
        }
        held = held.filter(|(_, since_ns)| now_ns() - since_ns < OPEN_NS + 100_000_000);
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(attempts > 3, "{attempts} attempts: a rank that computes may need some");
    let why = end.unreachable(1).unwrap();
    assert!(why.starts_with("no connection with 127.0.0.1:"), "{why}");
}

#[test]
fn another_key_or_rank_is_closed() {
    let mut ends = fabrics(2, V4, 0);
    let greet = |key: &Key, from, to| Connecting::new(Ends { from, to }, [1; 16]).hello(key, &[]);
    for hello in [
        greet(&Key::new(&[8; 32]), 0, 1),
        greet(&key(), 1, 1),
        greet(&key(), 2, 1),
        greet(&key(), 0, 0),
        greet(&key(), u32::MAX, 1),
    ] {
        let mut liar = caller(&ends[1], 1);
        liar.write_all(&hello).unwrap();
        assert_eq!(closed(&mut ends[1], &mut liar), 0);
    }
    // A recording gets the welcome, and can't answer it.
    let mut recording = caller(&ends[1], 1);
    recording.write_all(&greet(&key(), 0, 1)).unwrap();
    recording.write_all(&[9; 32]).unwrap();
    assert_eq!(closed(&mut ends[1], &mut recording), 48);
    assert!(exchange(&mut ends));
}

#[test]
fn a_flood_of_callers_keeps_nobody_out() {
    let mut ends = fabrics(2, V4, 0);
    let flood: Vec<_> = (0..4 * CALLERS_MAX).map(|_| caller(&ends[1], 1)).collect();
    assert!(exchange(&mut ends));
    assert!(ends[1].callers <= CALLERS_MAX);
    drop(flood);
}

/// Between the connection of a rank and its hello, more others come than are kept.
#[test]
fn a_flood_before_a_hello_pushes_nobody_out() {
    for is_encrypted in [false, true] {
        let mut ends = encrypted(2, V4, 0, is_encrypted);
        let mut rank = caller(&ends[1], 1);
        let mut flood = Vec::new();
        for _ in 0..4 {
            flood.extend((0..CALLERS_MAX).map(|_| caller(&ends[1], 1)));
            // Some say a little, and so are accepted.
            flood.iter_mut().step_by(2).for_each(|one| one.write_all(b"G").unwrap());
            for _ in 0..8 {
                ends[1].progress();
            }
        }
        let connecting = Connecting::new(Ends { from: 0, to: 1 }, [1; 16]);
        let first = match is_encrypted {
            true => connecting.knock(&key()),
            false => connecting.hello(&key(), &[]),
        };
        rank.write_all(&first).unwrap();
        let shown = |end: &TcpFabric| end.callers().filter(|(_, one)| one.has_shown_key()).count();
        let since_ns = now_ns();
        while shown(&ends[1]) == 0 {
            assert!(now_ns() - since_ns < patience_ns(20), "it was pushed out");
            ends[1].progress();
        }
        // Those who have shown the key stay.
        flood.extend((0..4 * CALLERS_MAX).map(|_| caller(&ends[1], 1)));
        flood.iter_mut().rev().take(4 * CALLERS_MAX).for_each(|one| one.write_all(b"G").unwrap());
        for _ in 0..40 {
            ends[1].progress();
        }
        assert_eq!(shown(&ends[1]), 1);
    }
}

/// Nobody who has not the key lets an end work for TLS.
#[test]
fn tls_begins_after_a_knock() {
    let mut ends = encrypted(2, V4, 0, true);
    // The first bytes of TLS: a record of a handshake.
    let client_hello = [&[0x16, 3, 1, 0, 100, 1, 0, 0, 96, 3, 3][..], &[7; 94]].concat();
    let connecting = Connecting::new(Ends { from: 0, to: 1 }, [1; 16]);
    let other = connecting.knock(&Key::new(&[8; 32])).to_vec();
    for first in [client_hello, other, connecting.hello(&key(), &[]).to_vec()] {
        let mut liar = caller(&ends[1], 1);
        liar.write_all(&first).unwrap();
        assert_eq!(closed(&mut ends[1], &mut liar), 0, "TLS would answer");
    }
    // A repeated knock proves no key in the channel that follows.
    let mut recording = caller(&ends[1], 1);
    recording.write_all(&connecting.knock(&key())).unwrap();
    recording.write_all(&connecting.hello(&key(), &[])).unwrap();
    closed(&mut ends[1], &mut recording);
    assert_eq!(ends[1].connections(), 0);
    assert!(exchange(&mut ends));
}

#[test]
fn ranks_that_connect_with_each_other_at_once_share_a_connection() {
    for _ in 0..goal_filetest::seeds(50) {
        let mut ends = fabrics(3, V4, 0);
        let since_ns = now_ns();
        let mut sent = [[false; 3]; 3];
        let mut arrived = 0;
        while arrived < 6 {
            assert!(now_ns() - since_ns < patience_ns(10), "{arrived} messages: {sent:?}");
            for from in 0..3 {
                for to in (0..3).filter(|&to| to != from) {
                    let request = Header::new(Kind::Rts, from as u32);
                    sent[from][to] =
                        sent[from][to] || ends[from].try_send(to as u32, &request, |_| {}).is_ok();
                }
                ends[from].poll(8, |_, _| {
                    arrived += 1;
                    ControlFlow::Continue(())
                });
            }
        }
        let open: Vec<usize> = ends.iter().map(TcpFabric::connections).collect();
        assert_eq!(open, [2, 2, 2]);
    }
}

#[test]
fn a_rank_that_is_gone_is_lost_and_one_that_left_is_not() {
    let mut ends = fabrics(2, V4, 0);
    assert!(exchange(&mut ends));
    let left = ends.remove(0);
    drop(left);
    let since_ns = now_ns();
    while ends[0].connections() > 0 {
        assert!(now_ns() - since_ns < patience_ns(10), "it stays");
        ends[0].poll(1, |_, _| ControlFlow::Continue(()));
    }
    assert_eq!(ends[0].lost(), None);

    let mut ends = fabrics(2, V4, 0);
    assert!(exchange(&mut ends));
    // Closes all connections, as the system does when a process is killed.
    ends[0].connections.iter_mut().for_each(|connection| *connection = None);
    while ends[1].lost().is_none() {
        assert!(now_ns() - since_ns < patience_ns(20), "nobody notices");
        ends[1].poll(1, |_, _| ControlFlow::Continue(()));
    }
    let (rank, why) = ends[1].lost().unwrap();
    assert_eq!(rank, 0);
    assert!(why.contains("closed the connection"), "{why}");
}

#[test]
fn a_rank_that_nobody_listens_for_is_unreachable() {
    let mut ends = fabrics(2, V4, 0);
    drop(ends.remove(1));
    let request = Header::new(Kind::Rts, 0);
    let since_ns = now_ns();
    while ends[0].unreachable(1).is_none() {
        assert!(now_ns() - since_ns < patience_ns(30), "it tries for ever");
        assert!(ends[0].try_send(1, &request, |_| {}).is_err());
        ends[0].poll(1, |_, _| ControlFlow::Continue(()));
    }
    let why = ends[0].unreachable(1).unwrap();
    assert!(why.contains("refused"), "{why}");
}

#[test]
fn only_ends_that_both_encrypt_connect() {
    let mut ends = encrypted(2, V4, 0, true);
    assert!(exchange(&mut ends));
    let mut ends = encrypted(2, V4, 0, true);
    let mut plain = caller(&ends[1], 1);
    let hello = Connecting::new(Ends { from: 0, to: 1 }, [1; 16]).hello(&key(), &[]);
    plain.write_all(&hello).unwrap();
    assert_eq!(closed(&mut ends[1], &mut plain), 0);
    assert!(exchange(&mut ends));
}

/// Somebody who passes bytes on between two encrypted ends, with channels of their own.
#[test]
fn a_proof_of_one_channel_is_none_on_another() {
    let connecting = Connecting::new(Ends { from: 0, to: 1 }, [1; 16]);
    let hello = connecting.hello(&key(), b"secret of the first channel");
    let passed_on =
        crate::handshake::Accepting::new(&key(), b"secret of the second", &hello, [2; 16]);
    assert!(passed_on.is_err());
}

/// The nanoseconds that the clock of a test is ahead.
static AHEAD_NS: AtomicU64 = AtomicU64::new(0);

fn skipping_ns() -> u64 {
    now_ns() + AHEAD_NS.load(Ordering::SeqCst)
}

#[test]
fn a_rank_that_computes_after_its_hello_is_not_lost() {
    let listeners = [(); 2].map(|()| Listener::bind(V4, 0..=0).unwrap());
    let addresses = listeners.each_ref().map(|one| SocketAddr::new(V4, one.port())).to_vec();
    let end = |(rank, listener)| {
        TcpFabric::new(rank, addresses.clone(), listener, key(), skipping_ns).unwrap()
    };
    let mut ends: Vec<TcpFabric> = (0..).zip(listeners).map(end).collect();
    let request = Header::new(Kind::Rts, 1);
    // Rank 1 says hello, and then makes no progress for a minute.
    while ends[0].callers == 0 {
        let _ = ends[1].try_send(0, &request, |_| {});
        if ends[0].callers == 0 {
            ends[1].poll(1, |_, _| ControlFlow::Continue(()));
        }
        ends[0].poll(1, |_, _| ControlFlow::Continue(()));
    }
    for _ in 0..20 {
        ends[0].poll(1, |_, _| ControlFlow::Continue(()));
    }
    AHEAD_NS.fetch_add(60_000_000_000, Ordering::SeqCst);
    ends[0].progress();
    ends.reverse();
    let mut request = Header::new(Kind::Rts, 1);
    request.cookie = 77;
    let (mut is_sent, mut has_arrived, since_ns) = (false, false, now_ns());
    while !has_arrived && now_ns() - since_ns < patience_ns(10) {
        is_sent = is_sent || ends[0].try_send(0, &request, |_| {}).is_ok();
        ends[0].poll(1, |_, _| ControlFlow::Continue(()));
        ends[1].poll(1, |header, _| {
            has_arrived = header.cookie == 77;
            ControlFlow::Continue(())
        });
    }
    AHEAD_NS.fetch_add(60_000_000_000, Ordering::SeqCst);
    assert!(has_arrived);
    assert_eq!(lost(&ends), []);
}

#[test]
fn many_ranks_that_connect_at_once_are_all_heard() {
    const RANKS: usize = 100;
    let mut ends = fabrics(RANKS, V4, 1 << 20);
    let request = |rank: usize| Header::new(Kind::Rts, rank as u32);
    // All hellos wait before rank 0 looks for the first time.
    for _ in 0..3 {
        for (rank, end) in ends.iter_mut().enumerate().skip(1) {
            let _ = end.try_send(0, &request(rank), |_| {});
            end.progress();
        }
    }
    let mut sent = [false; RANKS];
    let (mut heard, since_ns) = (0, now_ns());
    while heard < RANKS - 1 && now_ns() - since_ns < patience_ns(20) {
        for (rank, end) in ends.iter_mut().enumerate() {
            if rank > 0 && !sent[rank] {
                sent[rank] = end.try_send(0, &request(rank), |_| {}).is_ok();
            }
            let taken = end.poll(RANKS, |_, _| ControlFlow::Continue(()));
            heard += if rank == 0 { taken } else { 0 };
        }
    }
    assert_eq!(heard, RANKS - 1);
    assert_eq!(lost(&ends), []);
}

#[test]
fn a_rank_that_leaves_with_something_unread_is_not_lost() {
    let mut ends = fabrics(2, V4, 1 << 20);
    assert!(exchange(&mut ends));
    let request = Header::new(Kind::Rts, 0);
    for _ in 0..100 {
        ends[0].try_send(1, &request, |_| {}).unwrap();
    }
    ends[0].send_written();
    // Its system answers with an error to what it has not read.
    drop(ends.pop());
    let since_ns = now_ns();
    // Time has to pass, in which nothing is lost.
    while now_ns() - since_ns < 700_000_000 {
        ends[0].send_written();
        ends[0].poll(1, |_, _| ControlFlow::Continue(()));
        ends[0].progress();
    }
    assert_eq!(lost(&ends), []);
}

/// Returns the losses that ends tell of.
fn lost(ends: &[TcpFabric]) -> Vec<(u32, String)> {
    ends.iter().filter_map(|end| end.lost()).collect()
}
