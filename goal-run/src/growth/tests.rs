//! A launcher's door and what comes through it.
//!
//! A door has the name of its process, so these tests take turns.

use super::*;
use crate::order::VERSION;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{RecvFlags, SendFlags, connect, recv, send};
use std::os::unix::ffi::OsStringExt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

static TURN: Mutex<()> = Mutex::new(());

fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn call(text: &[u8]) -> OwnedFd {
    let socket = socket(SocketFlags::empty()).unwrap();
    connect(&socket, &address(std::process::id()).unwrap()).unwrap();
    if !text.is_empty() {
        send(&socket, text, SendFlags::NOSIGNAL).unwrap();
    }
    socket
}

/// Returns what the door says to a caller, or an empty text if it closed the connection.
fn answer(socket: &OwnedFd) -> String {
    let limit = Timespec { tv_sec: 10, tv_nsec: 0 };
    assert!(poll(&mut [PollFd::new(socket, PollFlags::IN)], Some(&limit)).unwrap() > 0);
    let mut text = vec![0; MESSAGE_MAX];
    let (len, _) = recv(socket, &mut text[..], RecvFlags::empty()).unwrap();
    String::from_utf8(text[..len].to_vec()).unwrap()
}

#[test]
fn a_request_gets_its_answer() {
    let _turn = turn();
    let mut door = Door::open().unwrap();
    assert!(door.next().is_none());
    // A name need not be UTF-8.
    let executable = OsString::from_vec(b"./caf\xe9".to_vec());
    let command = Command { executable, arguments: vec!["a b".into()] };
    let asked = std::thread::scope(|scope| {
        let asker = scope.spawn(|| grow(std::process::id(), 3, Some(command.clone())));
        let since = Instant::now();
        let (request, reply) = loop {
            if let Some(heard) = door.next() {
                break heard;
            }
            assert!(since.elapsed() < Duration::from_secs(20));
            std::thread::yield_now();
        };
        assert_eq!((request.ranks, request.are_members), (3, false));
        assert_eq!(request.what, What::Command(command.clone()));
        assert!(reply.send(&Ok(7)));
        asker.join().unwrap()
    });
    assert_eq!(asked.unwrap(), 7);
}

#[test]
fn what_is_no_request_is_told_so() {
    let _turn = turn();
    let mut door = Door::open().unwrap();
    let long = vec![b' '; MESSAGE_MAX + 1];
    let other = br#"{"version":"0.0.0","ranks":1}"#;
    let half = format!(r#"{{"version":"{VERSION}","ranks":1}}"#);
    let many = format!(
        r#"{{"version":"{VERSION}","ranks":4294967296,"what":{{"LikeRank":0}},"are_members":true}}"#
    );
    for (text, says) in [
        (&b"garbage"[..], "this is no request"),
        (&[0xff; 100], "this is no request"),
        (&long, "at most 65536 are read"),
        (other, "the caller is of version 0.0.0"),
        (half.as_bytes(), "missing field"),
        (many.as_bytes(), "this is no request"),
    ] {
        let caller = call(text);
        assert!(door.next().is_none());
        let answer = answer(&caller);
        assert!(answer.starts_with(r#"{"Err":"#) && answer.contains(says), "{answer}");
    }
}

#[test]
fn a_silent_caller_holds_nobody_up() {
    let _turn = turn();
    let mut door = Door::open().unwrap();
    let silent: Vec<OwnedFd> = (0..40).map(|_| call(&[])).collect();
    let since = Instant::now();
    assert!(door.next().is_none());
    assert!(since.elapsed() < Duration::from_secs(1), "a look waits for nobody");
    while since.elapsed() < Duration::from_millis(2100) {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(door.next().is_none());
    assert!(answer(&silent[0]).contains("no request within 2 s"));
    drop(silent);
    // Those that have gone make room for others.
    let request =
        Request { version: VERSION.into(), ranks: 1, what: What::LikeRank(0), are_members: true };
    let _caller = call(&serde_json::to_vec(&request).unwrap());
    let heard = (0..10).find_map(|_| door.next());
    assert!(heard.unwrap().0.are_members);
}

#[test]
fn a_caller_that_is_gone_gets_no_ranks() {
    let _turn = turn();
    let mut door = Door::open().unwrap();
    let request =
        Request { version: VERSION.into(), ranks: 1, what: What::LikeRank(0), are_members: true };
    let text = serde_json::to_vec(&request).unwrap();
    drop(call(&text));
    assert!(door.next().is_none(), "it left before it was heard");
    let caller = call(&text);
    let (_, reply) = door.next().unwrap();
    let given_up = ask::receive(&caller, 1, Duration::from_millis(10));
    assert!(matches!(given_up, Err(GrowError::Silent(1))), "{given_up:?}");
    assert!(!reply.send(&Ok(7)), "it gave up before the answer");
    let caller = call(&text);
    let (_, reply) = door.next().unwrap();
    assert!(reply.send(&Ok(7)));
    assert_eq!(ask::receive(&caller, 1, Duration::ZERO).unwrap(), br#"{"Ok":7}"#);
}

#[test]
fn no_door_is_an_error_that_says_what_to_give() {
    let _turn = turn();
    let error = grow(std::process::id(), 1, None).unwrap_err().to_string();
    assert!(error.starts_with("there is no job"), "{error}");
    let long = Command { executable: "x".into(), arguments: vec!["y".repeat(MESSAGE_MAX).into()] };
    assert!(matches!(grow(1, 1, Some(long)), Err(GrowError::TooLong)));
    let _door = Door::open().unwrap();
    assert!(Door::open().is_err(), "the name is taken");
}
