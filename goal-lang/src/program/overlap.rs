//! The rules on overlapping buffers of a local operation.

use super::action::{Piece, Space};

/// Returns true if two buffers share bytes and are not the same buffer. The result would then
/// depend on the order in which elements are computed, so no local operation may have such
/// operands. Takes time linear in the pieces, except for sorting them.
pub fn partly_overlap(a: &[Piece], b: &[Piece]) -> bool {
    if let ([a], [b]) = (a, b) {
        return a.space == b.space
            && a.size > 0
            && b.size > 0
            && (a.addr, a.size) != (b.addr, b.size)
            && a.addr < b.addr.saturating_add(b.size)
            && b.addr < a.addr.saturating_add(a.size);
    }
    let (a, b) = (joined(a), joined(b));
    if a == b {
        return false;
    }
    let mut starts: Vec<(Space, u64, u64, usize)> = Vec::with_capacity(a.len() + b.len());
    for (owner, pieces) in [a, b].into_iter().enumerate() {
        starts
            .extend(pieces.iter().map(|p| (p.space, p.addr, p.addr.saturating_add(p.size), owner)));
    }
    starts.sort_unstable();
    let mut ends = [(Space::Memory, 0); 2];
    starts.into_iter().any(|(space, start, end, owner)| {
        let (other_space, other_end) = ends[1 - owner];
        ends[owner] = ends[owner].max((space, end));
        other_space == space && start < other_end
    })
}

/// Returns true if two pieces of one buffer share bytes. A result must not be stored in the same
/// place twice.
pub fn overlaps_itself(pieces: &[Piece]) -> bool {
    let mut sorted: Vec<&Piece> = pieces.iter().filter(|piece| piece.size > 0).collect();
    sorted.sort_unstable_by_key(|piece| (piece.space, piece.addr));
    sorted.windows(2).any(|pair| {
        pair[0].space == pair[1].space && pair[0].addr.saturating_add(pair[0].size) > pair[1].addr
    })
}

/// Joins neighbouring pieces that continue each other.
fn joined(pieces: &[Piece]) -> Vec<Piece> {
    let mut joined: Vec<Piece> = Vec::with_capacity(pieces.len());
    for piece in pieces.iter().filter(|piece| piece.size > 0) {
        match joined.last_mut() {
            Some(last)
                if last.space == piece.space
                    && last.addr.checked_add(last.size) == Some(piece.addr) =>
            {
                last.size = last.size.saturating_add(piece.size);
            }
            _ => joined.push(*piece),
        }
    }
    joined
}
