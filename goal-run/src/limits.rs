//! A job's limits: its own, and the system's in words, with what is known not to fit before a rank
//! starts.

use rustix::process::{Resource, Rlimit, getrlimit, getuid, setrlimit};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Most bytes of the segment that the ranks of a job share, by default (`--max-segment`). Pages
/// that are never touched cost nothing.
pub const SEGMENT_BYTES_MAX: u64 = 1 << 38;

/// Most bytes of memory of all ranks together that a run is compared with the interpreter's, by
/// default (`--max-verified`).
pub const VERIFIED_BYTES_MAX: u64 = 1 << 32;

/// Most ranks that a job starts as processes or threads, by default (`--max-started`).
pub const STARTED_RANKS_MAX: u32 = 8192;

/// Most records that a trace of a run keeps, all ranks together, by default (`--trace-max`).
pub const TRACE_EVENTS_MAX: u64 = 1 << 24;

/// Bytes of address space that a process needs beside what its job asks for: the program, its
/// libraries, a stack.
const PROCESS_ADDRESSES: u64 = 32 << 20;
/// Bytes of memory that a rank process takes at least.
const PROCESS_MEMORY: u64 = 2 << 20;
/// Descriptors of a launcher beside those of its ranks.
const DESCRIPTORS: u64 = 24;

/// An error of the system, with the limit behind it.
pub(crate) fn named(cause: &io::Error) -> String {
    let limit = |resource| getrlimit(resource).current;
    let limit = match cause.raw_os_error() {
        Some(libc::EMFILE) => {
            limit(Resource::Nofile).map(|files| format!("ulimit -n allows {files} open files"))
        }
        Some(libc::ENOMEM) => Some(match limit(Resource::As) {
            Some(bytes) => format!("ulimit -v allows {} KiB of address space", bytes >> 10),
            None => {
                "memory is used up, or vm.overcommit_memory forbids to ask for more than there is"
                    .to_owned()
            }
        }),
        Some(libc::EAGAIN) => Some(match limit(Resource::Nproc) {
            Some(tasks) => format!(
                "ulimit -u allows this user {tasks} processes and threads; pids.max of the control group may allow fewer"
            ),
            None => "pids.max of the control group or kernel.threads-max allows no more".to_owned(),
        }),
        Some(libc::EPERM | libc::ENOSYS) => Some("a seccomp filter forbids it?".to_owned()),
        _ => None,
    };
    limit.map_or_else(|| cause.to_string(), |limit| format!("{cause} ({limit})"))
}

/// The resources that a launcher is about to use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Demand {
    /// Ranks of this host, and whether each is a process.
    pub(crate) ranks: u64,
    pub(crate) are_processes: bool,
    /// Threads of each rank.
    pub(crate) threads: u64,
    /// Bytes that all ranks map: the segment and the schedule.
    pub(crate) shared: u64,
    /// Bytes of address space that each rank alone needs.
    pub(crate) own: u64,
    /// Descriptors of the launcher for each rank.
    pub(crate) descriptors: u64,
    /// Bytes of memory that schedules name, all ranks together.
    pub(crate) memory: u64,
}

impl Demand {
    /// Returns an error if a limit of this process is too low for certain.
    pub(crate) fn check(&self) -> Result<(), String> {
        let limits = [Resource::As, Resource::Nproc, Resource::Nofile]
            .map(|resource| getrlimit(resource).current);
        self.fits(limits, getuid().is_root())
    }

    fn fits(
        &self,
        [addresses, tasks, files]: [Option<u64>; 3],
        is_root: bool,
    ) -> Result<(), String> {
        let each = if self.are_processes { 1 } else { self.ranks };
        let needed = self
            .shared
            .saturating_add(self.own.saturating_mul(each))
            .saturating_add(PROCESS_ADDRESSES);
        if let Some(limit) = addresses.filter(|&limit| limit < needed) {
            let what = if self.are_processes { "a rank needs" } else { "the ranks need" };
            return Err(format!(
                "{what} {} KiB of address space ({} KiB for what all ranks share), and ulimit -v allows {} KiB",
                needed >> 10,
                self.shared >> 10,
                limit >> 10
            ));
        }
        let wanted = self.ranks.saturating_mul(self.threads);
        // The system counts no processes of root.
        if let Some(limit) = tasks.filter(|&limit| limit <= wanted && !is_root) {
            return Err(format!(
                "{} ranks need {wanted} processes and threads beside the launcher, and ulimit -u allows this user {limit}",
                self.ranks
            ));
        }
        let wanted = self.ranks.saturating_mul(self.descriptors).saturating_add(DESCRIPTORS);
        if let Some(limit) = files.filter(|&limit| limit < wanted && self.descriptors > 0) {
            return Err(format!(
                "{} ranks need about {wanted} open files of their launcher, and ulimit -n allows {limit}",
                self.ranks
            ));
        }
        Ok(())
    }

    /// Tells what may not fit into the memory that is free, in words. A schedule need not touch all
    /// that it names.
    pub(crate) fn doubt(&self) -> Option<String> {
        self.exceeds(free_memory()?)
    }

    fn exceeds(&self, free: u64) -> Option<String> {
        let processes =
            if self.are_processes { self.ranks.saturating_mul(PROCESS_MEMORY) } else { 0 };
        let needed = processes.saturating_add(self.memory);
        (needed > free).then(|| {
            format!(
                "{} ranks may need {} MiB of memory, and {} MiB are free: the system may end one of them",
                self.ranks,
                needed >> 20,
                free >> 20
            )
        })
    }
}

/// Lets this process open as many files as it may.
pub fn raise_open_files() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum {
        // Where it stays as it is, the limit is told when it is met.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    }
}

/// Bytes of memory that are free for this process: of the system, and of each control group that it
/// is in. `None` where nobody tells.
fn free_memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let of_system = line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()? << 10;
    let group = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let group = group.lines().find_map(|line| line.strip_prefix("0::/")).unwrap_or_default();
    let root = Path::new("/sys/fs/cgroup");
    let groups = root.join(group);
    let free = |group: &Path| {
        let number = |name: &str| {
            fs::read_to_string(PathBuf::from(group).join(name)).ok()?.trim().parse::<u64>().ok()
        };
        // Where there is no limit the word is max.
        Some(number("memory.max")?.saturating_sub(number("memory.current")?))
    };
    let of_groups = groups.ancestors().take_while(|group| group.starts_with(root)).filter_map(free);
    of_groups.chain([of_system]).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEMAND: Demand = Demand {
        ranks: 4,
        are_processes: true,
        threads: 1,
        shared: 100 << 20,
        own: 1 << 30,
        descriptors: 3,
        memory: 8 << 20,
    };

    #[test]
    fn a_limit_that_is_too_low_is_named() {
        let fits = |demand: Demand, limits, is_root| demand.fits(limits, is_root);
        assert_eq!(fits(DEMAND, [None; 3], false), Ok(()));
        assert_eq!(fits(DEMAND, [Some(1156 << 20), Some(5), Some(36)], false), Ok(()));
        let why = fits(DEMAND, [Some((1156 << 20) - 1), None, None], false).unwrap_err();
        assert_eq!(
            why,
            "a rank needs 1183744 KiB of address space (102400 KiB for what all ranks share), and ulimit -v allows 1183743 KiB"
        );
        let threads = Demand { are_processes: false, ..DEMAND };
        let why = fits(threads, [Some(4 << 30), None, None], false).unwrap_err();
        assert!(why.starts_with("the ranks need 4329472 KiB of address space"), "{why}");
        let why = fits(Demand { threads: 2, ..DEMAND }, [None, Some(8), None], false).unwrap_err();
        assert!(
            why.ends_with(
                "need 8 processes and threads beside the launcher, and ulimit -u allows this user 8"
            ),
            "{why}"
        );
        assert_eq!(fits(DEMAND, [None, Some(1), None], true), Ok(()));
        let why = fits(DEMAND, [None, None, Some(35)], false).unwrap_err();
        assert!(
            why.ends_with("need about 36 open files of their launcher, and ulimit -n allows 35"),
            "{why}"
        );
    }

    #[test]
    fn memory_that_may_not_do_is_told() {
        assert_eq!(DEMAND.exceeds(16 << 20), None);
        let doubt = DEMAND.exceeds((16 << 20) - 1).unwrap();
        assert!(
            doubt.starts_with("4 ranks may need 16 MiB of memory, and 15 MiB are free"),
            "{doubt}"
        );
        assert!(free_memory().is_none_or(|free| free > 0));
    }

    #[test]
    fn errors_name_their_limit() {
        let text = |errno| named(&io::Error::from_raw_os_error(errno));
        assert!(text(libc::EMFILE).contains("ulimit -n allows"), "{}", text(libc::EMFILE));
        assert!(text(libc::EPERM).contains("seccomp"));
        assert!(text(libc::ENOMEM).contains("memory"));
        // Of others nothing is added.
        assert_eq!(text(libc::ENOENT), io::Error::from_raw_os_error(libc::ENOENT).to_string());
    }
}
