//! What a job is asked to do.

use crate::job::{Mode, Window};
use crate::transport::Choice;
use crate::wait::Wait;
use goal_engine as engine;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::time::Duration;

/// What the ranks are.
#[derive(Debug, Clone)]
pub enum Ranks {
    /// Threads of this process.
    Threads,
    /// Processes.
    Processes {
        /// A program that calls [`rank_process`](super::rank_process) before anything else.
        executable: PathBuf,
    },
}

/// The current stage of a launcher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Starting the ranks of this host.
    Starting {
        /// Ranks that are started.
        started: u32,
        /// All of this host.
        ranks: u32,
    },
    /// Waiting until all ranks of this host are ready.
    Preparing {
        /// Ranks that are ready.
        ready: u32,
        /// All of this host.
        ranks: u32,
    },
    /// All are at work.
    Running {
        /// The instance of the rank of this host that is farthest behind, from 1 on.
        instance: u64,
        /// All instances.
        repeat: u64,
        /// Ranks of this host that have ended all of theirs.
        finished: u32,
        /// All of this host.
        ranks: u32,
    },
    /// Gathering what ranks of other hosts left.
    Gathering {
        /// Bytes so far.
        bytes: u64,
    },
}

/// Settings of a job.
#[derive(Debug, Clone)]
pub struct Options {
    /// Of each rank's engine.
    pub engine: engine::Options,
    /// What the ranks are.
    pub ranks: Ranks,
    /// Which transports serve it.
    pub transports: Choice,
    /// Who makes schedules go on while their ranks do something else.
    pub progress: Mode,
    /// How ranks wait.
    pub wait: Wait,
    /// Instances of the schedule, one after the other without a barrier; at least 1.
    pub repeat: u64,
    /// Whether to keep which receive took which message, of the last instance.
    pub record: bool,
    /// Most records of what happened when that are kept, all ranks together, for
    /// [`Outcome::write_trace`](super::Outcome::write_trace); the last ones of each rank are.
    /// `None` records nothing.
    pub trace_events: Option<u64>,
    /// The window that schedules are run through; `None` holds them whole.
    pub window: Option<Window>,
    /// After this time the job is ended.
    pub timeout: Option<Duration>,
    /// Most bytes of the segment that ranks share.
    pub segment_bytes_max: u64,
    /// Most bytes of memory of all ranks that the interpreter may need where it compares the run.
    pub verified_bytes_max: u64,
    /// Most ranks that are started.
    pub ranks_max: u32,
    /// True if the calling thread gives up its rights before ranks start, as
    /// [`rights`](crate::rights) says: it does not get them back.
    pub gives_up_rights: bool,
    /// Ends the job when it becomes the number of a signal.
    pub interrupted: Arc<AtomicUsize>,
    /// Stops the ranks and this process when it becomes true, until somebody continues this
    /// process. The time limit does not count that time. A job on several hosts goes on, as other
    /// hosts would take this one for lost.
    pub suspended: Arc<AtomicBool>,
    /// Tells people something worth a line while the job runs.
    pub tell: fn(&str),
    /// Shows how far the job is; called often.
    pub show: fn(Stage),
}

impl Default for Options {
    fn default() -> Self {
        Self {
            engine: engine::Options::default(),
            ranks: Ranks::Threads,
            transports: Choice::default(),
            progress: Mode::default(),
            wait: Wait::default(),
            repeat: 1,
            record: false,
            trace_events: None,
            window: None,
            timeout: None,
            segment_bytes_max: crate::limits::SEGMENT_BYTES_MAX,
            verified_bytes_max: crate::limits::VERIFIED_BYTES_MAX,
            ranks_max: crate::limits::STARTED_RANKS_MAX,
            gives_up_rights: false,
            interrupted: Arc::default(),
            suspended: Arc::default(),
            tell: |_| {},
            show: |_| {},
        }
    }
}
