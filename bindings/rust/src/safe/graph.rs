//! Defines the graphs of the safe interface. Their actions work on buffers.

use super::memories::{Memories, note};
use super::schedule::{Runs, Schedule};
use crate::buffer::Slice;
use crate::communicator::Communicator;
use crate::error::{Error, ErrorCode, Result};
use crate::graph;
use crate::raw::{self, Data, Vertex};
use goal_lang::{Datatype, Op, Piece};
use std::fmt;

/// Returns the slice of `bytes` bytes at `offset` in a schedule's scratch memory. Each run has
/// scratch memory of its own, with undefined content at the start.
pub fn scratch(offset: u64, bytes: u64) -> Slice<'static> {
    Slice { piece: graph::scratch(offset, bytes), memory: None, datatype: None }
}

/// The actions of this rank on [`Buffer`](crate::Buffer)s, and the dependencies between them.
pub struct Graph {
    graph: raw::Graph,
    memories: Memories,
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a graph of {} actions", self.graph.len())
    }
}

impl Graph {
    /// Creates an empty graph. Its sends and receives name ranks of `communicator`.
    pub fn new(communicator: &Communicator) -> Self {
        Self { graph: raw::Graph::new(communicator), memories: Memories::new() }
    }

    /// Adds the send of a message to the rank `to`.
    ///
    /// # Errors
    /// There is no such rank or tag.
    pub fn send<'b>(&mut self, data: impl Into<Slice<'b>>, to: u32, tag: u32) -> Result<Vertex> {
        let data = self.take(data.into(), false);
        self.graph.send(Data::One(data), to, tag)
    }

    /// Adds the receive of a message, which must have the size of the buffer. `from` and `tag` may
    /// be [`ANY`](crate::ANY).
    ///
    /// # Errors
    /// There is no such rank.
    pub fn recv<'b>(&mut self, data: impl Into<Slice<'b>>, from: u32, tag: u32) -> Result<Vertex> {
        let data = self.take(data.into(), true);
        self.graph.recv(Data::One(data), from, tag)
    }

    /// Adds the send of a message to the rank `to`. The message is the concatenation of several
    /// slices.
    ///
    /// # Errors
    /// There is no such rank or tag.
    pub fn send_pieces(&mut self, data: &[Slice<'_>], to: u32, tag: u32) -> Result<Vertex> {
        let data = self.take_all(data, false);
        self.graph.send(Data::Many(&data), to, tag)
    }

    /// Adds the receive of a message into several slices, in their order. The slices must have no
    /// byte in common.
    ///
    /// # Errors
    /// There is no such rank, or slices overlap.
    pub fn recv_pieces(&mut self, data: &[Slice<'_>], from: u32, tag: u32) -> Result<Vertex> {
        let data = self.take_all(data, true);
        self.graph.recv(Data::Many(&data), from, tag)
    }

    /// Adds a local operation: `result = a op b`, element by element. Two operands must be the same
    /// elements, or have no element in common. At least one operand must be part of a buffer, whose
    /// type determines the datatype.
    ///
    /// # Errors
    /// The operation is not defined for the type, the operands differ in size or type, or they
    /// overlap.
    pub fn combine<'b>(
        &mut self,
        op: Op,
        a: impl Into<Slice<'b>>,
        b: impl Into<Slice<'b>>,
        result: impl Into<Slice<'b>>,
    ) -> Result<Vertex> {
        let (a, b, result) = (a.into(), b.into(), result.into());
        let datatype = datatype_of(&[a, b, result])?;
        let [a, b] = [a, b].map(|operand| Data::One(self.take(operand, false)));
        let result = Data::One(self.take(result, true));
        self.graph.local_op(op, datatype, a, b, result)
    }

    /// Adds a copy of the bytes of `from` to `to`.
    ///
    /// # Errors
    /// The slices differ in size, or overlap partly.
    pub fn copy<'b>(
        &mut self,
        from: impl Into<Slice<'b>>,
        to: impl Into<Slice<'b>>,
    ) -> Result<Vertex> {
        let from = Data::One(self.take(from.into(), false));
        let to = Data::One(self.take(to.into(), true));
        self.graph.local_op(Op::Copy, Datatype::UInt8, from, from, to)
    }

    /// Adds an operation that stores the time in seconds, as a Float64, into `at`.
    ///
    /// # Errors
    /// The slice does not have 8 bytes.
    pub fn wtime(&mut self, at: Slice<'_>) -> Result<Vertex> {
        let at = self.take(at, true);
        self.graph.wtime(at)
    }

    /// Adds a call of the function with the number `function`
    /// ([`register`](crate::Group::register)). The function may change both buffers.
    ///
    /// # Errors
    /// The buffers overlap partly.
    pub fn call<'b>(
        &mut self,
        function: u32,
        a: impl Into<Slice<'b>>,
        b: impl Into<Slice<'b>>,
    ) -> Result<Vertex> {
        let [a, b] = [a.into(), b.into()].map(|data| Data::One(self.take(data, true)));
        self.graph.user(function, a, b)
    }

    /// Adds an action that takes `nanos` nanoseconds, as a computation would.
    ///
    /// # Errors
    /// The graph is full.
    pub fn calc(&mut self, nanos: u64) -> Result<Vertex> {
        self.graph.calc(nanos)
    }

    /// Adds an action that only carries dependencies.
    ///
    /// # Errors
    /// The graph is full.
    pub fn nop(&mut self) -> Result<Vertex> {
        self.graph.nop()
    }

    /// Adds a dependency: `target` may start only when `prerequisite` is complete.
    ///
    /// # Errors
    /// A vertex is not one of this graph, or both are the same.
    pub fn requires(&mut self, prerequisite: Vertex, target: Vertex) -> Result<()> {
        self.graph.requires(prerequisite, target)
    }

    /// Adds a dependency: `target` may start only when `prerequisite` has started.
    ///
    /// # Errors
    /// As for [`requires`](Self::requires).
    pub fn requires_start(&mut self, prerequisite: Vertex, target: Vertex) -> Result<()> {
        self.graph.requires_start(prerequisite, target)
    }

    /// Sets the size of the scratch memory in bytes.
    pub fn allocate_scratch(&mut self, bytes: u64) {
        self.graph.allocate_scratch(bytes);
    }

    /// Compiles the graph. The graph is unchanged, and can be compiled again.
    ///
    /// # Errors
    /// Dependencies form a circle, or a limit is exceeded.
    pub fn compile(&self) -> Result<Schedule> {
        let schedule = raw::Schedule::compile(&self.graph)?;
        Ok(Schedule::new(Runs::Graph(schedule), self.memories.clone()))
    }

    /// Returns the program of this process's rank as GOAL text, before any pass. In the text
    /// buffers follow each other.
    ///
    /// # Errors
    /// An action names more scratch memory than was allocated.
    pub fn text(&self) -> Result<String> {
        self.graph.text()
    }

    fn take(&mut self, data: Slice<'_>, writes: bool) -> Piece {
        note(&mut self.memories, data.memory, writes);
        data.piece
    }

    fn take_all(&mut self, data: &[Slice<'_>], writes: bool) -> Vec<Piece> {
        data.iter().map(|&data| self.take(data, writes)).collect()
    }
}

fn datatype_of(operands: &[Slice<'_>]) -> Result<Datatype> {
    let mut datatypes = operands.iter().filter_map(|operand| operand.datatype);
    let first = datatypes.next().ok_or_else(|| {
        Error::new(ErrorCode::Datatype, "an operation needs a buffer, whose type counts")
    })?;
    match datatypes.find(|&other| other != first) {
        None => Ok(first),
        Some(other) => {
            let text = format!("the operands are of {} and {}", first.name(), other.name());
            Err(Error::new(ErrorCode::Datatype, text))
        }
    }
}
