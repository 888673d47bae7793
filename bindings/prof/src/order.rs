//! Expresses the order of a thread's actions as dependencies.
//!
//! The actions of a thread form a chain, in which each action depends on the previous one. If the
//! call of the previous action returned after the action had ended, the dependency is `requires`.
//! If the call only started it, as `MPI_Isend` does, the dependency is `irequires`. After a call
//! that completes a request, the next action also `requires` the operation of the request. So
//! actions start in the order of the program, which keeps the order of matching. No action waits
//! that did not wait in the program.
//!
//! If no two threads call MPI at the same time, an action also waits for everything that other
//! threads had completed when its call began. With `MPI_THREAD_MULTIPLE` they may call at the same
//! time, and each thread has a chain of its own. Then an action, such as an eager send, may have
//! ended before another thread's call only by chance. A dependency on it would bind a replay to
//! that chance. So only the start and the end of a thread order its actions with other threads.
//! Messages that MPI matches in the order of their starts keep that order
//! ([`matching`](crate::matching)).
//!
//! An action waits only for actions that had started, or ended, before it started in the run. So a
//! replay does not deadlock if each send can end as early as in the run. If sends end later, it
//! gets stuck only where the program would have got stuck too.

/// The most dependencies of an action. If there are more, a `nop` first joins them.
const JOINED_MAX: usize = 1024;

/// A dependency on an earlier action, by the number of its label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Edge {
    /// The action waits for the end of the earlier one.
    Requires(u64),
    /// The action waits for the start of the earlier one.
    Irequires(u64),
}

/// The end of the chain of one thread.
#[derive(Debug, Default)]
pub(crate) struct Thread {
    /// The time at which the last call returned; `None` before the first one.
    pub(crate) left_ns: Option<u64>,
    /// The nanoseconds of computation that were not written yet.
    pub(crate) calc_ns: u64,
    /// The dependency on the thread's last action.
    chain: Option<Edge>,
    /// Further dependencies of the thread's next action.
    extra: Vec<Edge>,
    /// The number of the thread's last change. All threads share one count.
    stamp: u64,
    /// The count up to which changes of other threads come before this thread's next action.
    seen: u64,
}

/// All threads of a rank, by the number that the caller gives them.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    threads: Vec<Thread>,
    stamp: u64,
    /// The last actions of threads that have ended. New threads wait for them.
    ended: Vec<Edge>,
}

impl Threads {
    /// Begins a thread. Its actions come after the actions of thread 0 so far, which is assumed to
    /// have started it. They also come after the threads that have ended.
    pub(crate) fn begin(&mut self, thread: usize) {
        let mut extra = self.ended.clone();
        if thread != 0 {
            let Thread { chain, extra: more, .. } = self.of(0);
            extra.extend(chain.iter().chain(&*more).copied());
        }
        extra.sort_unstable();
        extra.dedup();
        *self.of(thread) = Thread { extra, ..Thread::default() };
    }

    /// Ends a thread. All later actions of other threads come after it. Returns true if new threads
    /// would have too many actions to wait for. Then the caller must join these actions by
    /// [`take_ended`](Self::take_ended).
    pub(crate) fn end(&mut self, thread: usize) -> bool {
        let Thread { chain, mut extra, .. } = std::mem::take(self.of(thread));
        extra.extend(chain);
        for other in self.threads.iter_mut().filter(|other| other.left_ns.is_some()) {
            other.extra.extend(&extra);
        }
        self.ended.append(&mut extra);
        self.ended.len() > JOINED_MAX
    }

    /// Lets the computation of all threads that have called MPI begin at `now_ns`.
    pub(crate) fn leave_all(&mut self, now_ns: u64) {
        for left_ns in self.threads.iter_mut().filter_map(|thread| thread.left_ns.as_mut()) {
            *left_ns = now_ns;
        }
    }

    /// Makes the next action of each thread start after everything that other threads have started.
    pub(crate) fn start_behind(&mut self) {
        let label = |edge| match edge {
            Edge::Requires(label) | Edge::Irequires(label) => label,
        };
        let all: Vec<Option<u64>> =
            self.threads.iter().map(|thread| thread.chain.map(label)).collect();
        for (at, thread) in self.threads.iter_mut().enumerate() {
            let others = all.iter().enumerate().filter(|(other, _)| *other != at);
            thread.extra.extend(others.filter_map(|(_, label)| label.map(Edge::Irequires)));
        }
    }

    /// Returns the highest number of threads that existed at the same time.
    pub(crate) fn count(&self) -> usize {
        self.threads.len()
    }

    /// Moves the last actions of threads that have ended to `edges`. The action `join`, which joins
    /// them, takes their place.
    pub(crate) fn take_ended(&mut self, edges: &mut Vec<Edge>, join: u64) {
        edges.append(&mut self.ended);
        self.ended.push(Edge::Requires(join));
    }

    pub(crate) fn of(&mut self, thread: usize) -> &mut Thread {
        if thread >= self.threads.len() {
            self.threads.resize_with(thread + 1, Thread::default);
        }
        &mut self.threads[thread]
    }

    /// Makes the next action of a thread wait for everything that other threads have done so far.
    pub(crate) fn meet(&mut self, thread: usize) {
        self.of(thread);
        let seen = std::mem::replace(&mut self.threads[thread].seen, self.stamp);
        if seen == self.stamp || self.threads.len() == 1 {
            return;
        }
        let mut others = Vec::new();
        for (at, other) in self.threads.iter().enumerate() {
            if at != thread && other.stamp > seen {
                others.extend(other.chain.iter().chain(&other.extra).copied());
            }
        }
        let own = &mut self.threads[thread].extra;
        for edge in others {
            if !own.contains(&edge) {
                own.push(edge);
            }
        }
    }

    /// Moves the dependencies of the thread's next action to `edges`.
    pub(crate) fn take(&mut self, thread: usize, edges: &mut Vec<Edge>) {
        let thread = self.of(thread);
        edges.extend(thread.chain.take());
        edges.append(&mut thread.extra);
    }

    /// Returns true if the thread's next action has too many dependencies, so that a `nop` must
    /// join them.
    pub(crate) fn waits_for_many(&mut self, thread: usize) -> bool {
        self.of(thread).extra.len() > JOINED_MAX
    }

    /// Puts an action at the end of the thread's chain. `edge` is the dependency of the thread's
    /// next action on it.
    pub(crate) fn follow(&mut self, thread: usize, edge: Edge) {
        self.stamp += 1;
        let stamp = self.stamp;
        let thread = self.of(thread);
        thread.chain = Some(edge);
        thread.stamp = stamp;
    }

    /// Makes the thread's next action wait for the end of the action `label`.
    pub(crate) fn wait(&mut self, thread: usize, label: u64) {
        self.stamp += 1;
        let stamp = self.stamp;
        let thread = self.of(thread);
        // The action may be the last one of the chain. Then its dependency becomes stronger.
        if thread.chain == Some(Edge::Irequires(label)) {
            thread.chain = Some(Edge::Requires(label));
        } else {
            thread.extra.push(Edge::Requires(label));
        }
        thread.stamp = stamp;
    }
}
