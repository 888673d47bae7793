//! The status of a rank in shared memory: its state, progress and failure, and its member state.
//! The launcher reads it.
#![allow(unsafe_code)] // only `unsafe impl SharedWords`

use super::exporter::Exporter;
use super::member_state::MemberState;
use super::process_state::ProcessState;
use goal_sync::SharedWords;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The state of a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum State {
    /// The rank is not ready yet.
    Starting = 0,
    /// The rank executes actions, is about to do so, or waits for time to pass.
    Running = 1,
    /// The rank can do nothing before a message arrives.
    Idle = 2,
    /// Every instance of the rank has ended.
    Done = 3,
    /// The rank ended by an error, whose text is in the failure record.
    Failed = 4,
}

impl State {
    const ALL: [State; 5] =
        [State::Starting, State::Running, State::Idle, State::Done, State::Failed];
}

/// The behaviour of a rank after the loss of another rank. The rank uses messages only in the state
/// `TakesPart`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum RecoveryState {
    /// The rank takes part in the job, and may not know of the loss.
    TakesPart = 0,
    /// The rank waits for the next generation of the job.
    Regroups = 1,
    /// The rank has come to its end, and is in no later generation of the job.
    SitsOut = 2,
}

impl RecoveryState {
    const ALL: [RecoveryState; 3] =
        [RecoveryState::TakesPart, RecoveryState::Regroups, RecoveryState::SitsOut];
}

/// The number of a rank's first instances whose ends are recorded.
pub const INSTANCES_TIMED: usize = 32;

/// A rank's status. The rank writes it, and so do processes that act for the rank. The launcher
/// reads it.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct Status {
    state: AtomicU32,
    epoch: AtomicU64,
    /// The process in whose address space the rank's buffers lie.
    pub exporter: Exporter,
    /// The number of instances started.
    pub instance: AtomicU64,
    /// The time at which the last instance ended, in nanoseconds of the monotonic clock.
    pub ended_ns: AtomicU64,
    /// The processor that the rank is bound to, plus 1; 0 if it is not bound.
    pub processor: AtomicU32,
    /// The bytes of the rank's areas that were made resident before it started.
    pub prefaulted: AtomicU64,
    /// The nanoseconds from the opening of the start barrier to the end of each of the first
    /// instances.
    pub instances_ns: [AtomicU64; INSTANCES_TIMED],
    /// The number of messages sent.
    pub messages: AtomicU64,
    /// The number of payload bytes sent.
    pub bytes: AtomicU64,
    /// The number of payload bytes compared with their pattern.
    pub verified_bytes: AtomicU64,
    /// The number of receives in ended instances, counting only instances that ran through a
    /// window.
    pub receives: AtomicU64,
    /// The largest number of entries in a window's table of actions that were released before they
    /// entered the window.
    pub table_max: AtomicU64,
    /// The number of messages for ranks on other hosts that left the engine. It is exact whenever
    /// the rank rests.
    pub remote_sent: AtomicU64,
    /// The number of messages from ranks on other hosts that the rank took. It is exact whenever
    /// the rank rests.
    pub remote_taken: AtomicU64,
    /// The bytes of the failure record; 0 while it is empty.
    pub(crate) failure_len: AtomicU32,
    /// 1 once a process has claimed the right to write the failure record.
    failure_claimed: AtomicU32,
    /// The first generation of the job in which the rank is missing; 0 while it is missing in none.
    missing_from: AtomicU32,
    /// 1 if the rank was lost.
    is_lost: AtomicU32,
    /// The rank's [`RecoveryState`] as a number.
    recovery_state: AtomicU32,
    /// The rank that this rank can't reach any more, plus 1; 0 if it can reach all ranks.
    suspected: AtomicU32,
    /// 1 once the rank has counted itself as finished at the start barrier.
    has_finished: AtomicU32,
    /// The state of the process that has attached as the rank.
    pub process_state: ProcessState,
    /// The rank's member state in a job that grows and shrinks.
    pub member_state: MemberState,
}

// SAFETY: repr(C), atomics only, aligned to 64.
unsafe impl SharedWords for Status {}

impl Status {
    /// Returns the state of the rank.
    pub fn state(&self) -> State {
        State::ALL[self.state.load(Ordering::SeqCst) as usize % State::ALL.len()]
    }

    /// Returns the number of times that the rank entered [`State::Running`]. If two readings are
    /// equal and the rank is not running, it has not run between them.
    pub fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::SeqCst)
    }

    /// Sets the rank's state, unless the state is [`State::Failed`]. Another rank that acts for
    /// this rank may have set that, unknown to this rank. Entering [`State::Running`] first begins
    /// a new epoch.
    pub fn enter(&self, state: State) {
        if state == State::Running {
            self.epoch.fetch_add(1, Ordering::SeqCst);
        }
        let change = |now| (now != State::Failed as u32).then_some(state as u32);
        let _ = self.state.fetch_update(Ordering::SeqCst, Ordering::SeqCst, change);
    }

    /// Notes that the rank was lost in `generation`, and so is missing from the next generation on.
    /// The launcher calls this.
    pub fn lose(&self, generation: u32) {
        self.exclude_from(generation + 1);
        self.is_lost.store(1, Ordering::SeqCst);
    }

    /// Notes that the rank is missing from `generation` on. If an earlier call has noted a
    /// generation, that one stays.
    pub fn exclude_from(&self, generation: u32) {
        let _ =
            self.missing_from.compare_exchange(0, generation, Ordering::SeqCst, Ordering::SeqCst);
    }

    /// Returns true if the rank was lost.
    pub fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::SeqCst) != 0
    }

    /// Returns true if the rank is missing in `generation`.
    pub fn is_missing_in(&self, generation: u32) -> bool {
        let from = self.missing_from.load(Ordering::SeqCst);
        from != 0 && from <= generation
    }

    /// States that this rank can't reach `rank` any more. Does nothing if this rank suspects
    /// another rank already.
    pub fn suspect(&self, rank: u32) {
        let _ = self.suspected.compare_exchange(0, rank + 1, Ordering::SeqCst, Ordering::SeqCst);
    }

    /// Takes back the suspicion that [`suspect`](Self::suspect) stated.
    pub fn clear_suspicion(&self) {
        self.suspected.store(0, Ordering::SeqCst);
    }

    /// Returns the rank that this rank can't reach any more; `None` if there is none.
    pub fn suspected(&self) -> Option<u32> {
        self.suspected.load(Ordering::SeqCst).checked_sub(1)
    }

    /// Sets the rank's behaviour after the loss of another rank.
    pub fn set_recovery_state(&self, recovery_state: RecoveryState) {
        self.recovery_state.store(recovery_state as u32, Ordering::SeqCst);
    }

    /// Returns the rank's behaviour after the loss of another rank.
    pub fn recovery_state(&self) -> RecoveryState {
        RecoveryState::ALL
            [self.recovery_state.load(Ordering::SeqCst) as usize % RecoveryState::ALL.len()]
    }

    /// States that the rank has counted itself as finished at the start barrier.
    pub fn finish(&self) {
        self.has_finished.store(1, Ordering::SeqCst);
    }

    /// Returns true if the rank has counted itself as finished at the start barrier.
    pub fn has_finished(&self) -> bool {
        self.has_finished.load(Ordering::SeqCst) != 0
    }

    /// Claims the failure record. Returns true for the first caller, which alone may write the
    /// record.
    pub(crate) fn claim_failure_record(&self) -> bool {
        self.failure_claimed.swap(1, Ordering::SeqCst) == 0
    }
}
