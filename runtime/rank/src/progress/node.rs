//! Mode `node`: the ranks of a host act for each other.
#![allow(unsafe_code)] // attaches to the state of an engine, which is used only under its lock

use super::poll_now;
use crate::equip::equip;
use crate::transport::RankTransport;
use goal_engine::within;
use goal_engine::{Engine, Failure, Progress, Schedule, Storage, Waiting};
use goal_job::Job;
use goal_shm::{HeldTurn, Turn};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The number of attempts to take a rank's lock while another process holds it. Each later attempt
/// yields the processor, because the other process may need it.
const ATTEMPTS: u32 = 100;

/// The most views of other ranks that a process keeps; a new view replaces the oldest. A view has
/// tables as long as the rank's schedule. Without a limit, all processes together would need memory
/// quadratic in the number of ranks.
const VIEWS_MAX: usize = 16;

/// A rank's engine over its state in the segment, and views of the engines of other ranks.
pub(super) struct NodeProgress<'a> {
    job: Job<'a>,
    rank: u32,
    engine: Engine<'a, RankTransport<'a>>,
    /// The engines of other ranks that this process has acted for, oldest first.
    views: Vec<View<'a>>,
    /// Ranks that run a schedule which this process does not have.
    foreign: BTreeSet<u32>,
    /// True if the rank runs an instance that only this process can execute. The rank must not be
    /// released then.
    is_private: bool,
    /// The value of [`Engine::progress_count`] after the last poll by this process.
    seen: u32,
}

/// The engine of another rank, attached in this process.
struct View<'a> {
    rank: u32,
    schedule: Arc<Schedule>,
    /// The storage of the rank, until the engine takes it.
    storage: Option<Storage<'a>>,
    /// Created when this process holds the rank's lock for the first time, and used only under that
    /// lock.
    engine: Option<Box<Engine<'a, RankTransport<'a>>>>,
}

impl<'a> View<'a> {
    /// Decodes the schedule of `rank`, which reads all of it once. The caller should not hold the
    /// rank's lock meanwhile, since the rank could neither take nor send a message.
    fn new(job: Job<'a>, rank: u32) -> Self {
        Self {
            rank,
            schedule: job.schedule_for_helper(rank),
            storage: Some(storage(job, rank)),
            engine: None,
        }
    }

    /// Returns the engine. The caller must hold the rank's lock.
    fn engine(&mut self, job: Job<'a>) -> &mut Engine<'a, RankTransport<'a>> {
        self.engine.get_or_insert_with(|| {
            let mut engine = attach(job, self.rank);
            engine.adopt(&self.schedule, self.storage.take().expect("it has no engine yet"));
            Box::new(engine)
        })
    }
}

/// Returns an engine over the state of `rank` in the segment. The caller must hold the rank's lock.
fn attach<'a>(job: Job<'a>, rank: u32) -> Engine<'a, RankTransport<'a>> {
    // SAFETY: the engine and its transports are used only under the rank's lock, here and in other
    // processes; the segment outlives them.
    let engine = unsafe {
        let rank_transport =
            RankTransport::new(job.segment, rank, &job.settings.paths).with_marks();
        let state = job.segment.region(&job.segment.rank(rank).engine);
        Engine::attach(rank, rank_transport, job.settings.engine(), state)
    };
    equip(&job, rank, engine)
}

/// Returns the storage of `rank`, for an engine of [`attach`].
fn storage(job: Job<'_>, rank: u32) -> Storage<'_> {
    // SAFETY: used only by an engine of `attach`, under the rank's lock, and dropped before the
    // segment.
    unsafe { Storage::over(job.areas(rank), None) }
}

impl<'a> NodeProgress<'a> {
    /// Creates the engine of `rank` over its state in the segment. Returns `None` if an earlier
    /// member of the rank left unfinished instances.
    pub(super) fn new(job: Job<'a>, rank: u32) -> Option<Self> {
        let (schedule, storage) = (job.schedule(rank), storage(job, rank));
        let turn = job.segment.turn(rank);
        // From here on no other process takes the lock again, so the loop ends.
        turn.reclaim();
        let held = loop {
            match turn.try_lock() {
                Some(held) => break held,
                None => std::thread::yield_now(),
            }
        };
        let mut engine = attach(job, rank);
        let is_free = !engine.is_in_use();
        if is_free {
            engine.share(&schedule, &storage);
        }
        let is_private = engine.keeps_to_itself();
        held.unlock();
        let (views, foreign) = (Vec::new(), BTreeSet::new());
        is_free.then_some(Self { job, rank, engine, views, foreign, is_private, seen: 0 })
    }

    fn turn(&self) -> &'a Turn {
        self.job.segment.turn(self.rank)
    }

    /// Calls `f` with the engine, under the rank's lock. Returns `None`, without a call, if the job
    /// was stopped while another process held the lock.
    #[inline]
    pub(super) fn with<R>(
        &mut self,
        f: impl FnOnce(&mut Engine<'a, RankTransport<'a>>) -> R,
    ) -> Option<R> {
        let (result, is_runnable) = self.in_turn(|engine, held| {
            let result = f(engine);
            // Other ranks look at this flag before they act for the rank, so they find what `f`
            // started.
            let is_runnable = engine.is_runnable();
            if is_runnable {
                held.set_busy(true);
            }
            (result, is_runnable)
        })?;
        if is_runnable {
            self.mark(self.rank);
        }
        Some(result)
    }

    #[inline]
    fn in_turn<R>(
        &mut self,
        f: impl FnOnce(&mut Engine<'a, RankTransport<'a>>, &HeldTurn<'_>) -> R,
    ) -> Option<R> {
        let turn = self.turn();
        let mut attempts = 0;
        let held = loop {
            if let Some(held) = turn.try_lock() {
                break held;
            }
            attempts += 1;
            if attempts > ATTEMPTS {
                if self.job.segment.start_barrier().is_stopped() {
                    return None;
                }
                std::thread::yield_now();
            }
        };
        let result = f(&mut self.engine, &held);
        self.is_private = self.engine.keeps_to_itself();
        if self.is_private {
            // The rank may have been released when it started an instance that only this process
            // can execute.
            turn.reclaim();
        }
        held.unlock();
        Some(result)
    }

    /// Polls the rank's engine under the rank's lock. Returns `None` if the job was stopped while
    /// another process held the lock.
    #[inline]
    pub(super) fn poll(&mut self) -> Option<Result<Progress, Failure>> {
        let polled =
            self.in_turn(|engine, held| (poll_in_turn(engine, held), engine.progress_count()));
        let (progress, seen) = polled?;
        self.seen = seen;
        Some(progress)
    }

    /// Looks for another rank that is released and has something to do, and polls its engine. Stops
    /// after the first poll that made progress, and returns true; false if there was none.
    pub(super) fn help(&mut self) -> bool {
        let helpers = self.job.segment.helpers();
        let rank = self.rank;
        for other in helpers.marked().filter(|&other| other != rank) {
            let worked = self.may_help(other) && self.act_for(other);
            helpers.unmark(other, || self.needs_help(other));
            if worked {
                return true;
            }
        }
        false
    }

    /// Returns true if the rank `other` is released and has something to do.
    #[inline]
    fn needs_help(&self, other: u32) -> bool {
        let released = self.job.segment.turn(other).busy_if_lent();
        released.is_some_and(|busy| busy || self.job.segment.mailbox(other).has_message())
    }

    /// Returns true if the rank `other` needs help, and this process can give it. It can't if it
    /// has seen that the rank runs a schedule that this process does not have.
    #[inline]
    fn may_help(&self, other: u32) -> bool {
        self.needs_help(other) && !self.foreign.contains(&other)
    }

    /// Polls the engine of the rank `other`. Returns true if the poll made progress.
    fn act_for(&mut self, other: u32) -> bool {
        let job = self.job;
        let at = self.views.iter().position(|view| view.rank == other).unwrap_or_else(|| {
            if self.views.len() == VIEWS_MAX {
                self.views.remove(0);
            }
            self.views.push(View::new(job, other));
            self.views.len() - 1
        });
        let turn = job.segment.turn(other);
        let Some(held) = turn.try_lock() else { return false };
        // Since the check in `help` the rank may have been reclaimed, or another helper may have
        // found that it failed.
        if turn.busy_if_lent().is_none() {
            held.unlock();
            return false;
        }
        let engine = self.views[at].engine(job);
        if !engine.may_act() {
            held.unlock();
            self.foreign.insert(other);
            // Another process may have the schedule.
            let segment = job.segment;
            segment.helpers().wake_one(|rank| segment.mailbox(rank).wake());
            return false;
        }
        let progress = match within(|| poll_in_turn(engine, &held)) {
            Ok(progress) => progress,
            Err(used_up) => {
                // The engine is broken: its lock stays taken until the job is stopped.
                job.segment.fail(other, &format!("rank {other}: {used_up}"));
                return true;
            }
        };
        if let Err(failure) = &progress {
            // The failure is stored before the lock is released. Otherwise the rank itself would
            // report the same failure.
            job.fail(other, failure);
        }
        held.unlock();
        let worked = progress.as_ref().is_ok_and(|progress| progress.worked);
        if worked || progress.is_err() {
            // The rank may sleep and wait for the end of its instance, or for this failure.
            job.segment.mailbox(other).wake();
        }
        // The poll may have left work, and nobody else marks the rank for this work.
        self.mark(other);
        worked
    }

    /// Marks a rank if it needs help, so that another rank acts for it. Wakes a sleeping rank for
    /// that if necessary.
    fn mark(&self, rank: u32) {
        let segment = self.job.segment;
        segment.helpers().mark(
            rank,
            || self.needs_help(rank),
            |sleeper| segment.mailbox(sleeper).wake(),
        );
    }

    /// Prepares a sleep by a call of `arm`. Returns true if this rank may sleep, and false if there
    /// is work for it or for other ranks. Returns `None` if the job was stopped. The caller must
    /// call [`end_sleep`](Self::end_sleep) afterwards in every case.
    pub(super) fn prepare_sleep(
        &mut self,
        arm: impl FnOnce(&mut Engine<'a, RankTransport<'a>>) -> bool,
    ) -> Option<bool> {
        let helpers = self.job.segment.helpers();
        helpers.enter(self.rank);
        // Another rank may have polled for this rank since this rank's last poll.
        let seen = self.seen;
        let is_armed = self.with(|engine| engine.progress_count() == seen && arm(engine))?;
        helpers.fence();
        // A mark without need must not stay while this rank sleeps: the next work for the marked
        // rank would wake nobody.
        let needs_help = |other| helpers.unmark(other, || self.needs_help(other));
        let is_needed =
            |other: u32| other != self.rank && needs_help(other) && !self.foreign.contains(&other);
        Some(is_armed && !helpers.marked().any(is_needed))
    }

    /// Ends the sleep that [`prepare_sleep`](Self::prepare_sleep) began.
    pub(super) fn end_sleep(&mut self) {
        self.job.segment.helpers().leave(self.rank);
    }

    /// Keeps other ranks from acting for this rank.
    #[inline]
    pub(super) fn reclaim(&mut self) {
        self.turn().reclaim();
    }

    /// Lets other ranks act for this rank, unless only this process can execute the rank's
    /// instances.
    #[inline]
    pub(super) fn release(&mut self) {
        if !self.is_private {
            self.turn().lend();
            self.mark(self.rank);
        }
    }
}

/// Polls an engine. Stores beside the rank's lock whether the poll left something to do, or that it
/// failed. The caller must hold the lock, and must release it afterwards. So the stored bits always
/// describe the last poll.
#[inline]
fn poll_in_turn(
    engine: &mut Engine<RankTransport<'_>>,
    held: &HeldTurn<'_>,
) -> Result<Progress, Failure> {
    let progress = poll_now(engine);
    match progress {
        Ok(progress) => held.set_busy(is_busy(progress)),
        Err(_) => held.fail(),
    }
    progress
}

/// Returns true if the engine has something to do that no message announces. A `calc` under way
/// does not count: the rank itself waits for its end.
fn is_busy(progress: Progress) -> bool {
    progress.worked || matches!(progress.waiting, Waiting::Room | Waiting::Until { room: true, .. })
}
