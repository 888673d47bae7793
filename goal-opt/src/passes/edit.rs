//! Edges with the places where the text states them, for passes that build new ones.

use goal_lang::{ActionId, Body, BodyId, Csr, Edge, Position, Program};

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
        let has_positions = self.positions.len() == self.edges.len();
        Csr::with_places(actions, &self.edges, if has_positions { &self.positions } else { &[] })
    }
}

/// Gives ranks bodies of their own, so that one can be changed for a rank alone.
pub(crate) struct Owners(Vec<u32>);

impl Owners {
    /// Counts the ranks of each body.
    pub(crate) fn new(program: &Program) -> Self {
        let mut ranks = vec![0; program.bodies.len()];
        for entry in &program.ranks {
            ranks[entry.body.index()] += 1;
        }
        Self(ranks)
    }

    /// The body of a rank, which no other rank has any more.
    pub(crate) fn own<'p>(&mut self, program: &'p mut Program, rank: u32) -> &'p mut Body {
        let shared = program.ranks[rank as usize].body;
        if self.0[shared.index()] > 1 {
            self.0[shared.index()] -= 1;
            self.0.push(1);
            let own = BodyId::new(program.bodies.len());
            program.bodies.push(program.bodies[shared.index()].clone());
            program.ranks[rank as usize].body = own;
        }
        let id = program.ranks[rank as usize].body;
        &mut program.bodies[id.index()]
    }
}

/// Where the text states an action, for edges that are made for it.
pub(crate) fn place(body: &Body, id: ActionId) -> Option<Position> {
    body.debug.actions.get(id.index()).copied()
}
