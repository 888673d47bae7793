//! Measures the time of barriers and allreduces in the kernel, from the first start to the end on
//! the last host. The hosts are network namespaces, all on one processor. The process tests without
//! sleep.
//!
//! `taskset -c 1 cargo run --release -p goal-kernel --example latency -- [NAMES [RUNS]]` measures
//! the cases whose names contain NAMES.
#![allow(missing_docs, unreachable_pub, dead_code)]

#[path = "../tests/hosts/bench.rs"]
mod bench;

use bench::{Bench, outcome};
use goal_cluster::{Cluster, Switch, Wiring};
use goal_collectives::{ALGORITHMS, Request};
use goal_kernel::Plan;
use goal_lang::{CollectiveKind, Datatype, Function, Op, Program, ProgramBuilder};
use std::time::Instant;

fn program(
    kind: CollectiveKind,
    name: &str,
    ranks: u32,
    count: u64,
    datatype: Datatype,
) -> Program {
    let function = Function::Predefined(Op::Sum, datatype);
    let request = Request { count, datatype, function, ..Request::new(kind, ranks) };
    let algorithm = ALGORITHMS.iter().find(|a| a.kind == kind && a.name == name).unwrap();
    let mut builder = ProgramBuilder::default();
    for rank in 0..ranks {
        builder.rank_with(algorithm.body(&request, rank).unwrap());
    }
    builder.finish()
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let names = arguments.next().unwrap_or_default();
    let runs: u32 = arguments.next().map_or(1500, |runs| runs.parse().expect("a number of runs"));
    let wiring = Wiring { hosts: 8, mtu: 9000, switch: Switch::Bridge };
    let Some(cluster) = Cluster::or_skip("latency", &wiring) else { return };
    let mut cases = Vec::new();
    for ranks in [4, 8] {
        let barrier = format!("{ranks} hosts, barrier");
        let integers = Datatype::UInt64;
        cases.push((ranks, barrier, CollectiveKind::Barrier, "dissemination", 1, integers));
        for bytes in [8, 64, 1024, 8192, 32768] {
            let name = format!("{ranks} hosts, allreduce {bytes} B");
            let kind = CollectiveKind::Allreduce;
            let all = format!("{name} of integers");
            cases.push((ranks, all, kind, "recursive-doubling", bytes / 8, integers));
            let floats = format!("{name} of floats");
            cases.push((ranks, floats, kind, "recursive-doubling", bytes / 8, Datatype::Float64));
        }
    }
    cases.retain(|(_, name, ..)| name.contains(&names));
    let programs: Vec<Program> = cases
        .iter()
        .map(|&(ranks, _, kind, algorithm, count, datatype)| {
            program(kind, algorithm, ranks, count, datatype)
        })
        .collect();
    let plans: Vec<Plan> =
        programs.iter().map(|program| Plan::of(&bench::nisa(program), 8192).unwrap()).collect();
    let mut bench = Bench::new(&cluster, &plans, None);
    for (schedule, (_, name, ..)) in cases.iter().enumerate() {
        let (inputs, outcome) = outcome(&programs[schedule], 1);
        let mut times: Vec<u64> = Vec::new();
        for run in 0..runs {
            for (rank, input) in bench.ranks[schedule].iter_mut().zip(&inputs) {
                rank.write(0, input);
            }
            let start = Instant::now();
            for rank in &mut bench.ranks[schedule] {
                rank.start().unwrap();
            }
            while !bench.ranks[schedule].iter().all(|rank| rank.test().unwrap()) {
                std::hint::spin_loop();
            }
            times.push(start.elapsed().as_nanos() as u64);
            if run % 100 == 0 {
                let memory: Vec<Vec<u8>> = bench.ranks[schedule]
                    .iter()
                    .map(|rank| {
                        let mut memory = vec![0; rank.len()];
                        rank.read(0, &mut memory);
                        memory
                    })
                    .collect();
                assert_eq!(outcome.first_difference(&memory), None, "{name}, run {run}");
            }
        }
        times.sort_unstable();
        let at = |percent: usize| times[times.len() * percent / 100] as f64 / 1000.0;
        println!("{name}: median {:.1} us, p99 {:.1} us", at(50), at(99));
    }
    println!("{}", bench.counters());
}
