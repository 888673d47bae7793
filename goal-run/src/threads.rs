//! The threads of a process, as the system shows them.
//!
//! A program may have threads that this crate knows nothing of. While one of them runs, its rank is
//! not taken for stuck: the thread may call the library next.
//!
//! Threat: the numbers of processes come from the segment, which the ranks can write. A rank could
//! name another process of its user, and so keep its own job from being taken for stuck.

use std::fs;

/// Returns true if more than `allowed` threads of a process run, or wait for a disk. A process that
/// can't be read has none.
pub(crate) fn is_running(process: u32, allowed: usize) -> bool {
    let Ok(threads) = fs::read_dir(format!("/proc/{process}/task")) else { return false };
    let states = threads.filter_map(|thread| {
        let text = fs::read_to_string(thread.ok()?.path().join("stat")).ok()?;
        state(&text)
    });
    states.filter(|state| matches!(state, 'R' | 'D')).count() > allowed
}

/// Returns the state in the text of a thread's `stat`. The name before it may hold anything.
fn state(stat: &str) -> Option<char> {
    stat.rsplit_once(')')?.1.trim_start().chars().next()
}

#[cfg(test)]
mod tests {
    use super::*;

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
