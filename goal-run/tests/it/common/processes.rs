//! Looks at processes from outside.

use goal_filetest::{skipped, until};
use nix::libc::c_long;
use rustix::process::Pid;
use std::fs::{self, DirEntry};
use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::{Duration, Instant};

pub(crate) fn pid(number: i32) -> Pid {
    Pid::from_raw(number).unwrap()
}

/// Looks until there is something to be seen.
#[track_caller]
pub(crate) fn wait_for<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let mut seen = None;
    until("there is something to be seen", || {
        seen = look();
        seen.is_some()
    });
    seen.expect("it was seen")
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

/// Waits until a thread of a process sleeps in one of these system calls. Returns at once where the
/// system does not show calls.
pub(crate) fn wait_until_it_sleeps_in(process: Pid, calls: &[c_long]) {
    let process = PathBuf::from(format!("/proc/{}", process.as_raw_nonzero()));
    let calls: Vec<String> = calls.iter().map(|call| format!("{call} ")).collect();
    let sleeps = |thread: DirEntry| {
        let call = fs::read_to_string(thread.path().join("syscall")).ok()?;
        // An open or a write of a file on a disk sleeps in another state.
        let is_asleep = fs::read_to_string(thread.path().join("stat")).ok()?.contains(") S ");
        Some(is_asleep && calls.iter().any(|wanted| call.starts_with(wanted)))
    };
    until("a thread sleeps in the call", || {
        if let Err(error) = fs::read_to_string(process.join("syscall")) {
            skipped(&format!("the system calls of a process are not shown: {error}"));
            return true;
        }
        let threads = fs::read_dir(process.join("task")).into_iter().flatten().flatten();
        threads.filter_map(sleeps).any(|sleeps| sleeps)
    });
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

/// Returns true if a rank has mapped the segment, which it does right before it is ready. Ranks of
/// a job with a key hide their maps from all users but root. Such a rank counts as soon as it
/// sleeps under its name.
pub(crate) fn is_mapped(rank: Pid) -> bool {
    match fs::read_to_string(format!("/proc/{}/maps", rank.as_raw_nonzero())) {
        Ok(maps) => maps.contains("memfd:goal-run (deleted)"),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            is_rank(rank) && state_of(rank) == Some('S')
        }
        Err(_) => false,
    }
}

/// Returns true if a process has a thread with this name.
pub(crate) fn has_thread(process: Pid, name: &str) -> bool {
    let tasks = fs::read_dir(format!("/proc/{}/task", process.as_raw_nonzero()));
    let names = tasks.into_iter().flatten().flatten().map(|task| task.path().join("comm"));
    names.filter_map(|path| fs::read_to_string(path).ok()).any(|read| read.trim_end() == name)
}

/// Waits until a launcher waits for those of other hosts. It has claimed its port then.
pub(crate) fn wait_until_it_waits_for_hosts(launcher: Pid) {
    until("a launcher waits for other hosts", || has_thread(launcher, "hosts"));
}

/// The processor time of a process so far, in ticks of 10 ms, if it exists.
fn ticks_of(process: Pid) -> Option<u64> {
    let ticks = |field: &String| field.parse::<u64>().expect("a number of ticks");
    Some(fields(process)?[11..13].iter().map(ticks).sum())
}

/// The number of times that a process has gone to sleep, if it exists.
fn sleeps_of(process: Pid) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", process.as_raw_nonzero())).ok()?;
    let count = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
    count.trim().parse().ok()
}

/// The time without waking after which a rank that sleeps has begun.
const SLEPT: Duration = Duration::from_millis(200);

/// The number of sleeps after which a rank has begun. Before, it sleeps once, until all are ready.
const SLEEPS: u64 = 10;

/// Waits until each of some ranks has begun: it has used a processor for 0.1 s more, or has slept
/// [`SLEEPS`] times more, or sleeps in a computation and has not woken for 0.2 s, or has ended.
/// Ranks sleep until all are ready, so all must have mapped the segment before.
pub(crate) fn wait_until_begun(processes: &[Pid]) {
    let before: Vec<_> =
        processes.iter().map(|&process| (ticks_of(process), sleeps_of(process))).collect();
    for (&process, (before, slept)) in processes.iter().zip(before) {
        let (mut sleeps, mut since) = (sleeps_of(process), Instant::now());
        until("a rank has begun", || {
            let now = sleeps_of(process);
            if now != sleeps || state_of(process) != Some('S') {
                (sleeps, since) = (now, Instant::now());
            }
            ticks_of(process).is_none_or(|now| now >= before.unwrap_or(0) + 10)
                || now.is_none_or(|now| now >= slept.unwrap_or(0) + SLEEPS)
                || since.elapsed() >= SLEPT
        });
    }
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
