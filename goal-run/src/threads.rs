//! A process and its threads, as the system shows them.
//!
//! A program may have threads that this crate knows nothing of. While one of them runs, its rank is
//! not taken for stuck: the thread may call the library next.
//!
//! Threat: the numbers of processes come from the segment, which the ranks can write. A rank could
//! name another process of its user, and so keep its own job from being taken for stuck. A rank in
//! a container has a number that means another process outside of it: see [`seen_as`].

use goal_shm::Identity;
use nix::sys::signal::SigSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::OnceLock;

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

/// Returns the folder in which the system describes the process with this ID, here.
fn folder(process: u32) -> Option<PathBuf> {
    if process == std::process::id() {
        return Some("/proc/self".into());
    }
    let shown = if shows_ids_of_here() { process } else { find(process, namespace()?)? };
    Some(format!("/proc/{shown}").into())
}

/// Returns true if the system names its folders by the IDs of this process's namespace. In a
/// container it may name them by those of the namespace outside. A system that does not tell has one.
fn shows_ids_of_here() -> bool {
    static SHOWS: OnceLock<bool> = OnceLock::new();
    *SHOWS.get_or_init(|| ids("self").is_none_or(|ids| ids.len() == 1))
}

/// Returns the ID of a process in each namespace of processes that has it, from that of the folders
/// inwards.
fn ids(folder: &str) -> Option<Vec<u32>> {
    let status = fs::read_to_string(format!("/proc/{folder}/status")).ok()?;
    let ids = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    ids.split_whitespace().map(|id| id.parse().ok()).collect()
}

/// Returns the number of the folder of the process that has this ID in a namespace of processes.
fn find(process: u32, namespace: u64) -> Option<u32> {
    let is_it = |name: &String| {
        let file = fs::metadata(format!("/proc/{name}/ns/pid"));
        file.is_ok_and(|file| file.ino() == namespace)
            && ids(name).is_some_and(|ids| ids.last() == Some(&process))
    };
    let names = fs::read_dir("/proc").ok()?;
    let mut names = names.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let is_number = |name: &String| name.bytes().all(|byte| byte.is_ascii_digit());
    names.find(|name| is_number(name) && is_it(name))?.parse().ok()
}

/// Returns the states of the threads of a process; none if it can't be read.
fn states(process: u32) -> impl Iterator<Item = char> {
    let threads = folder(process).and_then(|folder| fs::read_dir(folder.join("task")).ok());
    let threads = threads.into_iter().flatten();
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

/// Returns the number of the file of this process's namespace of clocks; 0 if there is none.
fn clocks() -> u64 {
    fs::metadata("/proc/self/ns/time").map_or(0, |file| file.ino())
}

/// Returns what tells this process from others with its ID. `None` if the system does not tell.
pub(crate) fn identity() -> Option<Identity> {
    let start = start_of(std::process::id())?;
    Some(Identity { namespace: namespace()?, clocks: clocks(), start })
}

/// Returns true unless the process with this ID, here, was started at another time than `identity`
/// says. In another namespace of clocks a start is another number, and says nothing.
pub(crate) fn may_be(process: u32, identity: Identity) -> bool {
    let same_clocks = identity.clocks == clocks();
    !same_clocks || start_of(process).is_none_or(|start| start == identity.start)
}

/// Returns the ID, here, of the process that has the ID `process` in a namespace of processes
/// below this process's own, as a container has one. `None` if the system does not tell.
pub(crate) fn seen_as(process: u32, namespace: u64) -> Option<u32> {
    if shows_ids_of_here() { find(process, namespace) } else { None }
}

/// Returns the time at which a process was started, in the system's unit: two processes that had
/// the same ID differ in it. `None` if there is none with this ID, or the system does not tell.
fn start_of(process: u32) -> Option<u64> {
    const FIELD: usize = 22;
    let text = fs::read_to_string(folder(process)?.join("stat")).ok()?;
    // The first two fields are the ID and the name.
    text.rsplit_once(')')?.1.split_whitespace().nth(FIELD - 3)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_a_start_in_its_namespace() {
        let (own, identity) = (std::process::id(), identity().unwrap());
        let first = start_of(1);
        assert!(first.is_none_or(|first| first <= identity.start));
        assert_eq!(start_of(u32::MAX), None);
        assert_ne!(identity.namespace, 0);
        assert!(may_be(own, identity));
        let later = Identity { start: identity.start + 1, ..identity };
        assert!(!may_be(own, later));
        assert!(may_be(own, Identity { clocks: identity.clocks + 1, ..later }));
        assert_eq!(find(own, identity.namespace + 1), None);
        assert_eq!(seen_as(own, identity.namespace), shows_ids_of_here().then_some(own));
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
