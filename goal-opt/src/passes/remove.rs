//! Taking actions out of a body.

use super::edit::Edges;
use goal_lang::{ActionId, Body, Csr, Edge, Labels};

/// Builds a body's dependencies anew, and its actions without some.
pub(crate) struct Removal {
    /// By action, whether it goes.
    pub(crate) gone: Vec<bool>,
    /// The completion dependencies.
    pub(crate) requires: Edges,
    /// The start dependencies.
    pub(crate) irequires: Edges,
}

impl Removal {
    /// Nothing goes yet.
    pub(crate) fn new(body: &Body) -> Self {
        Self {
            gone: vec![false; body.len()],
            requires: Edges::new(&body.requires, &body.debug.requires),
            irequires: Edges::new(&body.irequires, &body.debug.irequires),
        }
    }

    /// The body without the actions that go and their dependencies, without those of an action on
    /// itself, and with no more scratch memory than it uses.
    pub(crate) fn finish(self, body: &mut Body) {
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
