//! Finds the writes of a rank that are closest to a byte that no action wrote.

use goal_lang::{Access, Space};
use goal_opt::whole::{Vertex, Whole};
use std::collections::BinaryHeap;

/// Bound on the actions that a finding shows.
const SHOWN_MAX: usize = 3;

/// The actions of a rank that write memory closest to a byte, in the order of the rank, each with
/// the first and the last byte that it writes there.
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
            if closest.len() > SHOWN_MAX {
                closest.pop();
            }
        }
    }
    let mut closest: Vec<_> =
        closest.into_iter().map(|(_, vertex, bytes)| (vertex, bytes)).collect();
    closest.sort_unstable();
    closest
}
