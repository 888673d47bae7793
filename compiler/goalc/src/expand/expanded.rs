//! Collectives that became messages.

use goal_collectives::{Algorithm, Request};
use goal_lang::{ActionId, CollectiveForm, Position};

/// Collectives that were expanded by the same algorithm for the same request.
#[derive(Debug, Clone)]
pub struct Expanded {
    /// The algorithm.
    pub algorithm: &'static Algorithm,
    /// The request, with members in place of ranks.
    pub request: Request,
    /// The number of such collectives.
    pub count: u64,
    /// The actions of all members.
    pub(super) actions: u64,
    /// The tags that two members use.
    pub(super) tags: u32,
}

/// The programs that the collective statements became.
#[derive(Debug, Clone, Default)]
pub struct Expansions {
    /// The programs in place of collectives.
    pub programs: Vec<Expanded>,
    /// The collectives, then the messages whose two ends are statements.
    pub origins: Vec<Origin>,
    /// By rank, the actions of each statement, in the order of the actions.
    pub(super) parts: Vec<Vec<Part>>,
}

/// A collective that statements name, or a message whose ends they are.
#[derive(Debug, Clone, Copy)]
pub struct Origin {
    /// The form of the first member's statement, or of the send.
    pub form: CollectiveForm,
    /// The position of this statement, if it is known.
    pub position: Option<Position>,
    /// The algorithm; `None` for a message.
    pub algorithm: Option<&'static Algorithm>,
}

/// The actions that a statement became.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    pub(super) first: ActionId,
    pub(super) last: ActionId,
    /// The index among the origins.
    pub(super) origin: u32,
}

impl Expansions {
    /// Returns the index of the origin from which an action of a rank comes, or `None` for an
    /// action that the program had before.
    pub fn origin_of(&self, rank: u32, action: ActionId) -> Option<usize> {
        let parts = self.parts.get(rank as usize)?;
        let part = parts[..parts.partition_point(|part| part.first <= action)].last()?;
        (action <= part.last).then_some(part.origin as usize)
    }
}
