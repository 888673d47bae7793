//! Tests of a launcher's socket for requests.
//!
//! Users find a socket by the process ID of its launcher, so these tests run one at a time.

use super::*;
use goal_filetest::{patience, until};
use goal_job::bootstrap::VERSION;
use goal_job::growth::{Command, GrowError, SOCKET, What, grow, receive};
use goal_job::peer::random;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{RecvFlags, SendFlags, connect, recv, send};
use std::ffi::OsString;
use std::fs::{metadata, read, read_dir};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

static TURN: Mutex<()> = Mutex::new(());

fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns an open socket that users find too.
fn opened() -> GrowthSocket {
    let mut growth_socket = GrowthSocket::new().unwrap();
    growth_socket.open(true).unwrap();
    growth_socket
}

/// Returns a request of a rank.
fn request(growth_socket: &GrowthSocket) -> Vec<u8> {
    let (version, token) = (VERSION.into(), growth_socket.address().token.clone());
    let what = What::LikeRank(0);
    serde_json::to_vec(&Request { version, token, ranks: 1, what, are_members: true }).unwrap()
}

fn call(growth_socket: &GrowthSocket, text: &[u8]) -> OwnedFd {
    let socket = socket(SocketFlags::empty()).unwrap();
    connect(&socket, &growth_socket.address().socket().unwrap()).unwrap();
    if !text.is_empty() {
        send(&socket, text, SendFlags::NOSIGNAL).unwrap();
    }
    socket
}

/// Returns the answer to a caller, or an empty text if the launcher closed the connection.
fn answer(socket: &OwnedFd) -> String {
    let limit = Timespec::try_from(patience(10)).unwrap();
    assert!(poll(&mut [PollFd::new(socket, PollFlags::IN)], Some(&limit)).unwrap() > 0);
    let mut text = vec![0; MESSAGE_MAX];
    let (len, _) = recv(socket, &mut text[..], RecvFlags::empty()).unwrap();
    String::from_utf8(text[..len].to_vec()).unwrap()
}

#[test]
fn a_request_gets_its_answer() {
    let _turn = turn();
    let mut growth_socket = opened();
    assert!(growth_socket.next().is_none());
    // A name need not be UTF-8.
    let executable = OsString::from_vec(b"./caf\xe9".to_vec());
    let command = Command { executable, arguments: vec!["a b".into()] };
    let asked = std::thread::scope(|scope| {
        let asker = scope.spawn(|| grow(std::process::id(), 3, Some(command.clone())));
        let mut heard = None;
        until("the request is heard", || {
            heard = growth_socket.next();
            heard.is_some()
        });
        let (request, reply) = heard.unwrap();
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
    let mut growth_socket = opened();
    let long = vec![b' '; MESSAGE_MAX + 1];
    let other = br#"{"version":"0.0.0","ranks":1}"#;
    let half = format!(r#"{{"version":"{VERSION}","ranks":1}}"#);
    let whole = String::from_utf8(request(&growth_socket)).unwrap();
    let many = whole.replace(r#""ranks":1"#, r#""ranks":4294967296"#);
    let token = serde_json::to_string(&growth_socket.address().token).unwrap();
    let zeros = serde_json::to_string(&[0; Token::LEN]).unwrap();
    let (guessed, short) = (whole.replace(&token, &zeros), whole.replace(&token, "[0]"));
    for (text, says) in [
        (&b"garbage"[..], "this is no request"),
        (&[0xff; 100], "this is no request"),
        (&long, "at most 65536 are read"),
        (other, "the caller is of version 0.0.0"),
        (half.as_bytes(), "missing field"),
        (many.as_bytes(), "this is no request"),
        (short.as_bytes(), "this is no request"),
        (guessed.as_bytes(), "the token is not that of this job"),
    ] {
        let caller = call(&growth_socket, text);
        assert!(growth_socket.next().is_none());
        let answer = answer(&caller);
        assert!(answer.starts_with(r#"{"Err":"#) && answer.contains(says), "{answer}");
    }
}

#[test]
fn a_silent_caller_holds_nobody_up() {
    let _turn = turn();
    let mut growth_socket = opened();
    let silent: Vec<OwnedFd> = (0..40).map(|_| call(&growth_socket, &[])).collect();
    assert!(growth_socket.next().is_none());
    let told = recv(&silent[0], &mut [0; 1], RecvFlags::DONTWAIT);
    assert!(told.is_err(), "a look waits for nobody");
    // Time has to pass: a caller has two seconds for its request.
    std::thread::sleep(Duration::from_millis(2100));
    assert!(growth_socket.next().is_none());
    assert!(answer(&silent[0]).contains("no request within 2 s"));
    drop(silent);
    // Those that have gone make room for others.
    let _caller = call(&growth_socket, &request(&growth_socket));
    let heard = (0..10).find_map(|_| growth_socket.next());
    assert!(heard.unwrap().0.are_members);
}

#[test]
fn a_caller_that_is_gone_gets_no_ranks() {
    let _turn = turn();
    let mut growth_socket = opened();
    let text = request(&growth_socket);
    drop(call(&growth_socket, &text));
    assert!(growth_socket.next().is_none(), "it left before it was heard");
    let caller = call(&growth_socket, &text);
    let (_, reply) = growth_socket.next().unwrap();
    let given_up = receive(&caller, 1, Duration::from_millis(10));
    assert!(matches!(given_up, Err(GrowError::Silent(1))), "{given_up:?}");
    assert!(!reply.send(&Ok(7)), "it gave up before the answer");
    let caller = call(&growth_socket, &text);
    let (_, reply) = growth_socket.next().unwrap();
    assert!(reply.send(&Ok(7)));
    assert_eq!(receive(&caller, 1, Duration::ZERO).unwrap(), br#"{"Ok":7}"#);
}

#[test]
fn no_job_is_an_error_that_says_what_to_give() {
    let _turn = turn();
    let error = grow(std::process::id(), 1, None).unwrap_err().to_string();
    assert!(error.starts_with("there is no job"), "{error}");
    let long = Command { executable: "x".into(), arguments: vec!["y".repeat(MESSAGE_MAX).into()] };
    assert!(matches!(grow(1, 1, Some(long)), Err(GrowError::TooLong)));
}

#[test]
fn a_socket_is_closed_to_others_and_leaves_nothing() {
    let _turn = turn();
    let mut growth_socket = GrowthSocket::new().unwrap();
    let folder = growth_socket.address().folder.clone();
    let file = |name| folder.join(name);
    assert!(!folder.exists(), "nobody has asked for it");
    assert!(growth_socket.next().is_none());
    // A rank has the token from its launcher, so no file has it.
    growth_socket.open(false).unwrap();
    assert_eq!(metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
    assert!(file(SOCKET).exists() && !file(TOKEN).exists());
    assert!(matches!(grow(std::process::id(), 1, None), Err(GrowError::NoJob(_))));
    growth_socket.open(true).unwrap();
    assert!(!file(TOKEN).exists(), "it is open already");
    drop(growth_socket);
    assert!(!folder.exists());
    let growth_socket = opened();
    let folder = growth_socket.address().folder.clone();
    assert_eq!(read(folder.join(TOKEN)).unwrap(), growth_socket.address().token.bytes());
    let mode = metadata(folder.join(TOKEN)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    drop(growth_socket);
    let own = prefix(std::process::id());
    let is_own = |name: OsString| name.to_string_lossy().starts_with(&own);
    assert!(!read_dir(FOLDERS).unwrap().any(|entry| is_own(entry.unwrap().file_name())));
    // A folder that is there already is never taken for one of its own.
    let mut growth_socket = GrowthSocket::new().unwrap();
    std::fs::create_dir(&growth_socket.address().folder).unwrap();
    let error = growth_socket.open(false).unwrap_err();
    std::fs::remove_dir(&growth_socket.address().folder).unwrap();
    assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
}

#[test]
fn folders_of_others_are_passed_over() {
    let _turn = turn();
    let number = u64::from_ne_bytes(random().unwrap());
    let name = format!("{}{number:016x}", prefix(std::process::id()));
    let decoy = std::path::Path::new(FOLDERS).join(name);
    // Another user may make such a link to a folder of this user.
    std::os::unix::fs::symlink("/tmp", &decoy).unwrap();
    let none = grow(std::process::id(), 1, None);
    std::fs::remove_file(&decoy).unwrap();
    assert!(matches!(none, Err(GrowError::OtherUser(_))), "{none:?}");
}
