//! A record of every range that was stored, with its action and the operands of that action.

use super::value::Node;
use goal_opt::whole::Vertex;

/// The number of an entry of the [`Trail`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Step(u32);

impl Step {
    /// Stands for bytes that no action stored, such as the content at the start.
    pub(super) const NONE: Step = Step(u32::MAX);

    /// Returns the index of the entry in the trail.
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A range that an action stored.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stored {
    pub(super) vertex: Vertex,
    /// The operands of the action; both are the same if the bytes were only moved. An operand whose
    /// element consists of several parts has an entry of its own, which joins the parts.
    pub(super) from: [Source; 2],
}

/// An operand: its value, and the step that stored it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source {
    pub(super) node: Node,
    pub(super) step: Step,
}

/// All ranges that were stored.
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

    /// The entry of a step; `None` for the content at the start.
    pub(super) fn stored(&self, step: Step) -> Option<Stored> {
        self.stored.get(step.index()).copied()
    }

    /// All entries, the oldest first.
    pub(super) fn all(&self) -> &[Stored] {
        &self.stored
    }
}
