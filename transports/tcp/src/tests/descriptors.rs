//! A process that has no descriptor left for a connection neither spins nor loses the connection,
//! which waits.

use super::{V4, exchange, fabrics, now_ns};
use crate::TcpFabric;
use goal_engine::transport::{Header, Kind, Transport};
use goal_fabric::Fabric;
use std::fs::File;
use std::ops::ControlFlow;
use std::process::Command;

/// Set in the process whose limit is low.
const IS_CHILD: &str = "GOAL_TCP_TEST_FEW_DESCRIPTORS";

/// Returns all descriptors that this process may still have.
fn all_others() -> Vec<File> {
    std::iter::from_fn(|| File::open("/dev/null").ok()).collect()
}

fn run_short_of_descriptors() {
    let mut ends = fabrics(2, V4, 0);
    let listens = |end: &mut TcpFabric| {
        end.poll(1, |_, _| ControlFlow::Continue(()));
        end.accept_ns
    };
    // It connects, and no descriptor is left for the other end.
    let mut taken = None;
    let waits_ns = loop {
        let _ = ends[0].try_send(1, &Header::new(Kind::Rts, 0), |_| {});
        ends[0].poll(1, |_, _| ControlFlow::Continue(()));
        taken.get_or_insert_with(all_others);
        if let Some(waits_ns) = listens(&mut ends[1]) {
            break waits_ns;
        }
    };
    assert!(!ends[1].has_arrived(), "it does not sleep");
    assert_eq!(ends[1].wake_ns(), Some(waits_ns));
    // It tries again, and still has none.
    while now_ns() < waits_ns {
        std::thread::yield_now();
    }
    assert!(listens(&mut ends[1]) > Some(waits_ns));
    drop(taken);
    assert!(exchange(&mut ends));
    assert_eq!(ends[1].accept_ns, None);
}

#[test]
fn a_connection_waits_for_a_descriptor() {
    if std::env::var_os(IS_CHILD).is_some() {
        return run_short_of_descriptors();
    }
    // The limit is that of a process, and other tests need more.
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n 64 && exec \"$@\"", "sh"]);
    command.arg(std::env::current_exe().unwrap());
    command.args(["--exact", "tests::descriptors::a_connection_waits_for_a_descriptor"]);
    let output = command.env(IS_CHILD, "1").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}
