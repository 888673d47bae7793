//! Starts the ranks of a job, watches over them and cleans up.
//!
//! Everything that ranks share lies in one segment that the launcher makes, be they processes or threads. When
//! [`run`] returns, no rank is left. The launcher may die at any moment: the kernel then ends its rank processes, and
//! the segment, which has no name, goes with them.

mod faults;
mod options;
mod outcome;
mod process;
mod processes;
mod supervise;
mod threads;

pub use options::{Options, Ranks, Window};
pub use outcome::{Counts, End, Outcome};
pub use process::rank_process;

use crate::progress::Mode;
use crate::rank::{Settings, layout};
use crate::shm::{Sealed, Segment};
use crate::transport::Distance;
use crate::verify;
use goal_asm::Nisa;
use goal_asm::nisa::Operation;
use processes::Processes;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use supervise::Supervisor;

/// Why no rank was started, or not all.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// The program needs more shared memory than allowed.
    #[error(transparent)]
    TooLarge(#[from] crate::shm::SegmentTooLarge),
    /// The program has more ranks than may be started.
    #[error("the program has {ranks} ranks, and at most {limit} are started (--max-started raises it)")]
    TooManyRanks {
        /// Ranks of the program.
        ranks: u32,
        /// Ranks allowed.
        limit: u32,
    },
    /// No transport is left to a rank.
    #[error(transparent)]
    Unreachable(#[from] crate::transport::Unreachable),
    /// The interpreter would need more memory than allowed to compare the run.
    #[error(
        "the interpreter needs {needed} bytes for the memory of all ranks, the limit is {limit} (--max-verified raises it)"
    )]
    TooLargeToVerify {
        /// Bytes needed.
        needed: u64,
        /// Bytes allowed.
        limit: u64,
    },
    /// A record of what matched what would grow with the schedule.
    #[error(
        "what receives take is not recorded in a window: verify the run without one, or leave out the record"
    )]
    RecordInWindow,
    /// What a window has read is known to its rank alone.
    #[error(
        "ranks can't act for each other where each reads its schedule through a window: leave --window out, or take --progress thread"
    )]
    NodeInWindow,
    /// The system has no more memory, processes, threads or descriptors.
    #[error("the ranks can't be started: {0}")]
    System(#[from] io::Error),
}

/// Runs every rank of a schedule to the end of the job, whatever that is.
///
/// # Errors
/// Where the ranks can't be started.
pub fn run(nisa: &Arc<Nisa>, options: &Options) -> Result<Outcome, LaunchError> {
    let (ranks, limit) = (nisa.num_ranks(), options.ranks_max);
    if ranks > limit {
        return Err(LaunchError::TooManyRanks { ranks, limit });
    }
    if options.progress == Mode::Node && options.window.is_some() {
        return Err(LaunchError::NodeInWindow);
    }
    if options.record && options.window.is_some() {
        return Err(LaunchError::RecordInWindow);
    }
    let has_time = has_time(nisa);
    let settings = Settings {
        eager_limit: options.engine.eager_limit,
        unexpected_limit: options.engine.unexpected_limit,
        calc: match options.engine.calc {
            crate::engine::Calc::Skip => None,
            crate::engine::Calc::Scaled(factor) => Some(factor),
        },
        repeat: options.repeat,
        check: !has_time,
        record: options.record || has_time,
        trace_events: options.trace_events.map_or(0, |events| (events / u64::from(ranks.max(1))).max(1)),
        window: options.window.as_ref().map(|window| window.settings),
        paths: options.transports.paths(Distance::farthest(ranks, false))?,
        crowded: is_crowded(ranks),
        progress: options.progress,
        wait: options.wait,
        network: None,
    };
    if settings.record {
        let (needed, limit) = (memory_bytes(nisa), options.verified_bytes_max);
        if needed > limit {
            return Err(LaunchError::TooLargeToVerify { needed, limit });
        }
    }
    let segment = Segment::create(layout(nisa, &settings, options.segment_bytes_max)?)?;
    let _bells = hang_up_bells(&segment, &settings)?;
    let supervisor = Supervisor::new(&segment, nisa, options);
    let end = match &options.ranks {
        Ranks::Threads => threads::run(&segment, nisa, &settings, options.window.as_ref(), supervisor)?,
        Ranks::Processes { executable } => {
            let sealed = Sealed::copy_of(nisa.bytes())?;
            let mut processes = Processes::spawn(
                &segment,
                &sealed,
                &settings,
                options.window.as_ref(),
                executable,
                &options.interrupted,
            )?;
            let end = supervisor.watch(&mut || processes.fallen());
            if end == End::Complete {
                processes.join(&segment);
            }
            end
        }
    };
    let mut outcome = Outcome::new(end, segment, nisa, options);
    if outcome.end == End::Complete {
        let texts = if has_time { verify::unmet(&outcome) } else { outcome.notes() };
        if !texts.is_empty() {
            outcome.end = End::Failed(texts);
        }
    }
    Ok(outcome)
}

/// What wakes ranks that wait for messages from other hosts too.
fn hang_up_bells(segment: &Segment, settings: &Settings) -> io::Result<Vec<OwnedFd>> {
    let Some(network) = &settings.network else { return Ok(Vec::new()) };
    let here = (0..segment.num_ranks()).filter(|&rank| network.is_here(rank));
    here.map(|rank| segment.mailbox(rank).bell().hang_up()).collect()
}

/// Whether so many ranks would share processors.
pub fn is_crowded(ranks: u32) -> bool {
    ranks as usize > std::thread::available_parallelism().map_or(1, usize::from)
}

/// Bytes of the memory and the scratch memory of all ranks.
fn memory_bytes(nisa: &Nisa) -> u64 {
    let of_rank = |rank| nisa.memory_size(rank).saturating_add(nisa.scratch_size(rank));
    (0..nisa.num_ranks()).fold(0, |sum: u64, rank| sum.saturating_add(of_rank(rank)))
}

/// Whether some byte of the memory may derive from the clock, so that what a rank expects is compared by the
/// interpreter's account of which bytes do.
fn has_time(nisa: &Nisa) -> bool {
    (0..nisa.num_sections()).any(|section| {
        let mut records = nisa.section_by_id(section).records();
        records.any(|(_, record)| matches!(record.operation(), Operation::Wtime { .. }))
    })
}
