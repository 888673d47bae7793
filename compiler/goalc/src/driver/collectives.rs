//! The treatment of collective statements.

use crate::expand::Algorithms;

/// The treatment of collective statements.
#[derive(Debug, Clone, Default)]
pub enum Collectives {
    /// They are refused, because they can't be executed.
    #[default]
    Refuse,
    /// They are compared with each other and kept, for work that needs no messages.
    Keep,
    /// They are expanded into messages.
    Expand(Algorithms),
}

impl Collectives {
    /// Returns the same choice, or to keep statements that would be refused.
    #[must_use]
    pub fn or_keep(self) -> Self {
        match self {
            Collectives::Refuse => Collectives::Keep,
            other => other,
        }
    }
}
