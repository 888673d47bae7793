//! What a job is asked to do.

use crate::engine;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
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

/// Settings of a job.
#[derive(Debug, Clone)]
pub struct Options {
    /// Of each rank's engine.
    pub engine: engine::Options,
    /// What the ranks are.
    pub ranks: Ranks,
    /// Instances of the schedule, one after the other without a barrier; at least 1.
    pub repeat: u64,
    /// Whether to keep which receive took which message, of the last instance.
    pub record: bool,
    /// After this time the job is ended.
    pub timeout: Option<Duration>,
    /// Most bytes of the segment that ranks share.
    pub segment_bytes_max: u64,
    /// Most bytes of memory of all ranks that the interpreter may need where it compares the run.
    pub verified_bytes_max: u64,
    /// Most ranks that are started.
    pub ranks_max: u32,
    /// Ends the job when it becomes the number of a signal.
    pub interrupted: Arc<AtomicUsize>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            engine: engine::Options::default(),
            ranks: Ranks::Threads,
            repeat: 1,
            record: false,
            timeout: None,
            segment_bytes_max: goal_lang::limits::SEGMENT_BYTES_MAX,
            verified_bytes_max: goal_lang::limits::VERIFIED_BYTES_MAX,
            ranks_max: goal_lang::limits::STARTED_RANKS_MAX,
            interrupted: Arc::default(),
        }
    }
}
