//! Random programs: in every order of steps the memory at the end is the same, or one of the listed
//! outcomes.

use goal_interp::{Eager, Options, outcomes, replay, run};
use goal_smith::{Shape, program};

const EAGER: [Eager; 4] = [Eager::All, Eager::None, Eager::Limit(16), Eager::Limit(65536)];

fn options(seed: u64) -> Options {
    Options { seed, eager: EAGER[seed as usize % EAGER.len()], wtime: 17.25, ..Options::default() }
}

#[test]
fn the_order_of_steps_makes_no_difference() {
    for seed in 0..goal_filetest::seeds(2000) {
        let shape = Shape::varied(seed);
        let program = program(seed, &shape);
        let first =
            run(&program, &options(0)).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        assert_eq!(first.unreceived, 0, "seed {seed}");
        if !shape.wtime {
            assert!(
                first.unspecified.iter().all(Vec::is_empty),
                "seed {seed} reads scratch too early"
            );
        }
        for order in 1..8 {
            let options = options(order);
            let outcome = run(&program, &options)
                .unwrap_or_else(|error| panic!("seed {seed}, order {order}: {error}"));
            let difference = first.first_difference(&outcome.memory);
            assert_eq!(difference, None, "seed {seed}, order {order}: (rank, address) differs");
            let counts = |o: &goal_interp::Outcome| (o.messages, o.bytes, o.verified_bytes);
            assert_eq!(counts(&first), counts(&outcome), "seed {seed}, order {order}");
        }
    }
}

#[test]
fn large_messages() {
    for seed in 0..goal_filetest::seeds(20) {
        let program = program(seed, &Shape::large_messages());
        let first =
            run(&program, &options(0)).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        for order in 1..4 {
            let outcome = run(&program, &options(order))
                .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            assert_eq!(first.first_difference(&outcome.memory), None, "seed {seed}");
        }
    }
}

#[test]
fn a_recorded_run_can_be_replayed() {
    for seed in 0..goal_filetest::seeds(500) {
        for shape in [Shape::varied(seed), Shape::several_outcomes()] {
            let program = program(seed, &shape);
            let outcome = run(&program, &options(seed))
                .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            let replayed = replay(&program, &Options::default(), &outcome.matches)
                .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            assert_eq!(outcome.first_difference(&replayed.memory), None, "seed {seed}");
            assert_eq!(outcome.matches, replayed.matches, "seed {seed}");
        }
    }
}

#[test]
fn every_outcome_is_listed() {
    let mut several = 0;
    let mut listed = 0;
    for seed in 0..goal_filetest::seeds(300) {
        let program = program(seed, &Shape::several_outcomes());
        let all = outcomes(&program, &Options::default(), 20_000)
            .unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        let Some(all) = all else { continue };
        listed += 1;
        several += usize::from(all.len() > 1);
        for order in 0..12 {
            let outcome =
                run(&program, &options(order)).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            assert!(
                all.contains(&outcome.memory),
                "seed {seed}, order {order}: an outcome is not listed"
            );
        }
    }
    assert!(listed > 250, "only {listed} of 300 programs are small enough");
    assert!(several > 30, "only {several} programs have several outcomes");
}

#[test]
fn without_rivals_there_is_one_outcome() {
    for seed in 0..goal_filetest::seeds(100) {
        let shape = Shape { events: (2, 8), ..Shape::default() };
        let program = program(seed, &shape);
        let all = outcomes(&program, &Options::default(), 20_000)
            .unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        if let Some(all) = all {
            assert_eq!(all.len(), 1, "seed {seed}");
        }
    }
}

#[test]
fn a_program_can_expect_its_outcome() {
    for seed in 0..goal_filetest::seeds(100) {
        let program = program(seed, &Shape::varied(seed));
        let outcome = run(&program, &options(seed)).unwrap();
        let mut expecting = outcome.expected_by(&program);
        assert_eq!(run(&expecting, &options(1)).unwrap().mismatches(&expecting), []);
        let Some(datum) = expecting.images.iter_mut().flat_map(|image| &mut image.expect).next()
        else {
            continue;
        };
        datum.bytes[0] ^= 1;
        assert!(!outcome.mismatches(&expecting).is_empty(), "seed {seed}");
    }
}
