//! The order in which dependencies were stated. It is kept beside the graph, which has no place for
//! it.
//!
//! A row of a [`Csr`] ascends and has no duplicates, so that a program has one encoding. Other
//! simulators release dependents in the order in which a file lists them, and their times depend on
//! it. So the order of a row is kept if it differs from the row's. Passes and stripping drop it.

use super::body::Body;
use super::csr::Csr;
use crate::ids::ActionId;

/// The order that a body's text or binary states beyond the graph.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct StatedOrder {
    /// The actions that wait for nothing, in a binary's order; empty if that is ascending.
    pub roots: Vec<ActionId>,
    /// Rows of `requires`.
    pub requires: StatedRows,
    /// Rows of `irequires`.
    pub irequires: StatedRows,
}

/// Rows as they were stated, duplicates included. A row that ascends strictly is not here: the
/// [`Csr`] has it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct StatedRows {
    /// The prerequisites of the rows, ascending.
    prerequisites: Vec<ActionId>,
    /// The end of each row among the waiters.
    ends: Vec<u32>,
    waiters: Vec<ActionId>,
}

impl StatedRows {
    /// Adds the row of a prerequisite that comes after all others.
    ///
    /// # Panics
    /// If there are 2^32 waiters or more.
    pub fn push(&mut self, prerequisite: ActionId, waiters: impl IntoIterator<Item = ActionId>) {
        self.prerequisites.push(prerequisite);
        self.waiters.extend(waiters);
        self.ends.push(u32::try_from(self.waiters.len()).expect("more than 2^32 dependencies"));
    }

    /// The row of a prerequisite, if it differs from the [`Csr`]'s.
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

    /// Every row with its prerequisite, ascending.
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

    /// Returns true if every row states the same dependencies as `csr`, in another order or
    /// repeatedly.
    fn fits(&self, csr: &Csr) -> bool {
        let mut sorted = Vec::new();
        self.prerequisites.is_sorted_by(|a, b| a < b)
            && self.iter().all(|(prerequisite, row)| {
                sorted.clear();
                sorted.extend_from_slice(row);
                sorted.sort_unstable();
                sorted.dedup();
                sorted == csr.row(prerequisite) && !row.is_sorted_by(|a, b| a < b)
            })
    }
}

impl StatedOrder {
    /// Returns true if it adds nothing to the graph.
    pub fn is_empty(&self) -> bool {
        self.roots.is_empty() && self.requires.is_empty() && self.irequires.is_empty()
    }

    /// Returns the form that [`Debug`](super::Debug) stores: `None` if it adds nothing to the
    /// graph.
    pub fn boxed(self) -> Option<Box<Self>> {
        (!self.is_empty()).then(|| Box::new(self))
    }

    /// Returns true if it is an order of the body's dependencies and roots, and adds something to
    /// its graph.
    pub fn fits(&self, body: &Body) -> bool {
        !self.is_empty()
            && self.requires.fits(&body.requires)
            && self.irequires.fits(&body.irequires)
            && (self.roots.is_empty() || self.roots_fit(body))
    }

    fn roots_fit(&self, body: &Body) -> bool {
        let indegrees = body.indegrees();
        let mut sorted = self.roots.clone();
        sorted.sort_unstable();
        sorted.iter().copied().eq(body.ids().filter(|id| indegrees[id.index()] == 0))
            && !self.roots.is_sorted_by(|a, b| a < b)
    }
}

/// One kind of a body's dependencies in the order in which they were stated.
#[derive(Debug, Clone, Copy)]
pub struct StatedEdges<'a> {
    csr: &'a Csr,
    stated: Option<&'a StatedRows>,
}

impl<'a> StatedEdges<'a> {
    /// The actions that wait for `prerequisite`, each as often as it was stated.
    #[inline]
    pub fn row(&self, prerequisite: ActionId) -> &'a [ActionId] {
        self.stated
            .and_then(|stated| stated.row(prerequisite))
            .unwrap_or_else(|| self.csr.row(prerequisite))
    }

    /// Number of dependencies, each counted as often as it was stated.
    pub fn len(&self) -> usize {
        let again = |(prerequisite, row): (ActionId, &[ActionId])| {
            row.len() - self.csr.row(prerequisite).len()
        };
        self.csr.len() + self.stated.map_or(0, |stated| stated.iter().map(again).sum())
    }

    /// Returns true if there is no dependency.
    pub fn is_empty(&self) -> bool {
        self.csr.is_empty()
    }
}

impl Body {
    /// `requires` in the order in which it was stated.
    pub fn stated_requires(&self) -> StatedEdges<'_> {
        StatedEdges {
            csr: &self.requires,
            stated: self.debug.order.as_ref().map(|order| &order.requires),
        }
    }

    /// `irequires` in the order in which it was stated.
    pub fn stated_irequires(&self) -> StatedEdges<'_> {
        StatedEdges {
            csr: &self.irequires,
            stated: self.debug.order.as_ref().map(|order| &order.irequires),
        }
    }
}
