//! Processes that tests look at from outside.

use rustix::process::Pid;
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

/// Returns the fields of a process's status that follow its name, if it exists.
fn fields(process: Pid) -> Option<Vec<String>> {
    let text = fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero())).ok()?;
    let (_, rest) = text.rsplit_once(')')?;
    Some(rest.split_whitespace().map(str::to_owned).collect())
}

/// Returns the state of a process, as proc(5) abbreviates it, if it exists: `Z` if it has ended and
/// its parent has not waited for it yet.
pub(crate) fn state_of(process: Pid) -> Option<char> {
    fields(process)?.first()?.chars().next()
}

pub(crate) fn parent_of(process: Pid) -> Pid {
    pid(fields(process).unwrap()[1].parse().unwrap())
}

/// Returns the children of a process. There are none once it has ended.
pub(crate) fn children_of(process: Pid) -> Vec<Pid> {
    let path = format!("/proc/{0}/task/{0}/children", process.as_raw_nonzero());
    let children = fs::read_to_string(path).unwrap_or_default();
    children.split_whitespace().map(|text| pid(text.parse().unwrap())).collect()
}

/// Returns true if a process executes as a rank. Before it executes its program, a process has the
/// mappings and the rights of its launcher, and no rank's name.
pub(crate) fn is_rank(process: Pid) -> bool {
    let name = fs::read_to_string(format!("/proc/{}/comm", process.as_raw_nonzero()));
    name.is_ok_and(|name| name.starts_with("rank "))
}

/// Returns true if a rank has mapped the segment, which it does right before it is ready.
pub(crate) fn is_mapped(rank: Pid) -> bool {
    let maps = fs::read_to_string(format!("/proc/{}/maps", rank.as_raw_nonzero()));
    maps.is_ok_and(|maps| maps.contains("memfd:goal-run (deleted)"))
}

/// The rank processes of a launcher, as soon as there are `wanted` that execute.
pub(crate) fn ranks_of(launcher: Pid, wanted: usize) -> Vec<Pid> {
    wait_for(|| {
        let pids = children_of(launcher);
        (pids.len() == wanted && pids.iter().all(|&it| is_rank(it))).then_some(pids)
    })
}

/// Waits until all ranks have mapped the segment.
pub(crate) fn wait_until_mapped(ranks: &[Pid]) {
    ranks.iter().for_each(|&rank| wait_for(|| is_mapped(rank).then_some(())));
}

/// Waits until the ranks are gone. Those of a launcher that was killed end a little after it. A
/// process that its parent has not waited for yet counts as gone.
pub(crate) fn assert_gone(ranks: &[Pid]) {
    for &rank in ranks {
        wait_for(|| matches!(state_of(rank), None | Some('Z')).then_some(()));
    }
}
