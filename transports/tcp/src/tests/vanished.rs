//! A host that vanishes during a handshake is noticed in time. A rank may compute for longer than
//! that.
#![allow(unsafe_code)] // setsockopt

use super::{V4, key, now_ns, patience_ns};
use crate::handshake::{Connecting, Ends};
use crate::listener::Listener;
use crate::{Conditions, TcpFabric};
use goal_engine::transport::{Header, Kind, Transport};
use goal_fabric::Fabric;
use std::io::{ErrorKind, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::time::Duration;

/// Lets a socket and the sockets that it accepts lose every segment with bytes of a handshake. The
/// filter goes by the length: the TCP header has at most 40 bytes here, and a step of the handshake
/// at least 32. Returns false, after a line that says so, if this user may attach no filter.
fn lose_all(socket: BorrowedFd<'_>) -> bool {
    let of = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
    let mut program = [
        of(libc::BPF_LD | libc::BPF_W | libc::BPF_LEN, 0, 0, 0),
        of(libc::BPF_JMP | libc::BPF_JGT | libc::BPF_K, 0, 1, 60),
        of(libc::BPF_RET | libc::BPF_K, 0, 0, 0),
        of(libc::BPF_RET | libc::BPF_K, 0, 0, u32::MAX),
    ];
    let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    // SAFETY: the system reads the structure and the program, which live until then.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_ATTACH_FILTER,
            (&raw const filter).cast(),
            size_of_val(&filter) as libc::socklen_t,
        )
    };
    let error = std::io::Error::last_os_error();
    if result != 0 && error.kind() == ErrorKind::PermissionDenied {
        goal_filetest::skipped("this user may attach no filter to a socket");
        return false;
    }
    assert_eq!(result, 0, "{error}");
    true
}

/// Returns the end of rank 0, and the port of rank 1, whose host has vanished. Returns `None` if
/// this user may not let it vanish.
fn with_vanished() -> Option<(TcpFabric, TcpListener)> {
    let vanished = TcpListener::bind("127.0.0.1:0").unwrap();
    lose_all(vanished.as_fd()).then_some(())?;
    let listener = Listener::bind(V4, 0..=0).expect("a port");
    let addresses = vec![SocketAddr::new(V4, listener.port()), vanished.local_addr().unwrap()];
    let conditions = Conditions { silence_s: 1, ..Conditions::default() };
    let end = TcpFabric::new(0, addresses, listener, key(), now_ns).expect("epoll");
    Some((end.with_conditions(conditions), vanished))
}

/// Waits until rank 1 counts as unreachable. Returns the reason.
fn reason(end: &mut TcpFabric) -> String {
    let since_ns = now_ns();
    loop {
        assert!(end.try_send(1, &Header::new(Kind::Fin, 0), |_| {}).is_err());
        end.progress();
        if let Some(why) = end.unreachable(1) {
            return why.to_string();
        }
        assert!(now_ns() - since_ns < patience_ns(20), "it waits for a host that is gone");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_host_that_vanishes_before_it_has_the_hello() {
    let Some((mut end, _vanished)) = with_vanished() else { return };
    let why = reason(&mut end);
    assert!(why.contains("timed out"), "{why}");
}

#[test]
fn a_host_that_vanishes_after_its_hello() {
    let Some((mut end, _vanished)) = with_vanished() else { return };
    let mut peer = TcpStream::connect(end.addresses[0]).unwrap();
    lose_all(peer.as_fd());
    let ends = Ends { from: 1, to: 0 };
    peer.write_all(&Connecting::new(ends, [1; 16]).hello(&key(), &[])).unwrap();
    while end.callers == 0 {
        end.progress();
    }
    // The hello is there at once.
    for _ in 0..20 {
        end.progress();
    }
    let why = reason(&mut end);
    assert!(why.contains("timed out"), "{why}");
}
