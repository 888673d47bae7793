//! Asks the system about processes and their threads.
//!
//! A program may have threads that this crate does not know. A rank with a thread outside of calls
//! is not taken for stuck, because this thread may call the library next. Each process counts its
//! own threads, because only the process itself can do so in every PID namespace.
//!
//! Threat: a rank may state a wrong count, so that its own job is taken for stuck, or is not. The
//! process IDs come from the segment, which the ranks can write. A rank could state the ID of
//! another process of its user, so that its own job is not taken for stuck. In a container a rank
//! has another process ID than outside: see [`seen_as`].

use goal_shm::Identity;
use nix::sys::signal::SigSet;
use rustix::event::{Timespec, poll};
use std::cell::Cell;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// The number of threads of this process that belong to the library and execute no code of the
/// program.
static OF_LIBRARY: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// True in a thread of the library.
    static IS_OF_LIBRARY: Cell<bool> = const { Cell::new(false) };
}

/// A mark that the calling thread belongs to the library, as long as this value exists. Such a
/// thread does not count as one that may act for the program.
#[derive(Debug)]
#[must_use]
pub struct LibraryThread(());

impl LibraryThread {
    /// Marks the calling thread, which the library has started. Blocks all signals in it, so that
    /// threads of the program get them.
    pub fn enter() -> Self {
        // This can't fail, because a thread can always block signals.
        let _ = SigSet::all().thread_block();
        IS_OF_LIBRARY.set(true);
        OF_LIBRARY.fetch_add(1, Ordering::SeqCst);
        Self(())
    }
}

impl Drop for LibraryThread {
    fn drop(&mut self) {
        OF_LIBRARY.fetch_sub(1, Ordering::SeqCst);
        IS_OF_LIBRARY.set(false);
    }
}

/// Returns true if the calling thread belongs to the library.
#[inline]
pub fn is_of_library() -> bool {
    IS_OF_LIBRARY.get()
}

/// Calls a function of the program. During the call, a thread of the library counts as one that may
/// act for the program.
#[inline]
pub fn within_program<R>(f: impl FnOnce() -> R) -> R {
    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            OF_LIBRARY.fetch_add(1, Ordering::SeqCst);
        }
    }
    let _leave = is_of_library().then(|| {
        OF_LIBRARY.fetch_sub(1, Ordering::SeqCst);
        Leave
    });
    f()
}

/// Calls `f`, which may start threads of other libraries, such as PMIx. These threads do not act
/// for the program either, and are counted as threads of the library. That is possible only if the
/// caller is the only thread before.
pub fn adopting<R>(f: impl FnOnce() -> R) -> R {
    let is_alone = others(1) == Some(0);
    let result = f();
    if is_alone && let Some(left) = others(1) {
        OF_LIBRARY.fetch_add(left, Ordering::SeqCst);
    }
    result
}

/// Returns the number of threads of this process that may act for the program. The `in_calls`
/// threads that wait in calls of the library do not count. Returns `None` if the system does not
/// state its threads.
pub fn others(in_calls: u32) -> Option<u32> {
    let threads = fs::read_dir("/proc/self/task").ok()?.count() as u32;
    Some(threads.saturating_sub(in_calls + OF_LIBRARY.load(Ordering::SeqCst)))
}

/// Sleeps for `time`, or until a signal arrives. The standard library's sleep is not used, because
/// it panics if a filter of system calls forbids `clock_nanosleep`.
pub fn sleep(time: Duration) {
    let limit = Timespec::try_from(time).ok();
    let _ = poll(&mut [], limit.as_ref());
}

/// Returns true if a signal or a debugger has stopped some thread of the process.
pub fn is_stopped(process: u32) -> bool {
    let threads = folder(process).and_then(|folder| fs::read_dir(folder.join("task")).ok());
    let mut states = threads.into_iter().flatten().filter_map(|thread| {
        let text = fs::read_to_string(thread.ok()?.path().join("stat")).ok()?;
        state(&text)
    });
    states.any(|state| matches!(state, 'T' | 't'))
}

/// Returns the folder in /proc of the process that has this ID in the namespace of this process.
fn folder(process: u32) -> Option<PathBuf> {
    if process == std::process::id() {
        return Some("/proc/self".into());
    }
    let shown = if shows_ids_of_here() { process } else { find(process, namespace()?)? };
    Some(format!("/proc/{shown}").into())
}

/// Returns true if the folders in /proc are named by the process IDs of this process's namespace.
/// In a container they may be named by the IDs of the namespace outside. If the system does not
/// state it, only one namespace is assumed.
fn shows_ids_of_here() -> bool {
    static SHOWS: OnceLock<bool> = OnceLock::new();
    *SHOWS.get_or_init(|| ids("self").is_none_or(|ids| ids.len() == 1))
}

/// Returns the IDs of a process in each PID namespace that it is in. The namespace of /proc comes
/// first, and the innermost one last.
fn ids(folder: &str) -> Option<Vec<u32>> {
    let status = fs::read_to_string(format!("/proc/{folder}/status")).ok()?;
    let ids = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    ids.split_whitespace().map(|id| id.parse().ok()).collect()
}

/// Returns the number of the folder in /proc of the process that has the ID `process` in the PID
/// namespace `namespace`.
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

/// Returns the state in the text of a thread's `stat`. The name before the state may contain any
/// characters.
fn state(stat: &str) -> Option<char> {
    stat.rsplit_once(')')?.1.trim_start().chars().next()
}

/// Returns the inode of this process's PID namespace; `None` if the system does not state it.
/// Within a namespace, an ID belongs to one process at a time.
pub fn namespace() -> Option<u64> {
    fs::metadata("/proc/self/ns/pid").ok().map(|file| file.ino())
}

/// Returns the inode of this process's time namespace; 0 if there is none.
fn clocks() -> u64 {
    fs::metadata("/proc/self/ns/time").map_or(0, |file| file.ino())
}

/// Returns the identity that distinguishes this process from others with its process ID; `None` if
/// the system does not state it.
pub fn identity() -> Option<Identity> {
    let start = start_of(std::process::id())?;
    Some(Identity { namespace: namespace()?, clocks: clocks(), start })
}

/// Returns false if the process with the ID `process` in this namespace was started at another time
/// than `identity` states. Returns true if the start time is not known, or can't be compared
/// because `identity` comes from another time namespace.
pub fn may_be(process: u32, identity: Identity) -> bool {
    let same_clocks = identity.clocks == clocks();
    !same_clocks || start_of(process).is_none_or(|start| start == identity.start)
}

/// Returns the ID in this namespace of the process that has the ID `process` in `namespace`. This
/// is a PID namespace below that of this process, such as the one of a container. Returns `None` if
/// the system does not state it.
pub fn seen_as(process: u32, namespace: u64) -> Option<u32> {
    if shows_ids_of_here() { find(process, namespace) } else { None }
}

/// Returns the time at which a process was started, in clock ticks of the system. It differs
/// between two processes that had the same ID. Returns `None` if there is no such process, or if
/// the system does not state it.
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

    /// Other tests may run in this process at the same time, and start threads.
    #[test]
    fn threads_of_the_library_do_not_count() {
        let before = OF_LIBRARY.load(Ordering::SeqCst);
        let of_library = || OF_LIBRARY.load(Ordering::SeqCst) - before;
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                let thread = LibraryThread::enter();
                let inside = (is_of_library(), within_program(of_library), of_library());
                drop(thread);
                (inside, is_of_library(), of_library())
            });
            assert_eq!(thread.join().unwrap(), ((true, 0, 1), false, 0));
        });
        assert!(!is_of_library());
        assert!(others(0).is_some_and(|threads| threads >= 1));
        assert_eq!(others(u32::MAX >> 1), Some(0));
    }
}
