//! Finds the order of the starts of actions that holds in every run of a body.

use goal_lang::{ActionId, Body, topological_order};

/// The actions that wait for each action, directly or through others. A row has a bit for each
/// action.
pub(crate) struct Reach {
    rows: Vec<Vec<u64>>,
}

impl Reach {
    /// Returns the transitive closure of both kinds of dependencies. Its size is quadratic in the
    /// number of actions. Returns `None` if the dependencies form a cycle.
    pub(crate) fn new(body: &Body) -> Option<Self> {
        let order = topological_order(body).ok()?;
        let words = body.len().div_ceil(64);
        let mut rows = vec![vec![0; words]; body.len()];
        for &id in order.iter().rev() {
            let mut row = vec![0; words];
            for &waiter in body.requires.row(id).iter().chain(body.irequires.row(id)) {
                row[waiter.index() / 64] |= 1 << (waiter.index() % 64);
                row.iter_mut()
                    .zip(&rows[waiter.index()])
                    .for_each(|(mine, theirs)| *mine |= theirs);
            }
            rows[id.index()] = row;
        }
        Some(Self { rows })
    }

    /// Returns true if `later` cannot start before `earlier` has.
    pub(crate) fn orders(&self, earlier: ActionId, later: ActionId) -> bool {
        self.rows[earlier.index()][later.index() / 64] >> (later.index() % 64) & 1 == 1
    }
}
