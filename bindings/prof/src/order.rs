//! The order of a thread's actions, as dependencies.
//!
//! The actions of a thread form a chain: each has one dependency on the action before it. That is
//! `requires` if the call of the earlier action returned when the action had ended. It is
//! `irequires` if the call only started it, as `MPI_Isend` does. A call that completes a request
//! adds `requires` to the action behind it. So the order of starts is the program's, which keeps
//! the order of matching, and nothing waits that did not wait in the program.
//!
//! If no two threads call MPI at the same time, an action also waits for all that other threads
//! had completed when its call began. If they may (`MPI_THREAD_MULTIPLE`), each thread has a chain
//! of its own. An action, as an eager send, may have ended before another thread's call by chance.
//! A dependency on it would bind a replay to that chance. Only a thread's beginning and its end
//! order its actions with those of other threads, since threads are started and joined. Messages
//! that MPI matches in the order of their starts keep that order ([`matching`](crate::matching)).
//!
//! An action waits only for actions that had started, or ended, before it started in the run. So a
//! replay does not deadlock if each send can end as early as it did in the run. One in which sends
//! end later gets stuck only where the program would have.

/// The most dependencies that are collected before an action joins them.
const JOINED_MAX: usize = 1024;

/// A dependency on an earlier action, by the number of its label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Edge {
    /// On its end.
    Requires(u64),
    /// On its start.
    Irequires(u64),
}

/// The end of one thread's chain.
#[derive(Debug, Default)]
pub(crate) struct Thread {
    /// The time at which the last call returned; `None` before the first one.
    pub(crate) left_ns: Option<u64>,
    /// Computation that is not yet written.
    pub(crate) calc_ns: u64,
    /// The last action.
    chain: Option<Edge>,
    /// The further actions that the next one waits for.
    extra: Vec<Edge>,
    /// Counts up when the thread has written something, over all threads.
    stamp: u64,
    /// The stamp up to which actions of other threads come before the next action.
    seen: u64,
}

/// All threads of a rank, by the number that the caller gives them.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    threads: Vec<Thread>,
    stamp: u64,
    /// The last actions of threads that have ended, which new threads wait for.
    ended: Vec<Edge>,
}

impl Threads {
    /// Begins a thread. Its actions come behind the actions of the first thread so far, because
    /// that thread is taken to have started it. They also come behind the threads that have ended.
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

    /// Ends a thread. All that other threads do from now on comes behind it. Returns true if new
    /// threads would have too many actions to wait for, so that the caller must join these actions
    /// ([`take_ended`](Self::take_ended)).
    pub(crate) fn end(&mut self, thread: usize) -> bool {
        let Thread { chain, mut extra, .. } = std::mem::take(self.of(thread));
        extra.extend(chain);
        for other in self.threads.iter_mut().filter(|other| other.left_ns.is_some()) {
            other.extra.extend(&extra);
        }
        self.ended.append(&mut extra);
        self.ended.len() > JOINED_MAX
    }

    /// Lets the computation of all threads that there are begin at a time.
    pub(crate) fn leave_all(&mut self, now_ns: u64) {
        for left_ns in self.threads.iter_mut().filter_map(|thread| thread.left_ns.as_mut()) {
            *left_ns = now_ns;
        }
    }

    /// Lets the next action of each thread start behind what all others have started.
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

    /// Returns the number of threads that there have been at a time.
    pub(crate) fn count(&self) -> usize {
        self.threads.len()
    }

    /// Moves the last actions of threads that have ended to `edges`, for an action that joins them.
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

    /// Puts the next action of a thread behind what other threads have done so far.
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

    /// Returns true if the thread's next action has too many dependencies, so that another action
    /// must join them.
    pub(crate) fn waits_for_many(&mut self, thread: usize) -> bool {
        self.of(thread).extra.len() > JOINED_MAX
    }

    /// Puts an action at the end of the thread's chain.
    pub(crate) fn follow(&mut self, thread: usize, edge: Edge) {
        self.stamp += 1;
        let stamp = self.stamp;
        let thread = self.of(thread);
        thread.chain = Some(edge);
        thread.stamp = stamp;
    }

    /// Lets the thread's next action wait for the end of another one.
    pub(crate) fn wait(&mut self, thread: usize, label: u64) {
        self.stamp += 1;
        let stamp = self.stamp;
        let thread = self.of(thread);
        // The action before may be the one that was waited for.
        if thread.chain == Some(Edge::Irequires(label)) {
            thread.chain = Some(Edge::Requires(label));
        } else {
            thread.extra.push(Edge::Requires(label));
        }
        thread.stamp = stamp;
    }
}
