//! One numbering of the actions of all ranks.

use goal_lang::{ANY, Action, ActionId, ActionKind, Body, Program};
use std::fmt;

/// An action of a rank: its number among the actions of all ranks. The actions of rank 0 come
/// first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Vertex(pub u32);

impl Vertex {
    /// Stands for no action, in tables by vertex.
    pub const NONE: Vertex = Vertex(u32::MAX);

    /// Returns the vertex of an entry in a table that has one entry for each vertex.
    #[inline]
    pub fn new(index: usize) -> Self {
        Self(index as u32)
    }

    /// Returns the position of the vertex in a table that has one entry for each vertex.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns `None` for [`NONE`](Self::NONE), otherwise the vertex.
    #[inline]
    pub fn some(self) -> Option<Self> {
        (self != Self::NONE).then_some(self)
    }
}

/// A program whose actions are numbered over all ranks.
pub struct Whole<'p> {
    /// The program.
    pub program: &'p Program,
    /// By rank, its first vertex; one more entry for the end.
    first: Vec<u32>,
    /// By vertex, its rank.
    rank_of: Vec<u32>,
}

/// The error that there are too many actions to number them. It has the number of actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the ranks have {0} actions in all: at most {max} can be looked at together", max = u32::MAX - 1)]
pub struct TooLarge(pub u64);

impl<'p> Whole<'p> {
    /// Numbers the actions. Linear in actions of all ranks, with 4 bytes an action.
    ///
    /// # Errors
    /// If 32 bits are too few.
    pub fn new(program: &'p Program) -> Result<Self, TooLarge> {
        let ranks = 0..program.num_ranks();
        let actions: u64 = ranks.clone().map(|rank| program.body_of(rank).len() as u64).sum();
        if actions >= u64::from(u32::MAX) {
            return Err(TooLarge(actions));
        }
        let mut first = Vec::with_capacity(ranks.len() + 1);
        let mut rank_of = Vec::with_capacity(actions as usize);
        for rank in ranks {
            first.push(rank_of.len() as u32);
            rank_of.resize(rank_of.len() + program.body_of(rank).len(), rank);
        }
        first.push(rank_of.len() as u32);
        Ok(Self { program, first, rank_of })
    }

    /// The number of actions of all ranks.
    pub fn len(&self) -> usize {
        self.rank_of.len()
    }

    /// Returns true if no rank has an action.
    pub fn is_empty(&self) -> bool {
        self.rank_of.is_empty()
    }

    /// All vertices, rank by rank.
    pub fn vertices(&self) -> impl Iterator<Item = Vertex> + use<> {
        (0..self.len()).map(Vertex::new)
    }

    /// The vertices of a rank, in the body's order.
    pub fn vertices_of(&self, rank: u32) -> impl Iterator<Item = Vertex> + use<> {
        (self.first[rank as usize]..self.first[rank as usize + 1]).map(Vertex)
    }

    /// The vertex of an action of a rank.
    #[inline]
    pub fn vertex(&self, rank: u32, id: ActionId) -> Vertex {
        Vertex(self.first[rank as usize] + id.0)
    }

    /// The rank of a vertex.
    #[inline]
    pub fn rank(&self, vertex: Vertex) -> u32 {
        self.rank_of[vertex.index()]
    }

    /// The action of a vertex in its rank's body.
    #[inline]
    pub fn id(&self, vertex: Vertex) -> ActionId {
        ActionId(vertex.0 - self.first[self.rank(vertex) as usize])
    }

    /// The body that contains the action of a vertex.
    #[inline]
    pub fn body(&self, vertex: Vertex) -> &'p Body {
        self.program.body_of(self.rank(vertex))
    }

    /// The action of a vertex.
    #[inline]
    pub fn action(&self, vertex: Vertex) -> &'p Action {
        self.body(vertex).action(self.id(vertex))
    }

    /// Returns true if a vertex is a receive.
    #[inline]
    pub fn is_recv(&self, vertex: Vertex) -> bool {
        self.action(vertex).kind() == ActionKind::Recv
    }

    /// The size in bytes of the message that a vertex sends or receives; 0 for local actions.
    #[inline]
    pub fn message_size(&self, vertex: Vertex) -> u64 {
        match *self.action(vertex) {
            Action::Send { payload, .. } | Action::Recv { payload, .. } => {
                self.body(vertex).payload_size(payload)
            }
            _ => 0,
        }
    }

    /// Returns true if the source and the tag that a receive asks for are those of a send, or any.
    /// The destinations are not compared.
    #[inline]
    pub fn envelope_fits(&self, send: Vertex, recv: Vertex) -> bool {
        match (*self.action(send), *self.action(recv)) {
            (Action::Send { tag: sent, .. }, Action::Recv { from, tag, .. }) => {
                (from == ANY || from == self.rank(send)) && (tag == ANY || tag == sent)
            }
            _ => false,
        }
    }

    /// The vertices that wait for the end of a vertex.
    #[inline]
    pub fn requires(&self, vertex: Vertex) -> impl Iterator<Item = Vertex> + use<'p> {
        let first = self.first[self.rank(vertex) as usize];
        self.body(vertex).requires.row(self.id(vertex)).iter().map(move |id| Vertex(first + id.0))
    }

    /// The vertices that wait for the start of a vertex.
    #[inline]
    pub fn irequires(&self, vertex: Vertex) -> impl Iterator<Item = Vertex> + use<'p> {
        let first = self.first[self.rank(vertex) as usize];
        self.body(vertex).irequires.row(self.id(vertex)).iter().map(move |id| Vertex(first + id.0))
    }
}

impl fmt::Debug for Whole<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Whole").field("actions", &self.len()).finish_non_exhaustive()
    }
}
