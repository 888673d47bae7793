//! A process and its threads, as the system shows them.
//!
//! A program may have threads that this crate knows nothing of. While one of them runs, its rank is
//! not taken for stuck: the thread may call the library next.
//!
//! Threat: the numbers of processes come from the segment, which the ranks can write. A rank could
//! name another process of its user, and so keep its own job from being taken for stuck.

use nix::sys::signal::SigSet;
use std::fs;
use std::os::unix::fs::MetadataExt;

/// Keeps signals from the calling thread, which a library has started: they are for the threads of
/// the program.
pub fn leave_signals() {
    // A thread can always block them.
    let _ = SigSet::all().thread_block();
}

/// Returns true if more than `allowed` threads of a process run, or wait for a disk. A process that
/// can't be read has none.
pub(crate) fn is_running(process: u32, allowed: usize) -> bool {
    states(process).filter(|state| matches!(state, 'R' | 'D')).count() > allowed
}

/// Returns true if a signal or a debugger has stopped a process.
pub(crate) fn is_stopped(process: u32) -> bool {
    states(process).any(|state| matches!(state, 'T' | 't'))
}

/// Returns the states of the threads of a process; none if it can't be read.
fn states(process: u32) -> impl Iterator<Item = char> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten();
    threads.filter_map(|thread| {
        let text = fs::read_to_string(thread.ok()?.path().join("stat")).ok()?;
        state(&text)
    })
}

/// Returns the state in the text of a thread's `stat`. The name before it may hold anything.
fn state(stat: &str) -> Option<char> {
    stat.rsplit_once(')')?.1.trim_start().chars().next()
}

/// Returns the number of the file of this process's namespace of processes: within it, an ID is
/// that of one process at a time. `None` if the system does not tell.
pub(crate) fn namespace() -> Option<u64> {
    fs::metadata("/proc/self/ns/pid").ok().map(|file| file.ino())
}

/// Returns the time at which a process was started, in the system's unit: two processes that had
/// the same ID differ in it. `None` if there is none with this ID, or the system does not tell.
pub(crate) fn start_of(process: u32) -> Option<u64> {
    const FIELD: usize = 22;
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The first two fields are the ID and the name.
    text.rsplit_once(')')?.1.split_whitespace().nth(FIELD - 3)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_a_start_in_its_namespace() {
        let (own, first) = (start_of(std::process::id()).unwrap(), start_of(1));
        assert!(first.is_none_or(|first| first <= own));
        assert_eq!(start_of(u32::MAX), None);
        assert!(namespace().is_some_and(|number| number != 0));
    }

    #[test]
    fn a_name_does_not_hide_the_state() {
        assert_eq!(state("17 (a) R (b) S 1 17"), Some('S'));
        assert_eq!(state("17 (a"), None);
    }

    #[test]
    fn this_thread_runs() {
        assert!(is_running(std::process::id(), 0));
        assert!(!is_running(0, 0));
    }
}
