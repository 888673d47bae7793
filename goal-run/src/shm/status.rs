//! What a rank tells the launcher, and the gate that all ranks start behind.
#![allow(unsafe_code)] // only `unsafe impl SharedWords`

use super::mapping::SharedWords;
use rustix::thread::futex::{self, Timespec};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// What a rank is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum State {
    /// Not ready yet.
    Starting = 0,
    /// Executing, or about to, or waiting for time to pass.
    Running = 1,
    /// Nothing can happen before a message arrives.
    Idle = 2,
    /// Every instance has ended.
    Done = 3,
    /// Ended by an error, which the failure record tells.
    Failed = 4,
}

impl State {
    const ALL: [State; 5] = [State::Starting, State::Running, State::Idle, State::Done, State::Failed];
}

/// A rank's status: written by the rank alone, read by the launcher.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct Status {
    state: AtomicU32,
    epoch: AtomicU64,
    /// Instances started.
    pub instance: AtomicU64,
    /// The monotonic clock in nanoseconds when the last instance ended.
    pub ended_ns: AtomicU64,
    /// Messages sent.
    pub messages: AtomicU64,
    /// Payload bytes sent.
    pub bytes: AtomicU64,
    /// Payload bytes compared with their pattern.
    pub verified_bytes: AtomicU64,
    /// Receives of ended instances that were run through a window.
    pub receives: AtomicU64,
    /// Most entries of the table of a window.
    pub table_max: AtomicU64,
    /// Bytes of the failure record; 0 without a failure.
    pub failure_len: AtomicU32,
}

// SAFETY: repr(C), atomics only, aligned to 64.
unsafe impl SharedWords for Status {}

impl Status {
    /// What the rank is doing.
    pub fn state(&self) -> State {
        State::ALL[self.state.load(Ordering::SeqCst) as usize % State::ALL.len()]
    }

    /// Number of times that the rank began to run; between two equal readings it did not run unless it is running.
    pub fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::SeqCst)
    }

    /// Changes the state. Entering [`State::Running`] begins an epoch, before anything else is done.
    pub fn enter(&self, state: State) {
        if state == State::Running {
            self.epoch.fetch_add(1, Ordering::SeqCst);
        }
        self.state.store(state as u32, Ordering::SeqCst);
    }
}

/// Where ranks wait until all are ready, and where the launcher waits for all to be through.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct Gate {
    ready: AtomicU32,
    /// A futex: [`CLOSED`], [`OPEN`] or [`STOPPED`].
    position: AtomicU32,
    /// Ranks whose instances have all ended: a futex that the launcher sleeps in.
    finished: AtomicU32,
    /// The monotonic clock in nanoseconds when the last rank was ready.
    pub opened_ns: AtomicU64,
}

const CLOSED: u32 = 0;
const OPEN: u32 = 1;
const STOPPED: u32 = 2;

// SAFETY: repr(C), atomics only, aligned to 64.
unsafe impl SharedWords for Gate {}

impl Gate {
    /// Waits until `ranks` ranks are here; the last one opens the gate and notes the time `now_ns`. False if the job was
    /// stopped instead.
    pub fn pass(&self, ranks: u32, now_ns: impl Fn() -> u64) -> bool {
        if self.ready.fetch_add(1, Ordering::SeqCst) + 1 == ranks {
            self.opened_ns.store(now_ns(), Ordering::SeqCst);
            self.turn(CLOSED, OPEN);
        }
        loop {
            match self.position.load(Ordering::SeqCst) {
                CLOSED => {
                    // Wakes early or fails on a signal; the loop looks again.
                    let _ = futex::wait(&self.position, futex::Flags::empty(), CLOSED, None);
                }
                position => return position == OPEN,
            }
        }
    }

    /// Whether all ranks have started.
    pub fn is_open(&self) -> bool {
        self.position.load(Ordering::SeqCst) == OPEN
    }

    /// Tells all ranks to return: the job has ended. Ranks that sleep elsewhere are to be woken there.
    pub fn stop(&self) {
        self.turn(CLOSED, STOPPED);
        self.turn(OPEN, STOPPED);
    }

    /// Whether the job has ended.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.position.load(Ordering::Relaxed) == STOPPED
    }

    fn turn(&self, from: u32, to: u32) {
        if self.position.compare_exchange(from, to, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
            let _ = futex::wake(&self.position, futex::Flags::empty(), u32::MAX >> 1);
        }
    }

    /// A rank's instances have all ended, and all it had to send has left.
    pub fn finish(&self, ranks: u32) {
        if self.finished.fetch_add(1, Ordering::SeqCst) + 1 == ranks {
            self.call_launcher();
        }
    }

    /// Number of ranks that have finished.
    pub fn finished(&self) -> u32 {
        self.finished.load(Ordering::SeqCst)
    }

    /// Wakes the launcher if it sleeps.
    pub fn call_launcher(&self) {
        let _ = futex::wake(&self.finished, futex::Flags::empty(), 1);
    }

    /// Sleeps until `limit` has passed, or less: the last rank to finish ends it, and so does [`Gate::call_launcher`].
    pub fn wait_finished(&self, ranks: u32, limit: Duration) {
        let finished = self.finished();
        if finished < ranks {
            let limit = Timespec::try_from(limit).ok();
            let _ = futex::wait(&self.finished, futex::Flags::empty(), finished, limit.as_ref());
        }
    }
}
