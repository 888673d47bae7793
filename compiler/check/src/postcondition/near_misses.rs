//! Finds actions that may have been meant to contribute to a wrong byte. They do not contribute,
//! but write next to bytes that do.

use super::compare::Wrong;
use super::layout::Layout;
use goal_lang::{Access, Piece, Space};
use goal_opt::whole::{Vertex, Whole};
use rustc_hash::{FxHashMap, FxHashSet};

/// Bound on the contributing actions that are examined.
const READERS_MAX: usize = 64;

/// The most pairs of a written and a read piece that are compared for a rank. Its first read piece
/// is always compared.
const PAIRS_MAX: usize = 1 << 20;

/// Bound on the actions that a finding shows.
const SHOWN_MAX: usize = 6;

/// An action that writes next to bytes that are read.
pub(super) struct Beside {
    pub(super) vertex: Vertex,
    pub(super) writes: Piece,
    pub(super) reads: Piece,
}

/// Looks at the ranges that a contributing action or the result reads. Finds actions that write
/// only a part of such a range, or next to it. They come in this order:
///
/// 1. actions that write a part of the range and also past it, as an action at a wrong address
///    does,
/// 2. actions that write only inside of the range,
/// 3. actions that write next to a range that no action writes,
/// 4. actions other than receives that write next to a range that others write.
pub(super) fn near_misses(
    whole: &Whole<'_>,
    layout: &Layout,
    wrong: &Wrong,
    way: &[Vertex],
) -> Vec<Beside> {
    let on_way: FxHashSet<Vertex> = way.iter().copied().collect();
    let mut found: Vec<(u8, usize, Beside)> = Vec::new();
    for (rank, mut reads) in reads(whole, layout, wrong, way) {
        let writes = writes(whole, rank);
        reads.truncate((PAIRS_MAX / writes.len().max(1)).max(1));
        for (order, &reads) in reads.iter().enumerate() {
            let is_written = writes.iter().any(|(_, writes)| overlap(writes, &reads));
            for &(vertex, writes) in writes.iter().filter(|(vertex, _)| !on_way.contains(vertex)) {
                let covers = writes.addr <= reads.addr && end(&reads) <= end(&writes);
                let is_inside = reads.addr <= writes.addr && end(&writes) <= end(&reads);
                let is_next = writes.space == reads.space
                    && (end(&writes) == reads.addr || end(&reads) == writes.addr);
                let kind = match overlap(&writes, &reads) {
                    true if covers => continue,
                    true => u8::from(is_inside),
                    false if is_next && !is_written => 2,
                    false if is_next && !whole.is_recv(vertex) => 3,
                    false => continue,
                };
                found.push((kind, order, Beside { vertex, writes, reads }));
            }
        }
        found.sort_by_key(|&(kind, order, Beside { vertex, .. })| (kind, order, vertex));
        let mut seen = FxHashSet::default();
        found.retain(|(_, _, beside)| seen.insert(beside.vertex));
        found.truncate(SHOWN_MAX);
    }
    found.into_iter().map(|(_, _, beside)| beside).collect()
}

/// By rank, the ranges that the result and the first contributing actions read.
fn reads(
    whole: &Whole<'_>,
    layout: &Layout,
    wrong: &Wrong,
    way: &[Vertex],
) -> FxHashMap<u32, Vec<Piece>> {
    let mut reads: FxHashMap<u32, Vec<Piece>> = FxHashMap::default();
    layout.visit_outputs(wrong.rank, |wanted| {
        let piece = Piece { addr: wanted.addr, size: wanted.size, space: Space::Memory };
        if (piece.addr..end(&piece)).contains(&wrong.wanted.addr) {
            reads.entry(wrong.rank).or_default().push(piece);
        }
    });
    for &vertex in way.iter().take(READERS_MAX) {
        whole.body(vertex).visit_accesses(whole.action(vertex), |&piece, access| {
            let of_rank = reads.entry(whole.rank(vertex)).or_default();
            if access.reads() && piece.size > 0 && !of_rank.contains(&piece) {
                of_rank.push(piece);
            }
        });
    }
    reads
}

fn writes(whole: &Whole<'_>, rank: u32) -> Vec<(Vertex, Piece)> {
    let mut writes = Vec::new();
    for vertex in whole.vertices_of(rank) {
        whole.body(vertex).visit_accesses(whole.action(vertex), |&piece, access| {
            if access != Access::Read && piece.size > 0 {
                writes.push((vertex, piece));
            }
        });
    }
    writes
}

fn end(piece: &Piece) -> u64 {
    piece.addr.saturating_add(piece.size)
}

fn overlap(a: &Piece, b: &Piece) -> bool {
    a.space == b.space && a.addr < end(b) && b.addr < end(a)
}
