//! What a rank tells the launcher.
#![allow(unsafe_code)] // only `unsafe impl SharedWords`

use super::mapping::SharedWords;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

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
    const ALL: [State; 5] =
        [State::Starting, State::Running, State::Idle, State::Done, State::Failed];
}

/// A rank's status: written by the rank, and by others where they act for it, read by the launcher.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct Status {
    state: AtomicU32,
    epoch: AtomicU64,
    /// The process whose addresses the rank's buffers have; 0 before it is ready.
    pub process: AtomicU32,
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
    /// Messages for ranks on other hosts that left the engine, and such from them that it took.
    /// Both are right whenever the rank rests.
    pub remote_sent: AtomicU64,
    /// See [`Status::remote_sent`].
    pub remote_taken: AtomicU64,
    /// Bytes of the failure record; 0 without a failure.
    pub failure_len: AtomicU32,
    /// 1 when somebody writes the failure record, or has.
    noted: AtomicU32,
}

// SAFETY: repr(C), atomics only, aligned to 64.
unsafe impl SharedWords for Status {}

impl Status {
    /// What the rank is doing.
    pub fn state(&self) -> State {
        State::ALL[self.state.load(Ordering::SeqCst) as usize % State::ALL.len()]
    }

    /// Number of times that the rank began to run; between two equal readings it did not run unless
    /// it is running.
    pub fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::SeqCst)
    }

    /// Changes the state, unless it is [`State::Failed`], which stays: the rank may not know yet
    /// what another one found that acted for it. Entering [`State::Running`] begins an epoch,
    /// before anything else is done.
    pub fn enter(&self, state: State) {
        if state == State::Running {
            self.epoch.fetch_add(1, Ordering::SeqCst);
        }
        let change = |now| (now != State::Failed as u32).then_some(state as u32);
        let _ = self.state.fetch_update(Ordering::SeqCst, Ordering::SeqCst, change);
    }

    /// Returns true if the caller is the first one who has something to write into the failure
    /// record, and so the only one who may.
    pub(super) fn claim_failure_record(&self) -> bool {
        self.noted.swap(1, Ordering::SeqCst) == 0
    }
}
