//! Bytes with a datatype, and the way on which they came to their reader.

use goal_lang::Datatype;
use goal_opt::whole::Vertex;
use std::iter;
use std::ops::Range;

/// A way in the [`Trail`], named by its last step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hops(u32);

impl Hops {
    /// The empty way: the bytes are where they were written.
    pub(super) const NONE: Hops = Hops(u32::MAX);
}

/// The ways of bytes through copies, sends and receives. Ways share their beginnings.
#[derive(Debug, Default)]
pub(super) struct Trail {
    /// A step of a way: an action, and the way before it.
    hops: Vec<(Vertex, Hops)>,
}

impl Trail {
    /// Extends the ways of parts of a buffer by some actions.
    pub(super) fn extend(&mut self, parts: &mut [(Range<u64>, Typed)], through: &[Vertex]) {
        let mut last: Option<(Hops, Hops)> = None;
        for (_, typed) in parts {
            let before = typed.hops;
            typed.hops = match last {
                Some((other, after)) if other == before => after,
                _ => through.iter().fold(before, |before, &vertex| self.push(vertex, before)),
            };
            last = Some((before, typed.hops));
        }
    }

    fn push(&mut self, vertex: Vertex, before: Hops) -> Hops {
        self.hops.push((vertex, before));
        Hops(self.hops.len() as u32 - 1)
    }

    /// The actions of a way, the last one first.
    pub(super) fn back(&self, hops: Hops) -> impl Iterator<Item = Vertex> {
        let hop = |Hops(at): Hops| self.hops.get(at as usize).copied();
        iter::successors(hop(hops), move |&(_, before)| hop(before)).map(|(vertex, _)| vertex)
    }
}

/// The datatype of bytes, the action that wrote them, and the way that they took since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Typed {
    pub(super) datatype: Datatype,
    /// The action that wrote them; [`Vertex::NONE`] for `init`.
    pub(super) writer: Vertex,
    /// The send and the receive of the last message; [`Vertex::NONE`] if there was none.
    pub(super) message: [Vertex; 2],
    /// True if an operation has read the bytes as elements since they were received.
    pub(super) read: bool,
    /// The copies and messages that they came through.
    pub(super) hops: Hops,
}

impl Typed {
    pub(super) fn new(datatype: Datatype, writer: Vertex) -> Self {
        Self { datatype, writer, message: [Vertex::NONE; 2], read: false, hops: Hops::NONE }
    }
}

/// Elements of a message that are read as another datatype than they were written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mismatch {
    pub(super) typed: Typed,
    pub(super) reader: Vertex,
    pub(super) read_as: Datatype,
}
