//! Collectives of all kinds, by all ranks together.

use super::{Rank, WORLD, checked};
use crate::{Collective, Elements, Fault, Settings, Status};
use goal_lang::CollectiveKind;

/// Returns the part of a rank in a collective on blocks of equal or different sizes.
fn part(kind: CollectiveKind, rank: u32, ranks: u32, equal: bool) -> Option<Collective> {
    use CollectiveKind as Kind;
    let root = if kind.has_root() { ranks - 1 } else { 0 };
    let each = |base: u64| (0..u64::from(ranks)).map(|at| (at + base) % 3 * 10).collect();
    let elements = match kind {
        _ if equal => Elements::Equal(100),
        Kind::Gather | Kind::Scatter if rank == root => Elements::Each(each(0)),
        Kind::Gather | Kind::Scatter => Elements::Own(u64::from(rank) % 3 * 10),
        Kind::Allgather | Kind::ReduceScatter => Elements::Each(each(0)),
        // From rank r to rank s: (r + s) % 3 * 10, at both.
        Kind::Alltoall => {
            Elements::Pairs { send: each(u64::from(rank)), recv: each(u64::from(rank)) }
        }
        _ => return None,
    };
    Some(Collective { kind, root, elements, width: 4, commutes: true })
}

#[test]
fn the_parts_of_all_ranks_fit_together() {
    let kinds = CollectiveKind::ALL.into_iter().filter(|kind| !kind.has_neighbors());
    for (kind, ranks, equal) in kinds
        .flat_map(|kind| [1, 2, 3, 4, 7].map(|ranks| (kind, ranks)))
        .flat_map(|(kind, ranks)| [true, false].map(|equal| (kind, ranks, equal)))
    {
        let texts: Option<Vec<String>> = (0..ranks)
            .map(|me| {
                let mut rank = Rank::new(me, ranks);
                for _ in 0..2 {
                    let of = part(kind, me, ranks, equal)?;
                    rank.call(|recorder| recorder.collective(0, WORLD, "test", of));
                }
                let of = part(kind, me, ranks, equal)?;
                rank.call(|recorder| recorder.start_collective(0, 1, WORLD, "test", of));
                rank.wait(1, Status::default());
                let of = part(kind, me, ranks, equal)?;
                rank.call(|recorder| recorder.init_collective(2, WORLD, "test", of));
                for _ in 0..2 {
                    rank.call(|recorder| recorder.start(0, 2));
                    rank.wait(2, Status::default());
                }
                Some(rank.finish())
            })
            .collect();
        if let Some(texts) = texts {
            checked(&texts);
        }
    }
}

#[test]
fn the_user_chooses_an_algorithm_and_is_told_if_it_does_not_suit() {
    let allreduce = Collective {
        kind: CollectiveKind::Allreduce,
        root: 0,
        elements: Elements::Equal(3000),
        width: 8,
        commutes: true,
    };
    let settings = |name| Settings {
        algorithms: vec![(CollectiveKind::Allreduce, name)],
        ..Settings::new("test")
    };
    let mut rank = Rank::with(settings("ring"), 0, 3);
    rank.call(|recorder| recorder.collective(0, WORLD, "MPI_Allreduce", allreduce.clone()));
    // Four messages of a third of the vector each.
    assert_eq!(rank.finish().matches(": send 8000b to 1 ").count(), 4);
    let mut rank = Rank::with(settings("dissemination"), 0, 3);
    for _ in 0..2 {
        let of = allreduce.clone();
        rank.call(|recorder| recorder.collective(0, WORLD, "MPI_Allreduce", of));
    }
    let notes = rank.recorder.take_notes();
    assert!(notes.len() == 1 && notes[0].contains("dissemination"), "{notes:?}");
    assert!(rank.finish().contains(": send "));
}

/// Makes calls of a rank of two. Returns true if there were tags for all.
fn are_there_tags(calls: impl FnOnce(&mut Rank)) -> bool {
    let mut rank = Rank::new(0, 2);
    calls(&mut rank);
    match rank.recorder.fault() {
        None => true,
        Some(Fault::Outstanding(_)) => false,
        Some(fault) => panic!("{fault}"),
    }
}

fn barrier() -> Collective {
    part(CollectiveKind::Barrier, 0, 2, true).expect("it is one of them")
}

fn start_barrier(rank: &mut Rank, request: u64) {
    rank.call(|recorder| recorder.start_collective(0, request, WORLD, "MPI_Ibarrier", barrier()));
}

fn pass_barriers(rank: &mut Rank, count: u32) {
    for _ in 0..count {
        rank.call(|recorder| recorder.collective(0, WORLD, "MPI_Barrier", barrier()));
    }
}

#[test]
fn outstanding_collectives_are_bounded_by_their_tags() {
    let start = |count: u64| {
        are_there_tags(|rank| (0..count).for_each(|request| start_barrier(rank, request)))
    };
    assert!(start(128));
    assert!(!start(129));
}

#[test]
fn no_collective_gets_the_tags_of_an_outstanding_one() {
    let pass = |count: u32| {
        are_there_tags(|rank| {
            start_barrier(rank, 1);
            pass_barriers(rank, count);
        })
    };
    assert!(pass(127));
    assert!(!pass(128));
    // Once it has ended, its tags are free.
    assert!(are_there_tags(|rank| {
        start_barrier(rank, 1);
        pass_barriers(rank, 127);
        rank.wait(1, Status::default());
        pass_barriers(rank, 300);
    }));
}

#[test]
fn a_persistent_collective_has_tags_of_its_own_until_it_is_freed() {
    let init = |rank: &mut Rank, request: u64| {
        rank.call(|recorder| {
            recorder.init_collective(request, WORLD, "MPI_Barrier_init", barrier())
        });
    };
    assert!(are_there_tags(|rank| {
        init(rank, 1);
        for _ in 0..5 {
            rank.call(|recorder| recorder.start(0, 1));
            pass_barriers(rank, 200);
            rank.wait(1, Status::default());
        }
    }));
    let init_many = |frees: bool| {
        are_there_tags(|rank| {
            for request in 0..129 {
                init(rank, request);
                if frees {
                    rank.call(|recorder| recorder.free(0, request));
                }
            }
        })
    };
    assert!(init_many(true));
    assert!(!init_many(false));
}
