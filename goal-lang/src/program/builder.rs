//! Builders of bodies and programs without text, for generators, passes and embedding programs.

use super::action::{Action, Piece, Pieces};
use super::body::Body;
use super::csr::{Csr, Edge};
use super::memory::MemoryImage;
use super::{Program, RankEntry};
use crate::ids::{ActionId, BodyId, ImageId};

/// Collects one rank's actions and dependencies; [`finish`](Self::finish) makes them a [`Body`].
///
/// ```
/// use goal_lang::{Action, BodyBuilder};
/// let mut rank = BodyBuilder::default();
/// let a = rank.action(Action::Nop);
/// let b = rank.action(Action::Nop);
/// rank.requires(b, a);
/// assert_eq!(rank.finish().requires.row(a), [b]);
/// ```
#[derive(Debug, Clone, Default)]
pub struct BodyBuilder {
    body: Body,
    requires: Vec<Edge>,
    irequires: Vec<Edge>,
}

impl BodyBuilder {
    /// Adds an action.
    pub fn action(&mut self, action: Action) -> ActionId {
        let id = ActionId::new(self.body.actions.len());
        self.body.actions.push(action);
        id
    }

    /// Adds an action with a label.
    pub fn labelled(&mut self, label: &str, action: Action) -> ActionId {
        while self.body.debug.labels.len() < self.body.actions.len() {
            self.body.debug.labels.push("");
        }
        self.body.debug.labels.push(label);
        self.action(action)
    }

    /// Stores the pieces of a scattered buffer for use in an action of this body.
    pub fn pieces(&mut self, pieces: &[Piece]) -> Pieces {
        let first = u32::try_from(self.body.pieces.len()).expect("more than 2^32 pieces");
        self.body.pieces.extend_from_slice(pieces);
        Pieces { first, len: u32::try_from(pieces.len()).expect("more than 2^32 pieces") }
    }

    /// Adds a dependency: `waiter` may start only when `prerequisite` is complete.
    pub fn requires(&mut self, waiter: ActionId, prerequisite: ActionId) {
        self.requires.push(Edge { waiter, prerequisite });
    }

    /// Adds a dependency: `waiter` may start only when `prerequisite` has started.
    pub fn irequires(&mut self, waiter: ActionId, prerequisite: ActionId) {
        self.irequires.push(Edge { waiter, prerequisite });
    }

    /// Declares bytes of scratch memory.
    pub fn scratch(&mut self, bytes: u64) {
        self.body.scratch = bytes;
    }

    /// Declares memory as a table of buffers with these lengths.
    pub fn buffers(&mut self, lengths: Vec<u64>) {
        self.body.buffers = lengths;
    }

    /// Number of actions so far.
    pub fn len(&self) -> usize {
        self.body.actions.len()
    }

    /// Returns true if no action was added yet.
    pub fn is_empty(&self) -> bool {
        self.body.actions.is_empty()
    }

    /// Returns the finished graph. It is not checked: goal-opt's verifier does that.
    ///
    /// # Panics
    /// If a dependency names an action that was never added.
    pub fn finish(mut self) -> Body {
        let actions = self.body.actions.len();
        self.body.requires = Csr::from_edges(actions, &self.requires);
        self.body.irequires = Csr::from_edges(actions, &self.irequires);
        if !self.body.debug.labels.is_empty() {
            while self.body.debug.labels.len() < actions {
                self.body.debug.labels.push("");
            }
        }
        self.body
    }
}

/// Collects the ranks of a program.
#[derive(Debug, Clone, Default)]
pub struct ProgramBuilder {
    program: Program,
}

impl ProgramBuilder {
    /// Adds a body that ranks may run.
    pub fn body(&mut self, body: Body) -> BodyId {
        let id = BodyId::new(self.program.bodies.len());
        self.program.bodies.push(body);
        id
    }

    /// Adds an image that ranks may start with and be checked against.
    pub fn image(&mut self, image: MemoryImage) -> ImageId {
        let id = ImageId::new(self.program.images.len());
        self.program.images.push(image);
        id
    }

    /// Adds the next rank.
    pub fn rank(&mut self, body: BodyId, image: Option<ImageId>) {
        self.program.ranks.push(RankEntry { body, image });
    }

    /// Adds the next rank with a body of its own.
    pub fn rank_with(&mut self, body: Body) {
        let body = self.body(body);
        self.rank(body, None);
    }

    /// The finished program.
    pub fn finish(self) -> Program {
        self.program
    }
}
