//! How typed bytes came to where they are read.

use goal_lang::Datatype;
use goal_opt::whole::Vertex;
use std::iter;
use std::ops::Range;

/// The end of a way in the [`Trail`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hops(u32);

impl Hops {
    /// No way: the bytes are where they were written.
    pub(super) const NONE: Hops = Hops(u32::MAX);
}

/// The copies, sends and receives that bytes came through. Ways share their beginnings.
#[derive(Debug, Default)]
pub(super) struct Trail {
    /// An action, and the way before it.
    hops: Vec<(Vertex, Hops)>,
}

impl Trail {
    /// Leads parts of a buffer on through some actions.
    pub(super) fn lead(&mut self, parts: &mut [(Range<u64>, Typed)], through: &[Vertex]) {
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

/// Where bytes got their type from, and which message brought them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Typed {
    pub(super) datatype: Datatype,
    /// [`Vertex::NONE`] for `init`.
    pub(super) writer: Vertex,
    /// The last message, as send and receive; [`Vertex::NONE`] before there is one.
    pub(super) message: [Vertex; 2],
    /// Whether an operation has read the bytes as elements since they were received.
    pub(super) read: bool,
    /// The copies and messages that they came through.
    pub(super) hops: Hops,
}

impl Typed {
    pub(super) fn new(datatype: Datatype, writer: Vertex) -> Self {
        Self { datatype, writer, message: [Vertex::NONE; 2], read: false, hops: Hops::NONE }
    }
}

/// Elements of a message that are read as another type than they were written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mismatch {
    pub(super) typed: Typed,
    pub(super) reader: Vertex,
    pub(super) read_as: Datatype,
}
