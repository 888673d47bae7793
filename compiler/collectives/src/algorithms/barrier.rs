//! Barriers. Their messages have no bytes: the thesis's listings send a byte of scratch memory that
//! nobody has written, and receive into the same byte (5.4).

use super::tree::{at, family, place};
use crate::rank::Rank;
use goal_lang::ActionId;

/// The number of received signals above which further signals wait for one action that joins them.
const JOINED: usize = 32;

/// Sends a signal that waits for all of `before`.
fn signal(rank: &mut Rank<'_>, to: u32, before: &[ActionId]) {
    let nothing = rank.output(0);
    let send = rank.signal(nothing, to);
    before.iter().for_each(|&earlier| rank.after(send, earlier));
}

fn await_signal(rank: &mut Rank<'_>, from: u32) -> ActionId {
    let nothing = rank.output(0);
    rank.await_signal(nothing, from)
}

pub(super) fn dissemination(rank: &mut Rank<'_>) {
    disseminate(rank, 1);
}

pub(super) fn n_way_dissemination(rank: &mut Rank<'_>) {
    disseminate(rank, rank.request.degree);
}

/// Every rank signals to every other one.
pub(super) fn direct(rank: &mut Rank<'_>) {
    disseminate(rank, rank.ranks());
}

/// In each round every rank signals to `ways` others, after all signals that it has received so
/// far. The others are at multiples of a distance, which grows by the factor `ways + 1` each round.
fn disseminate(rank: &mut Rank<'_>, ways: u32) {
    let ranks = u64::from(rank.ranks());
    let mut arrived = Vec::new();
    let mut distance = 1;
    while distance < ranks {
        let distances = (1..=u64::from(ways)).map(|way| way * distance);
        let distances: Vec<u32> =
            distances.take_while(|&at| at < ranks).map(|at| at as u32).collect();
        for &distance in &distances {
            signal(rank, rank.up(distance), &arrived);
        }
        for &distance in &distances {
            arrived.push(await_signal(rank, rank.down(distance)));
        }
        if arrived.len() > JOINED {
            arrived = vec![rank.join(&arrived)];
        }
        distance *= u64::from(ways) + 1;
    }
}

/// The ranks below the largest power of two signal to each other in pairs, in one round for each
/// bit of their numbers. Each other rank signals to a partner before these rounds, and waits for
/// the partner's signal after them.
pub(super) fn recursive_doubling(rank: &mut Rank<'_>) {
    let (me, ranks) = (rank.me(), rank.ranks());
    let power = 1 << ranks.ilog2();
    if me >= power {
        signal(rank, me - power, &[]);
        await_signal(rank, me - power);
        return;
    }
    let partner = Some(me + power).filter(|&partner| partner < ranks);
    let mut arrived: Vec<_> =
        partner.map(|partner| await_signal(rank, partner)).into_iter().collect();
    for other in (0..power.ilog2()).map(|bit| me ^ 1 << bit) {
        signal(rank, other, &arrived);
        arrived.push(await_signal(rank, other));
    }
    if let Some(partner) = partner {
        signal(rank, partner, &arrived);
    }
}

/// Signals go up a binomial tree to rank 0 and down again.
pub(super) fn tree(rank: &mut Rank<'_>) {
    let arrived = up(rank);
    down(rank, arrived);
}

/// Returns the children of this rank in a binomial tree, the farthest first, and its parent. The
/// root of the collective is the root of the tree.
fn relatives(rank: &Rank<'_>) -> (Vec<u32>, Option<u32>) {
    let root = rank.root();
    let (children, parent) = family(place(rank, root), rank.ranks());
    let ranks = children.into_iter().rev().map(|child| at(rank, root, child)).collect();
    (ranks, parent.map(|parent| at(rank, root, parent)))
}

/// Sends signals up a tree. Returns the receives of the signals of this rank's children.
pub(super) fn up(rank: &mut Rank<'_>) -> Vec<ActionId> {
    let (children, parent) = relatives(rank);
    let arrived: Vec<_> = children.into_iter().map(|child| await_signal(rank, child)).collect();
    if let Some(parent) = parent {
        signal(rank, parent, &arrived);
    }
    arrived
}

/// Sends signals down a tree. The root of the tree first waits for all of `before`.
pub(super) fn down(rank: &mut Rank<'_>, mut before: Vec<ActionId>) {
    let (children, parent) = relatives(rank);
    if let Some(parent) = parent {
        before = vec![await_signal(rank, parent)];
    }
    for child in children {
        signal(rank, child, &before);
    }
}

/// All signal to rank 0, which then signals to all.
pub(super) fn linear(rank: &mut Rank<'_>) {
    if rank.me() > 0 {
        signal(rank, 0, &[]);
        await_signal(rank, 0);
        return;
    }
    // One action joins the others, so that there are not as many dependencies as pairs of ranks.
    let arrived: Vec<_> = (1..rank.ranks()).map(|other| await_signal(rank, other)).collect();
    let all = rank.join(&arrived);
    for other in 1..rank.ranks() {
        signal(rank, other, &[all]);
    }
}
