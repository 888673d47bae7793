//! Defines the dependency graph of one rank, which a program builds action by action (ESPGOAL
//! chapter 2).
//!
//! A graph names bytes by their addresses and touches none of them, so nothing here is unsafe. The
//! start of a schedule is unsafe: see [`Schedule::start`](crate::raw::Schedule::start).

mod data;
mod operands;

pub use data::{Data, memory, scratch};

use crate::communicator::Communicator;
use crate::error::{Error, ErrorCode, Result};
use goal_lang::limits::TAG_MAX;
use goal_lang::{
    ANY, Action, ActionId, Body, BodyBuilder, Datatype, Op, Payload, Piece, Pieces, Placement,
    Space, overlaps_itself, partly_overlap,
};
use operands::whole_pieces;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

/// The most actions of a graph.
const ACTIONS_MAX: usize = u32::MAX as usize - 1;

/// An action of a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Vertex {
    graph: u32,
    index: u32,
}

impl Vertex {
    /// Returns the vertex as a number that is not 0.
    pub const fn to_number(self) -> u64 {
        (self.graph as u64) << 32 | (self.index as u64 + 1)
    }

    /// Returns the vertex with this number; `None` if no vertex has the number.
    pub const fn from_number(number: u64) -> Option<Self> {
        match number as u32 {
            0 => None,
            index => Some(Self { graph: (number >> 32) as u32, index: index - 1 }),
        }
    }
}

/// The actions of this rank, and the dependencies between them.
#[derive(Debug)]
pub struct Graph {
    id: u32,
    communicator: Communicator,
    builder: BodyBuilder,
    scratch: u64,
    /// The end of the scratch memory that actions name, in bytes, and the index of the action that
    /// names its last byte.
    scratch_used: (u64, u32),
    /// The declared buffers, as ranges of addresses. They become the first buffers of the
    /// schedule's table, in this order.
    declared: Vec<Range<u64>>,
    calls_functions: bool,
}

impl Graph {
    /// Creates an empty graph. Its sends and receives name ranks of `communicator`.
    pub fn new(communicator: &Communicator) -> Self {
        // Relaxed: only the number matters.
        static GRAPHS: AtomicU32 = AtomicU32::new(1);
        Self {
            id: GRAPHS.fetch_add(1, Ordering::Relaxed),
            communicator: communicator.clone(),
            builder: BodyBuilder::default(),
            scratch: 0,
            scratch_used: (0, 0),
            declared: Vec::new(),
            calls_functions: false,
        }
    }

    /// Returns the communicator whose ranks the graph names.
    pub fn communicator(&self) -> &Communicator {
        &self.communicator
    }

    /// Returns the number of actions.
    pub fn len(&self) -> usize {
        self.builder.len()
    }

    /// Returns true if there is no action.
    pub fn is_empty(&self) -> bool {
        self.builder.is_empty()
    }

    /// Adds the send of a message to the rank `to`.
    ///
    /// # Errors
    /// The rank, the tag or the buffer is not valid.
    pub fn send(&mut self, data: Data<'_>, to: u32, tag: u32) -> Result<Vertex> {
        let to = self.peer(to, "destination")?;
        if tag > TAG_MAX {
            return Err(Error::new(
                ErrorCode::Tag,
                format!("{tag} is above {TAG_MAX}, the largest tag"),
            ));
        }
        let payload = self.payload(data)?;
        self.add(Action::Send { payload, to, tag, placement: Placement::default() })
    }

    /// Adds the receive of a message. `from` and `tag` may be [`ANY`].
    ///
    /// # Errors
    /// The rank or the buffer is not valid.
    pub fn recv(&mut self, data: Data<'_>, from: u32, tag: u32) -> Result<Vertex> {
        let from = if from == ANY { ANY } else { self.peer(from, "source")? };
        let payload = self.payload(data)?;
        if let Data::Many(pieces) = data
            && overlaps_itself(pieces)
        {
            let text =
                "pieces of the buffer have bytes in common, so the result would have two values";
            return Err(Error::new(ErrorCode::Buffer, text));
        }
        self.add(Action::Recv { payload, from, tag, placement: Placement::default() })
    }

    /// Adds a local operation: `result = a op b`, element by element. For [`Op::Copy`] it is
    /// `result = a`, and `b` is not used. Two operands must be the same bytes, or have no byte in
    /// common.
    ///
    /// # Errors
    /// The operation is not defined for the type, the buffers differ in size, or they overlap.
    pub fn local_op(
        &mut self,
        op: Op,
        datatype: Datatype,
        a: Data<'_>,
        b: Data<'_>,
        result: Data<'_>,
    ) -> Result<Vertex> {
        let b = if op == Op::Copy { result } else { b };
        let Some(action) = operands::local_op(&mut self.builder, op, datatype, [a, b, result])?
        else {
            return self.nop();
        };
        for data in [a, b, result] {
            self.note_scratch(data);
        }
        self.add(action)
    }

    /// Adds a local operation that stores the time in seconds as a Float64 into 8 bytes
    /// (`GOAL_WTIME`).
    ///
    /// # Errors
    /// The buffer does not have 8 bytes.
    pub fn wtime(&mut self, at: Piece) -> Result<Vertex> {
        let data = Data::One(at);
        if data.size("the buffer of the result")? != 8 {
            let text = format!("the time takes 8 bytes, and the buffer has {}", at.size);
            return Err(Error::new(ErrorCode::Count, text));
        }
        self.note_scratch(data);
        self.add(Action::Wtime { addr: at.addr, space: at.space })
    }

    /// Adds a `calc` action, which takes `nanos` nanoseconds. It models the computation of an
    /// application.
    ///
    /// # Errors
    /// The graph is full.
    pub fn calc(&mut self, nanos: u64) -> Result<Vertex> {
        self.add(Action::Calc { nanos, placement: Placement::default() })
    }

    /// Adds an action that does nothing and only carries dependencies.
    ///
    /// # Errors
    /// The graph is full.
    pub fn nop(&mut self) -> Result<Vertex> {
        self.add(Action::Nop)
    }

    /// Adds a call of the registered function with the number `function` (`GOAL_Exec` of the 2009
    /// paper). The function may write both buffers.
    ///
    /// # Errors
    /// A buffer is missing, or the buffers overlap partly.
    pub fn user(&mut self, function: u32, a: Data<'_>, b: Data<'_>) -> Result<Vertex> {
        let operands = [(a, "the first buffer"), (b, "the second buffer")];
        let mut pieces = [Pieces { first: 0, len: 0 }; 2];
        for (pieces, (data, name)) in pieces.iter_mut().zip(operands) {
            data.size(name)?;
            self.note_scratch(data);
            *pieces = whole_pieces(&mut self.builder, data.pieces());
        }
        if partly_overlap(a.pieces(), b.pieces()) {
            let text = "the buffers overlap partly: they may be the same bytes or disjoint";
            return Err(Error::new(ErrorCode::Buffer, text));
        }
        self.calls_functions = true;
        self.add(Action::User { function, operands: pieces })
    }

    /// Adds a dependency: `target` may start only when `prerequisite` is complete.
    ///
    /// # Errors
    /// A vertex is not one of this graph, or both are the same.
    pub fn requires(&mut self, prerequisite: Vertex, target: Vertex) -> Result<()> {
        let [prerequisite, target] = self.two(prerequisite, target)?;
        self.builder.requires(target, prerequisite);
        Ok(())
    }

    /// Adds a dependency: `target` may start only when `prerequisite` has started.
    ///
    /// # Errors
    /// As for [`requires`](Self::requires).
    pub fn requires_start(&mut self, prerequisite: Vertex, target: Vertex) -> Result<()> {
        let [prerequisite, target] = self.two(prerequisite, target)?;
        self.builder.irequires(target, prerequisite);
        Ok(())
    }

    /// Sets the size of the scratch memory in bytes. Each run gets scratch memory of its own.
    pub fn allocate_scratch(&mut self, bytes: u64) {
        self.scratch = bytes;
    }

    /// Declares `size` bytes at `address` as a buffer that a run may replace by other memory of the
    /// same size. Returns the number of the buffer: 0 for the first.
    ///
    /// # Errors
    /// There are too many declared buffers, or the buffer ends past 2^64 bytes.
    pub fn declare(&mut self, address: usize, size: u64) -> Result<u32> {
        if self.declared.len() + 1 >= goal_lang::BUFFERS_MAX {
            return Err(Error::new(ErrorCode::Limit, "a graph has at most 65534 declared buffers"));
        }
        let start = address as u64;
        let end = start
            .checked_add(size)
            .ok_or_else(|| Error::new(ErrorCode::Count, "the buffer ends past 2^64 bytes"))?;
        self.declared.push(start..end);
        Ok(self.declared.len() as u32 - 1)
    }

    /// Returns the declared buffers, as ranges of addresses.
    pub(crate) fn declared(&self) -> &[Range<u64>] {
        &self.declared
    }

    /// Returns the actions of the graph. Their operands are addresses of the process.
    ///
    /// # Errors
    /// An action names more scratch memory than was allocated.
    pub(crate) fn body(&self) -> Result<Body> {
        let (used, vertex) = self.scratch_used;
        if used > self.scratch {
            let text = format!(
                "action {vertex} uses scratch memory up to byte {used}, and {} bytes are allocated (GOAL_AllocateScratchpad)",
                self.scratch
            );
            return Err(Error::new(ErrorCode::Buffer, text));
        }
        let mut builder = self.builder.clone();
        builder.scratch(self.scratch);
        Ok(builder.finish())
    }

    fn add(&mut self, action: Action) -> Result<Vertex> {
        if self.builder.len() >= ACTIONS_MAX {
            return Err(Error::new(ErrorCode::Limit, "a graph has at most 2^32 - 2 actions"));
        }
        let index = self.builder.action(action).index() as u32;
        Ok(Vertex { graph: self.id, index })
    }

    fn peer(&self, rank: u32, what: &str) -> Result<u32> {
        self.communicator.in_group(rank).ok_or_else(|| {
            let size = self.communicator.size();
            Error::new(ErrorCode::Rank, format!("the {what} is rank {rank}, and there are {size}"))
        })
    }

    fn payload(&mut self, data: Data<'_>) -> Result<Payload> {
        data.size("the buffer")?;
        self.note_scratch(data);
        Ok(operands::payload(&mut self.builder, data))
    }

    fn note_scratch(&mut self, data: Data<'_>) {
        let index = self.builder.len() as u32;
        for piece in data.pieces().iter().filter(|piece| piece.space == Space::Scratch) {
            let end = piece.addr.saturating_add(piece.size);
            if end > self.scratch_used.0 {
                self.scratch_used = (end, index);
            }
        }
    }

    fn two(&self, prerequisite: Vertex, target: Vertex) -> Result<[ActionId; 2]> {
        let of = |vertex: Vertex, what| {
            if vertex.graph == self.id && (vertex.index as usize) < self.builder.len() {
                return Ok(ActionId::new(vertex.index as usize));
            }
            let text = format!("the {what} is not a vertex of this graph");
            Err(Error::new(ErrorCode::Vertex, text))
        };
        let ids = [of(prerequisite, "prerequisite")?, of(target, "target")?];
        if ids[0] == ids[1] {
            return Err(Error::new(ErrorCode::Graph, "an action can't wait for itself"));
        }
        Ok(ids)
    }
}
