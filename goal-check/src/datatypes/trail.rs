//! How typed bytes came to where they are read.

use super::Typed;
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
