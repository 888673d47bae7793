//! The state of a program's process in its job: attached, waiting in a call, or ended. The process
//! writes the state, and its launcher reads it to find a job that is stuck.
//!
//! A process that waits in a call may have other threads outside of any call, and these threads may
//! go on. The launcher asks the process for their number
//! ([`StartBarrier::ask`](super::StartBarrier::ask)). Only the process itself can count its threads
//! whatever its namespace of processes is.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The number of words that hold the name of a call.
const CALL_WORDS: usize = 4;
/// The most bytes of the name of a call that are kept.
const CALL_BYTES: usize = CALL_WORDS * size_of::<u64>();

/// The identity of a process. It tells the process from others that have the same process ID in
/// another namespace, or had it earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// The inode number of the process's PID namespace, which is never 0.
    pub namespace: u64,
    /// The inode number of the process's time namespace, in which `start` is counted.
    pub clocks: u64,
    /// The start time of the process, in the system's unit and as counted in that time namespace.
    pub start: u64,
}

/// The words in which a program's process states what it does in its job.
#[derive(Debug, Default)]
#[repr(C)]
pub struct ProcessState {
    /// The process that has attached as the rank, by the ID that it sees itself; 0 while none has
    /// attached.
    process: AtomicU32,
    /// The [`Identity`] of the process. The first word is 0 until all three words are known.
    namespace: AtomicU64,
    clocks: AtomicU64,
    start: AtomicU64,
    /// The ID by which the launcher of the host sees the process; 0 while unknown.
    seen: AtomicU32,
    /// 1 once the process has called its end, which may still wait for other ranks, or has left the
    /// job.
    has_finalized: AtomicU32,
    /// The state of the process: [`COMPUTES`], [`WAITS`] or [`STAYS`].
    state: AtomicU32,
    /// The name of the call that the process is in, or was in last.
    call: [AtomicU64; CALL_WORDS],
    /// The number of the process's threads that wait in calls.
    in_calls: AtomicU32,
    /// The number of the process's threads in no call, as it last counted them; `u32::MAX` if it
    /// could not count them.
    others: AtomicU32,
    /// The epoch of the rank at the time of that count, plus 1; 0 if the process has not counted
    /// since it began to wait.
    answered_in: AtomicU64,
    /// The number of the last question for a text that the process has answered.
    told: AtomicU32,
    /// The bytes of the text that answers question `told`.
    pub(crate) told_len: AtomicU32,
    /// 1 while the process answers messages at once, since it waits in a call.
    answers: AtomicU32,
    /// The number of runs of schedules that have ended, plus the number of the program's tests that
    /// made progress.
    moves: AtomicU64,
    /// The number of the program's tests that found a run under way and made no progress.
    vain_tests: AtomicU64,
}

/// The process is in no call that waits.
const COMPUTES: u32 = 0;
/// The process waits in a call.
const WAITS: u32 = 1;
/// The process is in a call, and its runs go on in the kernel without it.
const STAYS: u32 = 2;

impl ProcessState {
    /// Claims the rank for a process. Only the first claim succeeds.
    ///
    /// # Errors
    /// The ID of the process that claimed the rank before.
    pub fn claim(&self, process: u32) -> Result<(), u32> {
        self.process.compare_exchange(0, process, Ordering::SeqCst, Ordering::SeqCst).map(drop)
    }

    /// Returns the ID of the process that has attached as the rank; `None` while none has attached.
    pub fn process(&self) -> Option<u32> {
        Some(self.process.load(Ordering::SeqCst)).filter(|&process| process != 0)
    }

    /// Stores the identity of the process that has claimed the rank. That process calls this.
    pub fn identify(&self, Identity { namespace, clocks, start }: Identity) {
        self.start.store(start, Ordering::SeqCst);
        self.clocks.store(clocks, Ordering::SeqCst);
        self.namespace.store(namespace, Ordering::SeqCst);
    }

    /// Returns the identity that [`identify`](Self::identify) stored; `None` before that call.
    pub fn identity(&self) -> Option<Identity> {
        let namespace = self.namespace.load(Ordering::SeqCst);
        let [clocks, start] = [&self.clocks, &self.start].map(|word| word.load(Ordering::SeqCst));
        (namespace != 0).then_some(Identity { namespace, clocks, start })
    }

    /// Stores the ID by which the launcher of the host sees the process.
    pub fn see(&self, process: u32) {
        self.seen.store(process, Ordering::SeqCst);
    }

    /// Returns the ID by which the launcher of the host sees the process. Returns `None` if the
    /// launcher can't see the process, or does not know the ID yet.
    pub fn seen(&self) -> Option<u32> {
        Some(self.seen.load(Ordering::SeqCst)).filter(|&process| process != 0)
    }

    /// States that the process has called its end, or has left the job. It starts no schedules any
    /// more.
    pub fn finalize(&self) {
        self.has_finalized.store(1, Ordering::SeqCst);
    }

    /// Returns true if the process has called its end, or has left the job.
    pub fn has_finalized(&self) -> bool {
        self.has_finalized.load(Ordering::SeqCst) != 0
    }

    /// States that the process waits in a call of this name, with `threads` threads in calls. Bytes
    /// of the name beyond the 32nd are left out.
    ///
    /// This costs a few relaxed stores. A later change of the rank's state is sequentially
    /// consistent, so code that sees the change also sees these stores.
    #[inline]
    pub fn wait_in(&self, call: &str, threads: u32) {
        self.in_calls.store(threads, Ordering::Relaxed);
        // An answer of an earlier wait does not count in this one.
        self.answered_in.store(0, Ordering::Relaxed);
        self.enter(call, WAITS);
    }

    /// Returns the number of the process's threads that wait in calls.
    pub fn in_calls(&self) -> u32 {
        self.in_calls.load(Ordering::Relaxed)
    }

    /// States that `others` threads of the process are in no call, counted in this epoch of the
    /// rank. Threads of the library do not count. `None` says that the process can't count its
    /// threads.
    pub fn answer(&self, epoch: u64, others: Option<u32>) {
        self.others.store(others.unwrap_or(u32::MAX), Ordering::SeqCst);
        self.answered_in.store(epoch + 1, Ordering::SeqCst);
    }

    /// Returns the number of threads in no call, as the process counted them in this epoch of the
    /// rank. Returns `None` if the process did not count them, or could not.
    pub fn others_in(&self, epoch: u64) -> Option<u32> {
        let is_of_epoch = self.answered_in.load(Ordering::SeqCst) == epoch + 1;
        is_of_epoch.then(|| self.others()).flatten()
    }

    /// Returns the number of threads in no call, as the process last counted them. Returns 0 before
    /// the first count, and `None` if the process could not count them.
    pub fn others(&self) -> Option<u32> {
        let others = self.others.load(Ordering::SeqCst);
        (others != u32::MAX).then_some(others)
    }

    /// Notes that the text which answers question `question` has been written.
    pub(crate) fn tell(&self, question: u32) {
        self.told.store(question, Ordering::SeqCst);
    }

    /// Returns the number of the last question for a text that the process has answered.
    #[inline]
    pub fn told(&self) -> u32 {
        self.told.load(Ordering::Relaxed)
    }

    /// Notes that a run has ended, or that a test of the program made progress. One thread at a
    /// time calls this.
    #[inline]
    pub fn note_move(&self) {
        self.moves.store(self.moves.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// Returns the number of calls of [`note_move`](Self::note_move).
    pub fn moves(&self) -> u64 {
        self.moves.load(Ordering::SeqCst)
    }

    /// Notes that a test of the program found a run under way and made no progress. One thread at a
    /// time calls this.
    #[inline]
    pub fn note_vain_test(&self) {
        self.vain_tests.store(self.vain_tests.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// Returns the number of calls of [`note_vain_test`](Self::note_vain_test).
    pub fn vain_tests(&self) -> u64 {
        self.vain_tests.load(Ordering::SeqCst)
    }

    /// States that the process is in a call of this name. It does not count as waiting, because its
    /// runs go on in the kernel without it.
    #[inline]
    pub fn stay_in(&self, call: &str) {
        self.enter(call, STAYS);
    }

    #[inline]
    fn enter(&self, call: &str, state: u32) {
        let mut bytes = [0; CALL_BYTES];
        let len = call.len().min(CALL_BYTES);
        bytes[..len].copy_from_slice(&call.as_bytes()[..len]);
        for (word, bytes) in self.call.iter().zip(bytes.as_chunks().0) {
            word.store(u64::from_le_bytes(*bytes), Ordering::Relaxed);
        }
        self.state.store(state, Ordering::Relaxed);
    }

    /// States that the process does not wait in a call.
    #[inline]
    pub fn compute(&self) {
        self.state.store(COMPUTES, Ordering::Relaxed);
    }

    /// Returns true if the process waits in a call.
    pub fn waits(&self) -> bool {
        self.state.load(Ordering::SeqCst) == WAITS
    }

    /// Returns true if the process is in a call while its runs go on in the kernel without it.
    pub fn stays(&self) -> bool {
        self.state.load(Ordering::SeqCst) == STAYS
    }

    /// States whether the process answers messages at once. A process states this earlier than
    /// that it [waits](Self::wait_in): for each wait, and by one store.
    #[inline]
    pub fn set_answers(&self, answers: bool) {
        self.answers.store(answers.into(), Ordering::Relaxed);
    }

    /// Returns true if the process answers messages at once, or did a moment ago.
    #[inline]
    pub fn answers(&self) -> bool {
        self.answers.load(Ordering::Relaxed) != 0
    }

    /// Returns the name of the call that the process is in, or was in last; `None` if there was
    /// none.
    pub fn last_call(&self) -> Option<String> {
        let words = self.call.each_ref().map(|word| word.load(Ordering::SeqCst).to_le_bytes());
        let name = words.as_flattened();
        let len = name.iter().position(|&byte| byte == 0).unwrap_or(CALL_BYTES);
        (len > 0).then(|| String::from_utf8_lossy(&name[..len]).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_process_claims_a_rank() {
        let process_state = ProcessState::default();
        assert_eq!(process_state.process(), None);
        assert_eq!(process_state.claim(7), Ok(()));
        assert_eq!(process_state.claim(8), Err(7));
        assert_eq!(process_state.claim(7), Err(7), "the same process, twice");
        assert_eq!(process_state.process(), Some(7));
    }

    #[test]
    fn an_identity_is_there_at_once() {
        let process_state = ProcessState::default();
        assert_eq!(process_state.identity(), None);
        let identity = Identity { namespace: 9, clocks: 0, start: 0 };
        process_state.identify(identity);
        assert_eq!(process_state.identity(), Some(identity));
        assert_eq!(process_state.seen(), None);
        process_state.see(7);
        assert_eq!(process_state.seen(), Some(7));
    }

    #[test]
    fn an_answer_counts_in_its_epoch() {
        let process_state = ProcessState::default();
        assert_eq!((process_state.others(), process_state.others_in(0)), (Some(0), None));
        process_state.answer(0, Some(2));
        assert_eq!((process_state.others(), process_state.others_in(0)), (Some(2), Some(2)));
        assert_eq!(process_state.others_in(1), None);
        process_state.answer(1, None);
        assert_eq!((process_state.others(), process_state.others_in(1)), (None, None));
        process_state.answer(1, Some(0));
        process_state.wait_in("another call", 1);
        assert_eq!(process_state.others_in(1), None);
    }

    #[test]
    fn a_call_keeps_its_name() {
        let process_state = ProcessState::default();
        assert_eq!((process_state.waits(), process_state.last_call()), (false, None));
        for (name, kept) in [
            ("GOAL_Wait", "GOAL_Wait"),
            ("the name of a call that is too long", "the name of a call that is too l"),
            ("wait", "wait"),
        ] {
            process_state.wait_in(name, 1);
            assert_eq!(
                (process_state.waits(), process_state.last_call().as_deref()),
                (true, Some(kept))
            );
            assert!(!process_state.stays());
            process_state.stay_in(name);
            assert_eq!((process_state.waits(), process_state.stays()), (false, true));
            process_state.compute();
            assert!(!process_state.stays());
            assert_eq!(
                (process_state.waits(), process_state.last_call().as_deref()),
                (false, Some(kept))
            );
        }
    }
}
