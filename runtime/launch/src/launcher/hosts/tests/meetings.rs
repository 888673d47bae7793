//! Tests of launchers that meet over TCP, each with its thread. Many come at once, one is of the
//! next job, and a slow launcher takes messages to the last byte.

use crate::hosts::{Area, Key, LauncherMessage, LinkEvent};
use crate::launcher::hosts::Rendezvous;
use crate::launcher::hosts::post::Post;
use goal_filetest::patience;
use goal_job::host::Host;
use goal_tcp::handshake::Ends;
use goal_tcp::pending::{HandshakeState, PendingConnection};
use goal_tcp::{Conditions, Listener};
use rustix::net::sockopt::set_socket_send_buffer_size;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

const HOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
/// The patience with an event, in seconds.
const LIMIT: u64 = 20;

fn key() -> Key {
    Key::new([3; 32])
}

fn listener() -> (Arc<Listener>, String) {
    let listener = Listener::bind(HOST, 0..=0).unwrap();
    let at = format!("{HOST}:{}", listener.port());
    (Arc::new(listener), at)
}

/// Starts launcher `number` of `size`. Each has one rank.
fn launcher((number, size): (u32, u32), at: &str, encrypts: bool) -> Post {
    let options = Rendezvous { encrypts, ..Rendezvous::new(number, size, at.to_owned()) };
    Post::at_rendezvous(&options, &key(), size).unwrap().0
}

/// Waits for an event.
fn until<T>(post: &Post, mut found: impl FnMut(LinkEvent) -> Option<T>) -> T {
    let since = Instant::now();
    loop {
        assert!(since.elapsed() < patience(LIMIT), "it does not come");
        if let Some(found) = post.event(Duration::from_millis(10)).and_then(&mut found) {
            return found;
        }
    }
}

/// Waits until launchers know each other. Each claims a port for its rank.
fn find(posts: &[&Post]) {
    let mut have_found = vec![false; posts.len()];
    let since = Instant::now();
    while have_found.contains(&false) {
        assert!(since.elapsed() < patience(LIMIT), "they do not find each other: {have_found:?}");
        for (post, has_found) in posts.iter().zip(&mut have_found) {
            match post.event(Duration::from_millis(1)) {
                Some(LinkEvent::Mine(_)) => post.claimed(vec![7]),
                Some(LinkEvent::Found(_)) => *has_found = true,
                Some(
                    event @ (LinkEvent::Lost(..)
                    | LinkEvent::Contradiction(_)
                    | LinkEvent::Finished(_)),
                ) => {
                    panic!("{event:?}")
                }
                _ => {}
            }
        }
    }
}

fn connected(post: &Post) -> Host {
    until(post, |event| match event {
        LinkEvent::Connected(host) => Some(host),
        _ => None,
    })
}

#[test]
fn a_launcher_of_the_next_job_does_not_meet_the_last_one() {
    let (own, at) = listener();
    drop(own);
    let all: Vec<Post> = (0..3).map(|number| launcher((number, 3), &at, false)).collect();
    find(&all.iter().collect::<Vec<_>>());
    let [leader, first, second] = all.try_into().ok().unwrap();
    // Launcher 1 ends, and is started for the next job while the leader still waits for launcher 2.
    drop(first);
    until(&leader, |event| matches!(event, LinkEvent::Finished(_)).then_some(()));
    let next = launcher((1, 2), &at, false);
    // Time has to pass, in which it must not meet the last leader.
    thread::sleep(Duration::from_millis(300));
    drop(second);
    drop(leader);
    let leader = launcher((0, 2), &at, false);
    find(&[&leader, &next]);
}

#[test]
fn the_port_is_closed_while_a_leader_ends() {
    let (own, at) = listener();
    drop(own);
    let leader = launcher((0, 2), &at, false);
    // One that knows the key, and never ends its connection.
    let address: SocketAddr = at.parse().unwrap();
    let mut other = PendingConnection::connect(
        address,
        Ends { from: 1, to: 0 },
        &Conditions::default(),
        goal_eth::now_ns(),
    )
    .unwrap();
    until(&leader, |event| {
        thread::sleep(Duration::from_millis(1));
        let _ = other.go_on(&key().rendezvous());
        matches!(event, LinkEvent::Connected(_)).then_some(())
    });
    let ends = thread::spawn(move || drop(leader));
    let is_refused = || {
        let connected = std::net::TcpStream::connect(address);
        connected.is_err_and(|error| error.kind() == std::io::ErrorKind::ConnectionRefused)
    };
    goal_filetest::until("the port is closed", is_refused);
    assert!(!ends.is_finished(), "it does not wait for the other end");
    ends.join().unwrap();
}

#[test]
fn many_launchers_that_connect_at_once_all_join() {
    const LAUNCHERS: u32 = 600;
    let (own, at) = listener();
    let address: SocketAddr = at.parse().unwrap();
    let key = key().rendezvous();
    let connect = |number| {
        let ends = Ends { from: number, to: 0 };
        PendingConnection::connect(address, ends, &Conditions::default(), goal_eth::now_ns())
            .unwrap()
    };
    let mut others: Vec<PendingConnection> = (1..=LAUNCHERS).map(connect).collect();
    // All hellos wait before the leader looks for the first time.
    let go_on =
        |other: &mut PendingConnection| matches!(other.go_on(&key), Ok(HandshakeState::Done(_)));
    others.iter_mut().for_each(|other| assert!(!go_on(other)));
    let options =
        Rendezvous { listener: Some(own), ..Rendezvous::new(0, LAUNCHERS + 1, at.clone()) };
    let leader = Post::at_rendezvous(&options, &self::key(), LAUNCHERS + 1).unwrap().0;
    let (since, mut are_open) = (Instant::now(), vec![false; others.len()]);
    while are_open.contains(&false) {
        assert!(since.elapsed() < patience(LIMIT), "some do not join: {are_open:?}");
        let closed = others.iter_mut().zip(&mut are_open).filter(|(_, is_open)| !**is_open);
        closed.for_each(|(other, is_open)| *is_open = go_on(other));
    }
    let mut joined = 0;
    until(&leader, |event| {
        joined += u32::from(matches!(event, LinkEvent::Connected(_)));
        (joined == LAUNCHERS).then_some(())
    });
}

#[test]
fn a_slow_launcher_gets_every_encrypted_byte() {
    const MESSAGES: u64 = 700;
    let (own, at) = listener();
    // The leader's system takes little at a time, so encryption holds the rest.
    set_socket_send_buffer_size(&*own, 4096).unwrap();
    let options =
        Rendezvous { encrypts: true, listener: Some(own), ..Rendezvous::new(0, 2, at.clone()) };
    let leader = Post::at_rendezvous(&options, &key(), 2).unwrap().0;
    let other = launcher((1, 2), &at, true);
    let host = connected(&leader);
    let takes = thread::spawn(move || {
        let mut taken = 0;
        until(&other, |event| match event {
            LinkEvent::Message(_, LauncherMessage::Left { offset, .. }, bytes) => {
                assert_eq!((offset, bytes.len()), (taken, 64 << 10));
                taken += 1;
                // Time has to pass: this launcher is slow.
                thread::sleep(Duration::from_millis(1));
                None
            }
            LinkEvent::Finished(_) => Some(taken),
            LinkEvent::Lost(_, why) => panic!("after {taken} messages: {why}"),
            _ => None,
        })
    });
    for offset in 0..MESSAGES {
        let message = LauncherMessage::Left { rank: 0, area: Area::Memory, offset };
        leader.send_with(host, message, vec![7; 64 << 10], true);
    }
    drop(leader);
    assert_eq!(takes.join().unwrap(), MESSAGES);
}
