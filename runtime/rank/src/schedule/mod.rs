//! Runs the job's schedule on one rank. The rank is a process or a thread, and this module is the
//! loop around its engine.
//!
//! The loop runs the instances of the schedule one after the other. It writes initial values to
//! memory, starts the instance, and compares memory with the values that the program expects. It
//! never waits for other ranks between instances. When the rank has nothing to do, the loop stores
//! that in the rank's status, and sleeps until the mailbox wakes it. The launcher sees the status
//! of all ranks, and decides if the job is stuck.

mod ended;
mod image;
mod kernel;

pub use image::mismatch;

use crate::progress::{Interrupted, Member, StartError, with_member_over};
use ended::Ended;
use goal_asm::Nisa;
use goal_asm::nisa::StreamError;
use goal_engine::within;
use goal_engine::{Cause, Failure, Handle, Schedule, Storage, WORLD, Waiting, Windowed, sends};
use goal_eth::now_ns;
use goal_job::offload::RemoteEndpoint;
use goal_job::{Job, SectionFile, Settings, WindowSettings};
use goal_shm::announce;
use goal_shm::{Segment, State};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The number of looks at the start barrier before a rank sleeps. Each look yields the processor.
/// The looks take one to two milliseconds, about as long as the next rank takes to start.
const POLLS_AT_START: u32 = 5_000;

/// The resources of one rank that its launcher opened.
#[derive(Default)]
pub struct Resources {
    /// The file with the rank's section, if the rank runs the section through a window.
    pub section: Option<SectionFile>,
    /// The rank's endpoint for messages to other hosts, if there are other hosts.
    pub endpoint: Option<RemoteEndpoint>,
}

/// Runs a rank until the launcher stops the job. If an action fails, stores the failure in the
/// segment. Otherwise stores the first difference between the memory of an instance and what the
/// program expects, if there is one.
///
/// # Errors
/// [`StartError`]: the rank can't start.
pub fn run(
    segment: &Segment,
    nisa: &Arc<Nisa>,
    rank: u32,
    settings: &Settings,
    Resources { section, endpoint }: Resources,
) -> Result<(), StartError> {
    // The rank is bound before it touches its memory, so that the system allocates this memory near
    // the processor.
    if let Some(processor) = settings.bind(rank).map_err(StartError::Binding)? {
        segment.status(rank).processor.store(processor + 1, Ordering::Relaxed);
    }
    let job = Job::new(segment, nisa, settings);
    job.prefault(rank);
    let code = match section.zip(settings.window) {
        None => Code::Whole(job.schedule(rank)),
        Some((SectionFile { file, place }, WindowSettings { size, limits })) => {
            Code::Window(Windowed { file, place, memory: nisa.memory_size(rank), size, limits })
        }
    };
    let mut storage = job.storage(rank);
    storage.store_image(nisa, rank);
    announce(segment, rank);
    let remote_sockets = match endpoint {
        Some(RemoteEndpoint::Kernel(descriptors)) => {
            return kernel::run(job, rank, descriptors, storage);
        }
        Some(RemoteEndpoint::Sockets(remote_sockets) | RemoteEndpoint::Both(remote_sockets, _)) => {
            Some(remote_sockets)
        }
        None => None,
    };
    // The member announces the room in the rank's mailbox. Other ranks send as soon as they have
    // passed the start barrier, so the member is created first.
    with_member_over(job, rank, remote_sockets, |member| {
        if settings.network.is_some() {
            let (nisa, window) = (Arc::clone(nisa), settings.window);
            // The most rendezvous requests from `source` that can be under way at once. A rank of a
            // job runs one instance at a time, and its sends have to end before the next instance.
            let under_way = move |source| match window {
                Some(window) => window.size.into(),
                None => sends(&nisa, source, rank),
            };
            member.with(|engine| engine.bound_requests(under_way));
        }
        let polls = if settings.polls_at_start() { POLLS_AT_START } else { 0 };
        let awaited = settings.awaited(segment.num_ranks());
        if segment.start_barrier().pass_polling(awaited, polls, now_ns) {
            segment.status(rank).enter(State::Running);
            let mut work = Work {
                job,
                rank,
                code,
                member,
                running: None,
                left: settings.spec.repeat,
                ended: Ended::default(),
            };
            let ended = within(|| work.run(storage)).unwrap_or_else(|used_up| Err(used_up.into()));
            // If the engine's state has no more room, its counts can't be read.
            if !matches!(ended, Err(Interrupted::OutOfMemory(_))) {
                work.member.publish_counts();
            }
            match ended {
                Err(Interrupted::Failed(failure)) => job.fail(rank, &failure),
                Err(
                    error @ (Interrupted::Lost(_)
                    | Interrupted::OutOfMemory(_)
                    | Interrupted::Panicked(_)),
                ) => {
                    segment.fail(rank, &format!("rank {rank}: {error}"));
                }
                Err(Interrupted::Stopped | Interrupted::Stuck | Interrupted::Late) | Ok(()) => {
                    if let Some(text) = work.ended.unexpected {
                        segment.record_failure(rank, &text);
                    }
                }
            }
        }
    })
}

/// The schedule that a rank executes.
enum Code {
    Whole(Arc<Schedule>),
    Window(Windowed),
}

/// The loop of a rank, which runs the instances one after the other.
struct Work<'a, 'm> {
    job: Job<'a>,
    rank: u32,
    code: Code,
    member: &'m mut Member<'a>,
    running: Option<Handle>,
    /// The number of instances that have not ended.
    left: u64,
    ended: Ended,
}

impl<'a> Work<'a, '_> {
    /// Starts the next instance of the schedule.
    fn start(&mut self, storage: Storage<'a>) -> Result<(), Interrupted> {
        let code = &self.code;
        let started = self.member.with(|engine| match code {
            Code::Whole(schedule) => Ok(engine.start(schedule, WORLD, storage)),
            Code::Window(windowed) => engine.start_in_window(windowed, WORLD, storage),
        });
        let instance = self.job.segment.status(self.rank).instance.fetch_add(1, Ordering::Relaxed);
        let failure = |error: StreamError| Failure {
            communicator: WORLD,
            instance: instance as u32,
            action: 0,
            number: None,
            cause: Cause::Schedule(error.to_string()),
        };
        self.running = Some(started.ok_or_else(|| self.member.gone())?.map_err(failure)?);
        Ok(())
    }

    /// Runs all instances, then serves other ranks until the job is stopped.
    fn run(&mut self, storage: Storage<'a>) -> Result<(), Interrupted> {
        self.start(storage)?;
        self.member.reclaim();
        let start_barrier = self.job.segment.start_barrier();
        let mut is_reported = false;
        while !start_barrier.is_stopped() {
            let progress = self.member.step()?;
            if self.next_instance()? || progress.worked {
                continue;
            }
            if self.running.is_none() && !is_reported && progress.waiting == Waiting::Nothing {
                is_reported = true;
                start_barrier.finish(self.job.settings.num_here(self.job.segment.num_ranks()));
            }
            self.member.rest(progress.waiting)?;
        }
        Ok(())
    }

    /// If the running instance has ended, compares its memory and starts the next one. Returns true
    /// if there is a next one.
    fn next_instance(&mut self) -> Result<bool, Interrupted> {
        let Some(handle) = self.running.take() else { return Ok(false) };
        let ended = self.member.with(|engine| match engine.test(&handle) {
            false => Err(handle),
            true => Ok((engine.window_stats(&handle), engine.finish(handle), *engine.stats())),
        });
        let (window, mut storage, stats) = match ended.ok_or_else(|| self.member.gone())? {
            Err(handle) => {
                self.running = Some(handle);
                return Ok(false);
            }
            Ok(ended) => ended,
        };
        let (Job { segment, nisa, settings, .. }, rank) = (self.job, self.rank);
        let status = segment.status(rank);
        let instance = settings.spec.repeat - self.left;
        // Memory that derives from the clock is left to the comparison with the interpreter.
        let asks_clock = window.is_some_and(|window| window.stores_time);
        self.ended.note(self.job, rank, instance, storage.memory(), !asks_clock);
        self.left -= 1;
        status.messages.store(stats.messages, Ordering::Relaxed);
        status.bytes.store(stats.bytes, Ordering::Relaxed);
        status.verified_bytes.store(stats.verified_bytes, Ordering::Relaxed);
        if let Some(window) = window {
            status.receives.fetch_add(window.receives, Ordering::Relaxed);
            status.table_max.fetch_max(window.table_max, Ordering::Relaxed);
        }
        if self.left == 0 {
            return Ok(false);
        }
        storage.memory_mut().fill(0);
        storage.store_image(nisa, rank);
        self.start(storage)?;
        Ok(true)
    }
}
