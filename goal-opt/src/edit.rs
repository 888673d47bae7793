//! Edits that several passes use: dependencies with their places in the text, removal and
//! reordering of actions, bodies that ranks no longer share.

use goal_lang::{ActionId, Body, BodyId, Csr, Edge, Labels, Position, Program};

/// The dependencies of one kind and their places in the source text, in a form that can be changed.
pub struct Edges {
    /// The edges, in any order.
    pub edges: Vec<Edge>,
    /// For each edge, its place in the text; empty if the places are not known.
    pub positions: Vec<Position>,
}

impl Edges {
    /// The edges of a body and their places.
    pub fn new(csr: &Csr, positions: &[Position]) -> Self {
        Self { edges: csr.edges().collect(), positions: positions.to_vec() }
    }

    /// Adds an edge with its place in the text.
    pub fn push(&mut self, edge: Edge, position: Option<Position>) {
        if let Some(position) = position.filter(|_| self.positions.len() == self.edges.len()) {
            self.positions.push(position);
        }
        self.edges.push(edge);
    }

    /// The rows, and the places in the order of the rows.
    pub fn finish(self, actions: usize) -> (Csr, Vec<Position>) {
        let has_positions = self.positions.len() == self.edges.len();
        Csr::with_places(actions, &self.edges, if has_positions { &self.positions } else { &[] })
    }
}

/// A removal of actions from a body, with new dependencies.
pub struct Removal {
    /// By action, true if it is removed.
    pub gone: Vec<bool>,
    /// The completion dependencies.
    pub requires: Edges,
    /// The start dependencies.
    pub irequires: Edges,
}

impl Removal {
    /// A removal of no action, with the dependencies of the body.
    pub fn new(body: &Body) -> Self {
        Self {
            gone: vec![false; body.len()],
            requires: Edges::new(&body.requires, &body.debug.requires),
            irequires: Edges::new(&body.irequires, &body.debug.irequires),
        }
    }

    /// Changes the body: drops the removed actions and their dependencies, dependencies of an
    /// action on itself, and unused scratch memory.
    pub fn finish(self, body: &mut Body) {
        let Self { gone, requires, irequires } = self;
        let mut place = vec![ActionId(0); gone.len()];
        let mut kept = 0;
        for (id, gone) in gone.iter().enumerate() {
            place[id] = ActionId(kept);
            kept += u32::from(!gone);
        }
        let finish = |edges: Edges| -> (Csr, Vec<u64>) {
            let mut left =
                Edges { edges: Vec::with_capacity(edges.edges.len()), positions: Vec::new() };
            let has_positions = edges.positions.len() == edges.edges.len();
            for (i, edge) in edges.edges.iter().enumerate() {
                let stays = edge.waiter != edge.prerequisite;
                if stays && !gone[edge.waiter.index()] && !gone[edge.prerequisite.index()] {
                    let edge = Edge {
                        waiter: place[edge.waiter.index()],
                        prerequisite: place[edge.prerequisite.index()],
                    };
                    left.push(edge, has_positions.then(|| edges.positions[i]));
                }
            }
            left.finish(kept as usize)
        };
        (body.requires, body.debug.requires) = finish(requires);
        (body.irequires, body.debug.irequires) = finish(irequires);
        let debug = &mut body.debug;
        debug.order = None;
        if !debug.labels.is_empty() {
            let mut labels = Labels::default();
            for (id, _) in gone.iter().enumerate().filter(|(_, gone)| !**gone) {
                labels.push(debug.labels.get(ActionId::new(id)).unwrap_or_default());
            }
            debug.labels = labels;
        }
        retain(&mut body.actions, &gone);
        retain(&mut debug.actions, &gone);
        retain(&mut debug.lines, &gone);
        body.scratch = body.scratch.min(body.extent(goal_lang::Space::Scratch));
    }
}

fn retain<T>(entries: &mut Vec<T>, gone: &[bool]) {
    let mut flags = gone.iter();
    entries.retain(|_| !flags.next().expect("an entry an action"));
}

/// Puts the actions in the given order, with their debug information.
pub(crate) fn permute(body: &mut Body, order: &[ActionId]) {
    body.actions = order.iter().map(|old| body.actions[old.index()]).collect();
    let debug = &mut body.debug;
    debug.order = None;
    (body.requires, debug.requires) = body.requires.permuted(order, &debug.requires);
    (body.irequires, debug.irequires) = body.irequires.permuted(order, &debug.irequires);
    if !debug.actions.is_empty() {
        debug.actions = order.iter().map(|old| debug.actions[old.index()]).collect();
    }
    if !debug.lines.is_empty() {
        debug.lines = order.iter().map(|old| debug.lines[old.index()]).collect();
    }
    if !debug.labels.is_empty() {
        let mut labels = Labels::default();
        for &old in order {
            labels.push(debug.labels.get(old).unwrap_or_default());
        }
        debug.labels = labels;
    }
}

/// Gives ranks bodies of their own. Holds, by body, the number of ranks that run it.
pub(crate) struct Owners(Vec<u32>);

impl Owners {
    /// Counts the ranks that run each body.
    pub(crate) fn new(program: &Program) -> Self {
        let mut ranks = vec![0; program.bodies.len()];
        for entry in &program.ranks {
            ranks[entry.body.index()] += 1;
        }
        Self(ranks)
    }

    /// The body of a rank. If other ranks run it, too, the rank first gets a copy.
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

/// The place of an action in the text, for edges that a pass adds for it.
pub(crate) fn place(body: &Body, id: ActionId) -> Option<Position> {
    body.debug.actions.get(id.index()).copied()
}
