//! The start of members.
#![allow(unsafe_code)] // the ends of a rank that is claimed

use super::error::StartError;
use super::member::{Engines, Member};
use super::node::NodeProgress;
use super::thread::{ProgressThread, run_thread};
use crate::job::{Job, Mode};
use crate::transport::Ends;
use goal_engine::{Engine, state_bytes};
use goal_eth::AnyDriver;
use goal_shm::Part;
use std::sync::Arc;
use std::thread;

/// Returns an engine whose state is in memory of this process. The caller must hold the claim to
/// the rank's [`Part::Member`] while the engine is used.
fn engine<'a>(
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
            let shared = Arc::new(ProgressThread::new(job, rank, engine(job, rank, driver)?));
            let of_thread = Arc::clone(&shared);
            let name = format!("progress {rank}");
            let thread = thread::Builder::new().name(name).spawn_scoped(scope, move || {
                if let Some(placement) = &job.settings.placement {
                    placement.bind_thread();
                }
                run_thread(&of_thread);
            });
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

#[cfg(test)]
mod tests {
    use super::with_member;
    use crate::job::{Job, Mode, Settings, WindowSettings, layout};
    use crate::progress::StartError;
    use crate::transport::Choice;
    use goal_asm::nisa::StreamLimits;
    use goal_asm::{EncodeOptions, Nisa, encode};
    use goal_lang::limits::Limits;
    use goal_shm::Segment;
    use std::sync::Arc;

    /// A member in a window can't lend its rank to others.
    #[test]
    fn members_that_can_not_act_for_each_other_are_refused() {
        let mut program = goal_lang::ProgramBuilder::default();
        program.rank_with(goal_lang::BodyBuilder::default().finish());
        let mut bytes = Vec::new();
        encode(&program.finish(), &EncodeOptions::default(), None, &mut bytes).unwrap();
        let nisa = Arc::new(Nisa::load(Arc::new(bytes), &Limits::default()).unwrap());
        let together = Settings::new(1, &Choice::default()).unwrap().with_progress(Mode::Node);
        let segment = Segment::create(layout(&nisa, &together, 1 << 40).unwrap()).unwrap();
        let limits = StreamLimits { table_entries: 4, action_bytes: 1 << 10 };
        let settings = Settings { window: Some(WindowSettings { size: 4, limits }), ..together };
        let joined = with_member(Job::new(&segment, &nisa, &settings), 0, |_| ());
        assert!(matches!(joined, Err(StartError::Windows)));
    }
}
