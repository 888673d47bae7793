//! Ranks that act for each other.
#![allow(unsafe_code)] // attaching to the state of an engine, which is used only while its turn is held

use crate::engine::{Engine, Failure, Progress, Waiting};
use crate::rank::{Job, now_ns};
use crate::shm::Turn;
use crate::transport::Ends;
use std::sync::atomic::Ordering;

/// Looks at a turn that somebody else has before the processor is yielded: that one may need it.
const LOOKS: u32 = 100;

/// A rank's engine over a state that all ranks reach, and its views of the others'.
pub(super) struct Together<'a> {
    job: Job<'a>,
    rank: u32,
    engine: Engine<Ends<'a>>,
    /// The engines of the others that it has acted for.
    others: Vec<Option<Box<Engine<Ends<'a>>>>>,
    /// Whom to look at first.
    next: u32,
    /// [`Engine::fruitful`] at the last look of its own.
    seen: u32,
}

/// The engine of a rank as this process sees it. To be made and used only while its turn is held.
fn view<'a>(job: Job<'a>, rank: u32) -> Engine<Ends<'a>> {
    let ends = Ends::new(job.segment, rank, &job.settings.paths);
    let state = job.segment.region(&job.segment.rank(rank).engine);
    // SAFETY: every use of the engine, here and in other processes, is while its turn is held.
    job.equip(rank, unsafe { Engine::attach(rank, ends, job.settings.engine(), state) })
}

/// The engine of another rank.
fn view_of_other<'a>(job: Job<'a>, rank: u32) -> Box<Engine<Ends<'a>>> {
    let mut engine = view(job, rank);
    engine.adopt(&job.schedule(rank), job.storage(rank));
    Box::new(engine)
}

impl<'a> Together<'a> {
    pub(super) fn new(job: Job<'a>, rank: u32) -> Self {
        let turn = job.segment.turn(rank);
        while !turn.take() {
            std::thread::yield_now();
        }
        let engine = view(job, rank);
        turn.give();
        let others = (0..job.segment.num_ranks()).map(|_| None).collect();
        Self { job, rank, engine, others, next: rank, seen: 0 }
    }

    fn turn(&self) -> &'a Turn {
        self.job.segment.turn(self.rank)
    }

    /// Does something in the rank's turn. `None` if the job has ended while somebody else had it.
    #[inline]
    pub(super) fn with<R>(&mut self, f: impl FnOnce(&mut Engine<Ends<'a>>) -> R) -> Option<R> {
        let turn = self.turn();
        let mut looks = 0;
        while !turn.take() {
            looks += 1;
            if looks > LOOKS {
                if self.job.segment.gate().is_stopped() {
                    return None;
                }
                std::thread::yield_now();
            }
        }
        let result = f(&mut self.engine);
        turn.give();
        Some(result)
    }

    /// Polls the rank's engine.
    #[inline]
    pub(super) fn poll(&mut self, now: u64) -> Option<Result<Progress, Failure>> {
        let (progress, seen) = self.with(|engine| (engine.poll(now), engine.fruitful()))?;
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
    fn may_help(&self, other: u32) -> bool {
        let away = self.job.segment.turn(other).is_away();
        away.is_some_and(|busy| busy || self.job.segment.endpoint(other).has_message())
    }

    fn act_for(&mut self, other: u32) -> bool {
        let turn = self.job.segment.turn(other);
        if !turn.take() {
            return false;
        }
        let job = self.job;
        let engine = self.others[other as usize].get_or_insert_with(|| view_of_other(job, other));
        let progress = engine.poll(if job.asks_time { now_ns() } else { 0 });
        turn.leave(progress.as_ref().is_ok_and(|&progress| is_busy(progress)));
        turn.give();
        match progress {
            Ok(progress) => {
                if progress.worked {
                    // What it sleeps for may have come about.
                    job.segment.mailbox(other).wake();
                    self.ring();
                }
                progress.worked
            }
            Err(failure) => {
                job.fail(other, &failure);
                false
            }
        }
    }

    /// After something was done, and messages sent perhaps: wakes a rank that sleeps if one of those that are away has messages now.
    fn ring(&self) {
        let segment = self.job.segment;
        // A read that comes after the messages in the order of all changes of this word: see `lie_down`.
        if segment.gate().asleep.fetch_add(0, Ordering::SeqCst) == 0 {
            return;
        }
        // This one too: it may be about to do something else.
        let mut ranks = 0..segment.num_ranks();
        if ranks.clone().any(|rank| self.may_help(rank)) {
            ranks.any(|rank| segment.mailbox(rank).wake());
        }
    }

    /// Prepares to sleep with `arm`. False if there is something to do, also for others.
    pub(super) fn lie_down(&mut self, arm: impl FnOnce(&mut Engine<Ends<'a>>) -> bool) -> Option<bool> {
        // Who sends a message after this sees it; what was sent before is seen below.
        self.job.segment.gate().asleep.fetch_add(1, Ordering::SeqCst);
        // Somebody may have acted for this rank since it looked last.
        let seen = self.seen;
        let is_armed = self.with(|engine| engine.fruitful() == seen && arm(engine))?;
        let ranks = 0..self.job.segment.num_ranks();
        Some(is_armed && !ranks.into_iter().any(|rank| rank != self.rank && self.may_help(rank)))
    }

    /// The rank sleeps no longer.
    pub(super) fn get_up(&mut self) {
        self.job.segment.gate().asleep.fetch_sub(1, Ordering::SeqCst);
    }

    #[inline]
    pub(super) fn come(&mut self) {
        self.turn().come();
    }

    #[inline]
    pub(super) fn go(&mut self, progress: Progress) {
        self.turn().go(is_busy(progress));
        self.ring();
    }
}

/// Whether an engine has something to do at once that no message tells. Of computations under way the rank knows when they end.
fn is_busy(progress: Progress) -> bool {
    progress.worked || matches!(progress.waiting, Waiting::Room | Waiting::Until { room: true, .. })
}
