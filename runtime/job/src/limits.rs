//! Defines the limits of a job, and checks the limits of the system before a rank starts.

use rustix::process::{Resource, Rlimit, getuid, setrlimit};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The default limit on the bytes of the segment that the ranks of a job share. Pages that are
/// never touched cost nothing.
pub const SEGMENT_BYTES_MAX: u64 = 1 << 38;

/// The default limit on the bytes of memory, of all ranks together, that the interpreter may need
/// to compare a run.
pub const VERIFIED_BYTES_MAX: u64 = 1 << 32;

/// The default limit on the ranks that a job starts as processes or threads.
pub const STARTED_RANKS_MAX: u32 = 8192;

/// The default limit on the bytes of a rank's memory that are made resident before the rank starts.
/// The system allocates the rest when schedules touch it.
pub const PREFAULT_BYTES_MAX: u64 = 256 << 20;

/// The divisor of the system's free memory. The quotient is the most memory that the ranks of a
/// host together make resident before they start.
pub const PREFAULT_SHARE: u64 = 4;

/// The default limit on the records that a trace of a run keeps, of all ranks together.
pub const TRACE_EVENTS_MAX: u64 = 1 << 24;

pub use goal_shm::{RING_BYTES, RING_BYTES_MAX, RING_BYTES_MIN};

/// The default limit on the packets to a rank on another host before the first packet is
/// acknowledged (`initial_burst_length` of the thesis, 3.2).
pub const INITIAL_BURST: u16 = 16;

/// The default number of seconds of silence after which a host of a job over TCP counts as lost.
pub const FAULT_TIMEOUT_S: u32 = goal_tcp::SILENCE_S;

/// The fewest packets of an initial burst. It is 2, because a receiver acknowledges after half of
/// them.
pub const INITIAL_BURST_MIN: u16 = 2;

/// The limit on the packets in flight from a rank to a rank on another host (`burst_length` of the
/// thesis). It is also the default. The rings of frames have room for this number of packets.
pub const BURST_MAX: u16 = 256;

/// The most bytes of a schedule's file that a program loads by its path. A program that reads the
/// file itself has no such limit.
pub const NISA_BYTES_MAX: u64 = 1 << 32;

/// The most actions of a rank in a linked schedule.
pub const LINKED_ACTIONS_MAX: u32 = 65_536;

/// The most bytes that the ranks of a communicator send to each rank when they link schedules. Each
/// rank sends as many bytes as the longest schedule has.
pub const LINKED_BYTES_MAX: u64 = 64 << 20;

/// The most bytes of a table of decisions.
pub const TABLE_BYTES_MAX: u64 = 1 << 20;

/// The limit on numbers of processors, which are all smaller. It is the size of the system's usual
/// processor sets.
pub const PROCESSORS_MAX: u32 = 1024;

/// The most entries of a list of processors.
pub const LISTED_PROCESSORS_MAX: usize = 8192;

/// The address space in bytes that a process needs for its program, its libraries and a stack,
/// besides that for its job.
const PROCESS_ADDRESSES: u64 = 32 << 20;
/// The least memory that a rank process needs, in bytes.
const PROCESS_MEMORY: u64 = 2 << 20;

/// Returns the soft and the hard limit of this process on a resource. `None` stands for no limit,
/// or for one that the system does not state. Reads `/proc/self/limits`, since a filter of system
/// calls may forbid the system call.
fn rlimit(resource: Resource) -> Rlimit {
    let name = match resource {
        Resource::As => "Max address space",
        Resource::Data => "Max data size",
        Resource::Fsize => "Max file size",
        Resource::Nofile => "Max open files",
        Resource::Nproc => "Max processes",
        _ => unreachable!("this crate asks for no other limit"),
    };
    let text = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
    let mut numbers = line.split_whitespace().map(|number| number.parse().ok());
    Rlimit { current: numbers.next().flatten(), maximum: numbers.next().flatten() }
}

/// Returns a text that lists the limits of this process on memory; `None` if there are none.
fn memory_limits() -> Option<String> {
    let of = |resource, option, what| {
        let bytes: u64 = rlimit(resource).current?;
        Some(format!("ulimit -{option} allows {} KiB of {what}", bytes >> 10))
    };
    let both = [
        of(Resource::As, 'v', "address space"),
        of(Resource::Data, 'd', "memory that a process may write"),
    ];
    let both: Vec<String> = both.into_iter().flatten().collect();
    (!both.is_empty()).then(|| both.join(", and "))
}

/// Returns the text of an error of the system, with the limit that probably caused the error.
pub fn named(cause: &io::Error) -> String {
    let limit = |resource| rlimit(resource).current;
    let limit = match cause.raw_os_error() {
        Some(libc::EMFILE) => {
            limit(Resource::Nofile).map(|files| format!("ulimit -n allows {files} open files"))
        }
        Some(libc::ENOMEM) => Some(memory_limits().unwrap_or_else(|| {
            "memory is used up, or vm.overcommit_memory forbids to ask for more than there is"
                .to_owned()
        })),
        Some(libc::EAGAIN) => Some(match limit(Resource::Nproc) {
            Some(tasks) => format!(
                "ulimit -u allows this user {tasks} processes and threads; pids.max of the control group may allow fewer"
            ),
            None => "pids.max of the control group or kernel.threads-max allows no more".to_owned(),
        }),
        Some(libc::EFBIG) => limit(Resource::Fsize)
            .map(|bytes| format!("ulimit -f allows files of {} KiB", bytes >> 10)),
        Some(libc::EPERM | libc::ENOSYS) => Some("a seccomp filter forbids it?".to_owned()),
        _ => None,
    };
    limit.map_or_else(|| cause.to_string(), |limit| format!("{cause} ({limit})"))
}

/// The error that a limit of the system is too low for a job.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub struct Shortage(#[from] Limit);

/// The limit of the system that is too low.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum Limit {
    /// The limit on the address space of a process.
    #[error(
        "{} {} KiB of address space ({} KiB for what all ranks share), and ulimit -v allows {} KiB",
        if *are_processes { "a rank needs" } else { "the ranks need" },
        needed >> 10,
        shared >> 10,
        limit >> 10
    )]
    Addresses {
        /// True if each rank is a process.
        are_processes: bool,
        /// The bytes that a process needs.
        needed: u64,
        /// The part of `needed` that all ranks share, in bytes.
        shared: u64,
        /// The bytes that the system allows.
        limit: u64,
    },
    /// The limit on the number of processes and threads of a user.
    #[error(
        "{ranks} ranks need {needed} processes and threads beside the launcher, and ulimit -u allows this user {limit}"
    )]
    Tasks {
        /// The number of ranks.
        ranks: u64,
        /// The number of processes and threads that the job needs.
        needed: u64,
        /// The number that the system allows.
        limit: u64,
    },
    /// The limit on the number of open files of a process.
    #[error(
        "the launcher needs about {needed} open files (ranks on this host: {ranks}), and ulimit -n allows {limit}: raise it"
    )]
    Files {
        /// The number of ranks.
        ranks: u64,
        /// The number of files that the launcher needs.
        needed: u64,
        /// The number that the system allows.
        limit: u64,
    },
}

/// The resources that a launcher is about to use.
#[derive(Debug, Clone, Copy)]
pub struct Demand {
    /// The number of ranks of this host.
    pub ranks: u64,
    /// True if each rank is a process.
    pub are_processes: bool,
    /// The number of threads of each rank.
    pub threads: u64,
    /// The bytes of the segment and the schedule, which every rank maps.
    pub shared: u64,
    /// The bytes of address space that each rank needs for itself.
    pub own: u64,
    /// The number of files that the launcher will have open; 0 if there are only few.
    pub files: u64,
    /// The bytes of memory that the schedules of all ranks together refer to.
    pub memory: u64,
}

impl Demand {
    /// Returns an error if a limit of this process is certainly too low for this demand.
    pub fn check(&self) -> Result<(), Shortage> {
        let limits = [Resource::As, Resource::Nproc, Resource::Nofile]
            .map(|resource| rlimit(resource).current);
        self.fits(limits, getuid().is_root())
    }

    fn fits(
        &self,
        [addresses, tasks, files]: [Option<u64>; 3],
        is_root: bool,
    ) -> Result<(), Shortage> {
        let each = if self.are_processes { 1 } else { self.ranks };
        let needed = self
            .shared
            .saturating_add(self.own.saturating_mul(each))
            .saturating_add(PROCESS_ADDRESSES);
        if let Some(limit) = addresses.filter(|&limit| limit < needed) {
            let Self { are_processes, shared, .. } = *self;
            return Err(Limit::Addresses { are_processes, needed, shared, limit }.into());
        }
        let needed = self.ranks.saturating_mul(self.threads);
        // This limit does not apply to root.
        if let Some(limit) = tasks.filter(|&limit| limit <= needed && !is_root) {
            return Err(Limit::Tasks { ranks: self.ranks, needed, limit }.into());
        }
        check_files(self.ranks, self.files, files)
    }

    /// Returns a warning if the job may need more memory than is free; `None` otherwise. The job
    /// may run all the same, since a schedule need not touch all the memory that it refers to.
    pub fn doubt(&self) -> Option<String> {
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

/// Returns an error if this process may not have `needed` files open.
pub fn check_open_files(ranks: u64, needed: u64) -> Result<(), Shortage> {
    check_files(ranks, needed, rlimit(Resource::Nofile).current)
}

fn check_files(ranks: u64, needed: u64, limit: Option<u64>) -> Result<(), Shortage> {
    match limit {
        Some(limit) if limit < needed => Err(Limit::Files { ranks, needed, limit }.into()),
        _ => Ok(()),
    }
}

/// Returns the number of files that this process may still open; `u64::MAX` if the system does not
/// state it.
pub fn open_files_left() -> u64 {
    let left = || {
        let limit = rlimit(Resource::Nofile).current?;
        let open = fs::read_dir("/proc/self/fd").ok()?.count() as u64;
        Some(limit.saturating_sub(open))
    };
    left().unwrap_or(u64::MAX)
}

/// The limit on open files before [`raise_open_files`] has raised it.
static OPEN_FILES: OnceLock<Rlimit> = OnceLock::new();

/// Raises the soft limit on open files of this process to the hard limit.
pub fn raise_open_files() {
    let limit = rlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        // A failure is ignored. If the process reaches the limit later, the error names the limit.
        let raised = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
        let _ = raised.map(|()| OPEN_FILES.set(limit));
    }
}

/// Restores the limit that [`raise_open_files`] has raised. A child calls this before it executes a
/// program of the user. Makes only system calls.
pub fn restore_open_files() {
    if let Some(&Rlimit { current, maximum }) = OPEN_FILES.get() {
        let _ = setrlimit(Resource::Nofile, Rlimit { current, maximum });
    }
}

/// Returns the number of bytes of memory that are free for this process. It is the least of the
/// system's free memory and of what each of the process's control groups allows. Returns `None` if
/// the system does not state it.
pub fn free_memory() -> Option<u64> {
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
        // Without a limit the file holds `max`, which is no number.
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
        files: 36,
        memory: 8 << 20,
    };

    #[test]
    fn a_limit_that_is_too_low_is_named() {
        let fits = |demand: Demand, limits, is_root| demand.fits(limits, is_root);
        assert_eq!(fits(DEMAND, [None; 3], false), Ok(()));
        assert_eq!(fits(DEMAND, [Some(1156 << 20), Some(5), Some(36)], false), Ok(()));
        let why =
            fits(DEMAND, [Some((1156 << 20) - 1), None, None], false).unwrap_err().to_string();
        assert_eq!(
            why,
            "a rank needs 1183744 KiB of address space (102400 KiB for what all ranks share), and ulimit -v allows 1183743 KiB"
        );
        let threads = Demand { are_processes: false, ..DEMAND };
        let why = fits(threads, [Some(4 << 30), None, None], false).unwrap_err().to_string();
        assert!(why.starts_with("the ranks need 4329472 KiB of address space"), "{why}");
        let why = fits(Demand { threads: 2, ..DEMAND }, [None, Some(8), None], false)
            .unwrap_err()
            .to_string();
        assert!(
            why.ends_with(
                "need 8 processes and threads beside the launcher, and ulimit -u allows this user 8"
            ),
            "{why}"
        );
        assert_eq!(fits(DEMAND, [None, Some(1), None], true), Ok(()));
        let why = fits(DEMAND, [None, None, Some(35)], false).unwrap_err().to_string();
        assert!(
            why.ends_with(
                "needs about 36 open files (ranks on this host: 4), and ulimit -n allows 35: raise it"
            ),
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
        assert!(rlimit(Resource::Nofile).current.is_some_and(|files| files > 0));
        // Of others nothing is added.
        assert_eq!(text(libc::ENOENT), io::Error::from_raw_os_error(libc::ENOENT).to_string());
    }
}
