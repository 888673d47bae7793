//! Defines the reasons why a job is not started.

use crate::monitor::signal_name;
use goal_job::{limits, rights};
use std::error::Error;
use std::io;
use std::path::Path;

/// The reason why a job is not started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// The program needs more shared memory than [`JobSpec::segment_bytes_max`](goal_job::JobSpec).
    #[error(transparent)]
    TooLarge(#[from] goal_shm::SegmentTooLarge),
    /// The program has more ranks than [`JobSpec::ranks_max`](goal_job::JobSpec).
    #[error("the program has {ranks} ranks, and at most {limit} are started")]
    TooManyRanks {
        /// The number of ranks of the program.
        ranks: u32,
        /// The number of ranks that are allowed.
        limit: u32,
    },
    /// No transport is left with which a rank reaches another one or itself.
    #[error(transparent)]
    Unreachable(#[from] goal_job::transport::Unreachable),
    /// The interpreter would need more memory to compare the run than
    /// [`JobSpec::verified_bytes_max`](goal_job::JobSpec).
    #[error(
        "the interpreter needs {needed} bytes for the memory of all ranks, the limit is {limit}"
    )]
    TooLargeToVerify {
        /// The number of bytes that the interpreter needs.
        needed: u64,
        /// The number of bytes that are allowed.
        limit: u64,
    },
    /// A window can't record matches, since the record would be as long as the schedule.
    #[error(
        "what receives take is not recorded in a window: verify the run without one, or leave out the record"
    )]
    RecordInWindow,
    /// Mode `node` needs whole schedules, because only a rank's own process can read its window.
    #[error("ranks can't act for each other where each reads its schedule through a window")]
    NodeInWindow,
    /// Mode `node` is for jobs on one host, because only a rank's own process has its connections.
    #[error("ranks can't act for each other where some are on other hosts")]
    NodeOnHosts,
    /// The schedule can't run in the kernel, as [`JobSpec::offload`](goal_job::JobSpec) asks.
    #[error("the schedule can't run in the kernel: {0}")]
    Offload(String),
    /// The job can't go on after the loss of a rank, as
    /// [`JobSpec::survives`](goal_job::JobSpec) asks.
    #[error("this job can't go on after the loss of a rank: {0}")]
    CannotSurvive(&'static str),
    /// Ranks can't be bound to the processors of the list.
    #[error(transparent)]
    Binding(#[from] goal_job::binding::BindingError),
    /// The hosts of the job do not agree, or do not find each other.
    #[error("the job does not start: {0}")]
    Hosts(#[source] Box<dyn Error + Send + Sync>),
    /// The interface to the other hosts can't be opened.
    #[error(transparent)]
    Interface(#[from] goal_eth::OpenError),
    /// A signal ended this launcher before it had started ranks.
    #[error("ended by {}", signal_name(*.0))]
    Interrupted(usize),
    /// The system refuses to start another process or thread.
    #[error("the ranks can't be started: the system refuses {kind} {} of {wanted}: {}", started + 1, limits::named(cause))]
    Refused {
        /// The kind, `process` or `thread`.
        kind: &'static str,
        /// The number of ranks that were started before.
        started: usize,
        /// The number of ranks that the job needs.
        wanted: usize,
        /// The system's error.
        cause: io::Error,
    },
    /// The executable for rank processes does not exist.
    #[error(
        "the ranks can't be started: this program is not found (/proc is not mounted, or the file is gone): mount /proc"
    )]
    Executable,
    /// The program can't be executed.
    #[error("{program} can't be started: {}", limits::named(cause))]
    Program {
        /// The name of the program.
        program: String,
        /// The system's error.
        cause: io::Error,
    },
    /// The program would get sockets that only this launcher's file has the right to open.
    #[error(
        "the ranks can't be started: this file has capabilities, and a program would get the sockets that they open: start it as root, or with capabilities of the user's own (setpriv --inh-caps +net_raw --ambient-caps +net_raw)"
    )]
    ProgramSockets,
    /// The user could take the sockets of rank processes.
    #[error("the ranks can't be started: {0}")]
    Exposed(#[from] rights::Exposed),
    /// A limit of the system is too low for the job.
    #[error("the ranks can't be started: {0}")]
    Limit(#[from] limits::Shortage),
    /// A rank could not start. The text is the rank's own error.
    #[error("the ranks can't be started: {0}")]
    Rank(String),
    /// The system has no more memory, processes, threads or descriptors.
    #[error("the ranks can't be started: {}", limits::named(.0))]
    System(#[from] io::Error),
}

impl LaunchError {
    /// Returns the error for a process of a program that could not be started after `started`
    /// others.
    pub(super) fn of_program(
        program: &Path,
        started: usize,
        wanted: usize,
        cause: io::Error,
    ) -> Self {
        match cause.raw_os_error() {
            Some(libc::EAGAIN | libc::ENOMEM | libc::EMFILE | libc::ENFILE) => {
                Self::of_spawn(started, wanted, cause)
            }
            _ => Self::Program { program: program.display().to_string(), cause },
        }
    }

    /// Returns the error for a rank process of a schedule that could not be started after `started`
    /// others.
    pub(super) fn of_spawn(started: usize, wanted: usize, cause: io::Error) -> Self {
        match cause.raw_os_error() {
            Some(libc::ENOENT) => Self::Executable,
            Some(libc::EMFILE | libc::ENFILE) => Self::System(cause),
            _ => Self::Refused { kind: "process", started, wanted, cause },
        }
    }
}
