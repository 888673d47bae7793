//! Polls an engine: one bounded pass of the paper's Listing 1.

use super::run::ACTIONS_PER_POLL;
use super::{Core, Engine, Failure, Progress, Waiting};
use crate::transport::Transport;

impl<T: Transport> Engine<'_, T> {
    /// Makes progress, but does only a bounded amount of work: takes messages, releases the
    /// dependents of ended actions, starts ready actions, sends messages that waited for room.
    /// `now_ns` is the caller's clock. It must not go back.
    ///
    /// # Errors
    /// The first failure of an action. Every further call returns it again.
    ///
    /// # Panics
    /// If the engine needs more memory for its state than [`Engine::new`] got. Within
    /// [`within`](crate::within) that is an error instead.
    pub fn poll(&mut self, now_ns: u64) -> Result<Progress, Failure> {
        if self.core.held.has_failed() {
            return Err(self.failed());
        }
        self.core.held.stats.polls += 1;
        // Instances run before messages are taken: a message whose receive is posted need not be
        // copied.
        let mut worked = self.run_queued(now_ns);
        worked |= self.take_messages();
        worked |= self.core.has_underway() && self.continue_operations(now_ns);
        worked |= self.run_queued(now_ns);
        self.announce_room();
        let has_failed = self.core.held.has_failed();
        self.core.held.progress_count =
            self.core.held.progress_count.wrapping_add(u32::from(worked | has_failed));
        if has_failed {
            Err(self.failed())
        } else {
            Ok(Progress { worked, waiting: self.core.waiting() })
        }
    }

    /// Runs instances that were started, for a bounded number of actions. This is the first step of
    /// [`poll`](Engine::poll); it takes no messages.
    ///
    /// # Errors
    /// As [`poll`](Engine::poll).
    ///
    /// # Panics
    /// As [`poll`](Engine::poll).
    #[inline]
    pub fn run_started(&mut self, now_ns: u64) -> Result<(), Failure> {
        if !self.core.held.has_failed() && self.run_queued(now_ns) {
            self.core.held.progress_count = self.core.held.progress_count.wrapping_add(1);
        }
        if self.core.held.has_failed() { Err(self.failed()) } else { Ok(()) }
    }

    #[cold]
    fn failed(&self) -> Failure {
        self.core.held.failure(&self.core.heap()).expect("an action has failed")
    }

    /// Continues operations that take longer than one poll: copies, shared operations, messages
    /// that wait for room, `calc`. Returns true if any of them made progress.
    #[inline(never)]
    fn continue_operations(&mut self, now_ns: u64) -> bool {
        let Self { transport, core, codes, .. } = self;
        let mut worked = !core.held.arrivals.direct.is_empty() && core.fetch(transport, codes);
        worked |= !core.held.shared.is_empty() && core.work_on_shared(transport, codes);
        worked |= !core.held.outbox.is_empty() && core.flush(transport, codes);
        worked | core.finish_calcs(now_ns)
    }

    /// Runs every queued instance for a bounded number of actions. Returns true if any of them made
    /// progress.
    #[inline]
    fn run_queued(&mut self, now_ns: u64) -> bool {
        !self.core.held.runnable.is_empty() && self.run_all(now_ns)
    }

    #[inline(never)]
    fn run_all(&mut self, now_ns: u64) -> bool {
        let mut worked = false;
        for _ in 0..self.core.held.runnable.len() {
            let heap = &self.core.heap();
            let Some(key) = self.core.held.runnable.pop(heap) else { break };
            worked |= self.run(key, now_ns);
        }
        worked
    }
}

impl Core {
    /// Returns true if an operation is under way that takes longer than one poll.
    #[inline]
    fn has_underway(&self) -> bool {
        let state = &*self.held;
        !state.arrivals.direct.is_empty()
            || !state.outbox.is_empty()
            || !state.timers.is_empty()
            || !state.shared.is_empty()
    }

    #[inline]
    fn waiting(&self) -> Waiting {
        if self.has_underway()
            && let Some(waiting) = self.waiting_underway()
        {
            return waiting;
        }
        if self.held.unfinished > 0 { Waiting::Messages } else { Waiting::Nothing }
    }

    #[inline(never)]
    fn waiting_underway(&self) -> Option<Waiting> {
        let room = !self.held.outbox.is_empty() || !self.held.shared.is_empty();
        match self.held.timers.next(&self.held.heap) {
            Some(time_ns) => Some(Waiting::Until { time_ns, room }),
            None => room.then_some(Waiting::Room),
        }
    }

    fn finish_calcs(&mut self, now_ns: u64) -> bool {
        let heap = &self.heap();
        let mut worked = false;
        for _ in 0..ACTIONS_PER_POLL {
            let Some(at) = self.held.timers.due(heap, now_ns) else { break };
            self.finish_later(at);
            worked = true;
        }
        worked
    }
}
