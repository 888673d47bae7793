//! Processes that tests look at from outside.

use rustix::process::{Pid, test_kill_process};
use std::fs;
use std::time::{Duration, Instant};

pub(crate) fn pid(number: i32) -> Pid {
    Pid::from_raw(number).unwrap()
}

/// Looks until there is something to be seen.
pub(crate) fn wait_for<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(started.elapsed() < Duration::from_secs(60), "in vain");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The rank processes of a launcher, as soon as there are `wanted` that execute. Before it executes
/// its program, a process has the mappings and the rights of its launcher, and no rank's name.
pub(crate) fn ranks_of(launcher: Pid, wanted: usize) -> Vec<Pid> {
    let path = format!("/proc/{0}/task/{0}/children", launcher.as_raw_nonzero());
    wait_for(|| {
        let children = fs::read_to_string(&path).unwrap();
        let pids: Vec<Pid> =
            children.split_whitespace().map(|text| pid(text.parse().unwrap())).collect();
        let is_rank = |pid: &Pid| {
            let name = fs::read_to_string(format!("/proc/{}/comm", pid.as_raw_nonzero()));
            name.is_ok_and(|name| name.starts_with("rank "))
        };
        (pids.len() == wanted && pids.iter().all(is_rank)).then_some(pids)
    })
}

/// Waits until the ranks execute: each has mapped the segment, which a rank does right before it is
/// ready.
pub(crate) fn wait_until_mapped(ranks: &[Pid]) {
    for rank in ranks {
        let path = format!("/proc/{}/maps", rank.as_raw_nonzero());
        wait_for(|| {
            fs::read_to_string(&path).unwrap().contains("memfd:goal-run (deleted)").then_some(())
        });
    }
}

/// Waits until the ranks are gone. Those of a launcher that was killed end a little after it. A
/// process that its parent has not waited for yet counts as gone.
pub(crate) fn assert_gone(ranks: &[Pid]) {
    for &rank in ranks {
        let state = || fs::read_to_string(format!("/proc/{}/stat", rank.as_raw_nonzero()));
        wait_for(|| match test_kill_process(rank) {
            Err(_) => Some(()),
            Ok(()) => state().is_ok_and(|stat| stat.contains(") Z ")).then_some(()),
        });
    }
}
