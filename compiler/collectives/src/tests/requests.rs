//! Requests that can't be met.

use crate::{ALGORITHMS, Blocks, Nodes, Request, algorithm};
use goal_lang::CollectiveKind::{
    self, Allgather, Alltoall, Bcast, Gather, NeighborAllgather, NeighborAlltoall, Scan,
};
use goal_lang::{BlockList, Neighbors};
use std::sync::Arc;

/// Returns the reason why an algorithm generates nothing for a rank.
fn error(name: &str, request: &Request, rank: u32) -> String {
    let algorithm = algorithm(request.kind, name).expect("in the table");
    algorithm.body(request, rank).expect_err("refused").to_string()
}

fn with(kind: CollectiveKind, blocks: Blocks) -> Request {
    Request { blocks, input: Some(0), output: 1 << 20, ..Request::new(kind, 3) }
}

#[test]
fn blocks_that_do_not_fit_are_refused() {
    let each = |counts: &[u64]| Blocks::Each(BlockList::packed(counts));
    let pairs = |send: &[u64], recv: &[u64]| Blocks::Pairs {
        send: BlockList::packed(send),
        recv: BlockList::packed(recv),
    };
    let refused = |name, kind, blocks| error(name, &with(kind, blocks), 1);
    assert_eq!(
        refused("ring", Allgather, each(&[1, 2])),
        "2 blocks are given, and there are 3 ranks: give one for each"
    );
    assert_eq!(
        refused("linear", Bcast, each(&[1, 2, 3])),
        "bcast has no blocks of different sizes of this form"
    );
    assert_eq!(
        refused("bruck", Alltoall, pairs(&[1, 2, 3], &[1, 2, 3])),
        "bruck takes blocks of one size only: take another algorithm of alltoall"
    );
    assert_eq!(
        refused("linear", Gather, pairs(&[1, 2, 3], &[1, 2, 3])),
        "gather has no blocks of different sizes of this form"
    );
    assert_eq!(
        refused("linear", Alltoall, pairs(&[1, 2, 3], &[1, 1, 1])),
        "rank 1 sends 2 elements to itself and receives 1"
    );
    assert_eq!(
        refused("linear", Gather, each(&[1, u64::MAX, 3])),
        "the buffers end past 2^64 bytes"
    );
    let places = BlockList::at([2, 0, 2], [0, 1, 1]).expect("as many");
    assert_eq!(
        refused("ring", Allgather, Blocks::Each(places)),
        "blocks 0 and 2 overlap in the output"
    );
}

#[test]
fn a_rank_needs_to_know_what_its_algorithm_asks_for() {
    let own = with(Gather, Blocks::Own(5));
    assert_eq!(error("binomial", &own, 1), "rank 1 has to know the blocks of all ranks");
    assert_eq!(error("linear", &own, 0), "rank 0 has to know the blocks of all ranks");
    let body = algorithm(Gather, "linear").expect("in the table").body(&own, 1).expect("enough");
    assert_eq!(body.len(), 1);
}

#[test]
fn neighbors_that_do_not_fit_are_refused() {
    let neighbors = |sources: &[u32], destinations: &[u32]| {
        Some(Neighbors { sources: sources.into(), destinations: destinations.into() })
    };
    let of = |kind, neighbors, blocks| Request { neighbors, ..with(kind, blocks) };
    let pairs = |send: &[u64], recv: &[u64]| Blocks::Pairs {
        send: BlockList::packed(send),
        recv: BlockList::packed(recv),
    };
    let outside = of(NeighborAllgather, neighbors(&[0], &[3]), Blocks::Equal);
    assert_eq!(
        error("linear", &outside, 1),
        "there is no rank 3 among 3 that could be a neighbour"
    );
    let few = of(NeighborAlltoall, neighbors(&[0, 2], &[2]), pairs(&[1], &[1]));
    assert_eq!(
        error("linear", &few, 1),
        "1 blocks are given, and there are 2 neighbours: give one for each"
    );
    let own = of(NeighborAlltoall, neighbors(&[0, 1], &[1]), pairs(&[1], &[1, 2]));
    assert_eq!(error("linear", &own, 1), "rank 1 sends 1 elements to itself and receives 2");
}

#[test]
fn nodes_that_do_not_fit_are_refused() {
    let on = |kind, map: &[u32]| Request {
        nodes: Some(Arc::new(Nodes::new(map))),
        ..Request::new(kind, 3)
    };
    assert_eq!(
        error("two-level", &on(Bcast, &[0, 1]), 0),
        "the nodes of 2 ranks are given, and there are 3"
    );
    let in_turn = on(Scan, &[0, 1, 0]);
    assert!(error("two-level", &in_turn, 0).contains("its ranks have to be consecutive"));
    let nested = Request { inner: Some("two-level"), ..on(Bcast, &[0, 1, 0]) };
    assert_eq!(
        error("two-level", &nested, 0),
        "two-level has a bcast in it, and bcast has no algorithm two-level of one level"
    );
}

#[test]
fn a_leader_with_too_many_blocks_is_refused() {
    let of = |ranks, per_node, count| Request {
        nodes: Some(Arc::new(Nodes::from_size(ranks, per_node))),
        count,
        ..Request::new(Alltoall, ranks)
    };
    assert_eq!(
        error("two-level", &of(1_000_000, 1000, 1), 0),
        "a leader of 1000 ranks would copy 1000000000 blocks one by one, and 67108864 fit into its schedule: \
         take fewer ranks a node, or another algorithm than two-level"
    );
    let full = error("two-level", &of(1000, 500, 1 << 45), 0);
    assert_eq!(full, "the buffers end past 2^64 bytes");
    let small = algorithm(Alltoall, "two-level").expect("in the table").body(&of(100, 10, 1), 0);
    assert!(small.is_ok_and(|body| body.len() > 1000));
}

#[test]
fn without_elements_there_is_nothing_to_do() {
    for algorithm in ALGORITHMS.iter().filter(|all| all.kind != CollectiveKind::Barrier) {
        let request = Request { count: 0, ..Request::new(algorithm.kind, 4) };
        // Some algorithms are not for 4 ranks.
        let Ok(program) = algorithm.program(&request) else { continue };
        assert!((0..4).all(|rank| program.body_of(rank).is_empty()), "{algorithm:?}");
    }
}
