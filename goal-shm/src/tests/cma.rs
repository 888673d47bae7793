//! Copies between processes.

use crate::cma::{COPIED, Cma, announce, read_exact, verdict};
use crate::{Layout, RankSizes, Segment};
use goal_engine::transport::Unreadable;
use rustix::io::Errno;
use rustix::process::getpid;
use std::sync::atomic::Ordering;

#[test]
fn bytes_are_copied_or_it_is_said_that_they_are_not() {
    let bytes: Vec<u8> = (0..100_000).map(|i| i as u8).collect();
    let mut copy = vec![0; bytes.len()];
    let address = bytes.as_ptr() as u64;
    assert_eq!(read_exact(getpid(), address, &mut copy), Ok(()));
    assert_eq!(copy, bytes);
    assert_eq!(read_exact(getpid(), 8, &mut copy), Err(Errno::FAULT));
    assert_eq!(read_exact(getpid(), u64::MAX - 8, &mut copy), Err(Errno::FAULT));
    assert_eq!(read_exact(getpid(), 8, &mut []), Ok(()));
}

#[test]
fn names_of_other_transports_and_ranks_that_are_not_ready_are_refused() {
    let layout = Layout::new([RankSizes::default(); 2].into_iter(), u64::MAX).unwrap();
    let segment = Segment::create(layout).unwrap();
    announce(&segment, 0);
    let mut cma = Cma::new(&segment);
    let name = COPIED | [7u8].as_ptr() as u64;
    let mut copy = [0];
    assert_eq!(cma.get(0, name, 0, &mut copy), Ok(()));
    assert_eq!(copy, [7]);
    assert_eq!(cma.get(0, name & !COPIED, 0, &mut copy), Err(Unreadable));
    assert_eq!(cma.get(1, name, 0, &mut copy), Err(Unreadable));
    // An address that is not mapped says nothing of others; nor does a process that is gone.
    assert_eq!(cma.get(0, COPIED | 8, 0, &mut copy), Err(Unreadable));
    segment.status(1).process.store(i32::MAX as u32, Ordering::SeqCst);
    assert_eq!(cma.get(1, name, 0, &mut copy), Err(Unreadable));
    assert_eq!(cma.get(0, name, 0, &mut copy), Ok(()));
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
