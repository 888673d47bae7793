//! Edges in compressed sparse rows.

use crate::ids::ActionId;

/// The edges of one kind of dependency, a row a prerequisite: `row(b)` lists the actions that wait for `b`.
///
/// Invariants: `starts` is ascending, begins with 0 and ends with `targets.len()`; an empty `starts` stands for no
/// edges at all; every row ascends strictly, so no dependency occurs twice.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Csr {
    starts: Vec<u32>,
    targets: Vec<ActionId>,
}

/// A dependency in the order of the text: `waiter` requires `prerequisite`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Edge {
    /// The action that has to wait.
    pub waiter: ActionId,
    /// The action that it waits for.
    pub prerequisite: ActionId,
}

impl Csr {
    /// Rows for `actions` actions from edges in any order; duplicates are dropped. Linear in actions and edges.
    ///
    /// # Panics
    /// If an edge names an action past `actions`, or there are 2^32 edges or more.
    pub fn from_edges(actions: usize, edges: &[Edge]) -> Self {
        if edges.is_empty() {
            return Self::default();
        }
        u32::try_from(edges.len()).expect("more than 2^32 edges");
        // A counting sort by prerequisite is stable, so sorting by waiter first leaves every row ascending.
        let by_waiter;
        let edges = if edges.is_sorted_by_key(|edge| edge.waiter) {
            edges
        } else {
            by_waiter = counting_sort(actions, edges, |edge| edge.waiter);
            &by_waiter
        };
        let mut starts = vec![0u32; actions + 1];
        for edge in edges {
            starts[edge.prerequisite.index() + 1] += 1;
        }
        for i in 0..actions {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut targets = vec![ActionId(0); edges.len()];
        for edge in edges {
            let at = &mut next[edge.prerequisite.index()];
            assert!(edge.waiter.index() < actions, "an edge from no action");
            targets[*at as usize] = edge.waiter;
            *at += 1;
        }
        let mut csr = Self { starts, targets };
        csr.drop_duplicates();
        csr
    }

    /// Like [`from_edges`](Self::from_edges), and where each edge was stated, in the rows' order. `places` has an entry an
    /// edge or none at all; an edge that was stated twice keeps its first place.
    pub(crate) fn with_places(actions: usize, edges: &[Edge], places: &[u64]) -> (Self, Vec<u64>) {
        let csr = Self::from_edges(actions, edges);
        if places.is_empty() {
            return (csr, Vec::new());
        }
        let mut ordered = vec![u64::MAX; csr.len()];
        for (&edge, &place) in edges.iter().zip(places) {
            if let Some(at) = csr.position(edge) {
                ordered[at] = ordered[at].min(place);
            }
        }
        (csr, ordered)
    }

    /// The actions that wait for `prerequisite`, ascending.
    #[inline]
    pub fn row(&self, prerequisite: ActionId) -> &[ActionId] {
        match self.starts.get(prerequisite.index()..prerequisite.index() + 2) {
            Some(range) => &self.targets[range[0] as usize..range[1] as usize],
            None => &[],
        }
    }

    /// Number of edges.
    #[inline]
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// Whether there is no edge.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// Every edge, ordered by prerequisite, then by waiter.
    pub fn edges(&self) -> impl Iterator<Item = Edge> + '_ {
        let rows = self.starts.len().saturating_sub(1);
        (0..rows).map(ActionId::new).flat_map(|prerequisite| {
            self.row(prerequisite).iter().map(move |&waiter| Edge { waiter, prerequisite })
        })
    }

    /// The same edges by waiter: `row(a)` of the result lists what `a` waits for.
    pub fn transposed(&self, actions: usize) -> Csr {
        let edges: Vec<Edge> =
            self.edges().map(|e| Edge { waiter: e.prerequisite, prerequisite: e.waiter }).collect();
        Csr::from_edges(actions, &edges)
    }

    /// Index of the edge `prerequisite` -> `waiter` among all edges in row order.
    pub fn position(&self, edge: Edge) -> Option<usize> {
        let start = *self.starts.get(edge.prerequisite.index())? as usize;
        Some(start + self.row(edge.prerequisite).binary_search(&edge.waiter).ok()?)
    }

    /// Keeps the edges for whose index among all edges, in row order, `keep` says so. Linear.
    pub fn retain(&mut self, mut keep: impl FnMut(usize) -> bool) {
        let mut kept = 0usize;
        let mut from = 0usize;
        for row in 1..self.starts.len() {
            let to = self.starts[row] as usize;
            for edge in from..to {
                if keep(edge) {
                    self.targets[kept] = self.targets[edge];
                    kept += 1;
                }
            }
            from = to;
            self.starts[row] = kept as u32;
        }
        self.targets.truncate(kept);
        if self.targets.is_empty() {
            self.starts.clear();
        }
    }

    fn drop_duplicates(&mut self) {
        let mut kept = 0usize;
        let mut from = 0usize;
        for row in 1..self.starts.len() {
            let to = self.starts[row] as usize;
            let first = kept;
            for i in from..to {
                let target = self.targets[i];
                if kept == first || self.targets[kept - 1] != target {
                    self.targets[kept] = target;
                    kept += 1;
                }
            }
            from = to;
            self.starts[row] = kept as u32;
        }
        self.targets.truncate(kept);
    }
}

fn counting_sort(actions: usize, edges: &[Edge], key: impl Fn(&Edge) -> ActionId) -> Vec<Edge> {
    let mut next = vec![0u32; actions + 1];
    for edge in edges {
        next[key(edge).index() + 1] += 1;
    }
    for i in 0..actions {
        next[i + 1] += next[i];
    }
    let mut sorted = vec![edges[0]; edges.len()];
    for edge in edges {
        let at = &mut next[key(edge).index()];
        sorted[*at as usize] = *edge;
        *at += 1;
    }
    sorted
}
