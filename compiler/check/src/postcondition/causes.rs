//! Finds the actions that a finding about a wrong result points to. They are the last writes of a
//! missing input, and the closest writes to a byte that no action wrote.

use super::compare::Wrong;
use super::execute::Execution;
use super::layout::Layout;
use super::trail::{Source, Step};
use super::value::Values;
use goal_lang::{Access, Space};
use goal_opt::whole::{Trace, Vertex, Whole};
use std::collections::BinaryHeap;

/// The most actions that a finding shows because they stored a missing input last.
const ENDS_SHOWN_MAX: usize = 4;
/// The most actions that a finding shows because they write close to a byte that no action wrote.
const WRITES_SHOWN_MAX: usize = 3;

/// Finds the last actions that stored a missing input, alone or combined: the byte of the input of
/// rank `missing` that corresponds to the wrong byte. No later action used what they stored.
/// Returns actions of the rank with the wrong result. If there are none, returns actions of ranks
/// without a result.
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
    shown.truncate(ENDS_SHOWN_MAX);
    shown
}

/// Returns the actions of a rank that write memory closest to `addr`, in the order of the rank.
/// Each comes with the first and the last byte of its piece that is closest.
pub(super) fn written_instead(whole: &Whole<'_>, rank: u32, addr: u64) -> Vec<(Vertex, [u64; 2])> {
    let mut closest: BinaryHeap<(u64, Vertex, [u64; 2])> = BinaryHeap::new();
    for vertex in whole.vertices_of(rank) {
        let mut best = None;
        whole.body(vertex).visit_accesses(whole.action(vertex), |piece, access| {
            if access == Access::Read || piece.space != Space::Memory || piece.size == 0 {
                return;
            }
            let last = piece.addr.saturating_add(piece.size - 1);
            let distance = piece.addr.saturating_sub(addr).max(addr.saturating_sub(last));
            best = best.into_iter().chain([(distance, [piece.addr, last])]).min();
        });
        if let Some((distance, bytes)) = best {
            closest.push((distance, vertex, bytes));
            if closest.len() > WRITES_SHOWN_MAX {
                closest.pop();
            }
        }
    }
    let mut closest: Vec<_> =
        closest.into_iter().map(|(_, vertex, bytes)| (vertex, bytes)).collect();
    closest.sort_unstable();
    closest
}
