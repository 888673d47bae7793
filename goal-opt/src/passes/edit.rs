//! Edges with the places where the text states them, for passes that build new ones.

use goal_lang::{Csr, Edge, Position};

/// Edges out of a [`Csr`] and its positions, which are there for all edges or for none.
pub(crate) struct Edges {
    pub(crate) edges: Vec<Edge>,
    pub(crate) positions: Vec<Position>,
}

impl Edges {
    pub(crate) fn new(csr: &Csr, positions: &[Position]) -> Self {
        Self { edges: csr.edges().collect(), positions: positions.to_vec() }
    }

    /// Adds an edge, with the place of one that it stands for.
    pub(crate) fn push(&mut self, edge: Edge, position: Option<Position>) {
        if let Some(position) = position.filter(|_| self.positions.len() == self.edges.len()) {
            self.positions.push(position);
        }
        self.edges.push(edge);
    }

    /// The rows, and the positions in their order.
    pub(crate) fn finish(self, actions: usize) -> (Csr, Vec<Position>) {
        let csr = Csr::from_edges(actions, &self.edges);
        let mut positions = Vec::new();
        if self.positions.len() == self.edges.len() {
            positions = vec![Position::MAX; csr.len()];
            for (edge, position) in self.edges.into_iter().zip(self.positions) {
                let at = csr.position(edge).expect("every edge is in the rows");
                positions[at] = positions[at].min(position);
            }
        }
        (csr, positions)
    }
}
