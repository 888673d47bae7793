//! The numbers of messages, which distinguish algorithms with the same result.

use crate::{Request, algorithm};
use goal_lang::{Action, CollectiveKind};

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
