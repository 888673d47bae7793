//! Finds the last actions that stored the input of a rank that is missing in a result.

use super::compare::Wrong;
use super::execute::Execution;
use super::layout::Layout;
use super::trail::{Source, Step};
use super::value::Values;
use goal_lang::Space;
use goal_opt::whole::{Trace, Vertex, Whole};

/// Bound on the actions that a finding shows.
const SHOWN_MAX: usize = 4;

/// Finds the actions that stored the byte of the input of `missing` that corresponds to the wrong
/// byte, alone or combined, and whose result no later action used: actions of the rank with the
/// wrong result, or else of ranks without a result.
pub(super) fn ends_of(
    whole: &Whole<'_>,
    trace: &Trace,
    layout: &Layout,
    execution: &Execution<'_>,
    wrong: &Wrong,
    missing: u32,
) -> Vec<Vertex> {
    let byte = layout.input(missing).0 + wrong.wanted.input_offset;
    let reads = |vertex: Vertex| {
        let reader =
            if whole.rank(vertex) == missing { vertex } else { trace.partner[vertex.index()] };
        let mut reads = false;
        if reader != Vertex::NONE {
            whole.body(reader).visit_accesses(whole.action(reader), |piece, access| {
                let is_there =
                    byte.checked_sub(piece.addr).is_some_and(|offset| offset < piece.size);
                reads |= access.reads() && piece.space == Space::Memory && is_there;
            });
        }
        reads
    };
    let stored = execution.trail.all();
    let mut carries = vec![false; stored.len()];
    let mut is_used = vec![false; stored.len()];
    for (index, entry) in stored.iter().enumerate() {
        for Source { node, step } in entry.from {
            if step == Step::NONE {
                carries[index] |= node == Values::input(missing) && reads(entry.vertex);
            } else if carries[step.index()] {
                carries[index] = true;
                is_used[step.index()] = true;
            }
        }
    }
    let mut ends: Vec<Vertex> = (0..stored.len())
        .filter(|&at| carries[at] && !is_used[at])
        .map(|at| stored[at].vertex)
        .collect();
    ends.sort_unstable();
    ends.dedup();
    let has_output = |rank: u32| {
        let mut has_output = false;
        layout.visit_outputs(rank, |_| has_output = true);
        has_output
    };
    let (own, others): (Vec<Vertex>, Vec<Vertex>) =
        ends.into_iter().partition(|&vertex| whole.rank(vertex) == wrong.rank);
    let mut shown = match own.is_empty() {
        false => own,
        true => others.into_iter().filter(|&vertex| !has_output(whole.rank(vertex))).collect(),
    };
    shown.truncate(SHOWN_MAX);
    shown
}
