//! Random programs whose ranks are connected over loopback end with the interpreter's memory.

use super::{V4, V6, Ways, encrypted, now_ns};
use goal_engine::testing::{add_bytes, nisa, state};
use goal_engine::{Calc, Engine, Options, Schedule, Seed, Storage, sends};
use goal_fabric::Fabric;
use goal_interp::Eager;
use goal_lang::Program;
use goal_smith::{Shape, program};
use std::net::IpAddr;
use std::sync::Arc;

/// The longest time of a run.
const PATIENCE_NS: u64 = 60_000_000_000;

/// Runs a program. Returns the memory of each rank.
fn run(program: &Program, seed: u64, address: IpAddr, options: Options) -> Vec<Vec<u8>> {
    let nisa = nisa(program);
    let ranks = nisa.num_ranks() as usize;
    let first_room = [0, 1 << 10, 8 << 10][seed as usize % 3];
    let begun = |(rank, tcp)| {
        let mut engine = Engine::new(rank, Ways::new(rank, tcp), options, state());
        engine.register(1, Box::new(add_bytes));
        let bound = Arc::clone(&nisa);
        engine.bound_requests(move |source| sends(&bound, source, rank));
        let schedule = Arc::new(Schedule::new(Arc::clone(&nisa), rank, Seed::default()));
        let handle = engine.start(&schedule, 0, Storage::new(&schedule));
        (engine, handle)
    };
    let ends = (0..).zip(encrypted(ranks, address, first_room, seed % 5 == 4));
    let mut engines: Vec<_> = ends.map(begun).collect();
    let since_ns = now_ns();
    while !engines.iter().all(|(engine, handle)| engine.test(handle)) {
        assert!(now_ns() - since_ns < PATIENCE_NS, "seed {seed}: stuck");
        for (engine, _) in &mut engines {
            let polled = engine.poll(now_ns());
            polled.unwrap_or_else(|failure| panic!("seed {seed}: {failure:?}"));
            assert_eq!(engine.transport().tcp.lost(), None, "seed {seed}");
        }
    }
    let memory = |(mut engine, handle): (Engine<Ways>, _)| {
        assert_eq!(engine.stats().unreceived, 0, "seed {seed}");
        assert!(engine.test(&handle));
        engine.finish(handle).memory().to_vec()
    };
    engines.into_iter().map(memory).collect()
}

fn check(seed: u64, shape: &Shape, pushed_max: u64) {
    let program = program(seed, shape);
    let interpreter =
        goal_interp::Options { eager: Eager::None, ..goal_interp::Options::default() };
    let expected = goal_interp::run(&program, &interpreter).expect("a program without deadlock");
    let eager_limit = [0, 100, 5000, 16 << 10, 1 << 20][seed as usize % 5];
    let calc = Calc::Scaled(1.0);
    let options = Options { eager_limit, pushed_max, calc, ..Options::default() };
    let memory = run(&program, seed, if seed % 4 == 3 { V6 } else { V4 }, options);
    assert_eq!(expected.first_difference(&memory), None, "seed {seed}: (rank, address) differs");
}

#[test]
fn the_memory_is_the_interpreters() {
    for seed in 0..goal_filetest::seeds(100) {
        check(seed, &Shape::varied(seed), [0, 512 << 10][seed as usize % 2]);
    }
}

#[test]
fn what_arrives_is_combined_however_it_is_divided() {
    for seed in 0..goal_filetest::seeds(40) {
        check(seed, &Shape::reductions(), 0);
    }
}
