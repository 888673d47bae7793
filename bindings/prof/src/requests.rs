//! Keeps the requests of a rank that are outstanding or persistent.
//!
//! MPI libraries use one handle for all requests that completed at once, so a handle may stand for
//! several requests. Also, another thread may get the handle of a request that has completed,
//! before the completion is recorded. So each operation has a token. A call that may complete
//! requests looks up their tokens before it calls MPI ([`Requests::claim`]). If a handle stands for
//! several requests, the call takes one that its own thread started, as those of other threads may
//! have completed already.

use crate::collective::Prepared;
use crate::communicators::Communicator;
use crate::order::Edge;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::sync::Arc;

/// A send, with peer and tag in GOAL's numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outgoing {
    pub(crate) bytes: u64,
    pub(crate) to: u32,
    pub(crate) tag: u32,
    /// True if the send ends even if nobody receives (`MPI_Bsend`). No action waits for it.
    pub(crate) buffered: bool,
}

/// An operation that has started.
#[derive(Debug)]
pub(crate) enum Operation {
    /// An operation with the peer `MPI_PROC_NULL`, for which nothing is written.
    Nothing,
    /// A send. It is written when it has completed.
    Send { label: u64, edges: Vec<Edge>, message: Outgoing },
    /// A receive. It is written when its message is known.
    Recv { label: u64, edges: Vec<Edge>, communicator: Arc<Communicator>, thread: usize },
    /// A send and a receive with one request.
    Both(Box<[Operation; 2]>),
    /// A collective, which was written when it started. It keeps its place until it ends.
    Collective { label: u64, _of: Arc<Prepared> },
}

impl Operation {
    /// Returns true if the operation has a receive.
    pub(crate) fn has_recv(&self) -> bool {
        match self {
            Operation::Recv { .. } => true,
            Operation::Both(both) => both.iter().any(Operation::has_recv),
            _ => false,
        }
    }

    /// Returns the label of the operation, by which operations are sorted.
    fn label(&self) -> u64 {
        match self {
            Operation::Nothing => 0,
            Operation::Both(both) => both[0].label().max(both[1].label()),
            Operation::Send { label, .. }
            | Operation::Recv { label, .. }
            | Operation::Collective { label, .. } => *label,
        }
    }
}

/// The operation that a persistent request starts.
#[derive(Debug, Clone)]
pub(crate) enum Template {
    Nothing,
    Send(Outgoing),
    Recv(Arc<Communicator>),
    Collective(Arc<Prepared>),
}

/// An operation that has started, with its token and the thread that started it.
#[derive(Debug)]
struct Started {
    token: u64,
    thread: usize,
    operation: Operation,
}

#[derive(Debug)]
enum Entry {
    Once(Started),
    Persistent { template: Template, active: Option<Started> },
}

impl Entry {
    fn started(&self) -> Option<&Started> {
        match self {
            Entry::Once(started) => Some(started),
            Entry::Persistent { active, .. } => active.as_ref(),
        }
    }

    fn token(&self) -> Option<u64> {
        self.started().map(|started| started.token)
    }

    fn into_started(self) -> Option<Started> {
        match self {
            Entry::Once(started) => Some(started),
            Entry::Persistent { active, .. } => active,
        }
    }

    fn into_operation(self) -> Option<Operation> {
        self.into_started().map(|started| started.operation)
    }
}

/// The objects that were freed with a request of the program.
#[derive(Debug)]
pub(crate) enum Freed {
    /// The request was not active, or is not known.
    Nothing,
    /// An active operation without a receive. The recorder will not see its end.
    Operation(Operation),
    /// An active receive with this token. Its message becomes known when it completes.
    Receive(u64),
}

/// The requests by their MPI handles.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    entries: FxHashMap<u64, VecDeque<Entry>>,
    /// The token that was given last.
    token: u64,
}

impl Requests {
    /// Adds an operation that a thread has started. Returns its token.
    pub(crate) fn add(&mut self, thread: usize, handle: u64, operation: Operation) -> u64 {
        self.token += 1;
        let started = Started { token: self.token, thread, operation };
        self.entries.entry(handle).or_default().push_back(Entry::Once(started));
        self.token
    }

    pub(crate) fn add_persistent(&mut self, handle: u64, template: Template) {
        let entry = Entry::Persistent { template, active: None };
        self.entries.entry(handle).or_default().push_back(entry);
    }

    /// Returns what the persistent request `handle` starts. Returns `None` if it is active or not
    /// known.
    pub(crate) fn template(&self, handle: u64) -> Option<Template> {
        self.entries.get(&handle)?.iter().find_map(|entry| match entry {
            Entry::Persistent { template, active: None } => Some(template.clone()),
            _ => None,
        })
    }

    /// Makes the persistent request active that [`template`](Self::template) found.
    pub(crate) fn activate(&mut self, thread: usize, handle: u64, operation: Operation) {
        self.token += 1;
        for entry in self.entries.get_mut(&handle).into_iter().flatten() {
            if let Entry::Persistent { active: active @ None, .. } = entry {
                *active = Some(Started { token: self.token, thread, operation });
                return;
            }
        }
    }

    /// Returns the token of the operation that `handle` names in a call of `thread`. Returns 0 if
    /// none is known.
    pub(crate) fn claim(&self, thread: usize, handle: u64) -> u64 {
        let started = || self.entries.get(&handle).into_iter().flatten().filter_map(Entry::started);
        let own = started().find(|started| started.thread == thread);
        own.or_else(|| started().next()).map_or(0, |started| started.token)
    }

    /// Returns the operation of a request that has completed. Returns `None` if none is known. If
    /// several calls have claimed the same token of a shared handle, each of them gets another
    /// operation.
    pub(crate) fn complete(&mut self, handle: u64, token: u64) -> Option<Operation> {
        if token == 0 {
            return None;
        }
        let entries = self.entries.get_mut(&handle)?;
        let claimed = entries.iter().position(|entry| entry.token() == Some(token));
        let at = claimed.or_else(|| entries.iter().position(|entry| entry.token().is_some()))?;
        if let Entry::Persistent { active, .. } = &mut entries[at] {
            return active.take().map(|started| started.operation);
        }
        let entry = entries.remove(at);
        if entries.is_empty() {
            self.entries.remove(&handle);
        }
        entry?.into_operation()
    }

    /// Forgets a request that a thread frees. An active receive stays until it has completed.
    pub(crate) fn free(&mut self, thread: usize, handle: u64) -> Freed {
        let token = self.claim(thread, handle);
        let Some(entries) = self.entries.get_mut(&handle) else { return Freed::Nothing };
        let claimed = entries.iter().position(|entry| token != 0 && entry.token() == Some(token));
        let Some(entry) = entries.remove(claimed.unwrap_or(0)) else { return Freed::Nothing };
        match entry.into_started() {
            Some(started) if started.operation.has_recv() => {
                entries.push_back(Entry::Once(started));
                Freed::Receive(token)
            }
            started => {
                if entries.is_empty() {
                    self.entries.remove(&handle);
                }
                started.map_or(Freed::Nothing, |started| Freed::Operation(started.operation))
            }
        }
    }

    /// Forgets all requests. Returns the operations that are active, in the order of their labels.
    pub(crate) fn drain(&mut self) -> Vec<Operation> {
        let entries = std::mem::take(&mut self.entries).into_values().flatten();
        let mut active: Vec<Operation> = entries.filter_map(Entry::into_operation).collect();
        active.sort_by_key(Operation::label);
        active
    }
}
