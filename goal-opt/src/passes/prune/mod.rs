//! Dependency pruning: drops dependencies that others imply, which need no edge, no counter and no
//! release at run time.
//!
//! Let S(a) be the start and E(a) the end of an action a. A `requires` is an edge E(a) → S(b), an
//! `irequires` an edge S(a) → S(b), and there is an edge S(a) → E(a). The transitive reduction of
//! this graph is unique, as it has no cycle: an edge is dropped if another path leads from its
//! first event to its second. So a completion dependency is dropped only for a path that begins
//! with another completion dependency on the same action; a start dependency is dropped for any
//! path.

mod clocks;
mod incoming;
mod search;
#[cfg(test)]
mod tests;

use crate::pass::Context;
use goal_lang::{Body, Csr, Position};
use incoming::{Implied, Incoming};
use search::STEPS_MAX;

/// The result of pruning a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Pruned {
    /// The number of dropped dependencies.
    pub(crate) dropped: usize,
    /// The number of actions that may still have implied dependencies, because the search reached
    /// its bound.
    pub(crate) undecided: usize,
}

/// The pass `prune`. Adds a note if the search reached its bound.
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
/// Bodies whose actions form few chains at any time (`clocks::SLOTS_MAX`) are reduced exactly, in
/// time linear in edges times chains. In other bodies, a search goes back from each action to its
/// earliest prerequisite, over 2048 edges at most; dependencies that it does not reach stay.
///
/// # Panics
/// If the graph has a cycle, which the verifier refuses.
pub(crate) fn prune(body: &mut Body) -> Pruned {
    prune_by(body, Method::Fitting)
}

/// The method by which implied dependencies are found. The result is the same except for bounds.
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
        Method::Fitting => clocks::mark_implied(&incoming, clocks::SLOTS_MAX, &mut implied),
        #[cfg(test)]
        Method::Clocks => clocks::mark_implied(&incoming, usize::MAX, &mut implied),
        #[cfg(test)]
        Method::Search => false,
    };
    let undecided = if by_clocks { 0 } else { search::mark_implied(&incoming, &mut implied) };
    drop_edges(&mut body.requires, &mut body.debug.requires, &implied.requires);
    drop_edges(&mut body.irequires, &mut body.debug.irequires, &implied.irequires);
    let dropped = edges - body.requires.len() - body.irequires.len();
    if dropped > 0 {
        body.debug.order = None;
    }
    Pruned { dropped, undecided }
}

/// Returns true if some action has two dependencies.
fn has_several_prerequisites(body: &Body) -> bool {
    let mut waits = vec![false; body.len()];
    let mut edges = body.requires.edges().chain(body.irequires.edges());
    edges.any(|edge| std::mem::replace(&mut waits[edge.waiter.index()], true))
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
