//! How bytes came to be where they are: which action put them there, and from what.

use super::value::Node;
use goal_opt::whole::Vertex;

/// An entry of the [`Trail`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Step(u32);

impl Step {
    /// Stands for what was there at the start.
    pub(super) const NONE: Step = Step(u32::MAX);

    /// Its place in the trail.
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// One action that stored bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stored {
    pub(super) vertex: Vertex,
    /// The operands that it made them of; both are the same where the bytes were moved only. An
    /// operand whose elements are made of parts has an entry of its own, which joins these.
    pub(super) from: [Source; 2],
}

/// An operand: what it was and how it had come there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source {
    pub(super) node: Node,
    pub(super) step: Step,
}

/// Every range that was ever stored.
#[derive(Debug, Default)]
pub(super) struct Trail {
    stored: Vec<Stored>,
}

impl Trail {
    pub(super) fn push(&mut self, vertex: Vertex, from: [Source; 2]) -> Step {
        let step = Step(self.stored.len() as u32);
        self.stored.push(Stored { vertex, from });
        step
    }

    /// `None` for what was there at the start.
    pub(super) fn stored(&self, step: Step) -> Option<Stored> {
        self.stored.get(step.index()).copied()
    }

    /// All entries, the oldest first.
    pub(super) fn all(&self) -> &[Stored] {
        &self.stored
    }
}
