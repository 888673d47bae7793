//! Names the reasons why a process can't become a rank of a program, or can't end its part in the
//! job.

use crate::progress::{Interrupted, StartError};
use goal_job::bootstrap::OF_PROGRAM;
use goal_job::limits::named;
use std::io;

/// The reason why a process can't attach to its job.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AttachError {
    /// This process has attached before.
    #[error("this process has attached to its job before: it can do so once")]
    Again,
    /// The file of this process gave it rights that its starter lacks.
    #[error(
        "a rank has no rights that its starter lacks, and the file of this program gave it some (chmod ug-s it, setcap -r it)"
    )]
    Rights,
    /// The bootstrap record in the environment is not one that a launcher gave to this process.
    #[error(
        "{OF_PROGRAM} is set, but this process can't be the rank that it says: {}: unset it to run alone",
        named(.0)
    )]
    RankBootstrap(io::Error),
    /// Another process has attached as this rank.
    #[error(
        "rank {rank} is taken: process {process} has attached as it, and one process of a rank can (unset {OF_PROGRAM} for a program that is to run alone)"
    )]
    Taken {
        /// The rank.
        rank: u32,
        /// The ID of the other process.
        process: u32,
    },
    /// The job has ended before all ranks had attached.
    #[error("the job has ended before all ranks had attached")]
    Stopped,
    /// The rank can't be bound to its processor.
    #[error(transparent)]
    Binding(io::Error),
    /// The rank's member can't be started.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The system has no more memory or descriptors.
    #[error("{}", named(.0))]
    System(#[from] io::Error),
}

/// The reason why a rank can't end its part in its job.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FinalizeError {
    /// Instances that were started were not finished.
    #[error("schedules were started and not finished: wait for them and finish them first")]
    Unfinished,
    /// The job can't go on.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}
