//! Schedules in the kernels of four and eight hosts, compared with the reference interpreter.
#![allow(missing_docs, unreachable_pub)]

mod bench;

use bench::{Bench, outcome};
use goal_cluster::{Cluster, Switch, Wiring};
use goal_collectives::{ALGORITHMS, Request};
use goal_kernel::Plan;
use goal_kernel::layout::Counter;
use goal_lang::{CollectiveKind, Program, ProgramBuilder};

/// The program of a collective; `None` if the algorithm cannot meet the request.
fn collective(name: &str, request: &Request) -> Option<Program> {
    let algorithm = ALGORITHMS.iter().find(|a| a.kind == request.kind && a.name == name)?;
    let mut builder = ProgramBuilder::default();
    for rank in 0..request.ranks {
        builder.rank_with(algorithm.body(request, rank).ok()?);
    }
    Some(builder.finish())
}

fn wiring(hosts: usize, switch: Switch) -> Wiring {
    Wiring { hosts, mtu: 9000, switch }
}

/// Fragments that fit frames of 1500 bytes.
const FRAGMENT: u32 = 1456;

#[test]
fn every_algorithm_runs_in_the_kernel() {
    let name = "every_algorithm_runs_in_the_kernel";
    let Some(cluster) = Cluster::or_skip(name, &wiring(8, Switch::Bridge)) else { return };
    let (mut ran, mut left) = (0, Vec::new());
    for hosts in [4, 8] {
        for algorithm in ALGORITHMS {
            let request = Request { count: 6, ..Request::new(algorithm.kind, hosts) };
            let Some(program) = collective(algorithm.name, &request) else {
                left.push(format!("{:?} {}", algorithm.kind, algorithm.name));
                continue;
            };
            let plan = match Plan::of(&bench::nisa(&program), FRAGMENT) {
                Ok(plan) => plan,
                Err(why) => panic!("{:?} {}: {}", algorithm.kind, algorithm.name, why[0]),
            };
            let mut bench = Bench::new(&cluster, &plan);
            for epoch in 0..3 {
                let (inputs, outcome) = outcome(&program, epoch);
                let memory = bench.run(&inputs);
                assert_eq!(
                    outcome.first_difference(&memory),
                    None,
                    "{:?} {} on {hosts} hosts, run {epoch}: {}",
                    algorithm.kind,
                    algorithm.name,
                    bench.counters()
                );
            }
            assert_eq!(bench.counter(Counter::Forged) + bench.counter(Counter::Malformed), 0);
            ran += 1;
        }
    }
    println!("{ran} programs; left out: {left:?}");
    assert!(ran > ALGORITHMS.len(), "{left:?}");
}

#[test]
fn allreduces_back_to_back() {
    let name = "allreduces_back_to_back";
    let Some(cluster) = Cluster::or_skip(name, &wiring(8, Switch::Bridge)) else { return };
    for (algorithm, count) in [("recursive-doubling", 1), ("ring", 4096)] {
        let request = Request { count, ..Request::new(CollectiveKind::Allreduce, 8) };
        let program = collective(algorithm, &request).unwrap();
        let plan = Plan::of(&bench::nisa(&program), FRAGMENT).unwrap();
        let start = std::time::Instant::now();
        let mut bench = Bench::new(&cluster, &plan);
        println!("loaded in {:?}, {:?}", start.elapsed(), bench.kernels[0].hook());
        let wanted: Vec<_> = (0..4).map(|seed| outcome(&program, seed)).collect();
        let start = std::time::Instant::now();
        let runs = 500;
        for run in 0..runs {
            let (inputs, outcome) = &wanted[run % 4];
            let memory = bench.run(inputs);
            if outcome.first_difference(&memory).is_some() {
                println!("{:?}\n{:?}\n{memory:?}\n{}", inputs, outcome.memory, bench.counters());
            }
            assert_eq!(outcome.first_difference(&memory), None, "{algorithm}, run {run}");
        }
        println!("{algorithm}: {:?} a run, {}", start.elapsed() / runs as u32, bench.counters());
    }
}
