//! The datatype of bytes, and the copies and messages through which the bytes came to their reader.

use goal_lang::Datatype;
use goal_opt::whole::Vertex;
use std::iter;
use std::ops::Range;

/// A way of bytes through copies, sends and receives: the index of its last step in the [`Trail`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hops(u32);

impl Hops {
    /// The empty way: the bytes are where they were written.
    pub(super) const NONE: Hops = Hops(u32::MAX);
}

/// The ways of bytes through copies, sends and receives. Ways share their beginnings.
#[derive(Debug, Default)]
pub(super) struct Trail {
    /// The steps of all ways: an action, and the way of the bytes before that action.
    hops: Vec<(Vertex, Hops)>,
}

impl Trail {
    /// Extends the way of each part of a buffer by the actions `through`, in this order.
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
    /// The action that wrote the bytes; [`Vertex::NONE`] for `init`.
    pub(super) writer: Vertex,
    /// The send and the receive of the last message that moved the bytes; [`Vertex::NONE`] if there
    /// was none.
    pub(super) message: [Vertex; 2],
    /// True if an operation has read the bytes as elements since they were received.
    pub(super) read: bool,
    /// The copies and messages that the bytes came through since they were written.
    pub(super) hops: Hops,
}

impl Typed {
    pub(super) fn new(datatype: Datatype, writer: Vertex) -> Self {
        Self { datatype, writer, message: [Vertex::NONE; 2], read: false, hops: Hops::NONE }
    }
}

/// A read of received elements as another datatype than they were written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mismatch {
    pub(super) typed: Typed,
    pub(super) reader: Vertex,
    pub(super) read_as: Datatype,
}
