//! Records messages between two ranks, and requests.

use super::{Fault, Recorder, SentMessage, Status};
use crate::communicators::Communicator;
use crate::lines::{self, Line};
use crate::matching::Start;
use crate::order::Edge;
use crate::requests::{Freed, Operation, Outgoing, Template};
use std::io::Write;
use std::sync::Arc;

impl<W: Write> Recorder<W> {
    /// Records a send that has ended.
    pub fn send(&mut self, thread: usize, name: &'static str, message: SentMessage) {
        self.attempt_if_on(|recorder| {
            let Some(outgoing) = recorder.outgoing(name, message)? else { return Ok(()) };
            let operation = recorder.begin_send(thread, outgoing);
            recorder.end(thread, operation, Status::default())
        });
    }

    /// Records a receive that has ended.
    pub fn recv(&mut self, thread: usize, name: &'static str, handle: u64, status: Status) {
        self.attempt_if_on(|recorder| {
            let communicator = Arc::clone(recorder.find(handle, name)?);
            if status.from.is_none() {
                return Ok(());
            }
            let operation = recorder.begin_recv(thread, communicator);
            recorder.end(thread, operation, status)
        });
    }

    /// Records a send and a receive that were started together and have ended.
    pub fn send_recv(
        &mut self,
        thread: usize,
        name: &'static str,
        message: SentMessage,
        status: Status,
    ) {
        self.attempt_if_on(|recorder| {
            let communicator = Arc::clone(recorder.find(message.communicator, name)?);
            let send = recorder.outgoing(name, message)?;
            let send = send.map(|outgoing| recorder.begin_send(thread, outgoing));
            let recv = status.from.map(|_| recorder.begin_recv(thread, communicator));
            for operation in send.into_iter().chain(recv) {
                recorder.end(thread, operation, status)?;
            }
            Ok(())
        });
    }

    /// Records a send that has started. Returns its token; 0 if it is not recorded.
    pub fn start_send(
        &mut self,
        thread: usize,
        name: &'static str,
        request: u64,
        message: SentMessage,
    ) -> u64 {
        let mut token = 0;
        self.attempt_if_on(|recorder| {
            let operation = match recorder.outgoing(name, message)? {
                Some(outgoing) => recorder.begin_send(thread, outgoing),
                None => Operation::Nothing,
            };
            token = recorder.requests.add(thread, request, operation);
            Ok(())
        });
        token
    }

    /// Records a receive that has started. `is_null` is true if its source is `MPI_PROC_NULL`.
    /// Returns its token; 0 if it is not recorded.
    pub fn start_recv(
        &mut self,
        thread: usize,
        name: &'static str,
        request: u64,
        handle: u64,
        is_null: bool,
    ) -> u64 {
        let mut token = 0;
        self.attempt_if_on(|recorder| {
            let operation = if is_null {
                Operation::Nothing
            } else {
                let communicator = Arc::clone(recorder.find(handle, name)?);
                recorder.begin_recv(thread, communicator)
            };
            token = recorder.requests.add(thread, request, operation);
            Ok(())
        });
        token
    }

    /// Records a send and a receive that have started and share one request.
    pub fn start_send_recv(
        &mut self,
        thread: usize,
        name: &'static str,
        request: u64,
        message: SentMessage,
        is_null: bool,
    ) {
        self.attempt_if_on(|recorder| {
            let communicator = Arc::clone(recorder.find(message.communicator, name)?);
            let send = match recorder.outgoing(name, message)? {
                Some(outgoing) => recorder.begin_send(thread, outgoing),
                None => Operation::Nothing,
            };
            let recv = if is_null {
                Operation::Nothing
            } else {
                recorder.begin_recv(thread, communicator)
            };
            recorder.requests.add(thread, request, Operation::Both(Box::new([send, recv])));
            Ok(())
        });
    }

    /// Records the preparation of a persistent send.
    pub fn init_send(&mut self, name: &'static str, request: u64, message: SentMessage) {
        self.attempt(|recorder| {
            let outgoing = recorder.outgoing(name, message)?;
            let template = outgoing.map_or(Template::Nothing, Template::Send);
            recorder.requests.add_persistent(request, template);
            Ok(())
        });
    }

    /// Records the preparation of a persistent receive.
    pub fn init_recv(&mut self, name: &'static str, request: u64, handle: u64, is_null: bool) {
        self.attempt(|recorder| {
            let template = if is_null {
                Template::Nothing
            } else {
                Template::Recv(Arc::clone(recorder.find(handle, name)?))
            };
            recorder.requests.add_persistent(request, template);
            Ok(())
        });
    }

    /// Ends the recording at a call with a receive for which the MPI library reports no status.
    pub fn miss_status(&mut self, name: &'static str) {
        self.attempt_if_on(|_| Err(Fault::Status(name)));
    }

    /// Records the start of a persistent request.
    pub fn start(&mut self, thread: usize, request: u64) {
        self.attempt_if_on(|recorder| {
            let operation = match recorder.requests.template(request) {
                None | Some(Template::Nothing) => return Ok(()),
                Some(Template::Send(outgoing)) => recorder.begin_send(thread, outgoing),
                Some(Template::Recv(communicator)) => recorder.begin_recv(thread, communicator),
                Some(Template::Collective(of)) => recorder.begin_collective(thread, of)?,
            };
            recorder.requests.activate(thread, request, operation);
            Ok(())
        });
    }

    /// Returns the token of a request that the next call may complete; 0 if it is not known.
    pub fn claim(&self, thread: usize, request: u64) -> u64 {
        self.requests.claim(thread, request)
    }

    /// Records the completion of the request with this token. This also happens while the recording
    /// is off, as the operation may have started before.
    pub fn complete(&mut self, thread: usize, request: u64, token: u64, status: Status) {
        self.attempt(|recorder| match recorder.requests.complete(request, token) {
            Some(operation) => recorder.end(thread, operation, status),
            None => Ok(()),
        });
    }

    /// Records that a thread frees a request (`MPI_Request_free`). Returns the token of an active
    /// receive, for [`detached`](Self::detached), and 0 for another request.
    pub fn free(&mut self, thread: usize, request: u64) -> u64 {
        let mut token = 0;
        self.attempt(|recorder| {
            match recorder.requests.free(thread, request) {
                Freed::Nothing => {}
                Freed::Operation(operation) => recorder.write_unfinished(operation),
                Freed::Receive(of) => token = of,
            }
            Ok(())
        });
        token
    }

    /// Records the end of a receive that was freed. No action waits for it.
    pub fn detached(&mut self, request: u64, token: u64, status: Status) {
        self.attempt(|recorder| match recorder.requests.complete(request, token) {
            Some(operation) => recorder.write_ended(None, operation, status),
            None => Ok(()),
        });
    }

    fn attempt_if_on(&mut self, step: impl FnOnce(&mut Self) -> Result<(), Fault>) {
        if self.is_on {
            self.attempt(step);
        }
    }

    /// Returns a send with peer and tag in GOAL's numbers. Returns `None` for `MPI_PROC_NULL`.
    fn outgoing(
        &self,
        name: &'static str,
        message: SentMessage,
    ) -> Result<Option<Outgoing>, Fault> {
        let communicator = self.find(message.communicator, name)?;
        let Some(rank) = message.to else { return Ok(None) };
        let to = communicator.world(rank).ok_or(Fault::Rank(name, rank))?;
        let tag = self.tags.message(communicator.id, message.tag)?;
        Ok(Some(Outgoing { bytes: message.bytes, to, tag, buffered: message.buffered }))
    }

    /// Begins an action of the thread. Returns its label and its dependencies.
    fn begin(&mut self, thread: usize) -> (u64, Vec<Edge>) {
        self.write_calc(thread);
        let label = self.label();
        let mut edges = Vec::new();
        self.threads.take(thread, &mut edges);
        self.threads.follow(thread, Edge::Irequires(label));
        (label, edges)
    }

    fn begin_send(&mut self, thread: usize, message: Outgoing) -> Operation {
        let (label, mut edges) = self.begin(thread);
        if self.has_threads() {
            let start = Start { label, thread };
            let (before, _) = self.matching.start_send(message.to, message.tag, start);
            edges.extend(before.map(Edge::Irequires));
        }
        Operation::Send { label, edges, message }
    }

    fn begin_recv(&mut self, thread: usize, communicator: Arc<Communicator>) -> Operation {
        let (label, edges) = self.begin(thread);
        Operation::Recv { label, edges, communicator, thread }
    }

    /// Returns true if several threads may start messages. If too many starts are remembered,
    /// forgets all of them, and makes all later actions start after them.
    fn has_threads(&mut self) -> bool {
        if self.threads.count() < 2 {
            return false;
        }
        if self.matching.forget_if_full() {
            self.threads.start_behind();
        }
        true
    }

    /// Writes an operation that has ended. The thread's next action waits for it.
    fn end(&mut self, thread: usize, operation: Operation, status: Status) -> Result<(), Fault> {
        self.write_calc(thread);
        self.write_ended(Some(thread), operation, status)
    }

    /// Writes an operation that has ended. If `thread` is given, its next action waits for the
    /// operation.
    fn write_ended(
        &mut self,
        thread: Option<usize>,
        operation: Operation,
        status: Status,
    ) -> Result<(), Fault> {
        let (label, line, edges) = match operation {
            Operation::Nothing => return Ok(()),
            Operation::Both(both) => {
                return both.into_iter().try_for_each(|one| self.write_ended(thread, one, status));
            }
            Operation::Collective { label, .. } => {
                self.wait_if(thread, label);
                return Ok(());
            }
            Operation::Send { label, edges, .. } | Operation::Recv { label, edges, .. }
                if status.cancelled =>
            {
                (label, Line::Nop, edges)
            }
            Operation::Send { label, edges, message } => {
                let Outgoing { bytes, to, tag, buffered } = message;
                self.edges = edges;
                self.write_action(label, Line::Send { bytes, to, tag });
                if !buffered {
                    self.wait_if(thread, label);
                }
                return Ok(());
            }
            Operation::Recv { label, mut edges, communicator, thread: starter } => {
                let Some(rank) = status.from else {
                    self.edges = edges;
                    self.write_action(label, Line::Nop);
                    return Ok(());
                };
                let from = communicator.world(rank).ok_or(Fault::Rank("a receive", rank))?;
                let tag = self.tags.message(communicator.id, status.tag)?;
                if self.has_threads() {
                    let start = Start { label, thread: starter };
                    let (before, behind) = self.matching.end_recv(from, tag, start);
                    edges.extend(before.map(Edge::Irequires));
                    if let Some(behind) = behind {
                        lines::dependency(self.output.text(), behind, Edge::Irequires(label));
                    }
                }
                (label, Line::Recv { bytes: status.bytes, from, tag }, edges)
            }
        };
        self.edges = edges;
        self.write_action(label, line);
        self.wait_if(thread, label);
        Ok(())
    }

    fn wait_if(&mut self, thread: Option<usize>, label: u64) {
        if let Some(thread) = thread {
            self.wait(thread, label);
        }
    }
}
