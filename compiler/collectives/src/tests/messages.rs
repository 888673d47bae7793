//! The numbers of messages, which distinguish algorithms with the same result.

use crate::{Request, algorithm};
use goal_lang::{Action, CollectiveKind, Op, Payload};

/// Returns the most messages that a rank sends.
fn sends(kind: CollectiveKind, name: &str, ranks: u32) -> usize {
    let request = Request { count: 6400, ..Request::new(kind, ranks) };
    let program = algorithm(kind, name).expect("in the table").program(&request).expect("right");
    let of_rank = |rank| {
        let body = program.body_of(rank);
        body.actions.iter().filter(|action| matches!(action, Action::Send { .. })).count()
    };
    (0..ranks).map(of_rank).max().expect("ranks")
}

#[test]
fn ranks_send_as_many_messages_as_the_algorithms_have_rounds() {
    use CollectiveKind::{Allgather, Allreduce, Alltoall, Barrier, Bcast};
    for (kind, name, wanted) in [
        (Barrier, "dissemination", 6),
        (Barrier, "recursive-doubling", 6),
        (Bcast, "binomial", 6),
        (Bcast, "scatter-doubling", 12),
        (Allreduce, "recursive-doubling", 6),
        (Allreduce, "rabenseifner", 12),
        (Allreduce, "ring", 126),
        (Allgather, "recursive-doubling", 6),
        (Allgather, "bruck", 6),
        (Allgather, "ring", 63),
        (Allgather, "neighbour-exchange", 32),
        (Alltoall, "bruck", 6),
        (Alltoall, "pairwise", 63),
    ] {
        assert_eq!(sends(kind, name, 64), wanted, "{kind} {name}");
    }
}

#[test]
fn ranks_of_a_ring_do_nothing_for_chunks_without_elements() {
    use CollectiveKind::{Allreduce, Bcast};
    for (kind, name) in [(Allreduce, "ring"), (Bcast, "scatter-ring")] {
        // A step of each rank would take hours.
        let ranks = 1 << 30;
        let request = Request { count: 3, ..Request::new(kind, ranks) };
        let algorithm = algorithm(kind, name).expect("in the table");
        for rank in [0, 5, ranks / 3, ranks - 1] {
            let body = algorithm.body(&request, rank).expect("right");
            assert!((1..100).contains(&body.len()), "{kind} {name}, rank {rank}: {}", body.len());
        }
    }
}

#[test]
fn direct_algorithms_combine_messages_where_the_result_lies() {
    use CollectiveKind::{Allreduce, Reduce, ReduceScatter};
    for kind in [Reduce, Allreduce, ReduceScatter] {
        let request = Request { count: 64, ..Request::new(kind, 8) };
        let algorithm = algorithm(kind, "direct").expect("in the table");
        let body = algorithm.body(&request, 0).expect("right");
        let combined = body.actions.iter().filter(|action| {
            matches!(action, Action::Recv { payload: Payload::Reduced { .. }, .. })
        });
        assert_eq!(combined.count(), 7, "{kind}");
        let execs = body.actions.iter().filter(|action| matches!(action, Action::Exec { .. }));
        assert_eq!(execs.count(), 0, "{kind}");
    }
}

/// In place, the first rank of a chain adds what arrives to its input.
#[test]
fn a_chain_in_place_copies_nothing() {
    let request = Request { count: 64, segment: 16, ..Request::new(CollectiveKind::Reduce, 4) };
    let algorithm = algorithm(request.kind, "pipelined-chain").expect("in the table");
    for rank in 0..4 {
        let body = algorithm.body(&request, rank).expect("right");
        let copies = body
            .actions
            .iter()
            .filter(|action| matches!(action, Action::Exec { op: Op::Copy, .. }));
        assert_eq!(copies.count(), 0, "rank {rank}");
    }
}

/// The last rank's sum of all inputs is nobody's result.
#[test]
fn an_exclusive_scan_adds_what_is_read_only() {
    let request = Request::new(CollectiveKind::Exscan, 8);
    let algorithm = algorithm(request.kind, "recursive-doubling").expect("in the table");
    let body = algorithm.body(&request, 7).expect("right");
    let sums =
        body.actions.iter().filter(|action| matches!(action, Action::Exec { op: Op::Sum, .. }));
    assert_eq!(sums.count(), 2);
}

#[test]
fn without_nodes_a_graph_in_two_levels_lists_no_ranks() {
    use CollectiveKind::{Allreduce, Barrier, Bcast, Reduce, Scan};
    for kind in [Allreduce, Barrier, Bcast, Reduce, Scan] {
        // A list of the ranks takes gigabytes.
        let request = Request::new(kind, 1 << 30);
        let algorithm = algorithm(kind, "two-level").expect("in the table");
        let body = algorithm.body(&request, 12).expect("right");
        assert!(body.len() < 200, "{kind}");
    }
}
