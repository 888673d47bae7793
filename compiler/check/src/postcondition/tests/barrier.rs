//! Barriers, and programs that are none, compared with a search for ranks that end while another
//! never starts.

use super::{Case, Parameters, report};
use crate::Collective;
use crate::postcondition::ranks::Ranks;
use fastrand::Rng;
use goal_lang::{Action, CollectiveKind, Datatype, Function, Op};
use std::collections::BTreeSet;

/// Messages in an order that all ranks follow, as source and destination.
type Messages = Vec<(u32, u32)>;

/// The collective that the programs are compared with.
pub(super) const BARRIER: Collective = Collective {
    kind: CollectiveKind::Barrier,
    root: 0,
    function: Function::Predefined(Op::Sum, Datatype::UInt8),
    datatype: Datatype::UInt8,
    count: None,
    blocks: crate::Blocks::Equal,
    neighbors: None,
    input: None,
    output: 0,
};

fn case(ranks: u32, messages: &Messages) -> Case {
    let mut case = Case::new(BARRIER, ranks);
    for &(from, to) in messages {
        case.send(from, 0, 1, to);
        case.recv(to, 1, 1, from);
    }
    case
}

/// Returns true if no rank ends while another never starts.
fn waits_for_all(ranks: u32, messages: &Messages) -> bool {
    (0..ranks).all(|silent| {
        let mut is_stuck = vec![false; ranks as usize];
        is_stuck[silent as usize] = true;
        for &(from, to) in messages {
            is_stuck[to as usize] |= is_stuck[from as usize];
        }
        is_stuck.into_iter().all(|is_stuck| is_stuck)
    })
}

fn dissemination(ranks: u32) -> Messages {
    let distances = (0..32).map(|round| 1 << round).take_while(|&distance| distance < ranks);
    distances
        .flat_map(|distance| (0..ranks).map(move |rank| (rank, (rank + distance) % ranks)))
        .collect()
}

#[test]
fn a_barrier_is_one_if_nobody_ends_without_any_one() {
    let mut tally = [0; 2];
    for seed in 0..goal_filetest::seeds(3000) {
        let mut rng = Rng::with_seed(seed);
        let ranks = rng.u32(2..9);
        let mut messages = dissemination(ranks);
        if rng.bool() {
            // Steps of a round may be reordered only if no rank takes part in two of them;
            // otherwise shuffling makes another program.
            rng.shuffle(&mut messages);
        }
        for _ in 0..rng.usize(..3) {
            let at = rng.usize(..messages.len());
            if rng.bool() {
                messages[at].1 = (messages[at].0 + rng.u32(1..ranks)) % ranks;
            } else if messages.len() > 1 {
                messages.remove(at);
            }
        }
        let is_barrier = waits_for_all(ranks, &messages);
        let report = report(&case(ranks, &messages));
        let found = report.diagnostics.first().map(|found| &found.message);
        assert_eq!(
            report.has_errors(),
            !is_barrier,
            "seed {seed}: {ranks} ranks, {messages:?}: {found:?}"
        );
        tally[usize::from(is_barrier)] += 1;
    }
    assert!(tally.iter().all(|&count| count > 300), "{tally:?}");
}

#[test]
fn every_lost_message_of_a_dissemination_is_found() {
    let parameters = Parameters {
        ranks: 8,
        root: 0,
        count: 1,
        op: Op::Sum,
        datatype: Datatype::UInt8,
        in_place: true,
    };
    let algorithm = goal_collectives::algorithm(CollectiveKind::Barrier, "dissemination");
    let whole =
        Case::from_algorithm(algorithm.expect("in the table"), &parameters).expect("any ranks");
    assert!(!report(&whole).has_errors());
    for (round, distance) in [1, 2, 4].into_iter().enumerate() {
        for from in 0..8 {
            let mut case = whole.clone();
            case.ranks[from][2 * round] = Action::Nop;
            case.ranks[(from + distance) % 8][2 * round + 1] = Action::Nop;
            assert!(
                report(&case).has_errors(),
                "without the message of rank {from} in round {round}"
            );
        }
    }
}

#[test]
fn sets_of_ranks_unite_in_both_forms() {
    for seed in 0..goal_filetest::seeds(500) {
        let mut rng = Rng::with_seed(seed);
        let ranks = rng.u32(1..300);
        let (mut set, mut model) = (Ranks::one(0), BTreeSet::from([0]));
        for _ in 0..rng.u32(..2 * ranks) {
            let first = rng.u32(..ranks);
            let last = rng.u32(first..ranks.min(first + 4));
            let more = Ranks::Runs(vec![(first, last)]);
            set = if rng.bool() { set.union(&more, ranks) } else { more.union(&set, ranks) };
            model.extend(first..=last);
            assert_eq!(set.count() as usize, model.len(), "seed {seed}");
            let missing = (0..ranks).find(|rank| !model.contains(rank));
            assert_eq!(set.first_missing(ranks), missing, "seed {seed}: {set:?}");
        }
    }
}
