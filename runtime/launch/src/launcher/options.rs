//! Defines the options of a job.

use super::error::LaunchError;
use super::forwarded::Forwarded;
use crate::join::LaunchSocket;
use crate::report::{count, size};
use goal_job::transport::Choice;
use goal_job::{JobSpec, Window};
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize};

/// The way in which the ranks of this host are run.
#[derive(Debug, Clone)]
pub enum Ranks {
    /// Threads of this process.
    Threads,
    /// Processes, one for each rank.
    Processes {
        /// The executable of the processes. Its `main` must first call
        /// [`rank_process`](super::rank_process).
        executable: PathBuf,
    },
    /// Processes of a program, one for each rank. The program starts its own schedules: see
    /// [`program`](goal_rank::program). The job's schedule must be a
    /// [`skeleton`](goal_rank::program::skeleton).
    Program(Program),
    /// Processes that another launcher, such as `mpirun`, has started on this host, one for each
    /// rank. They join at the launch socket and run the job's schedule. If this is a
    /// [`skeleton`](goal_rank::program::skeleton), they are programs that start their own
    /// schedules.
    JoinedRank {
        /// The socket at which the processes join.
        launch_socket: Arc<LaunchSocket>,
        /// True if the processes are programs.
        are_programs: bool,
    },
}

impl Ranks {
    /// Returns true if the ranks are programs, which start schedules of their own.
    pub(crate) fn are_programs(&self) -> bool {
        matches!(self, Ranks::Program(_) | Ranks::JoinedRank { are_programs: true, .. })
    }
}

/// A program whose processes are ranks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The file of the program, or a name to look up in the folders of `PATH`.
    pub executable: PathBuf,
    /// The arguments of the program.
    pub arguments: Vec<OsString>,
}

impl Ranks {
    /// Returns `threads` or `processes`.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Ranks::Threads => "threads",
            Ranks::Processes { .. } | Ranks::Program(_) | Ranks::JoinedRank { .. } => "processes",
        }
    }
}

/// The stage of a job on this host, for a display of the progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Starting the ranks of this host.
    Starting {
        /// The number of ranks that are started.
        started: u32,
        /// The number of ranks of this host.
        ranks: u32,
    },
    /// Waiting until all ranks of this host are ready.
    Preparing {
        /// The number of ranks that are ready.
        ready: u32,
        /// The number of ranks of this host.
        ranks: u32,
    },
    /// Running the schedule.
    Running {
        /// The lowest instance that any rank of this host executes, from 1 on.
        instance: u64,
        /// The number of instances of the schedule.
        repeat: u64,
        /// The number of ranks of this host that have ended all instances.
        finished: u32,
        /// The number of ranks of this host.
        ranks: u32,
    },
    /// Gathering the results of ranks on other hosts.
    Gathering {
        /// The number of bytes that have arrived so far.
        bytes: u64,
    },
}

/// Writes what is done at the stage.
impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Stage::Starting { started, ranks } => write!(f, "starting {started} of {ranks} ranks"),
            Stage::Preparing { ready, ranks } => write!(f, "{ready} of {ranks} ranks are ready"),
            Stage::Running { repeat: 1, finished, ranks, .. } => {
                write!(f, "running, {finished} of {ranks} ranks have ended")
            }
            Stage::Running { instance, repeat, .. } => {
                write!(f, "instance {} of {}", count(instance), count(repeat))
            }
            Stage::Gathering { bytes } => {
                write!(f, "gathering what ranks on other hosts left, {} so far", size(bytes))
            }
        }
    }
}

/// The options of a job.
#[derive(Debug, Clone)]
pub struct Options {
    /// The settings that the user chose.
    pub spec: JobSpec,
    /// The largest message, in bytes, that ranks push: see [`goal_engine::Options::pushed_max`].
    pub pushed_max: u64,
    /// The way in which the ranks of this host are run.
    pub ranks: Ranks,
    /// The transports that may be used.
    pub transports: Choice,
    /// True if each rank records which receive took which message in its last instance.
    pub record: bool,
    /// True if records are kept for [`Outcome::write_trace`](crate::Outcome::write_trace).
    pub traces: bool,
    /// The window through which schedules are run. `None` keeps them in memory as a whole.
    pub window: Option<Window>,
    /// The number of ranks at the end of the schedule that are not started with the job. A job of a
    /// program on one host starts them on request, by `goal-run grow` or
    /// [`Attached::grow`](goal_rank::program::Attached::grow).
    pub reserve: u32,
    /// True if the job is not started when there is no room for these further ranks.
    pub must_grow: bool,
    /// True if the calling thread gives up its capabilities for good before ranks start: see
    /// [`rights`](goal_job::rights).
    pub gives_up_rights: bool,
    /// Ends the job when it is set to the number of a signal. It is 0 at first, and the launcher
    /// may set it to 0 again when it handles the signal.
    pub interrupted: Arc<AtomicUsize>,
    /// The signals that are passed on to the ranks of a program.
    pub forwarded: Forwarded,
    /// Set when the ranks and this process must stop, until another process continues this one. The
    /// time limit does not count this time. A job on several hosts is not stopped, since the other
    /// hosts would take this host for lost.
    pub suspended: Arc<AtomicBool>,
    /// Receives lines of text for the user while the job runs.
    pub tell: fn(&str),
    /// Returns the text for the reason why the job is not started. Other hosts show it too. A
    /// command line adds the name of the option that raises a limit.
    pub explain: fn(&LaunchError) -> String,
    /// Receives the stage of the job. It is called often.
    pub show: fn(Stage),
}

impl Default for Options {
    fn default() -> Self {
        Self {
            spec: JobSpec::default(),
            pushed_max: 0,
            ranks: Ranks::Threads,
            transports: Choice::default(),
            record: false,
            traces: false,
            window: None,
            reserve: 0,
            must_grow: false,
            gives_up_rights: false,
            interrupted: Arc::default(),
            forwarded: Forwarded::default(),
            suspended: Arc::default(),
            tell: |_| {},
            explain: ToString::to_string,
            show: |_| {},
        }
    }
}
