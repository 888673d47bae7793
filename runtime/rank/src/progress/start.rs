//! Starts a rank's [`Member`], and changes its mode of progress.
#![allow(unsafe_code)] // the transports of a rank that is claimed

use super::engines::Engines;
use super::error::StartError;
use super::member::Member;
use super::node::NodeProgress;
use super::thread::{ProgressThread, run_thread};
use super::threaded::Threaded;
use crate::equip::equip;
use crate::transport::RankTransport;
use goal_engine::{Engine, state_bytes};
use goal_job::remote_sockets::RemoteSockets;
use goal_job::threads::LibraryThread;
use goal_job::{Job, Mode};
use goal_shm::Part;
use std::sync::Arc;
use std::thread::{self, Builder};
use std::{io, mem};

/// Returns an engine whose state is in memory of this process. The caller must hold the claim to
/// the rank's [`Part::Member`] while the engine is used.
fn engine<'a>(
    job: Job<'a>,
    rank: u32,
    remote_sockets: Option<RemoteSockets>,
) -> Result<Engine<'a, RankTransport<'a>>, StartError> {
    let (paths, network) = (&job.settings.paths, job.settings.network.as_ref());
    // SAFETY: the caller has claimed the rank in this process, and a rank belongs to one process.
    let rank_transport =
        unsafe { RankTransport::open(job.segment, rank, paths, network, remote_sockets)? };
    let rank_transport = if job.settings.spec.survives {
        rank_transport.without_lent_memory()
    } else {
        rank_transport
    };
    let options = job.settings.engine();
    let bytes = state_bytes(options.unexpected_limit);
    let state = goal_shm::zeroed(bytes as usize);
    let state = state.map_err(|cause| StartError::Memory { bytes, cause })?;
    Ok(equip(&job, rank, Engine::new(rank, rank_transport, options, state)))
}

/// Calls `f` with the member of `rank`, in a job whose ranks are all on this host. When this
/// returns, the member is dropped, and the rank's schedules make no progress any more.
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

/// Calls `f` with the member of `rank`, as [`with_member`] does. In a job on several hosts the
/// member uses the `remote_sockets` that the launcher has opened for the rank.
///
/// # Errors
/// [`StartError`]; `f` was not called.
pub(crate) fn with_member_over<'a, R>(
    job: Job<'a>,
    rank: u32,
    remote_sockets: Option<RemoteSockets>,
    f: impl FnOnce(&mut Member<'a>) -> R,
) -> Result<R, StartError> {
    if job.settings.spec.progress != Mode::Thread {
        return Ok(f(&mut start(job, rank, remote_sockets, |_| {
            unreachable!("only in mode thread")
        })?));
    }
    thread::scope(|scope| {
        let run = |shared: Arc<ProgressThread<'a>>| {
            // The handle of the thread is not needed: the scope waits for the thread.
            named(rank).spawn_scoped(scope, move || work(job, shared)).map(drop)
        };
        // The member is dropped before the scope ends, even if `f` panics. The drop ends the
        // thread.
        Ok(f(&mut start(job, rank, remote_sockets, run)?))
    })
}

/// Returns the member of `rank`. If the member has a thread, the thread ends when the member is
/// dropped.
///
/// # Errors
/// [`StartError`].
pub(crate) fn member_over(
    job: Job<'static>,
    rank: u32,
    remote_sockets: Option<RemoteSockets>,
) -> Result<Member<'static>, StartError> {
    start(job, rank, remote_sockets, |shared| spawn(job, rank, shared))
}

/// Starts the thread that makes the schedules of a program's rank progress.
fn spawn(job: Job<'static>, rank: u32, shared: Arc<ProgressThread<'static>>) -> io::Result<()> {
    let thread = named(rank).spawn(move || {
        let _thread = LibraryThread::enter();
        work(job, shared);
    });
    thread.map(drop)
}

/// Changes the mode of progress of a rank to `mode`.
///
/// # Errors
/// [`StartError`]; the mode stays as it was.
pub(super) fn change(
    job: Job<'static>,
    rank: u32,
    engines: &mut Engines<'static>,
    mode: Mode,
) -> Result<(), StartError> {
    match (mem::replace(engines, Engines::Lost), mode) {
        (Engines::Own(own), Mode::Thread) => {
            let shared = Arc::new(ProgressThread::new(job, rank, *own));
            match spawn(job, rank, Arc::clone(&shared)) {
                Ok(()) => *engines = Engines::Thread(Threaded::new(shared)),
                Err(cause) => {
                    let own = Arc::into_inner(shared).expect("no thread has it");
                    *engines = Engines::Own(Box::new(own.into_engine()));
                    return Err(StartError::Thread { cause });
                }
            }
        }
        (Engines::Thread(threaded), Mode::Caller) => {
            if let Some(own) = threaded.into_engine() {
                *engines = Engines::Own(Box::new(own));
            }
        }
        (same @ Engines::Own(_), Mode::Caller)
        | (same @ Engines::Thread(_), Mode::Thread)
        | (same @ Engines::Node(_), Mode::Node) => *engines = same,
        (other, _) => {
            *engines = other;
            return Err(StartError::Fixed);
        }
    }
    Ok(())
}

/// Starts the member of `rank`. In mode `thread`, `run` starts the member's thread.
fn start<'a>(
    job: Job<'a>,
    rank: u32,
    remote_sockets: Option<RemoteSockets>,
    run: impl FnOnce(Arc<ProgressThread<'a>>) -> io::Result<()>,
) -> Result<Member<'a>, StartError> {
    let claim = job.segment.claim(rank, Part::Member).ok_or(StartError::Taken)?;
    let engines = match job.settings.spec.progress {
        Mode::Caller => Engines::Own(Box::new(engine(job, rank, remote_sockets)?)),
        Mode::Node => {
            if job.settings.network.is_some() {
                return Err(StartError::OtherHosts);
            }
            if job.settings.window.is_some() {
                return Err(StartError::Windows);
            }
            let node = NodeProgress::new(job, rank).ok_or(StartError::Left)?;
            Engines::Node(Box::new(node))
        }
        Mode::Thread => {
            let shared =
                Arc::new(ProgressThread::new(job, rank, engine(job, rank, remote_sockets)?));
            run(Arc::clone(&shared)).map_err(|cause| StartError::Thread { cause })?;
            Engines::Thread(Threaded::new(shared))
        }
    };
    Ok(Member::new(job, rank, engines, claim))
}

fn named(rank: u32) -> Builder {
    Builder::new().name(format!("progress {rank}"))
}

/// Runs on a rank's progress thread. Binds the thread to the processors for such threads, if the
/// job has a placement. Makes progress until the thread ends.
fn work(job: Job<'_>, shared: Arc<ProgressThread<'_>>) {
    if let Some(placement) = &job.settings.placement {
        placement.bind_thread();
    }
    run_thread(shared);
}

#[cfg(test)]
mod tests {
    use super::with_member;
    use crate::progress::StartError;
    use goal_asm::nisa::StreamLimits;
    use goal_asm::{EncodeOptions, Nisa, encode};
    use goal_job::transport::Choice;
    use goal_job::{Job, JobSpec, Mode, Settings, WindowSettings, layout};
    use goal_lang::limits::Limits;
    use goal_shm::Segment;
    use std::sync::Arc;

    /// Other ranks can't act for a member in a window.
    #[test]
    fn members_that_can_not_act_for_each_other_are_refused() {
        let mut program = goal_lang::ProgramBuilder::default();
        program.rank_with(goal_lang::BodyBuilder::default().finish());
        let mut bytes = Vec::new();
        encode(&program.finish(), &EncodeOptions::default(), None, &mut bytes).unwrap();
        let nisa = Arc::new(Nisa::load(Arc::new(bytes), &Limits::default()).unwrap());
        let together = Settings::new(1, &Choice::default()).unwrap();
        let spec = JobSpec { progress: Mode::Node, ..JobSpec::default() };
        let together = together.with_spec(spec);
        let segment = Segment::create(layout(&nisa, &together, 1 << 40).unwrap()).unwrap();
        let limits = StreamLimits { table_entries: 4, action_bytes: 1 << 10 };
        let settings = Settings { window: Some(WindowSettings { size: 4, limits }), ..together };
        let joined = with_member(Job::new(&segment, &nisa, &settings), 0, |_| ());
        assert!(matches!(joined, Err(StartError::Windows)));
    }
}
