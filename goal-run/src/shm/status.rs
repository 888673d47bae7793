//! What a rank tells the launcher, and the gate that all ranks start behind.
#![allow(unsafe_code)] // only `unsafe impl SharedWords`

use super::mapping::SharedWords;
use rustix::thread::futex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// What a rank is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum State {
    /// Not ready yet.
    Starting = 0,
    /// Executing, or about to.
    Running = 1,
    /// Nothing can happen before a message arrives.
    Idle = 2,
    /// Nothing can happen before a ring has room or the limit on unexpected messages allows more; retried now and then.
    Blocked = 3,
    /// Every instance has ended.
    Done = 4,
    /// Ended by an error, which the failure record tells.
    Failed = 5,
}

impl State {
    const ALL: [State; 6] =
        [State::Starting, State::Running, State::Idle, State::Blocked, State::Done, State::Failed];
}

/// A rank's status: written by the rank alone, read by the launcher.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct Status {
    state: AtomicU32,
    /// Whether arrivals are refused because of the limit on unexpected messages.
    pub refusing: AtomicU32,
    epoch: AtomicU64,
    /// Fruitless polls in state [`State::Blocked`].
    pub retries: AtomicU64,
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

/// Where ranks wait until all are ready.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct Gate {
    ready: AtomicU32,
    open: AtomicU32,
    /// The monotonic clock in nanoseconds when the last rank was ready.
    pub opened_ns: AtomicU64,
}

// SAFETY: repr(C), atomics only, aligned to 64.
unsafe impl SharedWords for Gate {}

impl Gate {
    /// Waits until `ranks` ranks are here; the last one opens the gate and notes the time `now_ns`.
    pub fn pass(&self, ranks: u32, now_ns: impl Fn() -> u64) {
        if self.ready.fetch_add(1, Ordering::SeqCst) + 1 == ranks {
            self.opened_ns.store(now_ns(), Ordering::SeqCst);
            self.open.store(1, Ordering::SeqCst);
            let _ = futex::wake(&self.open, futex::Flags::empty(), u32::MAX >> 1);
            return;
        }
        while self.open.load(Ordering::SeqCst) == 0 {
            // Wakes early or fails on a signal; the loop looks again.
            let _ = futex::wait(&self.open, futex::Flags::empty(), 0, None);
        }
    }

    /// Whether all ranks have started.
    pub fn is_open(&self) -> bool {
        self.open.load(Ordering::SeqCst) != 0
    }
}
