//! The columns of the drawing: every action is to the right of all actions that it waits for, and a
//! dependency has a bend in every column that it crosses.

use goal_lang::{Body, Edge, topological_order};

/// A graph in columns whose lines go from one column to the next only.
#[derive(Debug, Default)]
pub(super) struct Layers {
    /// The vertices of each column, top to bottom.
    pub(super) columns: Vec<Vec<usize>>,
    /// The column of each vertex. The first vertices are the actions, by their ids; the others are
    /// bends.
    pub(super) column_of: Vec<usize>,
    /// For each vertex, the vertices in the next column that a line leads to.
    pub(super) after: Vec<Vec<usize>>,
    /// For each vertex, the vertices in the column before that a line comes from.
    pub(super) before: Vec<Vec<usize>>,
    /// The vertices that each dependency passes, with both of its ends. The dependencies `requires`
    /// come first.
    pub(super) paths: Vec<Vec<usize>>,
    /// The number of paths that are dependencies `requires`, which come first.
    pub(super) requires: usize,
}

impl Layers {
    /// Places each action in the column whose number is the length of the longest chain before the
    /// action.
    ///
    /// # Panics
    /// If actions wait for each other.
    pub(super) fn new(body: &Body) -> Self {
        let mut column_of = vec![0; body.len()];
        for id in topological_order(body).expect("a program that was checked has no cycles") {
            for waiter in body.requires.row(id).iter().chain(body.irequires.row(id)) {
                column_of[waiter.index()] =
                    column_of[waiter.index()].max(column_of[id.index()] + 1);
            }
        }
        let columns = column_of.iter().max().map_or(0, |last| last + 1);
        Self::in_columns(body, column_of, columns)
    }

    /// Places the actions in given columns. Each action is to the right of those that it waits for.
    pub(super) fn in_columns(body: &Body, column_of: Vec<usize>, columns: usize) -> Self {
        let mut layers = Self {
            columns: vec![Vec::new(); columns],
            before: vec![Vec::new(); body.len()],
            after: vec![Vec::new(); body.len()],
            requires: body.requires.len(),
            column_of,
            ..Self::default()
        };
        for (vertex, &column) in layers.column_of.iter().enumerate() {
            layers.columns[column].push(vertex);
        }
        for edge in body.requires.edges().chain(body.irequires.edges()) {
            layers.path(edge);
        }
        layers
    }

    /// Returns true if a vertex is a bend of a line and no action.
    pub(super) fn is_bend(&self, vertex: usize, body: &Body) -> bool {
        vertex >= body.len()
    }

    fn path(&mut self, edge: Edge) {
        let (first, last) = (edge.prerequisite.index(), edge.waiter.index());
        let mut path = vec![first];
        for column in self.column_of[first] + 1..self.column_of[last] {
            let bend = self.column_of.len();
            self.column_of.push(column);
            self.columns[column].push(bend);
            self.before.push(Vec::new());
            self.after.push(Vec::new());
            path.push(bend);
        }
        path.push(last);
        for pair in path.windows(2) {
            self.after[pair[0]].push(pair[1]);
            self.before[pair[1]].push(pair[0]);
        }
        self.paths.push(path);
    }
}
