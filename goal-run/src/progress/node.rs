//! Ranks that act for each other.
#![allow(unsafe_code)] // attaches to the state of an engine, which is used only under its turn

use super::poll_now;
use crate::job::Job;
use crate::transport::Ends;
use goal_engine::within;
use goal_engine::{Engine, Failure, Progress, Schedule, Storage, Waiting};
use goal_shm::{Held, Turn};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Looks at a turn that somebody else has before the processor is yielded: that one may need it.
const LOOKS: u32 = 100;

/// Views of other ranks that a process keeps. A view has counters and tables as long as the rank's
/// schedule, so that views of all ranks in all processes would take memory with the square of their
/// number. The oldest makes way for a new one.
const VIEWS_MAX: usize = 16;

/// A rank's engine over a state that all ranks reach, and its views of the others'.
pub(super) struct Together<'a> {
    job: Job<'a>,
    rank: u32,
    engine: Engine<'a, Ends<'a>>,
    /// The engines of others that it has acted for.
    views: Vec<View<'a>>,
    /// Ranks that run what this process doesn't know.
    foreign: BTreeSet<u32>,
    /// True if the rank runs what only this process can execute.
    keeps: bool,
    /// Whom to look at first.
    next: u32,
    /// [`Engine::fruitful`] at the last look of its own.
    seen: u32,
}

/// Another rank's engine as this process sees it.
struct View<'a> {
    rank: u32,
    schedule: Arc<Schedule>,
    /// Until the engine is made.
    storage: Option<Storage<'a>>,
    /// Made when the rank's turn is held for the first time, and used only then.
    engine: Option<Box<Engine<'a, Ends<'a>>>>,
}

impl<'a> View<'a> {
    /// Makes what takes long: to decode a schedule takes a walk over it. To be called without the
    /// rank's turn, since the rank itself would have to wait meanwhile for each message it wants to
    /// take or send.
    fn new(job: Job<'a>, rank: u32) -> Self {
        Self { rank, schedule: job.schedule(rank), storage: Some(storage(job, rank)), engine: None }
    }

    /// The engine. The caller holds the rank's turn.
    fn engine(&mut self, job: Job<'a>) -> &mut Engine<'a, Ends<'a>> {
        self.engine.get_or_insert_with(|| {
            let mut engine = attach(job, self.rank);
            engine.adopt(&self.schedule, self.storage.take().expect("it has no engine yet"));
            Box::new(engine)
        })
    }
}

/// The engine of a rank over its state in the segment. The caller holds the rank's turn.
fn attach<'a>(job: Job<'a>, rank: u32) -> Engine<'a, Ends<'a>> {
    // SAFETY: every use of the engine and its ends, here and in other processes, is while its turn
    // is held; the segment outlives them.
    let engine = unsafe {
        let ends = Ends::new(job.segment, rank, &job.settings.paths);
        let state = job.segment.region(&job.segment.rank(rank).engine);
        Engine::attach(rank, ends, job.settings.engine(), state)
    };
    job.equip(rank, engine)
}

/// The storage of a rank, as an engine uses it that acts for the rank.
fn storage(job: Job<'_>, rank: u32) -> Storage<'_> {
    // SAFETY: used only by an engine of `attach`, under the rank's turn, and dropped before the
    // segment.
    unsafe { Storage::over(job.areas(rank), None) }
}

impl<'a> Together<'a> {
    /// `None` if a member was there before and has left instances that it did not finish.
    pub(super) fn new(job: Job<'a>, rank: u32) -> Option<Self> {
        let (schedule, storage) = (job.schedule(rank), storage(job, rank));
        let turn = job.segment.turn(rank);
        // Nobody acts for the rank between two members of it.
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
        let keeps = engine.keeps_to_itself();
        held.unlock();
        let (views, foreign) = (Vec::new(), BTreeSet::new());
        is_free.then_some(Self { job, rank, engine, views, foreign, keeps, next: rank, seen: 0 })
    }

    fn turn(&self) -> &'a Turn {
        self.job.segment.turn(self.rank)
    }

    /// Does something in the rank's turn. `None` if the job has ended while somebody else had it.
    #[inline]
    pub(super) fn with<R>(&mut self, f: impl FnOnce(&mut Engine<'a, Ends<'a>>) -> R) -> Option<R> {
        self.in_turn(|engine, held| {
            let result = f(engine);
            // Whoever polls next is to do what `f` started.
            if engine.is_runnable() {
                held.set_busy(true);
            }
            result
        })
    }

    #[inline]
    fn in_turn<R>(
        &mut self,
        f: impl FnOnce(&mut Engine<'a, Ends<'a>>, &Held<'_>) -> R,
    ) -> Option<R> {
        let turn = self.turn();
        let mut looks = 0;
        let held = loop {
            if let Some(held) = turn.try_lock() {
                break held;
            }
            looks += 1;
            if looks > LOOKS {
                if self.job.segment.gate().is_stopped() {
                    return None;
                }
                std::thread::yield_now();
            }
        };
        let result = f(&mut self.engine, &held);
        self.keeps = self.engine.keeps_to_itself();
        if self.keeps {
            // It may have been away when it started something that nobody else knows.
            turn.reclaim();
        }
        held.unlock();
        Some(result)
    }

    /// Polls the rank's engine.
    #[inline]
    pub(super) fn poll(&mut self) -> Option<Result<Progress, Failure>> {
        let polled = self.in_turn(|engine, held| (poll_in_turn(engine, held), engine.fruitful()));
        let (progress, seen) = polled?;
        self.seen = seen;
        if progress.as_ref().is_ok_and(|progress| progress.worked) {
            self.ring();
        }
        Some(progress)
    }

    /// Acts for another rank that is away, if there is something to do. Whether there was.
    pub(super) fn help(&mut self) -> bool {
        let ranks = self.job.segment.num_ranks();
        for ahead in 0..ranks {
            let other = (self.next + ahead) % ranks;
            if other != self.rank && self.may_help(other) && self.act_for(other) {
                self.next = other;
                return true;
            }
        }
        false
    }

    /// Whether a rank is away and something is there for it to do.
    #[inline]
    fn needs_help(&self, other: u32) -> bool {
        let away = self.job.segment.turn(other).busy_if_lent();
        away.is_some_and(|busy| busy || self.job.segment.endpoint(other).has_message())
    }

    /// The same, where this process knows what the rank runs, as far as it has seen.
    #[inline]
    fn may_help(&self, other: u32) -> bool {
        self.needs_help(other) && !self.foreign.contains(&other)
    }

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
        // It may have come back, or somebody may have found it failed, since it was looked at.
        if turn.busy_if_lent().is_none() {
            held.unlock();
            return false;
        }
        let engine = self.views[at].engine(job);
        if !engine.may_act() {
            held.unlock();
            self.foreign.insert(other);
            return false;
        }
        let progress = match within(|| poll_in_turn(engine, &held)) {
            Ok(progress) => progress,
            Err(used_up) => {
                // Nobody may act for it any more, so its turn stays taken until the job is stopped.
                job.segment.fail(other, &format!("rank {other}: {used_up}"));
                return true;
            }
        };
        if let Err(failure) = &progress {
            // Before the rank can find it itself, and leave the same.
            job.fail(other, failure);
        }
        held.unlock();
        let worked = progress.as_ref().is_ok_and(|progress| progress.worked);
        if worked || progress.is_err() {
            // The event that it sleeps for may have happened.
            job.segment.mailbox(other).wake();
        }
        if worked {
            self.ring();
        }
        worked
    }

    /// After something was done, and messages sent perhaps: wakes a rank that sleeps if one of
    /// those that are away has messages now.
    fn ring(&self) {
        let segment = self.job.segment;
        if !segment.gate().sleepers.any() {
            return;
        }
        // This one too: it may be about to do something else.
        let mut ranks = 0..segment.num_ranks();
        // Others may know what this one doesn't.
        if ranks.clone().any(|rank| self.needs_help(rank)) {
            ranks.any(|rank| segment.mailbox(rank).wake());
        }
    }

    /// Prepares to sleep with `arm`. False if there is something to do, also for others.
    /// [`Together::get_up`] ends it.
    pub(super) fn lie_down(
        &mut self,
        arm: impl FnOnce(&mut Engine<'a, Ends<'a>>) -> bool,
    ) -> Option<bool> {
        let sleepers = &self.job.segment.gate().sleepers;
        sleepers.enter();
        // Somebody may have acted for this rank since it looked last.
        let seen = self.seen;
        let is_armed = self.with(|engine| engine.fruitful() == seen && arm(engine))?;
        sleepers.fence();
        let ranks = 0..self.job.segment.num_ranks();
        Some(is_armed && !ranks.into_iter().any(|rank| rank != self.rank && self.may_help(rank)))
    }

    /// The rank sleeps no longer.
    pub(super) fn get_up(&mut self) {
        self.job.segment.gate().sleepers.leave();
    }

    #[inline]
    pub(super) fn come(&mut self) {
        self.turn().reclaim();
    }

    /// The rank does something else, and others may act for it if they know what it runs.
    #[inline]
    pub(super) fn go(&mut self) {
        if !self.keeps {
            self.turn().lend();
            self.ring();
        }
    }
}

/// Polls an engine whose turn is held, and tells what that leaves before the turn is given back: so
/// the word always says what the last poll left, whoever made it.
#[inline]
fn poll_in_turn(engine: &mut Engine<Ends<'_>>, held: &Held<'_>) -> Result<Progress, Failure> {
    let progress = poll_now(engine);
    match progress {
        Ok(progress) => held.set_busy(is_busy(progress)),
        Err(_) => held.fail(),
    }
    progress
}

/// Whether an engine has something to do at once that no message tells. Of computations under way
/// the rank knows when they end.
fn is_busy(progress: Progress) -> bool {
    progress.worked || matches!(progress.waiting, Waiting::Room | Waiting::Until { room: true, .. })
}
