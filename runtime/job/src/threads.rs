//! Asks the system about a process and its threads.
//!
//! A program may have threads that this crate does not know. A rank with a thread outside of calls
//! is not taken for stuck, because the thread may call the library next. A process counts its own
//! threads, because only it can in every PID namespace.
//!
//! Threat: a rank may state a wrong count, so that its own job is taken for stuck, or is not. The
//! numbers of processes come from the segment, which the ranks can write. A rank could name another
//! process of its user, and so keep its own job from being taken for stuck. In a container a rank
//! has another number than outside: see [`seen_as`].

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

/// The threads of this process that belong to the library and execute nothing of the program.
static OF_LIBRARY: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// True in a thread of the library.
    static IS_OF_LIBRARY: Cell<bool> = const { Cell::new(false) };
}

/// Marks the calling thread as one of the library until this is dropped. It does not count as one
/// that may act for the program.
#[derive(Debug)]
#[must_use]
pub struct LibraryThread(());

impl LibraryThread {
    /// Marks the calling thread, which a library has started. Keeps signals from it: they are for
    /// the threads of the program.
    pub fn enter() -> Self {
        // A thread can always block them.
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

/// Returns true if the calling thread is one of the library.
#[inline]
pub fn is_of_library() -> bool {
    IS_OF_LIBRARY.get()
}

/// Calls a function of the program. A thread of the library may act for the program meanwhile.
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

/// Calls a function that may leave threads of other libraries, such as those of PMIx, which do not
/// act for the program either. They are told from threads of the program if the caller is the only
/// thread.
pub fn adopting<R>(f: impl FnOnce() -> R) -> R {
    let is_alone = others(1) == Some(0);
    let result = f();
    if is_alone && let Some(left) = others(1) {
        OF_LIBRARY.fetch_add(left, Ordering::SeqCst);
    }
    result
}

/// Returns the number of threads of this process that may act for the program, beside `in_calls`
/// that wait in calls of the library. `None` if the system does not tell.
pub fn others(in_calls: u32) -> Option<u32> {
    let threads = fs::read_dir("/proc/self/task").ok()?.count() as u32;
    Some(threads.saturating_sub(in_calls + OF_LIBRARY.load(Ordering::SeqCst)))
}

/// Sleeps for a while, or until a signal comes. The standard library's sleep panics if a filter of
/// system calls forbids `clock_nanosleep`.
pub fn sleep(time: Duration) {
    let limit = Timespec::try_from(time).ok();
    let _ = poll(&mut [], limit.as_ref());
}

/// Returns true if a signal or a debugger has stopped a process.
pub fn is_stopped(process: u32) -> bool {
    let threads = folder(process).and_then(|folder| fs::read_dir(folder.join("task")).ok());
    let mut states = threads.into_iter().flatten().filter_map(|thread| {
        let text = fs::read_to_string(thread.ok()?.path().join("stat")).ok()?;
        state(&text)
    });
    states.any(|state| matches!(state, 'T' | 't'))
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
/// container it may name them by those of the namespace outside. A system that does not tell has
/// one.
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

/// Returns the state in the text of a thread's `stat`. The name before it may hold anything.
fn state(stat: &str) -> Option<char> {
    stat.rsplit_once(')')?.1.trim_start().chars().next()
}

/// Returns the number of the file of this process's namespace of processes: within it, an ID is
/// that of one process at a time. `None` if the system does not tell.
pub fn namespace() -> Option<u64> {
    fs::metadata("/proc/self/ns/pid").ok().map(|file| file.ino())
}

/// Returns the number of the file of this process's namespace of clocks; 0 if there is none.
fn clocks() -> u64 {
    fs::metadata("/proc/self/ns/time").map_or(0, |file| file.ino())
}

/// Returns what tells this process from others with its ID. `None` if the system does not tell.
pub fn identity() -> Option<Identity> {
    let start = start_of(std::process::id())?;
    Some(Identity { namespace: namespace()?, clocks: clocks(), start })
}

/// Returns true unless the process with this ID, here, was started at another time than `identity`
/// says. In another namespace of clocks a start is another number, and says nothing.
pub fn may_be(process: u32, identity: Identity) -> bool {
    let same_clocks = identity.clocks == clocks();
    !same_clocks || start_of(process).is_none_or(|start| start == identity.start)
}

/// Returns the ID, here, of the process that has the ID `process` in a namespace of processes
/// below this process's own, as a container has one. `None` if the system does not tell.
pub fn seen_as(process: u32, namespace: u64) -> Option<u32> {
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
