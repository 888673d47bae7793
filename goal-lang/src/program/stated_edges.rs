//! A body's dependencies in the order in which they were stated.

use super::body::Body;
use super::csr::Csr;
use super::stated::{StatedOrder, StatedRows};
use crate::ids::ActionId;

/// One kind of a body's dependencies in the order in which they were stated.
#[derive(Debug, Clone, Copy)]
pub struct StatedEdges<'a> {
    csr: &'a Csr,
    stated: Option<&'a StatedRows>,
}

impl<'a> StatedEdges<'a> {
    /// Returns the actions that wait for `prerequisite` in their stated order, each as often as it
    /// was stated.
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
    /// Returns the dependencies of `requires` in the order in which they were stated.
    pub fn stated_requires(&self) -> StatedEdges<'_> {
        StatedEdges {
            csr: &self.requires,
            stated: self.debug.order.as_ref().map(|order| &order.requires),
        }
    }

    /// Returns the dependencies of `irequires` in the order in which they were stated.
    pub fn stated_irequires(&self) -> StatedEdges<'_> {
        StatedEdges {
            csr: &self.irequires,
            stated: self.debug.order.as_ref().map(|order| &order.irequires),
        }
    }
}

impl StatedRows {
    /// Returns true if every stated row has the dependencies of the same row of `csr`, in another
    /// order or repeatedly.
    fn fits(&self, csr: &Csr) -> bool {
        let mut sorted = Vec::new();
        self.iter().is_sorted_by(|a, b| a.0 < b.0)
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
    /// Returns true if this is an order of the dependencies and roots of `body`, and adds something
    /// to its graph.
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
