//! Names the reasons why a member can't be started, or why one of its functions ends early.

use goal_engine::{Failure, OutOfMemory};
use goal_eth::OpenError;
use goal_job::limits::named;
use std::io;

/// The reason why a rank's [`Member`](super::Member) can't be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The fabrics to ranks on other hosts can't be opened.
    #[error(transparent)]
    Driver(#[from] OpenError),
    /// The system has no address space for the state of the engine.
    #[error("no address space for {} MiB of what the rank remembers: {}", bytes >> 20, named(cause))]
    Memory {
        /// The size of the state in bytes.
        bytes: u64,
        /// The system's error.
        cause: io::Error,
    },
    /// The rank's part of the schedule in the kernel can't be used.
    #[error("the rank's part of the schedule in the kernel can't be used: {}", named(.0))]
    Kernel(io::Error),
    /// The system can't start the thread for the rank's progress.
    #[error("no thread for the progress of the rank: {}", named(cause))]
    Thread {
        /// The system's error.
        cause: io::Error,
    },
    /// The rank can't be bound to its processor.
    #[error(transparent)]
    Binding(io::Error),
    /// Mode `node` can't be entered or left while the job runs: it is chosen when the job starts.
    #[error("mode node can't be entered or left while the job runs: choose it at its start")]
    Fixed,
    /// Mode `node` is for jobs on one host: only a rank's own process has the rank's streams to
    /// other hosts.
    #[error(
        "ranks can't act for each other where some are on other hosts: take another mode of progress"
    )]
    OtherHosts,
    /// Mode `node` needs whole schedules: only a rank's own process has the actions in the rank's
    /// window.
    #[error(
        "ranks can't act for each other where each reads its schedule through a window: take another mode of progress"
    )]
    Windows,
    /// This process has another member of the rank.
    #[error("the rank has a member in this process: one at a time")]
    Taken,
    /// An earlier member of the rank left instances in the segment that it had not finished.
    #[error(
        "a member of the rank was there before and left instances that it had not finished: finish them first"
    )]
    Left,
}

/// The reason why a function of [`Member`](super::Member) ended early. The job can't go on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Interrupted {
    /// An action of the rank can't be executed.
    #[error(transparent)]
    Failed(#[from] Failure),
    /// The launcher stopped the job.
    #[error("the job was stopped")]
    Stopped,
    /// The launcher stopped the job because no rank could go on. In a job of programs, a rank that
    /// waits then leaves a text on its wait: [`Attached::fail`](crate::program::Attached::fail).
    #[error("no rank can go on")]
    Stuck,
    /// The launcher stopped the job because the time is up. In a job of programs, a rank that waits
    /// then leaves a text on its wait, too.
    #[error("the time is up")]
    Late,
    /// A rank is lost; the text names it.
    #[error("{0}")]
    Lost(String),
    /// The state of the rank's engine has no more room.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
    /// The thread for the rank's progress panicked.
    #[error("the thread for its progress panicked: {0}")]
    Panicked(String),
}
