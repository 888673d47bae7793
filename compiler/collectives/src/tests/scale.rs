//! Graphs among very many ranks: the work for a rank grows with its actions, not with the ranks. A
//! loop over all ranks for each of the graphs here would take hours.

use crate::{ALGORITHMS, Blocks, Nodes, Request, algorithm};
use goal_lang::{BlockList, CollectiveKind};
use std::sync::Arc;

/// The number of ranks whose graphs are generated.
const SAMPLES: u32 = 1_000;

/// Returns ranks that are spread over all.
fn sample(ranks: u32) -> impl Iterator<Item = u32> {
    (0..SAMPLES).map(move |number| {
        // Coprime to powers of two, so that the ranks differ.
        (u64::from(number) * 2_654_435_761 % u64::from(ranks)) as u32
    })
}

/// Returns the actions of most ranks of a program of 64 ranks: the median.
fn usual(of_rank: impl Fn(u32) -> usize) -> usize {
    let mut actions: Vec<usize> = (0..64).map(of_rank).collect();
    actions.sort_unstable();
    actions[32]
}

/// Each algorithm whose usual rank has few actions, however many ranks there are.
#[test]
fn a_rank_with_few_actions_takes_few_steps() {
    let ranks = 1 << 30;
    let mut tried = 0;
    for algorithm in ALGORITHMS.iter().filter(|algorithm| !algorithm.has_levels()) {
        let small = |count| Request { count, root: 5, ..Request::new(algorithm.kind, 64) };
        let actions = |count| {
            let request = small(count);
            // Some algorithms are not for 64 ranks.
            usual(|rank| algorithm.body(&request, rank).map_or(usize::MAX, |body| body.len()))
        };
        for count in [0, 1, 3].into_iter().filter(|&count| actions(count) < 50) {
            let request = Request { ranks, ..small(count) };
            if algorithm.check(&request).is_err() {
                continue;
            }
            let mut lengths: Vec<usize> = sample(ranks)
                .filter(|&rank| rank != request.root && rank > 0)
                .map(|rank| algorithm.checked_body(&request, rank).expect("it was checked").len())
                .collect();
            lengths.sort_unstable();
            assert!(lengths[lengths.len() / 2] < 250, "{algorithm:?} of {count}: {lengths:?}");
            tried += 1;
        }
    }
    assert!(tried > 60, "{tried} algorithms and counts");
}

/// The leaders of half a million nodes, all with as many ranks or not.
#[test]
fn a_leader_does_not_look_at_all_nodes() {
    use CollectiveKind::{Allgather, Bcast, Exscan, Gather, Reduce, Scan, Scatter};
    for ranks in [1 << 20, (1 << 20) - 1] {
        let nodes = Some(Arc::new(Nodes::from_size(ranks, 2)));
        for kind in [Allgather, Bcast, Exscan, Gather, Reduce, Scan, Scatter] {
            let algorithm = algorithm(kind, "two-level").expect("in the table");
            let request = Request { root: 3, nodes: nodes.clone(), ..Request::new(kind, ranks) };
            algorithm.check(&request).expect("it fits");
            for rank in sample(ranks).filter(|&rank| rank > 3) {
                let body = algorithm.checked_body(&request, rank).expect("it was checked");
                assert!(body.len() < 200, "{kind}: {} actions of rank {rank}", body.len());
            }
        }
    }
}

/// Blocks of different sizes that lie one behind the other.
#[test]
fn packed_blocks_are_not_looked_at_one_by_one() {
    use CollectiveKind::{Allgather, Gather, ReduceScatter, Scatter};
    let ranks = 1 << 20;
    let counts: Vec<u64> = (0..ranks).map(|rank| u64::from(rank % 3)).collect();
    let blocks = Blocks::Each(BlockList::packed(counts));
    let all = [
        (Gather, "linear"),
        (Gather, "binomial"),
        (Scatter, "linear"),
        (Scatter, "binomial"),
        (Allgather, "bruck"),
        (Allgather, "recursive-doubling"),
        (ReduceScatter, "halving"),
    ];
    for (kind, name) in all {
        let algorithm = algorithm(kind, name).expect("in the table");
        let request = Request { blocks: blocks.clone(), ..Request::new(kind, ranks) };
        algorithm.check(&request).expect("it fits");
        for rank in sample(ranks).filter(|&rank| rank > 0) {
            let body = algorithm.checked_body(&request, rank).expect("it was checked");
            assert!(body.len() < 100, "{kind} {name}: {} actions of rank {rank}", body.len());
        }
    }
}
