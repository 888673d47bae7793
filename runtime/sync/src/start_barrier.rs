//! The start barrier of a job, and a barrier for measurements.
//!
//! Ranks wait at the barrier until all of them are ready. The word of the barrier also tells ranks
//! that the job was stopped, is stuck, or has lost a rank. The launcher waits at the barrier until
//! all ranks have finished.
#![allow(unsafe_code)] // only `unsafe impl SharedWords`

use super::shared_words::SharedWords;
use super::sync::{AtomicU32, AtomicU64, Futex, Line, Ordering};
use std::time::Duration;

/// The start barrier: ranks wait at it until all are ready. The launcher waits at it until all
/// ranks have finished.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct StartBarrier {
    /// The number of ranks that have come to the barrier.
    ready: AtomicU32,
    /// [`CLOSED`], [`OPEN`], [`STOPPED`], [`STUCK`], [`BROKEN`] or [`LATE`]. Ranks wait on this
    /// futex.
    position: Futex,
    /// The number of ranks that have finished. The launcher waits on this futex.
    finished: Futex,
    /// The monotonic clock in nanoseconds when the last rank was ready.
    pub opened_ns: AtomicU64,
    /// The number of times that survivors of a loss have formed a group.
    generation: AtomicU32,
    /// The number of times that the launcher has asked for counts of threads.
    question: AtomicU32,
    /// The number of times that the launcher has asked what ranks wait for.
    text_question: AtomicU32,
}

const CLOSED: u32 = 0;
const OPEN: u32 = 1;
const STOPPED: u32 = 2;
/// Stopped because no rank could go on.
const STUCK: u32 = 3;
/// Stopped because a rank was lost. The barrier opens again for the ranks that are left.
const BROKEN: u32 = 4;
/// Stopped because the time is up.
const LATE: u32 = 5;

// SAFETY: repr(C), atomics only, aligned to 64.
unsafe impl SharedWords for StartBarrier {}

impl StartBarrier {
    /// Waits until `ranks` ranks have called this. The last one opens the barrier and stores the
    /// time `now_ns`. Returns false if the job was stopped instead.
    pub fn pass(&self, ranks: u32, now_ns: impl Fn() -> u64) -> bool {
        self.pass_polling(ranks, 0, now_ns)
    }

    /// Waits as [`StartBarrier::pass`] does, but looks up to `polls` times before it sleeps. Ranks
    /// with a processor of their own use it: the system takes longer to wake a rank than a short
    /// schedule runs.
    pub fn pass_polling(&self, ranks: u32, mut polls: u32, now_ns: impl Fn() -> u64) -> bool {
        if self.ready.fetch_add(1, Ordering::SeqCst) + 1 == ranks {
            self.opened_ns.store(now_ns(), Ordering::SeqCst);
            self.change(CLOSED, OPEN);
        }
        loop {
            match self.position.load(Ordering::SeqCst) {
                CLOSED if polls > 0 => {
                    polls -= 1;
                    // The launcher may need this processor to start the next rank.
                    std::thread::yield_now();
                }
                CLOSED => {
                    // `wait` may return early; the loop looks again.
                    self.position.wait(CLOSED, None);
                }
                // A barrier that broke was open: a rank was lost before this one woke up.
                position => return matches!(position, OPEN | BROKEN),
            }
        }
    }

    /// The number of ranks that have come to the barrier.
    pub fn ready(&self) -> u32 {
        self.ready.load(Ordering::SeqCst)
    }

    /// Returns true if all ranks have started and the job was not stopped.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.position.load(Ordering::SeqCst) == OPEN
    }

    /// Ends the job: ranks at the barrier return, and the others see [`StartBarrier::is_stopped`].
    /// The caller must wake ranks that sleep elsewhere.
    pub fn stop(&self) {
        for position in [CLOSED, OPEN, BROKEN] {
            self.change(position, STOPPED);
        }
    }

    /// Stops all schedules because a rank was lost: see [`StartBarrier::is_broken`]. The caller
    /// must wake ranks that sleep elsewhere.
    pub fn break_up(&self) {
        self.change(OPEN, BROKEN);
    }

    /// Opens the barrier again for the ranks that are left, and begins the next generation. No rank
    /// may use the segment's messages during this call.
    pub fn mend(&self) {
        self.change(BROKEN, OPEN);
        // A rank that sees the new generation also sees that the barrier was open.
        self.generation.fetch_add(1, Ordering::SeqCst);
    }

    /// Returns the number of times that survivors have formed a group.
    #[inline]
    pub fn generation(&self) -> u32 {
        self.generation.load(Ordering::SeqCst)
    }

    /// Sleeps for at most `limit`, or until the job breaks, goes on or ends. It may return early.
    pub fn wait_change(&self, limit: Duration) {
        self.position.wait(self.position.load(Ordering::SeqCst), Some(limit));
    }

    /// Ends the job as [`StartBarrier::stop`] does, because no rank can go on: see
    /// [`StartBarrier::is_stuck`].
    pub fn stop_as_stuck(&self) {
        self.change(OPEN, STUCK);
    }

    /// Ends the job as [`StartBarrier::stop`] does, because the time is up: see
    /// [`StartBarrier::is_late`].
    pub fn stop_as_late(&self) {
        self.change(OPEN, LATE);
    }

    /// Asks each waiting rank for the counts of its threads. A rank answers in its process state
    /// (`ProcessState::answer` of `goal-shm`). The caller must wake ranks that sleep.
    pub fn ask(&self) {
        self.question.fetch_add(1, Ordering::SeqCst);
    }

    /// Returns the number of times that [`StartBarrier::ask`] was called.
    #[inline]
    pub fn question(&self) -> u32 {
        self.question.load(Ordering::Relaxed)
    }

    /// Asks each rank for a text that says what it waits for. The caller must wake ranks that
    /// sleep. Returns the number of this question.
    pub fn ask_texts(&self) -> u32 {
        self.text_question.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// Returns the number of times that [`StartBarrier::ask_texts`] was called.
    #[inline]
    pub fn text_question(&self) -> u32 {
        self.text_question.load(Ordering::Relaxed)
    }

    /// Returns true if no schedule may go on, because the job has ended or has lost a rank.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.position.load(Ordering::Relaxed) >= STOPPED
    }

    /// Returns true if the job has ended.
    #[inline]
    pub fn has_ended(&self) -> bool {
        matches!(self.position.load(Ordering::SeqCst), STOPPED | STUCK | LATE)
    }

    /// Returns true if a rank was lost and the others have not formed a group yet.
    #[inline]
    pub fn is_broken(&self) -> bool {
        self.position.load(Ordering::SeqCst) == BROKEN
    }

    /// Returns true if the job has ended because no rank could go on. A rank that waits can then
    /// say what it waits for.
    pub fn is_stuck(&self) -> bool {
        self.position.load(Ordering::Relaxed) == STUCK
    }

    /// Returns true if the job has ended because the time is up. A rank that waits can then say
    /// what it waits for.
    pub fn is_late(&self) -> bool {
        self.position.load(Ordering::Relaxed) == LATE
    }

    fn change(&self, from: u32, to: u32) {
        if self.position.compare_exchange(from, to, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
            self.position.wake();
        }
    }

    /// Counts a rank whose instances have all ended, and whose messages have all left. The last of
    /// `ranks` ranks wakes the launcher.
    pub fn finish(&self, ranks: u32) {
        if self.finished.fetch_add(1, Ordering::SeqCst) + 1 == ranks {
            self.call_launcher();
        }
    }

    /// The number of ranks that have finished.
    pub fn finished(&self) -> u32 {
        self.finished.load(Ordering::SeqCst)
    }

    /// Wakes the launcher if it sleeps in [`StartBarrier::wait_finished`].
    pub fn call_launcher(&self) {
        self.finished.wake();
    }

    /// Sleeps for at most `limit` while fewer than `ranks` ranks have finished. The last rank to
    /// finish ends the sleep, and so does [`StartBarrier::call_launcher`]. It may return early.
    pub fn wait_finished(&self, ranks: u32, limit: Duration) {
        let finished = self.finished();
        if finished < ranks {
            self.finished.wait(finished, Some(limit));
        }
    }
}

/// The words of a barrier for measurements, which ranks can use any number of times.
#[derive(Debug, Default)]
#[repr(C)]
pub struct BarrierWords {
    /// The number of ranks that have arrived in this round.
    arrived: Line<AtomicU32>,
    /// The number of rounds that are complete.
    round: Line<AtomicU32>,
}

// SAFETY: repr(C), atomics only, aligned to 64.
unsafe impl SharedWords for BarrierWords {}

impl BarrierWords {
    /// Waits until `ranks` ranks have called this. Calls `pause` each time that it finds a rank
    /// missing.
    pub fn wait(&self, ranks: u32, mut pause: impl FnMut()) {
        let round = self.round.0.load(Ordering::SeqCst);
        if self.arrived.0.fetch_add(1, Ordering::SeqCst) + 1 == ranks {
            self.arrived.0.store(0, Ordering::SeqCst);
            self.round.0.store(round.wrapping_add(1), Ordering::SeqCst);
            return;
        }
        while self.round.0.load(Ordering::SeqCst) == round {
            pause();
        }
    }
}
