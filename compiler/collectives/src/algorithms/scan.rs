//! Scans: reductions over all ranks up to this one.

use crate::buf::Buf;
use crate::rank::Rank;

pub(super) fn linear(rank: &mut Rank<'_>) {
    let (me, sum) = (rank.me(), rank.output(1));
    rank.copy(rank.input(1), sum);
    if me > 0 {
        let arrived = rank.scratch(sum.size());
        rank.recv(arrived, me - 1);
        rank.combine(arrived, sum);
    }
    if me + 1 < rank.ranks() {
        rank.send(sum, me + 1);
    }
}

/// In each round a rank that has added up n ranks gets the sum of the n ranks before them.
pub(super) fn recursive_doubling(rank: &mut Rank<'_>) {
    let sum = rank.output(1);
    rank.copy(rank.input(1), sum);
    double(rank, sum, true, |_, _| {});
}

/// Adds up in `sum` the sums that lower ranks send. Calls `visit` with each of them before it is
/// added. A sum that is not sent on is added only if `is_result` says that `sum` is read at the
/// end.
fn double(
    rank: &mut Rank<'_>,
    sum: Buf,
    is_result: bool,
    mut visit: impl FnMut(&mut Rank<'_>, Buf),
) {
    let (me, ranks) = (rank.me(), rank.ranks());
    let distances = (0..32).map(|bit| 1u64 << bit).take_while(|&at| at < u64::from(ranks));
    for distance in distances.map(|at| at as u32) {
        if ranks - me > distance {
            rank.send(sum, me + distance);
        }
        if me >= distance {
            let arrived = rank.scratch(sum.size());
            rank.recv(arrived, me - distance);
            visit(rank, arrived);
            let is_sent = u64::from(ranks - me) > 2 * u64::from(distance);
            if is_result || is_sent {
                rank.combine(arrived, sum);
            }
        }
    }
}

/// Returns a copy of the input that is not in the way of the output.
fn own(rank: &mut Rank<'_>) -> Buf {
    let sum = rank.scratch(rank.block());
    rank.copy(rank.input(1), sum);
    sum
}

pub(super) fn exclusive_linear(rank: &mut Rank<'_>) {
    let (me, before) = (rank.me(), rank.output(1));
    let sum = own(rank);
    if me > 0 {
        rank.recv(before, me - 1);
    }
    if me + 1 < rank.ranks() {
        if me > 0 {
            rank.combine(before, sum);
        }
        rank.send(sum, me + 1);
    }
}

pub(super) fn exclusive_recursive_doubling(rank: &mut Rank<'_>) {
    let before = rank.output(1);
    let sum = own(rank);
    let mut is_first = true;
    double(rank, sum, false, |rank, arrived| {
        if is_first {
            rank.copy(arrived, before);
        } else {
            rank.combine(arrived, before);
        }
        is_first = false;
    });
}
