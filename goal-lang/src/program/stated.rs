//! The order in which dependencies were stated. It is kept beside the graph, because the graph has
//! no place for it.
//!
//! A row of a [`Csr`](super::Csr) ascends and has no duplicates, so that a program has one
//! encoding. Other simulators release dependents in the order in which a file lists them, and their
//! times depend on it. So the stated order of a row is kept if it differs from the order in the
//! `Csr`. Passes and stripping drop it.

use crate::ids::ActionId;

/// The order of roots and dependencies in a body's text or binary, as far as it differs from the
/// order in the graph.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct StatedOrder {
    /// The actions that wait for nothing, in the order of a binary. Empty if that order ascends.
    pub roots: Vec<ActionId>,
    /// The stated rows of `requires`.
    pub requires: StatedRows,
    /// The stated rows of `irequires`.
    pub irequires: StatedRows,
}

/// Rows of a [`Csr`](super::Csr) as they were stated, duplicates included. A row that was stated in
/// strictly ascending order is not here, because the `Csr` has it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct StatedRows {
    /// The prerequisites of the rows, ascending.
    prerequisites: Vec<ActionId>,
    /// The end of each row among the waiters.
    ends: Vec<u32>,
    waiters: Vec<ActionId>,
}

impl StatedRows {
    /// Adds the row of a prerequisite. It must come after the prerequisites of all other rows.
    ///
    /// # Panics
    /// If there are 2^32 waiters or more.
    pub fn push(&mut self, prerequisite: ActionId, waiters: impl IntoIterator<Item = ActionId>) {
        self.prerequisites.push(prerequisite);
        self.waiters.extend(waiters);
        self.ends.push(u32::try_from(self.waiters.len()).expect("more than 2^32 dependencies"));
    }

    /// Returns the stated row of a prerequisite, or `None` if that row of the [`Csr`](super::Csr)
    /// is the same.
    #[inline]
    pub fn row(&self, prerequisite: ActionId) -> Option<&[ActionId]> {
        if self.prerequisites.is_empty() {
            return None;
        }
        self.prerequisites.binary_search(&prerequisite).ok().map(|at| self.at(at))
    }

    fn at(&self, at: usize) -> &[ActionId] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        &self.waiters[start..self.ends[at] as usize]
    }

    /// Returns every row with its prerequisite, in ascending order of prerequisites.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (ActionId, &[ActionId])> {
        self.prerequisites.iter().enumerate().map(|(at, &prerequisite)| (prerequisite, self.at(at)))
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.prerequisites.len()
    }

    /// Returns true if there is no row.
    pub fn is_empty(&self) -> bool {
        self.prerequisites.is_empty()
    }

    /// Number of waiters in all rows.
    pub fn num_waiters(&self) -> usize {
        self.waiters.len()
    }
}

impl StatedOrder {
    /// Returns true if the order adds nothing to the graph.
    pub fn is_empty(&self) -> bool {
        self.roots.is_empty() && self.requires.is_empty() && self.irequires.is_empty()
    }

    /// Returns the order in the form that [`Debug`](super::Debug) stores. Returns `None` if the
    /// order adds nothing to the graph.
    pub fn boxed(self) -> Option<Box<Self>> {
        (!self.is_empty()).then(|| Box::new(self))
    }
}
