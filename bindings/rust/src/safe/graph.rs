//! Graphs of the safe interface, whose actions work on buffers.

use super::memories::{Memories, note};
use super::schedule::{Runs, Schedule};
use crate::buffer::Slice;
use crate::communicator::Communicator;
use crate::error::{Error, ErrorCode, Result};
use crate::graph;
use crate::raw::{self, Data, Vertex};
use goal_lang::{Datatype, Op, Piece};
use std::fmt;

/// Bytes of a schedule's scratch memory, which each run gets for itself. Their content is not
/// defined at the start of a run.
pub fn scratch(offset: u64, bytes: u64) -> Slice<'static> {
    Slice { piece: graph::scratch(offset, bytes), memory: None, datatype: None }
}

/// Actions of this rank on [`Buffer`](crate::Buffer)s, and the dependencies between them.
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
    /// Creates an empty graph whose ranks count in `communicator`.
    pub fn new(communicator: &Communicator) -> Self {
        Self { graph: raw::Graph::new(communicator), memories: Memories::new() }
    }

    /// Adds a message to a rank.
    ///
    /// # Errors
    /// There is no such rank or tag.
    pub fn send<'b>(&mut self, data: impl Into<Slice<'b>>, to: u32, tag: u32) -> Result<Vertex> {
        let data = self.take(data.into(), false);
        self.graph.send(Data::One(data), to, tag)
    }

    /// Adds the receipt of a message, which has the size of the buffer. `from` and `tag` may be
    /// [`ANY`](crate::ANY).
    ///
    /// # Errors
    /// There is no such rank.
    pub fn recv<'b>(&mut self, data: impl Into<Slice<'b>>, from: u32, tag: u32) -> Result<Vertex> {
        let data = self.take(data.into(), true);
        self.graph.recv(Data::One(data), from, tag)
    }

    /// Adds a message of several pieces, one behind the other.
    ///
    /// # Errors
    /// There is no such rank or tag.
    pub fn send_pieces(&mut self, data: &[Slice<'_>], to: u32, tag: u32) -> Result<Vertex> {
        let data = self.take_all(data, false);
        self.graph.send(Data::Many(&data), to, tag)
    }

    /// Adds the receipt of a message into several pieces, which have no byte in common.
    ///
    /// # Errors
    /// There is no such rank, or pieces overlap.
    pub fn recv_pieces(&mut self, data: &[Slice<'_>], from: u32, tag: u32) -> Result<Vertex> {
        let data = self.take_all(data, true);
        self.graph.recv(Data::Many(&data), from, tag)
    }

    /// Adds a local operation: `result = a op b`, element by element. The operands may be the same
    /// elements, and must not overlap partly. At least one of them is of a buffer, whose type
    /// counts.
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

    /// Adds a copy.
    ///
    /// # Errors
    /// The two differ in size or overlap partly.
    pub fn copy<'b>(
        &mut self,
        from: impl Into<Slice<'b>>,
        to: impl Into<Slice<'b>>,
    ) -> Result<Vertex> {
        let from = Data::One(self.take(from.into(), false));
        let to = Data::One(self.take(to.into(), true));
        self.graph.local_op(Op::Copy, Datatype::UInt8, from, from, to)
    }

    /// Adds an operation that stores the time in seconds.
    ///
    /// # Errors
    /// The slice has not one element.
    pub fn wtime(&mut self, at: Slice<'_>) -> Result<Vertex> {
        let at = self.take(at, true);
        self.graph.wtime(at)
    }

    /// Adds a call of a function of [`register`](crate::Group::register). It may change both
    /// buffers.
    ///
    /// # Errors
    /// The two overlap partly.
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
    /// One of them is not a vertex of this graph, or both are the same.
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

    /// Sets the bytes of scratch memory.
    pub fn allocate_scratch(&mut self, bytes: u64) {
        self.graph.allocate_scratch(bytes);
    }

    /// Compiles the graph. It stays as it is and can be compiled again.
    ///
    /// # Errors
    /// Dependencies form a circle, or a limit is exceeded.
    pub fn compile(&self) -> Result<Schedule> {
        let schedule = raw::Schedule::compile(&self.graph)?;
        Ok(Schedule::new(Runs::Graph(schedule), self.memories.clone()))
    }

    /// Returns the program of this process's rank as text, before any pass. Buffers lie one behind
    /// the other there.
    ///
    /// # Errors
    /// An action names more scratch memory than there is.
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
