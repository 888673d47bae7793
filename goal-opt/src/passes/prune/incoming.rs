//! The dependencies by waiter, with actions numbered in topological order.

use goal_lang::{Body, topological_order};

/// A dependency of a given waiter.
#[derive(Debug, Clone, Copy)]
pub(super) struct Link {
    /// The position of the prerequisite in topological order.
    pub(super) source: u32,
    /// The index of the dependency among the edges of its kind, in the order of rows.
    pub(super) edge: u32,
    /// True if the waiter waits for the end (`requires`), false if for the start.
    pub(super) by_end: bool,
}

/// The dependencies of every action, in topological order.
pub(super) struct Incoming {
    starts: Vec<u32>,
    links: Vec<Link>,
}

impl Incoming {
    pub(super) fn new(body: &Body) -> Self {
        let forward =
            |csr: &goal_lang::Csr| csr.edges().all(|edge| edge.prerequisite < edge.waiter);
        let place = if forward(&body.requires) && forward(&body.irequires) {
            None
        } else {
            let order = topological_order(body).unwrap_or_else(|_| panic!("a cycle"));
            let mut place = vec![0; order.len()];
            for (at, id) in order.iter().enumerate() {
                place[id.index()] = at as u32;
            }
            Some(place)
        };
        let place =
            |id: goal_lang::ActionId| place.as_ref().map_or(id.0, |place| place[id.index()]);
        let mut starts = vec![0u32; body.len() + 1];
        for edge in body.requires.edges().chain(body.irequires.edges()) {
            starts[place(edge.waiter) as usize + 1] += 1;
        }
        for at in 0..body.len() {
            starts[at + 1] += starts[at];
        }
        let mut next = starts.clone();
        let mut links =
            vec![Link { source: 0, edge: 0, by_end: false }; starts[body.len()] as usize];
        for (csr, by_end) in [(&body.requires, true), (&body.irequires, false)] {
            for (edge, ends) in csr.edges().enumerate() {
                let at = &mut next[place(ends.waiter) as usize];
                links[*at as usize] =
                    Link { source: place(ends.prerequisite), edge: edge as u32, by_end };
                *at += 1;
            }
        }
        Self { starts, links }
    }

    /// The number of actions.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The dependencies of the action at a position; those on ends come first.
    #[inline]
    pub(super) fn of(&self, place: usize) -> &[Link] {
        &self.links[self.starts[place] as usize..self.starts[place + 1] as usize]
    }

    /// By position, the number of dependencies on the action.
    pub(super) fn outdegrees(&self) -> Vec<u32> {
        let mut outdegrees = vec![0; self.len()];
        for link in &self.links {
            outdegrees[link.source as usize] += 1;
        }
        outdegrees
    }
}

/// For each kind of dependency, by edge in the order of rows, true if other dependencies imply the
/// edge.
pub(super) struct Implied {
    pub(super) requires: Vec<bool>,
    pub(super) irequires: Vec<bool>,
}

impl Implied {
    pub(super) fn new(body: &Body) -> Self {
        Self {
            requires: vec![false; body.requires.len()],
            irequires: vec![false; body.irequires.len()],
        }
    }

    pub(super) fn mark(&mut self, link: Link) {
        let edges = if link.by_end { &mut self.requires } else { &mut self.irequires };
        edges[link.edge as usize] = true;
    }
}
