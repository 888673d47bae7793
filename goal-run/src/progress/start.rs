//! How a rank joins a job.
#![allow(unsafe_code)] // the ends of a rank that is claimed

use super::member::{Engines, Member};
use super::node::NodeProgress;
use super::thread::{ProgressThread, run_thread};
use crate::job::{Job, Mode};
use crate::limits::named;
use crate::transport::Ends;
use goal_engine::{Engine, state_bytes};
use goal_eth::{AnyDriver, OpenError};
use goal_shm::Part;
use std::sync::Arc;
use std::{io, thread};

/// Why a rank can't join its job.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// There is no way to ranks on other hosts.
    #[error(transparent)]
    Driver(#[from] OpenError),
    /// The system has no address space for the state of the engine.
    #[error("no address space for {} MiB of what the rank remembers: {}", bytes >> 20, named(cause))]
    Memory {
        /// Size of the state in bytes.
        bytes: u64,
        /// The system's error.
        cause: io::Error,
    },
    /// The system starts no thread.
    #[error("no thread for the progress of the rank: {}", named(cause))]
    Thread {
        /// The system's error.
        cause: io::Error,
    },
    /// Mode `node` is for jobs on one host: only a rank's own process has its streams.
    #[error(
        "ranks can't act for each other where some are on other hosts: take another mode of progress"
    )]
    OtherHosts,
    /// Mode `node` needs whole schedules: only a rank's own process has what its window holds.
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

/// Returns an engine whose state is in memory of this process. The caller must hold the claim to
/// the rank's [`Part::Member`] while the engine is used.
pub(super) fn engine<'a>(
    job: Job<'a>,
    rank: u32,
    driver: Option<AnyDriver>,
) -> Result<Engine<'a, Ends<'a>>, StartError> {
    let (paths, network) = (&job.settings.paths, job.settings.network.as_ref());
    // SAFETY: the caller has claimed the rank in this process, and a rank belongs to one process.
    let ends = unsafe { Ends::open(job.segment, rank, paths, network, driver)? };
    let options = job.settings.engine();
    let bytes = state_bytes(options.unexpected_limit);
    let state = goal_shm::zeroed(bytes as usize);
    let state = state.map_err(|cause| StartError::Memory { bytes, cause })?;
    Ok(job.equip(rank, Engine::new(rank, ends, options, state)))
}

/// Calls `f` with the member of `rank`, in a job whose ranks are all on this host. Its schedules
/// make no progress any more when this returns.
///
/// # Errors
/// [`StartError`]; `f` was not called.
pub fn with_member<'a, R>(
    job: Job<'a>,
    rank: u32,
    f: impl FnOnce(&mut Member<'a>) -> R,
) -> Result<R, StartError> {
    with_member_over(job, rank, None, f)
}

/// Does the same as [`with_member`], in a job on several hosts if there is a `driver`, which the
/// launcher has opened for the rank.
///
/// # Errors
/// [`StartError`]; `f` was not called.
pub(crate) fn with_member_over<'a, R>(
    job: Job<'a>,
    rank: u32,
    driver: Option<AnyDriver>,
    f: impl FnOnce(&mut Member<'a>) -> R,
) -> Result<R, StartError> {
    let _claim = job.segment.claim(rank, Part::Member).ok_or(StartError::Taken)?;
    let member = |engines| Member::new(job, rank, engines);
    Ok(match job.settings.progress {
        Mode::Caller => f(&mut member(Engines::Own(Box::new(engine(job, rank, driver)?)))),
        Mode::Node => {
            if job.settings.network.is_some() {
                return Err(StartError::OtherHosts);
            }
            if job.settings.window.is_some() {
                return Err(StartError::Windows);
            }
            let node = NodeProgress::new(job, rank).ok_or(StartError::Left)?;
            f(&mut member(Engines::Node(Box::new(node))))
        }
        Mode::Thread => thread::scope(|scope| {
            let shared = Arc::new(ProgressThread::new(job, rank, driver)?);
            let of_thread = Arc::clone(&shared);
            let name = format!("progress {rank}");
            let thread = thread::Builder::new()
                .name(name)
                .spawn_scoped(scope, move || run_thread(&of_thread));
            thread.map_err(|cause| StartError::Thread { cause })?;
            let _stop = StopOnDrop(&shared);
            Ok::<R, StartError>(f(&mut member(Engines::Thread(Arc::clone(&shared)))))
        })?,
    })
}

/// Ends the thread when it is dropped, also if the rank panics.
struct StopOnDrop<'a, 'b>(&'b ProgressThread<'a>);

impl Drop for StopOnDrop<'_, '_> {
    fn drop(&mut self) {
        self.0.stop();
    }
}
