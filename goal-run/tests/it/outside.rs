//! Tests jobs whose ranks bring a fabric of their own. The example's queues carry the messages
//! between nodes. TCP carries those to ranks that the queues don't reach.

#[path = "../../examples/channels/fabric.rs"]
mod fabric;
#[path = "../../examples/channels/nodes.rs"]
mod nodes;

use self::fabric::Channels;
use goal_engine::testing::nisa;
use goal_launch::report::Report;
use goal_launch::{End, Outcome};
use goal_run::verify::verify;
use goal_smith::{Shape, program};

/// Runs a random program on nodes, with a fabric that can't reach some ranks. Returns the outcome.
fn run(seed: u64, nodes: usize, lacks: impl Fn(u32) -> Vec<u32>) -> Outcome {
    let program = program(seed, &Shape::varied(seed));
    let ranks = program.num_ranks();
    let names = ["a", "b", "c"];
    let node = |rank: u32| names[rank as usize % nodes.min(names.len())];
    let nodes: Vec<&str> = (0..ranks).map(node).collect();
    let fabrics = (0..).zip(Channels::group(ranks));
    let fabrics = fabrics.map(|(rank, fabric)| fabric.without(&lacks(rank))).collect();
    let outcome = nodes::run(&nisa(&program), &nodes, fabrics);
    let outcome = outcome.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    assert_eq!(outcome.end, End::Complete, "seed {seed}");
    verify(&outcome).unwrap_or_else(|difference| panic!("seed {seed}: {difference}"));
    outcome
}

/// Returns the number of connections between ranks that fell back.
fn fallen_back(outcome: &Outcome) -> Vec<u64> {
    outcome.rank_counts().iter().map(|counts| counts.fallen_back).collect()
}

/// Seeds of programs with at least 2 ranks, which play 2 nodes.
fn seeds() -> impl Iterator<Item = u64> {
    (0..).filter(|&seed| program(seed, &Shape::varied(seed)).num_ranks() >= 2).take(6)
}

#[test]
fn messages_between_nodes_travel_by_the_programs_fabric() {
    for seed in seeds() {
        let outcome = run(seed, 2, |_| vec![]);
        assert!(fallen_back(&outcome).iter().all(|&ranks| ranks == 0), "seed {seed}");
        let report = serde_json::to_string(&Report::new(&outcome, None)).unwrap();
        assert!(report.contains("\"channels\",\"tcp\"]"), "{report}");
    }
}

#[test]
fn a_fabric_that_reaches_nobody_leaves_all_to_tcp() {
    let mut fell = 0;
    for seed in seeds() {
        let outcome = run(seed, 2, |_| (0..64).collect());
        fell += fallen_back(&outcome).iter().sum::<u64>();
    }
    assert!(fell > 0);
}

/// Rank 0 reaches no rank by the fabric, and all others reach each rank: the two directions of a
/// connection may use different fabrics.
#[test]
fn each_connection_falls_back_alone() {
    let (mut of_zero, mut of_others) = (0, 0);
    for seed in seeds() {
        let outcome = run(seed, 3, |rank| if rank == 0 { (0..64).collect() } else { vec![] });
        let fell = fallen_back(&outcome);
        of_zero += fell[0];
        of_others += fell[1..].iter().sum::<u64>();
    }
    assert!(of_zero > 0);
    assert_eq!(of_others, 0);
}
