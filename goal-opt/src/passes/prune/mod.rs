//! Dependency pruning: what other dependencies imply anyway needs no edge, no counter and no
//! release at run time.
//!
//! An action starts, S(a), and ends, E(a). A `requires` is an edge E(a) → S(b), an `irequires` an
//! edge S(a) → S(b), and S(a) → E(a) is given. The transitive reduction of this graph is unique,
//! since it has no cycle: an edge goes if another path leads from its first event to its second. So
//! a completion dependency goes only for a path that begins with a completion dependency of the
//! same action, a start dependency for any.

mod clocks;
mod incoming;
mod search;
#[cfg(test)]
mod tests;

use goal_lang::{Body, Csr, Position};
use incoming::Incoming;

use crate::pass::Context;
use search::STEPS_MAX;

/// What became of the dependencies of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pruned {
    /// Dependencies that went.
    pub dropped: usize,
    /// Actions with dependencies that may be implied by others, where the search stopped at its
    /// bound.
    pub undecided: usize,
}

/// The pass: [`prune`], and a note where it stopped at its bound.
pub(crate) fn prune_pass(body: &mut Body, context: &Context<'_>) -> bool {
    let pruned = prune(body);
    if pruned.undecided > 0 {
        context.note(format!(
            "an action is followed back over at most {STEPS_MAX} dependencies, and of some that was not all: \
             dependencies may stay that others imply"
        ));
    }
    pruned.dropped > 0
}

/// Drops every dependency that others imply.
///
/// Bodies whose actions form few chains at any time (`clocks::SLOTS_MAX`) are reduced exactly,
/// whatever their size, in time linear in edges times chains. In others each action looks back as
/// far as to its earliest prerequisite, at most over 2048 edges; what it doesn't find there stays.
///
/// # Panics
/// If the graph has a cycle: the verifier refuses these.
pub fn prune(body: &mut Body) -> Pruned {
    prune_by(body, Method::Fitting)
}

/// How implied dependencies are found. The result is the same but for bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    Fitting,
    #[cfg(test)]
    Clocks,
    #[cfg(test)]
    Search,
}

fn prune_by(body: &mut Body, method: Method) -> Pruned {
    let edges = body.requires.len() + body.irequires.len();
    if edges < 2 || !has_several_prerequisites(body) {
        return Pruned::default();
    }
    let incoming = Incoming::new(body);
    let mut implied = Implied::new(body);
    let by_clocks = match method {
        Method::Fitting => clocks::implied(&incoming, clocks::SLOTS_MAX, &mut implied),
        #[cfg(test)]
        Method::Clocks => clocks::implied(&incoming, usize::MAX, &mut implied),
        #[cfg(test)]
        Method::Search => false,
    };
    let undecided = if by_clocks { 0 } else { search::implied(&incoming, &mut implied) };
    drop_edges(&mut body.requires, &mut body.debug.requires, &implied.requires);
    drop_edges(&mut body.irequires, &mut body.debug.irequires, &implied.irequires);
    let dropped = edges - body.requires.len() - body.irequires.len();
    if dropped > 0 {
        body.debug.order = None;
    }
    Pruned { dropped, undecided }
}

/// Whether any action waits for two others, or in both ways for one.
fn has_several_prerequisites(body: &Body) -> bool {
    let mut waits = vec![false; body.len()];
    let mut edges = body.requires.edges().chain(body.irequires.edges());
    edges.any(|edge| std::mem::replace(&mut waits[edge.waiter.index()], true))
}

/// By kind and edge in row order, whether others imply it.
struct Implied {
    requires: Vec<bool>,
    irequires: Vec<bool>,
}

impl Implied {
    fn new(body: &Body) -> Self {
        Self {
            requires: vec![false; body.requires.len()],
            irequires: vec![false; body.irequires.len()],
        }
    }

    fn mark(&mut self, link: incoming::Link) {
        let edges = if link.by_end { &mut self.requires } else { &mut self.irequires };
        edges[link.edge as usize] = true;
    }
}

fn drop_edges(csr: &mut Csr, positions: &mut Vec<Position>, implied: &[bool]) {
    if !implied.contains(&true) {
        return;
    }
    if !positions.is_empty() {
        let mut edge = 0..;
        positions.retain(|_| edge.next().is_some_and(|edge: usize| !implied[edge]));
    }
    csr.retain(|edge| !implied[edge]);
}
