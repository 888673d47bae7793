//! Disjoint sets of numbers (union-find).

/// Disjoint sets of the numbers below a bound. The smallest number of a set represents it. Each
/// entry points towards its representative.
#[derive(Debug)]
pub(crate) struct DisjointSets(Vec<usize>);

impl DisjointSets {
    /// Each number below `length` in a set of its own.
    pub(crate) fn new(length: usize) -> Self {
        Self((0..length).collect())
    }

    /// The representative of a number's set. Halves the path to it.
    pub(crate) fn root(&mut self, mut at: usize) -> usize {
        while self.0[at] != at {
            self.0[at] = self.0[self.0[at]];
            at = self.0[at];
        }
        at
    }

    /// Joins the sets of two numbers.
    pub(crate) fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b)] = a.min(b);
    }

    /// The sets of more than one number, each in ascending order.
    pub(crate) fn of_several(&mut self) -> Vec<Vec<usize>> {
        let mut sets: Vec<Vec<usize>> = vec![Vec::new(); self.0.len()];
        for at in 0..self.0.len() {
            let root = self.root(at);
            sets[root].push(at);
        }
        sets.retain(|set| set.len() > 1);
        sets
    }
}
