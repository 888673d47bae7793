//! Binomial trees, as one place sees them. The place of a rank is its distance above the root, in
//! the circle of all ranks.

use crate::rank::Rank;

/// Returns the place of this rank in the circle of all ranks that begins at the root.
pub(super) fn place(rank: &Rank<'_>, root: u32) -> u32 {
    if rank.me() >= root { rank.me() - root } else { rank.me() + (rank.ranks() - root) }
}

/// Returns the rank at a place.
pub(super) fn at(rank: &Rank<'_>, root: u32, place: u32) -> u32 {
    ((u64::from(root) + u64::from(place)) % u64::from(rank.ranks())) as u32
}

/// Returns the children of a place, the nearest first, and its parent.
pub(super) fn family(place: u32, ranks: u32) -> (Vec<u32>, Option<u32>) {
    let low = if place == 0 { ranks.next_power_of_two() } else { place & place.wrapping_neg() };
    let children = (0..low.ilog2()).map(|bit| place + (1 << bit));
    let children = children.filter(|&child| child < ranks).collect();
    (children, (place > 0).then(|| place - low))
}

/// Returns the number of places in the subtree of a place. They are the place itself and the next
/// ones.
pub(super) fn span(place: u32, ranks: u32) -> u32 {
    let low = if place == 0 { ranks } else { place & place.wrapping_neg() };
    low.min(ranks - place)
}
