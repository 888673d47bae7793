//! Describes cycles of actions that wait for each other, for findings: text, labels and helps.

use crate::analysis::Analysis;
use crate::groups::statement;
use crate::pairing::Pairing;
use crate::waits::Waits;
use goal_lang::diag::Diagnostic;
use goal_lang::{ANY, Action, ActionKind};
use goal_opt::whole::Vertex;
use rustc_hash::{FxHashMap, FxHashSet};

/// The most cycles that are reported of a stuck run. If the program ends in another order of
/// events, only one is reported: it is enough to show that this run is stuck.
pub(crate) const REPORTED_MAX: usize = 3;
/// The most actions of a cycle that the message names after the first action.
const NAMED_MAX: usize = 8;
/// The most actions of a cycle that a finding labels.
const SHOWN_MAX: usize = 512;

/// Returns at most [`REPORTED_MAX`] cycles. Leaves out a cycle of the same statements as an earlier
/// cycle.
pub(crate) fn distinct_cycles(
    analysis: &Analysis<'_>,
    cycles: Vec<Vec<Vertex>>,
) -> Vec<Vec<Vertex>> {
    let mut seen = FxHashSet::default();
    let mut is_new = |cycle: &Vec<Vertex>| {
        let mut statements: Vec<_> =
            cycle.iter().map(|&vertex| statement(analysis, vertex)).collect();
        statements.sort_unstable();
        statements.dedup();
        seen.insert(statements)
    };
    cycles.into_iter().filter(|cycle| is_new(cycle)).take(REPORTED_MAX).collect()
}

/// A cycle in words: `a waits for b, which waits for c, which waits for a`.
pub(crate) fn cycle_in_words(analysis: &Analysis<'_>, cycle: &[Vertex]) -> String {
    let name = |&vertex: &Vertex| analysis.places.name(vertex);
    let mut text = name(&cycle[0]);
    for (at, vertex) in cycle[1..].iter().take(NAMED_MAX).enumerate() {
        text.push_str(if at == 0 { " waits for " } else { ", which waits for " });
        text.push_str(&name(vertex));
    }
    if cycle.len() > NAMED_MAX + 1 {
        text.push_str(&format!(", and on over {} more", cycle.len() - NAMED_MAX - 1));
    }
    text.push_str(if cycle.len() == 1 { " waits for " } else { ", which waits for " });
    text + &name(&cycle[0])
}

/// Labels each action of a cycle with the action that it waits for.
pub(crate) fn label_cycle(
    analysis: &Analysis<'_>,
    mut diagnostic: Diagnostic,
    cycle: &[Vertex],
) -> Diagnostic {
    let Analysis { whole, trace, places, .. } = analysis;
    for (at, &vertex) in cycle.iter().take(SHOWN_MAX).enumerate() {
        let next = cycle[(at + 1) % cycle.len()];
        let rank = whole.rank(vertex);
        let text = match whole.action(vertex) {
            Action::Recv { .. } if trace.has_started(vertex) => {
                format!("{}: rank {rank} waits for {}", at + 1, places.message(vertex))
            }
            Action::Send { to, .. } if trace.has_started(vertex) => {
                format!("{}: rank {rank} waits for rank {to} to receive it", at + 1)
            }
            _ if trace.has_started(next) => {
                format!(
                    "{}: rank {rank} starts this when {} has ended",
                    at + 1,
                    places.action(next)
                )
            }
            _ => format!("{}: rank {rank} starts this after {}", at + 1, places.action(next)),
        };
        diagnostic = places.label(diagnostic, vertex, text);
    }
    diagnostic
}

/// Finds sends outside of a cycle that have not started and fit a receive with a wildcard in the
/// cycle. Returns pairs of the receive and the send.
pub(crate) fn others_awaited(analysis: &Analysis<'_>, cycle: &[Vertex]) -> Vec<(Vertex, Vertex)> {
    let Analysis { whole, trace, .. } = analysis;
    let is_wild = |&recv: &Vertex| {
        matches!(*whole.action(recv), Action::Recv { from, tag, .. } if from == ANY || tag == ANY)
            && trace.has_started(recv)
    };
    let wild: FxHashMap<u32, Vertex> =
        cycle.iter().copied().filter(is_wild).map(|recv| (whole.rank(recv), recv)).collect();
    if wild.is_empty() {
        return Vec::new();
    }
    let others = whole.vertices().filter_map(|send| {
        let Action::Send { to, .. } = *whole.action(send) else { return None };
        let &recv = wild.get(&to)?;
        (!trace.has_started(send) && analysis.whole.envelope_fits(send, recv))
            .then_some((recv, send))
    });
    let is_told: FxHashSet<Vertex> = cycle.iter().copied().collect();
    others.filter(|(_, send)| !is_told.contains(send)).take(SHOWN_MAX).collect()
}

/// Returns the help for a cycle of waits. It depends on whether the cycle contains a started send,
/// which waits for its receive.
pub(crate) fn suggestion(analysis: &Analysis<'_>, cycle: &[Vertex]) -> String {
    let sends = cycle.iter().any(|&vertex| {
        analysis.whole.action(vertex).kind() == ActionKind::Send
            && analysis.trace.has_started(vertex)
    });
    let way = if sends {
        "let receives start before the sends that other ranks wait for, or without waiting for a send"
    } else {
        "let a rank send before it waits for the message of the other"
    };
    way.to_owned()
}

/// Adds the first cycle of waits to a finding. Without a cycle the finding stays as it is.
pub(crate) fn add_first_cycle(
    analysis: &Analysis<'_>,
    pairing: &Pairing,
    mut found: Diagnostic,
) -> Diagnostic {
    if let Some(cycle) = Waits::new(analysis, pairing).cycles().first() {
        let note = found.note.take().unwrap_or_default();
        found = label_cycle(analysis, found, cycle)
            .note(format!("{note}; then {}", cycle_in_words(analysis, cycle)))
            .help(suggestion(analysis, cycle));
    }
    found
}
