//! Schedules in the kernels of four and eight hosts, compared with the reference interpreter.
#![allow(missing_docs, unreachable_pub)]

mod bench;
mod chain;
mod flood;
mod forged;
mod killed;
mod random;
mod stopped;

use bench::{Bench, outcome};
use goal_cluster::{Cluster, Faults, Switch, Wiring};
use goal_collectives::{ALGORITHMS, Request};
use goal_kernel::layout::Counter;
use goal_kernel::{Hook, Plan};
use goal_lang::{
    Action, BodyBuilder, CollectiveKind, Datatype, Function, Op, ParseOptions, Program,
    ProgramBuilder, SourceMap, Space,
};
use std::sync::Arc;
use std::time::Instant;

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

/// Every algorithm of the collectives on 4 and on 8 hosts, as schedules of one job: on integers,
/// and those that combine inputs on floating-point numbers too.
fn programs() -> (Vec<(String, Program)>, Vec<Plan>) {
    let (mut programs, mut plans) = (Vec::new(), Vec::new());
    for ranks in [4, 8] {
        for algorithm in ALGORITHMS {
            let integers = Request { count: 6, ..Request::new(algorithm.kind, ranks) };
            let datatype = Datatype::Float64;
            let function = Function::Predefined(Op::Sum, datatype);
            let floats = Request { datatype, function, ..integers.clone() };
            let requests = match algorithm.kind {
                CollectiveKind::Reduce
                | CollectiveKind::Allreduce
                | CollectiveKind::ReduceScatter
                | CollectiveKind::Scan
                | CollectiveKind::Exscan => vec![integers, floats],
                _ => vec![integers],
            };
            for request in requests {
                let name = format!(
                    "{:?} {} of {ranks}, {:?}",
                    algorithm.kind, algorithm.name, request.datatype
                );
                let Some(program) = collective(algorithm.name, &request) else {
                    println!("{name}: left out");
                    continue;
                };
                let plan = Plan::of(&bench::nisa(&program), FRAGMENT);
                plans.push(plan.unwrap_or_else(|why| panic!("{name}: {}", why[0])));
                programs.push((name, program));
            }
        }
    }
    (programs, plans)
}

/// Runs every program three times with different inputs, and compares the memory of all ranks with
/// the interpreter's.
fn run_all(bench: &mut Bench, programs: &[(String, Program)]) {
    for epoch in 0..3 {
        for (schedule, (name, program)) in programs.iter().enumerate() {
            let (inputs, outcome) = outcome(program, epoch);
            let memory = bench.run(schedule, &inputs);
            let difference = outcome.first_difference(&memory);
            assert_eq!(difference, None, "{name}, run {epoch}: {}", bench.counters());
        }
    }
}

#[test]
fn every_algorithm_runs_in_the_kernel() {
    let name = "every_algorithm_runs_in_the_kernel";
    let Some(cluster) = Cluster::or_skip(name, &wiring(8, Switch::Bridge)) else { return };
    let (programs, plans) = programs();
    let mut bench = Bench::new(&cluster, &plans, None);
    run_all(&mut bench, &programs);
    println!("{} programs: {}", programs.len(), bench.counters());
    assert_eq!(bench.counter(Counter::Forged) + bench.counter(Counter::Malformed), 0);
    assert!(programs.len() > ALGORITHMS.len());
}

/// Returns the kinds of faults. Every run of the tests tries the first one.
fn kinds_of_faults() -> [(&'static str, Faults); 4] {
    let none = Faults::default();
    [
        ("10 % lost", Faults { lost: 100_000, ..none }),
        ("1 % lost", Faults { lost: 10_000, ..none }),
        ("10 % doubled", Faults { doubled: 100_000, ..none }),
        ("10 % late", Faults { delayed: 100_000, delay_ns: 300_000, ..none }),
    ]
}

#[test]
fn every_algorithm_runs_in_the_kernel_in_spite_of_faults() {
    let test = "every_algorithm_runs_in_the_kernel_in_spite_of_faults";
    for (name, faults) in kinds_of_faults().into_iter().take(goal_filetest::seeds(1) as usize) {
        let switch = Switch::Faulty(faults, 1);
        let Some(cluster) = Cluster::or_skip(test, &wiring(8, switch)) else { return };
        let (programs, plans) = programs();
        let mut bench = Bench::new(&cluster, &plans, None);
        run_all(&mut bench, &programs);
        println!("{name}: {} programs: {}", programs.len(), bench.counters());
    }
}

/// A rank that computes with every operation on every type of floating-point numbers, on bits that
/// may be those of any number.
#[test]
fn floats_in_the_kernel_are_the_interpreters() {
    let name = "floats_in_the_kernel_are_the_interpreters";
    let Some(cluster) = Cluster::or_skip(name, &wiring(2, Switch::Bridge)) else { return };
    let size = 4096;
    let mut rank = BodyBuilder::default();
    let mut b = size;
    for datatype in [Datatype::Float16, Datatype::Float32, Datatype::Float64] {
        for &op in Op::ALL.iter().filter(|op| !op.is_bitwise()) {
            let spaces = [Space::Memory; 3];
            rank.action(Action::Exec { op, datatype, spaces, has_c: false, a: 0, b, c: 0, size });
            b += size;
        }
    }
    let mut builder = ProgramBuilder::default();
    builder.rank_with(rank.finish());
    builder.rank_with(BodyBuilder::default().finish());
    let program = builder.finish();
    let plan = Plan::of(&bench::nisa(&program), FRAGMENT).unwrap();
    let mut bench = Bench::new(&cluster, &[plan], None);
    for seed in 0..20 {
        let (inputs, outcome) = outcome(&program, seed);
        assert_eq!(outcome.first_difference(&bench.run(0, &inputs)), None, "seed {seed}");
    }
}

/// Runs allreduces, short ones and ones of several frames a message, with different inputs.
fn allreduces(test: &str, switch: Switch, runs: usize) {
    let Some(cluster) = Cluster::or_skip(test, &wiring(8, switch)) else { return };
    let cases = [("recursive-doubling", 1), ("recursive-doubling", 2048), ("ring", 2048)];
    let programs = cases.map(|(algorithm, count)| {
        let request = Request { count, ..Request::new(CollectiveKind::Allreduce, 8) };
        collective(algorithm, &request).unwrap()
    });
    let plans: Vec<Plan> =
        programs.iter().map(|program| Plan::of(&bench::nisa(program), FRAGMENT).unwrap()).collect();
    let mut bench = Bench::new(&cluster, &plans, None);
    for (schedule, (name, count)) in cases.iter().enumerate() {
        let wanted: Vec<_> = (0..4).map(|seed| outcome(&programs[schedule], seed)).collect();
        let start = Instant::now();
        for run in 0..runs {
            let (inputs, outcome) = &wanted[run % 4];
            let memory = bench.run(schedule, inputs);
            assert_eq!(outcome.first_difference(&memory), None, "{name} {count}, run {run}");
        }
        let each = start.elapsed() / runs as u32;
        println!("{test}: {name} of {count}: {each:?} a run, {}", bench.counters());
    }
}

/// Three ranks send messages of 48 frames to one that takes them from anybody.
#[test]
fn long_messages_from_any_source() {
    let faults = Faults { lost: 100_000, doubled: 100_000, ..Faults::default() };
    for switch in [Switch::Bridge, Switch::Faulty(faults, 1)] {
        let test = "long_messages_from_any_source";
        let Some(cluster) = Cluster::or_skip(test, &wiring(4, switch)) else { return };
        let text = "num_ranks 4
            rank 0 { recv 0,70000 from any tag any; recv 70000,70000 from any tag any;
              recv 140000,70000 from any tag any }
            rank 1, 2, 3 { send 0,70000 to 0 tag 5 }";
        let mut sources = SourceMap::default();
        sources.add("any.goal", Arc::new(text.as_bytes().to_vec()));
        let program = goal_lang::parse(&sources, &ParseOptions::default()).program.expect("valid");
        let plan = Plan::of(&bench::nisa(&program), FRAGMENT).unwrap();
        assert_eq!(plan.part(0).receives.len(), 2 * 3, "two portions of each message");
        let wanted: Vec<_> =
            (0..4).map(|seed| bench::planned(&program, &plan, seed).unwrap()).collect();
        let mut bench = Bench::new(&cluster, &[plan], None);
        for run in 0..20 {
            let (inputs, outcome) = &wanted[run % 4];
            let memory = bench.run(0, inputs);
            assert_eq!(outcome.first_difference(&memory), None, "run {run}");
        }
        println!("{test}: {}", bench.counters());
    }
}

#[test]
fn allreduces_back_to_back() {
    allreduces("allreduces_back_to_back", Switch::Bridge, 200);
}

#[test]
fn allreduces_with_faults() {
    let faults = Faults {
        lost: 100_000,
        doubled: 100_000,
        delayed: 100_000,
        delay_ns: 300_000,
        damaged: 10_000,
        ..Faults::default()
    };
    let runs = 50 * goal_filetest::seeds(1) as usize;
    allreduces("allreduces_with_faults", Switch::Faulty(faults, 1), runs);
}

#[test]
fn several_ranks_share_a_host() {
    let name = "several_ranks_share_a_host";
    let Some(cluster) = Cluster::or_skip(name, &wiring(3, Switch::Bridge)) else { return };
    let (programs, plans) = programs();
    run_all(&mut Bench::new(&cluster, &plans, None), &programs);
}

#[test]
fn the_hooks_of_older_kernels_do() {
    let name = "the_hooks_of_older_kernels_do";
    let Some(cluster) = Cluster::or_skip(name, &wiring(4, Switch::Bridge)) else { return };
    let request = Request::new(CollectiveKind::Allreduce, 4);
    let program = collective("recursive-doubling", &request).unwrap();
    let plan = Plan::of(&bench::nisa(&program), FRAGMENT).unwrap();
    let mut bench = Bench::new(&cluster, &[plan], Some(Hook::Clsact));
    assert_eq!(bench.kernels[0].hook(), Hook::Clsact);
    for run in 0..20 {
        let (inputs, outcome) = outcome(&program, run);
        assert_eq!(outcome.first_difference(&bench.run(0, &inputs)), None, "run {run}");
    }
}

/// An allreduce of 8 ranks: three rounds of messages.
fn allreduce() -> (Program, Plan) {
    let request = Request { count: 64, ..Request::new(CollectiveKind::Allreduce, 8) };
    let program = collective("recursive-doubling", &request).unwrap();
    let plan = Plan::of(&bench::nisa(&program), FRAGMENT).unwrap();
    (program, plan)
}
