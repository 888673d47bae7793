//! Figures about one rank's graph.

use goal_lang::{Action, ActionKind, Body, Space, topological_order};
use serde::{Serialize, Serializer};

/// Numbers of actions by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Kinds([u64; ActionKind::ALL.len()]);

impl Kinds {
    /// Actions of a kind.
    pub fn of(&self, kind: ActionKind) -> u64 {
        self.0[kind as usize]
    }

    /// Adds the numbers of `other`.
    pub(super) fn add(&mut self, other: &Kinds) {
        for (sum, one) in self.0.iter_mut().zip(other.0) {
            *sum += one;
        }
    }

    /// Returns every kind with the number of its actions.
    pub fn iter(&self) -> impl Iterator<Item = (ActionKind, u64)> + '_ {
        ActionKind::ALL.into_iter().map(|kind| (kind, self.of(kind)))
    }
}

impl Serialize for Kinds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter().map(|(kind, count)| (kind.name(), count)))
    }
}

/// The contribution of a rank with this body to a program's figures.
#[derive(Debug, Default)]
pub(super) struct BodyStats {
    pub(super) actions: u64,
    pub(super) kinds: Kinds,
    pub(super) requires: u64,
    pub(super) irequires: u64,
    pub(super) bytes: u64,
    pub(super) calc_ns: u64,
    pub(super) depth: u64,
    pub(super) width: u64,
    pub(super) critical_path_ns: u64,
    pub(super) indegree: u64,
    pub(super) memory: u64,
    pub(super) scratch: u64,
}

impl BodyStats {
    pub(super) fn new(body: &Body) -> Self {
        let mut stats = Self {
            actions: body.len() as u64,
            requires: body.requires.len() as u64,
            irequires: body.irequires.len() as u64,
            indegree: body.indegrees().into_iter().max().map_or(0, u64::from),
            memory: body.extent(Space::Memory),
            scratch: body.scratch,
            ..Self::default()
        };
        for action in &body.actions {
            stats.kinds.0[action.kind() as usize] += 1;
            stats.calc_ns = stats.calc_ns.saturating_add(nanos(action));
            if let Action::Send { payload, .. } = *action {
                stats.bytes = stats.bytes.saturating_add(body.payload_size(payload));
            }
        }
        stats.measure_chains(body);
        stats
    }

    /// Computes depth, width and critical path by one walk in topological order.
    fn measure_chains(&mut self, body: &Body) {
        let order = topological_order(body).expect("a program that was checked has no cycles");
        let mut level = vec![0u32; body.len()];
        let mut start_ns = vec![0u64; body.len()];
        let mut at_level = Vec::<u64>::new();
        for id in order {
            let (own_level, start) = (level[id.index()], start_ns[id.index()]);
            if own_level as usize == at_level.len() {
                at_level.push(0);
            }
            at_level[own_level as usize] += 1;
            let end = start.saturating_add(nanos(body.action(id)));
            self.critical_path_ns = self.critical_path_ns.max(end);
            let edges = [(body.requires.row(id), end), (body.irequires.row(id), start)];
            for (waiters, released_ns) in edges {
                for waiter in waiters {
                    let (level, start) =
                        (&mut level[waiter.index()], &mut start_ns[waiter.index()]);
                    *level = (*level).max(own_level + 1);
                    *start = (*start).max(released_ns);
                }
            }
        }
        self.depth = at_level.len() as u64;
        self.width = at_level.into_iter().max().unwrap_or(0);
    }
}

fn nanos(action: &Action) -> u64 {
    match *action {
        Action::Calc { nanos, .. } => nanos,
        _ => 0,
    }
}
