//! Tests copies from the memory of another process.

#![allow(unsafe_code)] // forks

use crate::cma::{COPIED, Cma, announce, verdict};
use crate::exporter::Peer;
use crate::{Layout, RankSizes, Segment};
use goal_engine::transport::Unreadable;
use rustix::io::Errno;
use rustix::process::Pid;

fn two_ranks() -> Segment {
    let layout = Layout::new([RankSizes::default(); 2].into_iter(), u64::MAX).unwrap();
    Segment::create(layout).unwrap()
}

#[test]
fn bytes_are_copied_or_it_is_said_that_they_are_not() {
    let segment = two_ranks();
    announce(&segment, 0);
    let mut cma = Cma::new(&segment);
    let bytes: Vec<u8> = (0..100_000).map(|i| i as u8).collect();
    let mut copy = vec![0; bytes.len()];
    let name = COPIED | bytes.as_ptr() as u64;
    assert_eq!(cma.get(0, name, 0, &mut copy), Ok(()));
    assert_eq!(copy, bytes);
    assert_eq!(cma.get(0, name, 7, &mut copy[..5]), Ok(()));
    assert_eq!(copy[..5], bytes[7..12]);
    // Addresses that are not mapped say nothing of others.
    assert_eq!(cma.get(0, COPIED | 8, 0, &mut copy), Err(Unreadable));
    assert_eq!(cma.get(0, COPIED, u64::MAX - 8, &mut copy), Err(Unreadable));
    assert_eq!(cma.get(0, COPIED | 8, 0, &mut []), Ok(()));
    assert_eq!(cma.get(0, name, 0, &mut copy), Ok(()));
    assert_eq!(cma.unreadable(), 0);
}

#[test]
fn names_of_other_transports_and_ranks_that_are_not_ready_are_refused() {
    let segment = two_ranks();
    announce(&segment, 0);
    let mut cma = Cma::new(&segment);
    let name = COPIED | [7u8].as_ptr() as u64;
    let mut copy = [0];
    assert_eq!(cma.get(0, name & !COPIED, 0, &mut copy), Err(Unreadable));
    assert_eq!(cma.get(1, name, 0, &mut copy), Err(Unreadable));
    assert_eq!(cma.unreadable(), 0, "it may get ready");
    announce(&segment, 1);
    assert_eq!(cma.get(1, name, 0, &mut copy), Ok(()));
    assert_eq!(copy, [7]);
}

#[test]
fn another_process_with_the_number_is_not_read() {
    let segment = two_ranks();
    announce(&segment, 0);
    let own = segment.status(0).exporter.known().unwrap();
    let exporter = &segment.status(1).exporter;
    let bytes = [7u8; 64];
    let name = COPIED | bytes.as_ptr() as u64;
    let get = |cma: &mut Cma<'_>| {
        let mut copy = [0; 64];
        let got = cma.get(1, name, 0, &mut copy);
        assert_eq!(copy, if got.is_ok() { bytes } else { [0; 64] });
        got
    };
    let (process, mut other) = (std::process::id(), own.nonce);
    other[15] ^= 1;
    // A process of another namespace, with other memory or none at that address, and none.
    for (process, at, nonce) in [
        (process, own.nonce_at, other),
        (process, 8, own.nonce),
        (i32::MAX as u32, own.nonce_at, own.nonce),
    ] {
        exporter.tell(process, at, nonce);
        let mut cma = Cma::new(&segment);
        assert_eq!(get(&mut cma), Err(Unreadable));
        assert_eq!(cma.unreadable(), 1);
        // It is not tried again.
        exporter.tell(std::process::id(), own.nonce_at, own.nonce);
        assert_eq!(get(&mut cma), Err(Unreadable));
    }
    // Another process has got the number of one that was read before.
    let mut cma = Cma::new(&segment);
    assert_eq!(get(&mut cma), Ok(()));
    exporter.tell(process, own.nonce_at, other);
    let mut copy = [0; 64];
    assert_eq!(cma.get(1, name, 0, &mut copy), Err(Unreadable));
    assert_eq!(cma.unreadable(), 1);
}

/// A forked child is another process than its parent, whatever its number is in other namespaces.
#[test]
fn a_fork_is_not_taken_for_its_parent() {
    use std::io::Read;
    let segment = two_ranks();
    announce(&segment, 0);
    let peer = segment.status(0).exporter.known().unwrap();
    assert_eq!(peer.read(peer.nonce_at, &mut []), Ok(()));
    let (mut reader, writer) = std::io::pipe().unwrap();
    // SAFETY: the child waits for the end of the pipe by system calls only, and ends.
    let child = unsafe { libc::fork() };
    assert!(child >= 0);
    if child == 0 {
        drop(writer);
        let _ = reader.read(&mut [0]);
        // SAFETY: no destructor of the parent's runs.
        unsafe { libc::_exit(0) }
    }
    let fork = Peer { process: Pid::from_raw(child).unwrap(), ..peer };
    assert_eq!(fork.read(fork.nonce_at, &mut []), Err(Errno::SRCH));
    drop(writer);
    rustix::process::waitpid(Some(fork.process), rustix::process::WaitOptions::empty()).unwrap();
}

#[test]
fn what_forbids_it_is_named() {
    type Case = (Result<(), Errno>, Option<u8>, Option<&'static str>);
    let cases: [Case; 8] = [
        (Ok(()), None, None),
        (Ok(()), Some(0), None),
        (Ok(()), Some(1), None),
        (Ok(()), Some(2), Some("kernel.yama.ptrace_scope = 2")),
        (Ok(()), Some(3), Some("kernel.yama.ptrace_scope = 3")),
        (Err(Errno::PERM), None, Some("seccomp")),
        (Err(Errno::NOSYS), Some(0), Some("process_vm_readv says")),
        (Err(Errno::PERM), Some(3), Some("seccomp")),
    ];
    for (own, scope, wanted) in cases {
        match (verdict(own, scope), wanted) {
            (Ok(()), None) => {}
            (Err(why), Some(part)) => assert!(why.to_string().contains(part), "{why}"),
            (got, _) => panic!("{own:?} {scope:?}: {got:?}"),
        }
    }
}
