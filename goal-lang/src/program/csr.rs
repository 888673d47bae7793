//! Edges in compressed sparse rows.

use super::stated::StatedRows;
use crate::ids::ActionId;
use crate::source::Position;
use std::ops::Range;

/// The edges of one kind of dependency, with a row for each prerequisite: `row(b)` lists the
/// actions that wait for `b`.
///
/// Invariants: `starts` is ascending, begins with 0 and ends with `targets.len()`; an empty
/// `starts` stands for no edges at all; every row ascends strictly, so no dependency occurs twice.
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
    /// The action that `waiter` waits for.
    pub prerequisite: ActionId,
}

impl Csr {
    /// Makes rows for `actions` actions from edges in any order, and drops duplicates. Takes time
    /// linear in actions and edges, except for sorting rows whose edges are not in order.
    ///
    /// # Panics
    /// If an edge names an action past `actions`, or there are 2^32 edges or more.
    pub fn from_edges(actions: usize, edges: &[Edge]) -> Self {
        Self::with_places(actions, edges, &[]).0
    }

    /// Makes rows as [`from_edges`](Self::from_edges) does. Also returns the place at which each
    /// edge was stated, in the rows' order. `places` has an entry for each edge or none at all. An
    /// edge that was stated twice keeps its first place.
    ///
    /// # Panics
    /// As [`from_edges`](Self::from_edges) does.
    pub fn with_places(
        actions: usize,
        edges: &[Edge],
        places: &[Position],
    ) -> (Self, Vec<Position>) {
        Self::collect(actions, edges, places, None)
    }

    /// Makes rows as [`with_places`](Self::with_places) does. Also returns, as they were stated,
    /// the rows whose edges were stated in another order or more than once.
    ///
    /// # Panics
    /// As [`from_edges`](Self::from_edges) does.
    pub fn stated(
        actions: usize,
        edges: &[Edge],
        places: &[Position],
    ) -> (Self, Vec<Position>, StatedRows) {
        let mut stated = StatedRows::default();
        let (csr, places) = Self::collect(actions, edges, places, Some(&mut stated));
        (csr, places, stated)
    }

    /// Takes rows that already lie end to end in `targets`: row `r` goes from `starts[r]` to
    /// `starts[r + 1]`. Sorts the rows. Also returns the rows that did not ascend strictly, as they
    /// were before.
    ///
    /// # Panics
    /// If `starts` doesn't ascend from 0 to the length of `targets`.
    pub fn from_rows(starts: Vec<u32>, targets: Vec<ActionId>) -> (Self, StatedRows) {
        if targets.is_empty() {
            return Default::default();
        }
        assert!(
            starts[0] == 0
                && starts.is_sorted()
                && starts[starts.len() - 1] as usize == targets.len()
        );
        let mut stated = StatedRows::default();
        let mut csr = Self { starts, targets };
        csr.put_in_order(&mut Vec::new(), Some(&mut stated));
        (csr, stated)
    }

    fn collect(
        actions: usize,
        edges: &[Edge],
        places: &[Position],
        stated: Option<&mut StatedRows>,
    ) -> (Self, Vec<Position>) {
        if edges.is_empty() {
            return (Self::default(), Vec::new());
        }
        u32::try_from(edges.len()).expect("more than 2^32 edges");
        let mut starts = row_ends(actions, edges.iter().map(|edge| edge.prerequisite));
        let mut targets = vec![ActionId(0); edges.len()];
        let mut ordered = vec![Position::MAX; places.len()];
        for (index, edge) in edges.iter().enumerate() {
            assert!(edge.waiter.index() < actions, "an edge from no action");
            let next = &mut starts[edge.prerequisite.index() + 1];
            let at = *next as usize;
            *next += 1;
            targets[at] = edge.waiter;
            if let Some(&place) = places.get(index) {
                ordered[at] = place;
            }
        }
        starts.pop();
        let mut csr = Self { starts, targets };
        csr.put_in_order(&mut ordered, stated);
        (csr, ordered)
    }

    /// The actions that wait for `prerequisite`, ascending.
    #[inline]
    pub fn row(&self, prerequisite: ActionId) -> &[ActionId] {
        &self.targets[self.range(prerequisite)]
    }

    /// The range of a row among all edges.
    #[inline]
    fn range(&self, prerequisite: ActionId) -> Range<usize> {
        match self.starts.get(prerequisite.index()..prerequisite.index() + 2) {
            Some(range) => range[0] as usize..range[1] as usize,
            None => 0..0,
        }
    }

    /// Number of edges.
    #[inline]
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// Returns true if there is no edge.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// The waiter of every edge, in the rows' order.
    #[inline]
    pub fn waiters(&self) -> &[ActionId] {
        &self.targets
    }

    /// Every edge, ordered by prerequisite, then by waiter.
    pub fn edges(&self) -> impl Iterator<Item = Edge> + '_ {
        let mut row = 0;
        self.targets.iter().enumerate().map(move |(at, &waiter)| {
            while self.starts[row + 1] as usize <= at {
                row += 1;
            }
            Edge { waiter, prerequisite: ActionId::new(row) }
        })
    }

    /// Returns the edges with a row for each waiter: `row(a)` of the result lists the actions that
    /// `a` waits for. Takes time linear in actions and edges.
    ///
    /// # Panics
    /// If an edge names an action past `actions`.
    pub fn transposed(&self, actions: usize) -> Csr {
        if self.is_empty() {
            return Csr::default();
        }
        let mut starts = row_ends(actions, self.targets.iter().copied());
        let mut targets = vec![ActionId(0); self.targets.len()];
        for Edge { waiter, prerequisite } in self.edges() {
            let next = &mut starts[waiter.index() + 1];
            targets[*next as usize] = prerequisite;
            *next += 1;
        }
        starts.pop();
        Csr { starts, targets }
    }

    /// Renumbers the actions so that `order[0]` comes first. Returns the edges with the new
    /// numbers, and `places` in the order of the new rows. `places` has an entry for each edge or
    /// none at all. Takes time linear in actions and edges, except for sorting rows.
    ///
    /// # Panics
    /// If an edge names an action that is not in `order`.
    pub fn permuted(&self, order: &[ActionId], places: &[Position]) -> (Self, Vec<Position>) {
        if self.is_empty() {
            return (Self::default(), Vec::new());
        }
        let mut number = vec![ActionId(0); order.len()];
        for (new, old) in order.iter().enumerate() {
            number[old.index()] = ActionId::new(new);
        }
        let mut starts = Vec::with_capacity(order.len() + 1);
        starts.push(0);
        let mut targets = Vec::with_capacity(self.targets.len());
        let mut ordered = Vec::with_capacity(places.len());
        for old in order {
            let row = self.range(*old);
            targets.extend(self.targets[row.clone()].iter().map(|waiter| number[waiter.index()]));
            ordered.extend_from_slice(places.get(row).unwrap_or_default());
            starts.push(targets.len() as u32);
        }
        let mut csr = Self { starts, targets };
        csr.put_in_order(&mut ordered, None);
        (csr, ordered)
    }

    /// Returns the index of the edge `prerequisite` -> `waiter` among all edges in row order, if
    /// there is such an edge.
    pub fn position(&self, edge: Edge) -> Option<usize> {
        let start = *self.starts.get(edge.prerequisite.index())? as usize;
        Some(start + self.row(edge.prerequisite).binary_search(&edge.waiter).ok()?)
    }

    /// Keeps the edges for which `keep` returns true. `keep` gets an edge's index among all edges
    /// in row order. Takes linear time.
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

    /// Sorts every row and drops duplicate edges. If `places` is not empty, it is changed in the
    /// same way, and of equal edges the first place stays. A row that changes is added to `stated`
    /// as it was before.
    fn put_in_order(&mut self, places: &mut Vec<Position>, mut stated: Option<&mut StatedRows>) {
        let mut pairs: Vec<(ActionId, Position)> = Vec::new();
        let mut kept = 0usize;
        let mut from = 0usize;
        for row in 1..self.starts.len() {
            let to = self.starts[row] as usize;
            if self.targets[from..to].is_sorted_by(|a, b| a < b) {
                if kept < from {
                    self.targets.copy_within(from..to, kept);
                    if !places.is_empty() {
                        places.copy_within(from..to, kept);
                    }
                }
                kept += to - from;
            } else {
                if let Some(stated) = stated.as_deref_mut() {
                    stated.push(ActionId::new(row - 1), self.targets[from..to].iter().copied());
                }
                let place = |at: usize| places.get(at).copied().unwrap_or(Position::MAX);
                pairs.clear();
                pairs.extend((from..to).map(|at| (self.targets[at], place(at))));
                pairs.sort_unstable();
                pairs.dedup_by_key(|pair| pair.0);
                for &(target, place) in &pairs {
                    self.targets[kept] = target;
                    if let Some(entry) = places.get_mut(kept) {
                        *entry = place;
                    }
                    kept += 1;
                }
            }
            from = to;
            self.starts[row] = kept as u32;
        }
        self.targets.truncate(kept);
        places.truncate(kept);
    }
}

/// Counts the entries of each row for a counting sort. Entry `r + 1` of the result is the start of
/// row `r`. The caller advances this entry while it fills the row, so that the row's end is left
/// there. Then the last entry is superfluous.
fn row_ends(actions: usize, rows: impl Iterator<Item = ActionId>) -> Vec<u32> {
    let mut ends = vec![0u32; actions + 2];
    for row in rows {
        ends[row.index() + 2] += 1;
    }
    for at in 2..ends.len() {
        ends[at] += ends[at - 1];
    }
    ends
}
