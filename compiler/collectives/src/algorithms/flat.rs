//! Reductions in one round: every rank sends its operand to all ranks that need it, and combines
//! what it gets.

use super::in_order::combine_all;
use crate::rank::Rank;

pub(super) fn allreduce(rank: &mut Rank<'_>) {
    let (ranks, input, output) = (rank.ranks(), rank.input(1), rank.output(1));
    for distance in 1..ranks {
        rank.send(input, rank.up(distance));
    }
    combine_all(rank, ranks, input, output);
}

/// Sends the input to all higher ranks.
fn send_up(rank: &mut Rank<'_>) {
    let input = rank.input(1);
    for to in rank.me() + 1..rank.ranks() {
        rank.send(input, to);
    }
}

pub(super) fn scan(rank: &mut Rank<'_>) {
    send_up(rank);
    let (count, input, output) = (rank.me() + 1, rank.input(1), rank.output(1));
    combine_all(rank, count, input, output);
}

pub(super) fn exscan(rank: &mut Rank<'_>) {
    send_up(rank);
    let (count, input, output) = (rank.me(), rank.input(1), rank.output(1));
    if count > 0 {
        combine_all(rank, count, input, output);
    }
}
