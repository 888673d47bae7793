//! Dependencies by waiter, over actions numbered in topological order.

use goal_lang::{Body, topological_order};

/// A dependency as its waiter sees it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Link {
    /// The place of the prerequisite in topological order.
    pub(super) source: u32,
    /// Its index among the edges of its kind, in row order.
    pub(super) edge: u32,
    /// Whether it waits for the end (`requires`) or for the start.
    pub(super) by_end: bool,
}

/// The links of every action, actions in topological order.
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

    /// Number of actions.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// What the action at a place waits for; ends come before starts.
    #[inline]
    pub(super) fn of(&self, place: usize) -> &[Link] {
        &self.links[self.starts[place] as usize..self.starts[place + 1] as usize]
    }

    /// By place, how many links begin there.
    pub(super) fn outdegrees(&self) -> Vec<u32> {
        let mut outdegrees = vec![0; self.len()];
        for link in &self.links {
            outdegrees[link.source as usize] += 1;
        }
        outdegrees
    }
}
