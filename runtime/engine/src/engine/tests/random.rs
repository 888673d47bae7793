//! Compares random programs over a simulated network with the reference interpreter. A seed drives
//! the network.

use super::network::{Conditions, End, run, run_all};
use goal_interp::{Eager, Outcome, outcomes, replay};
use goal_lang::Program;
use goal_opt::{Level, Pipeline, Timings};
use goal_smith::{Shape, program};

/// In the order in which a file keeps the actions, so that both sides number them alike.
fn laid_out(seed: u64, shape: &Shape) -> Program {
    let mut program = program(seed, shape);
    goal_opt::run(&mut program, &Pipeline::new(Level::O1), &mut Timings::default(), |_, _| {})
        .expect("a valid program");
    program
}

fn interpreted(program: &Program) -> Outcome {
    let options = goal_interp::Options { eager: Eager::None, ..goal_interp::Options::default() };
    goal_interp::run(program, &options).expect("a program without deadlock")
}

fn check(seed: u64, shape: &Shape, instances: usize) {
    check_under(shape, Conditions { instances, ..Conditions::new(seed) });
}

fn check_under(shape: &Shape, conditions: Conditions) {
    let Conditions { seed, instances, again, .. } = conditions;
    let mut program = laid_out(seed, shape);
    if seed % 4 == 1 {
        program = goal_smith::on_buffers(&program);
    }
    let expected = interpreted(&program.clone().flattened());
    let (ends, stats) = match run(&program, &conditions) {
        End::Finished(ends, stats) => (ends, stats),
        other => panic!("seed {seed}: {other:?}"),
    };
    for (memory, _) in ends {
        assert_eq!(
            expected.first_difference(&memory),
            None,
            "seed {seed}: (rank, address) differs"
        );
    }
    let times = (instances * (1 + again)) as u64;
    assert_eq!(stats.messages, expected.messages * times, "seed {seed}");
    assert_eq!(stats.bytes, expected.bytes * times, "seed {seed}");
    assert_eq!(stats.verified_bytes, expected.verified_bytes * times, "seed {seed}");
    assert_eq!(stats.unreceived, 0, "seed {seed}");
}

#[test]
fn the_memory_is_the_interpreters() {
    for seed in 0..goal_filetest::seeds(1500) {
        check(seed, &Shape::varied(seed), 1);
    }
}

#[test]
fn instances_in_two_communicators_at_once() {
    for seed in 0..goal_filetest::seeds(150) {
        check(seed, &Shape::varied(seed), 5);
    }
}

/// A rank may start an instance again while others still run the previous one.
#[test]
fn ended_instances_start_again() {
    for seed in 0..goal_filetest::seeds(300) {
        let instances = 1 + seed as usize % 2;
        check_under(
            &Shape::varied(seed),
            Conditions { instances, again: 3, ..Conditions::new(seed) },
        );
    }
}

#[test]
fn several_schedules_at_once() {
    for seed in 0..goal_filetest::seeds(150) {
        let shape = |part: u64| Shape { ranks: (3, 3), ..Shape::varied(3 * seed + part) };
        let programs = [0, 1, 2].map(|part| laid_out(3 * seed + part, &shape(part)));
        let conditions = Conditions { instances: 7, ..Conditions::new(seed) };
        let End::Finished(ends, _) = run_all(&programs, &conditions) else { panic!("seed {seed}") };
        let expected = programs.each_ref().map(interpreted);
        for (i, (memory, _)) in ends.iter().enumerate() {
            assert_eq!(expected[i % 3].first_difference(memory), None, "seed {seed}, instance {i}");
        }
    }
}

#[test]
fn large_messages() {
    for seed in 0..goal_filetest::seeds(40) {
        check(seed, &Shape::large_messages(), 2);
    }
}

#[test]
fn what_wildcards_leave_open_is_one_of_the_interpreters_outcomes() {
    let mut listed = 0;
    for seed in 0..goal_filetest::seeds(300) {
        let program = laid_out(seed, &Shape::several_outcomes());
        let End::Finished(ends, _) = run(&program, &Conditions::new(seed)) else {
            panic!("seed {seed}")
        };
        let (memory, matches) = &ends[0];
        let replayed = replay(&program, &goal_interp::Options::default(), matches)
            .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        assert_eq!(replayed.first_difference(memory), None, "seed {seed}");
        let all = outcomes(&program, &goal_interp::Options::default(), 5_000).expect("no failure");
        if let Some(all) = all {
            listed += 1;
            assert!(all.contains(memory), "seed {seed}: an outcome that is not listed");
        }
    }
    assert!(listed > 200, "only {listed} programs are small enough");
}
