//! Reductions to all ranks.

use super::bcast::down_the_tree;
use super::parts::{chunk, chunk_of, ring_steps};
use super::reduce::up_the_tree;
use crate::buf::Buf;
use crate::rank::Rank;

/// The sum of a rank so far.
struct Sum {
    at: Buf,
}

impl Sum {
    /// Adds the sum that arrived from a lower or a higher rank. B = A f B leaves the result in the
    /// buffer of the higher rank. If the operation commutes, the sum stays where it is.
    fn add(&mut self, rank: &mut Rank<'_>, arrived: Buf, is_lower: bool) {
        if is_lower || rank.request.commutes() {
            rank.combine(arrived, self.at);
        } else {
            rank.combine(self.at, arrived);
            self.at = arrived;
        }
    }
}

/// Folds the ranks to the largest power of two that is not above their number. Each odd rank below
/// `2 * rest` also stands for its neighbour below.
struct Fold {
    power: u32,
    /// The number of ranks minus `power`.
    rest: u32,
}

impl Fold {
    fn new(ranks: u32) -> Self {
        let power = 1 << ranks.ilog2();
        Self { power, rest: ranks - power }
    }

    /// Returns the number of a rank from 0 to `power - 1`; `None` if its neighbour above stands for
    /// both.
    fn number(&self, rank: u32) -> Option<u32> {
        if rank >= 2 * self.rest {
            Some(rank - self.rest)
        } else {
            (!rank.is_multiple_of(2)).then_some(rank / 2)
        }
    }

    fn rank(&self, number: u32) -> u32 {
        if number < self.rest { 2 * number + 1 } else { number + self.rest }
    }

    /// Adds the input of the neighbour below, if this rank stands for it. Sends the own input, if a
    /// neighbour stands for this rank.
    fn begin(&self, rank: &mut Rank<'_>, sum: &mut Sum) {
        if rank.me() >= 2 * self.rest {
            return;
        }
        if rank.me().is_multiple_of(2) {
            rank.send(sum.at, rank.me() + 1);
        } else {
            let arrived = rank.scratch(sum.at.size());
            rank.recv(arrived, rank.me() - 1);
            sum.add(rank, arrived, true);
        }
    }

    /// Hands the result to the neighbour below.
    fn end(&self, rank: &mut Rank<'_>, result: Buf) {
        if rank.me() >= 2 * self.rest {
            return;
        }
        if rank.me().is_multiple_of(2) {
            rank.recv(result, rank.me() + 1);
        } else {
            rank.send(result, rank.me() - 1);
        }
    }
}

/// Copies the input to the output and returns it as the sum so far.
fn begin(rank: &mut Rank<'_>) -> Sum {
    let output = rank.output(1);
    rank.copy(rank.input(1), output);
    Sum { at: output }
}

pub(super) fn recursive_doubling(rank: &mut Rank<'_>) {
    let (fold, output) = (Fold::new(rank.ranks()), rank.output(1));
    let mut sum = begin(rank);
    fold.begin(rank, &mut sum);
    if let Some(number) = fold.number(rank.me()) {
        for bit in 0..fold.power.ilog2() {
            let other = number ^ 1 << bit;
            let arrived = rank.scratch(output.size());
            rank.send(sum.at, fold.rank(other));
            rank.recv(arrived, fold.rank(other));
            sum.add(rank, arrived, other < number);
        }
        rank.copy(sum.at, output);
    }
    fold.end(rank, output);
}

/// Each chunk of the sum goes around the ring until it is complete, and then around again to all
/// ranks.
pub(super) fn ring(rank: &mut Rank<'_>) {
    let (me, ranks, output) = (rank.me(), rank.ranks(), rank.output(1));
    begin(rank);
    let at = |rank: &Rank<'_>, steps: u32| chunk(rank, output, (me + 2 * ranks - steps) % ranks);
    for step in ring_steps(rank, output, me) {
        rank.send(at(rank, step), rank.up(1));
        let sum = at(rank, step + 1);
        let arrived = rank.scratch(sum.size());
        rank.recv(arrived, rank.down(1));
        rank.combine(arrived, sum);
    }
    // The chunk of the rank above is complete here.
    for step in ring_steps(rank, output, rank.up(1)) {
        rank.send(at(rank, step + ranks - 1), rank.up(1));
        rank.recv(at(rank, step + ranks), rank.down(1));
    }
}

/// Recursive halving leaves a part of the sum on each rank. The same exchanges in reverse order
/// collect all parts on all ranks.
pub(super) fn rabenseifner(rank: &mut Rank<'_>) {
    let (fold, output) = (Fold::new(rank.ranks()), rank.output(1));
    let mut sum = begin(rank);
    fold.begin(rank, &mut sum);
    if let Some(number) = fold.number(rank.me()) {
        let part = |rank: &Rank<'_>, (first, end): (u32, u32)| {
            let last = chunk_of(rank, output, end - 1, fold.power);
            chunk_of(rank, output, first, fold.power).until(last)
        };
        let mut held = (0, fold.power);
        let mut given = Vec::new();
        for bit in (0..fold.power.ilog2()).rev() {
            let other = fold.rank(number ^ 1 << bit);
            let middle = (held.0 + held.1) / 2;
            let (mut keep, mut give) = ((held.0, middle), (middle, held.1));
            if number & 1 << bit != 0 {
                (keep, give) = (give, keep);
            }
            rank.send(part(rank, give), other);
            let mine = part(rank, keep);
            let arrived = rank.scratch(mine.size());
            rank.recv(arrived, other);
            rank.combine(arrived, mine);
            given.push((other, give));
            held = keep;
        }
        for (other, give) in given.into_iter().rev() {
            rank.send(part(rank, held), other);
            rank.recv(part(rank, give), other);
            held = (held.0.min(give.0), held.1.max(give.1));
        }
    }
    fold.end(rank, output);
}

pub(super) fn dissemination(rank: &mut Rank<'_>) {
    disseminate(rank, 1);
}

pub(super) fn n_way_dissemination(rank: &mut Rank<'_>) {
    disseminate(rank, rank.request.degree);
}

/// In each round every rank sends its sum to `ways` others, at multiples of a distance, and adds
/// what it gets. The distance grows by the factor `ways + 1` each round.
fn disseminate(rank: &mut Rank<'_>, ways: u32) {
    let (ranks, ways) = (u64::from(rank.ranks()), u64::from(ways));
    let sum = begin(rank).at;
    let mut distance = 1;
    while distance < ranks {
        let distances = (1..=ways).map(|way| way * distance).take_while(|&at| at < ranks);
        let distances: Vec<u32> = distances.map(|at| at as u32).collect();
        for &distance in &distances {
            rank.send(sum, rank.up(distance));
        }
        for &distance in &distances {
            let arrived = rank.scratch(sum.size());
            rank.recv(arrived, rank.down(distance));
            rank.combine(arrived, sum);
        }
        distance *= ways + 1;
    }
}

pub(super) fn reduce_bcast(rank: &mut Rank<'_>) {
    up_the_tree(rank, 0);
    let output = rank.output(1);
    down_the_tree(rank, output, 0, 2);
}
