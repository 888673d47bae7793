//! Random programs whose ranks are connected over loopback end with the interpreter's memory.

use super::{V4, V6, encrypted, now_ns, patience_ns};
use goal_engine::Options;
use goal_engine::testing::{Rank, first_room, options, start};
use goal_fabric::Fabric;
use goal_interp::Eager;
use goal_lang::Program;
use goal_smith::{Shape, program};
use std::net::IpAddr;

/// Runs a program. Returns the memory of each rank, and the bytes that were received where they
/// belong.
fn run(program: &Program, seed: u64, address: IpAddr, options: Options) -> (Vec<Vec<u8>>, usize) {
    let fabrics = encrypted(program.num_ranks() as usize, address, first_room(seed), seed % 5 == 4);
    let mut ranks = start(program, options, fabrics);
    let (since_ns, limit_ns) = (now_ns(), patience_ns(60));
    while !ranks.iter().all(Rank::has_ended) {
        assert!(now_ns() - since_ns < limit_ns, "seed {seed}: stuck");
        for Rank { engine, .. } in &mut ranks {
            let polled = engine.poll(now_ns());
            polled.unwrap_or_else(|failure| panic!("seed {seed}: {failure:?}"));
            assert_eq!(engine.transport().others.lost(), None, "seed {seed}");
        }
    }
    let placed = ranks.iter_mut().map(|rank| rank.engine.transport().placed).sum();
    (ranks.into_iter().map(Rank::memory).collect(), placed)
}

/// Compares a run of the program of a seed with the interpreter's. Returns the bytes that were
/// received where they belong.
fn check(seed: u64, shape: &Shape, pushed_max: u64) -> usize {
    let program = program(seed, shape);
    let interpreter =
        goal_interp::Options { eager: Eager::None, ..goal_interp::Options::default() };
    let expected = goal_interp::run(&program, &interpreter).expect("a program without deadlock");
    let options = Options { pushed_max, ..options(seed) };
    let (memory, placed) = run(&program, seed, if seed % 4 == 3 { V6 } else { V4 }, options);
    assert_eq!(expected.first_difference(&memory), None, "seed {seed}: (rank, address) differs");
    placed
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

#[test]
fn long_messages_arrive_where_they_belong() {
    let shape = Shape {
        memory: 2_000_000,
        message_max: 1_000_000,
        operand_max: 200_000,
        ..Shape::large_messages()
    };
    let seeds = goal_filetest::seeds(20);
    let pushed_max = |seed| [0, 512 << 10][seed as usize % 2];
    let placed = |seed| {
        check(seed, &shape, pushed_max(seed))
            + check(seed, &Shape::large_messages(), pushed_max(seed))
    };
    let some = (0..seeds).filter(|&seed| placed(seed) > 0).count();
    assert!(some as u64 > seeds / 10, "{some} of {seeds}");
}
