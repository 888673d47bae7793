//! Runs the schedule of a rank whose part of the schedule is in the kernel.
//!
//! The rank writes its memory to the part, starts the run, sleeps until the run has ended, and
//! reads the memory back. The kernel executes all actions but the fallback operations. The rank
//! executes the fallback operations, and gives them back to the kernel. The rank's state stays
//! [`State::Running`] until its last instance has ended. Only the kernel knows if the instance can
//! go on, and it takes no schedule that can get stuck.

use super::ended::{Ended, payload};
use crate::fallback::{FallbackOps, Fault};
use crate::progress::StartError;
use goal_engine::{Cause, Failure, Storage, WORLD};
use goal_eth::now_ns;
use goal_job::threads::sleep;
use goal_job::{Job, Wait};
use goal_kernel::{Abilities, Descriptors, PartImage, Plan, Rank, RunError};
use goal_shm::{RankCounts, State};
use std::io;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

/// The time between two checks, by a rank that waits, if the job was stopped.
const LOOK: Duration = Duration::from_millis(20);
/// The number of times that a rank with a processor of its own tests if its run has ended, before
/// it sleeps. These tests take some tens of microseconds, about as long as a wakeup.
const LOOKS: u32 = 500;
/// The number of times that a rank tests if its run has ended, before it sleeps, if ranks share
/// processors. Each test yields the processor.
const LOOKS_CROWDED: u32 = 4;
/// The time for which a rank tries to start a run while the system has no room for the frame.
const START_LIMIT: Duration = Duration::from_secs(5);
/// The time between two attempts to start a run.
const START_AGAIN: Duration = Duration::from_micros(100);

/// Runs the instances of a rank until the launcher stops the job, as [`run`](super::run) does.
///
/// # Errors
/// [`StartError`]: the rank can't start.
pub(super) fn run(
    job: Job<'_>,
    rank: u32,
    descriptors: Descriptors,
    storage: Storage<'_>,
) -> Result<(), StartError> {
    let (segment, settings) = (job.segment, job.settings);
    let member = settings.in_kernel.as_ref().and_then(|in_kernel| in_kernel.member(rank));
    let member = member.ok_or_else(|| StartError::Kernel(io::ErrorKind::InvalidData.into()))?;
    let kernel = Rank::new(descriptors, member).map_err(StartError::Kernel)?;
    if kernel.len() != storage.memory().len() {
        return Err(StartError::Kernel(io::ErrorKind::InvalidData.into()));
    }
    let hands = match member.handed {
        0 => None,
        // Without an error here, nobody would execute the fallback operations.
        _ => Some(
            hands(job, rank)
                .ok_or_else(|| StartError::Kernel(io::ErrorKind::InvalidData.into()))?,
        ),
    };
    if !segment.start_barrier().pass_polling(settings.awaited(segment.num_ranks()), 0, now_ns) {
        return Ok(());
    }
    segment.status(rank).enter(State::Running);
    let counts = RankCounts::default();
    let mut work = Work { job, rank, kernel, storage, counts, hands };
    match work.run() {
        Err(Interrupted::Stopped) | Ok(()) => {}
        Err(Interrupted::Failed(action, cause, instance)) => {
            let Some(action) = work.offset(action) else {
                segment.fail(rank, &format!("rank {rank}: {cause}"));
                return Ok(());
            };
            let instance = instance as u32;
            let failure = Failure { communicator: WORLD, instance, action, number: None, cause };
            job.fail(rank, &failure);
        }
        Err(Interrupted::NotTaken(error)) => {
            segment
                .fail(rank, &format!("rank {rank}: the kernel does not take its frames: {error}"));
        }
    }
    Ok(())
}

/// The reason why a rank's loop ends early.
enum Interrupted {
    /// The launcher stopped the job.
    Stopped,
    /// An action of the part failed. The numbers of the action and of the instance count from 0.
    Failed(u32, Cause, u64),
    /// The system refused for too long to start a run, or to give an action back to the kernel.
    NotTaken(io::Error),
}

struct Work<'a> {
    job: Job<'a>,
    rank: u32,
    kernel: Rank,
    storage: Storage<'a>,
    counts: RankCounts,
    hands: Option<FallbackOps>,
}

impl Work<'_> {
    /// Runs all instances, then waits until the job is stopped.
    fn run(&mut self) -> Result<(), Interrupted> {
        let Job { segment, nisa, settings } = self.job;
        let (rank, start_barrier, status) =
            (self.rank, segment.start_barrier(), segment.status(self.rank));
        let (messages, bytes) = payload(nisa, rank);
        let mut ended = Ended::default();
        for instance in 0..settings.spec.repeat {
            if instance > 0 {
                self.storage.memory_mut().fill(0);
                self.storage.store_image(nisa, rank);
            }
            self.kernel.write(0, self.storage.memory());
            status.instance.fetch_add(1, Ordering::Relaxed);
            self.start()?;
            self.wait(instance)?;
            self.kernel.read(0, self.storage.memory_mut());
            self.counts.messages += messages;
            self.counts.bytes += bytes;
            status.messages.store(self.counts.messages, Ordering::Relaxed);
            status.bytes.store(self.counts.bytes, Ordering::Relaxed);
            ended.note(self.job, rank, instance, self.storage.memory(), true);
        }
        segment.store_counts(rank, &self.counts);
        if let Some(text) = ended.unexpected {
            segment.record_failure(rank, &text);
        }
        status.enter(State::Done);
        start_barrier.finish(settings.num_here(segment.num_ranks()));
        let mailbox = segment.mailbox(rank);
        while !start_barrier.is_stopped() {
            if mailbox.arm() {
                mailbox.wait(Some(LOOK));
            }
        }
        Ok(())
    }

    /// Starts a run of the rank's part in the kernel.
    fn start(&mut self) -> Result<(), Interrupted> {
        let began = Instant::now();
        while let Err(error) = self.kernel.start() {
            self.pause(began, error)?;
        }
        Ok(())
    }

    /// Waits until the run in the kernel has ended. Executes fallback operations meanwhile.
    fn wait(&mut self, instance: u64) -> Result<(), Interrupted> {
        let failed = |RunError::Division { action, element }| {
            let cause = Cause::DivisionByZero { element: element.into() };
            Interrupted::Failed(action, cause, instance)
        };
        let (start_barrier, settings) = (self.job.segment.start_barrier(), self.job.settings);
        let looks_max = match (settings.spec.wait, settings.crowded) {
            (Wait::Block, _) => 0,
            (Wait::Adaptive, true) => LOOKS_CROWDED,
            (Wait::Adaptive | Wait::Spin, false) | (Wait::Spin, true) => LOOKS,
        };
        let mut looks = looks_max;
        loop {
            while looks > 0 {
                if self.kernel.test().map_err(failed)? {
                    return Ok(());
                }
                looks -= u32::from(settings.spec.wait != Wait::Spin);
                if self.serve(instance)? {
                    looks = looks_max;
                }
                if start_barrier.is_stopped() {
                    return Err(Interrupted::Stopped);
                }
                if settings.crowded { thread::yield_now() } else { std::hint::spin_loop() }
            }
            let began = now_ns();
            let has_ended = loop {
                let returns = self.hands.as_ref().and_then(FallbackOps::left);
                let limit = returns.map_or(LOOK, |left| left.min(LOOK));
                if self.kernel.wait(limit).map_err(failed)? {
                    break true;
                }
                // Another fallback operation often follows soon, so the rank polls again.
                if self.serve(instance)? {
                    break false;
                }
                if start_barrier.is_stopped() {
                    return Err(Interrupted::Stopped);
                }
            };
            self.counts.sleeps += 1;
            self.counts.slept_ns += now_ns() - began;
            if has_ended {
                return Ok(());
            }
            looks = looks_max;
        }
    }

    /// Executes the fallback operations that the kernel has left so far. Returns true if there were
    /// any.
    fn serve(&mut self, instance: u64) -> Result<bool, Interrupted> {
        let began = Instant::now();
        loop {
            let Some(hands) = &mut self.hands else { return Ok(false) };
            // This never happens: the translation for the kernel refuses schedules that call
            // functions of a program.
            let mut unknown =
                |function, _: &mut [u8], _: &mut [u8]| Err(Cause::UnknownUserFunction(function));
            match hands.serve(&mut self.kernel, &mut unknown) {
                Ok(has_served) => return Ok(has_served),
                Err(Fault::Failed(action, cause)) => {
                    return Err(Interrupted::Failed(action, cause, instance));
                }
                Err(Fault::NotTaken(error)) => self.pause(began, error)?,
            }
        }
    }

    /// Waits a moment before the caller repeats an attempt that the system has refused with
    /// `error`. Returns an error if the job was stopped, or if the attempts have taken
    /// [`START_LIMIT`].
    fn pause(&self, began: Instant, error: io::Error) -> Result<(), Interrupted> {
        if self.job.segment.start_barrier().is_stopped() {
            return Err(Interrupted::Stopped);
        }
        if began.elapsed() >= START_LIMIT {
            return Err(Interrupted::NotTaken(error));
        }
        sleep(START_AGAIN);
        Ok(())
    }

    /// Returns the offset in the rank's section of the action that an action of the part comes
    /// from. Translates the schedule again, which is rare: only a failure needs this.
    fn offset(&self, action: u32) -> Option<u32> {
        let nisa = self.job.nisa;
        let part = part(self.job, self.rank)?;
        let number = *part.origins.get(action as usize)?;
        nisa.section(self.rank).records().nth(number as usize).map(|(offset, _)| offset)
    }
}

/// Returns the part of a rank. Translates the schedule again, as the launcher has done; `None` if
/// that fails.
fn part(job: Job<'_>, rank: u32) -> Option<PartImage> {
    let fragment = job.settings.in_kernel.as_ref()?.fragment;
    let abilities = Abilities { calc: job.calc().is_some(), ..Abilities::default() };
    Some(Plan::with(job.nisa, fragment, abilities).ok()?.part(rank))
}

/// Returns the fallback operations of a rank's part; `None` if the schedule can't be translated, so
/// that it is not the launcher's.
fn hands(job: Job<'_>, rank: u32) -> Option<FallbackOps> {
    let calc = job.calc().unwrap_or_default();
    Some(FallbackOps::new(part(job, rank)?, job.nisa, rank, calc))
}
