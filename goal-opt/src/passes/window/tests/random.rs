//! Random programs in windows, compared with the reference interpreter.

use crate::{WindowError, verify, window};
use goal_interp::{Eager, Error, Options, Outcome, outcomes, run};
use goal_lang::{ANY, Action, BodyBuilder, Payload, Placement, Program, ProgramBuilder};
use goal_smith::Shape;

fn outcome(program: &Program, seed: u64, eager: Eager) -> Result<Outcome, Error> {
    run(program, &Options { seed, eager, ..Options::default() })
}

/// Asserts that at most `size` actions are between two dummies, and that no dependency crosses a
/// dummy.
fn check_windows(program: &Program, size: u32) {
    verify(program).expect("valid");
    for body in &program.bodies {
        // By position, the number of dependencies that cross it.
        let mut over = vec![0i64; body.len() + 1];
        for edge in body.requires.edges().chain(body.irequires.edges()) {
            assert!(edge.prerequisite < edge.waiter, "not laid out in order");
            over[edge.prerequisite.index() + 1] += 1;
            over[edge.waiter.index()] -= 1;
        }
        let (mut open, mut run) = (0, 0);
        for (id, change) in body.ids().zip(&over) {
            open += change;
            run = if *body.action(id) == Action::Nop && open == 0 { 0 } else { run + 1 };
            assert!(run <= size, "{run} actions without a dummy");
        }
    }
}

#[test]
fn random_programs_end_as_they_do_without() {
    let (mut done, mut dummies) = (0, 0);
    let programs = goal_filetest::seeds(2_500);
    for seed in 0..programs {
        let program = goal_smith::program(seed, &Shape::varied(seed));
        let size = [1, 2, 3, 4, 8, 20][(seed % 6) as usize];
        let mut after = program.clone();
        match window(&mut after, size) {
            Ok(windowed) => {
                dummies += windowed.dummies;
                assert_eq!(windowed.eager_limit, None, "seed {seed}");
            }
            Err(WindowError::TooSmall { .. }) => continue,
            Err(error) => panic!("seed {seed}: {error}"),
        }
        done += 1;
        check_windows(&after, size);
        let expected = outcome(&program, seed, Eager::All).expect("no deadlock");
        for eager in [Eager::All, Eager::None, Eager::Limit(50)] {
            let found = outcome(&after, seed + 1, eager).unwrap_or_else(|error| {
                panic!("seed {seed}, windows of {size}, {eager:?}: {error}")
            });
            assert_eq!(expected.first_difference(&found.memory), None, "seed {seed}");
        }
    }
    assert!(
        done > programs * 85 / 100 && dummies > 3 * programs,
        "{done} programs, {dummies} dummies"
    );
}

#[test]
fn outcomes_are_a_subset() {
    let (mut done, mut several) = (0, 0u64);
    let programs = goal_filetest::seeds(600);
    for seed in 0..programs {
        let program = goal_smith::program(seed, &Shape::several_outcomes());
        let mut after = program.clone();
        match window(&mut after, [2, 3, 4, 8][(seed % 4) as usize]) {
            Ok(_) => {}
            Err(WindowError::TooSmall { .. }) => continue,
            Err(error) => panic!("seed {seed}: {error}"),
        }
        let before = outcomes(&program, &Options::default(), 5_000).expect("no failure");
        let after = outcomes(&after, &Options::default(), 5_000).expect("no deadlock in windows");
        if let (Some(before), Some(after)) = (before, after) {
            assert!(after.iter().all(|outcome| before.contains(outcome)), "seed {seed}");
            done += 1;
            several += u64::from(before.len() > 1);
        }
    }
    assert!(
        done > programs / 2 && several > programs / 12,
        "{done} programs, {several} with several outcomes"
    );
}

/// Messages between random ranks with few tags and random dependencies of both kinds. Many of these
/// programs never end, or end only with buffering or in some orders.
fn wild(seed: u64, wildcards: bool) -> Program {
    let mut random = fastrand::Rng::with_seed(seed);
    let ranks = random.u32(1..4);
    let mut builders: Vec<BodyBuilder> = (0..ranks).map(|_| BodyBuilder::default()).collect();
    let placement = Placement::default();
    for _ in 0..random.u32(1..7) {
        let (from, to, tag) = (random.u32(..ranks), random.u32(..ranks), random.u32(..2));
        let payload = Payload::Pattern { size: 8 };
        builders[from as usize].action(Action::Send { payload, to, tag, placement });
        let any = wildcards && random.u8(..3) == 0;
        let recv = Action::Recv { payload, from: if any { ANY } else { from }, tag, placement };
        builders[to as usize].action(recv);
    }
    let mut program = ProgramBuilder::default();
    for mut builder in builders {
        let ids: Vec<_> = builder.clone().finish().ids().collect();
        let mut order = ids.clone();
        random.shuffle(&mut order);
        for i in 1..order.len() {
            for _ in 0..random.u32(..3) {
                let before = order[random.usize(..i)];
                if random.bool() {
                    builder.requires(order[i], before)
                } else {
                    builder.irequires(order[i], before)
                }
            }
        }
        program.rank_with(builder.finish());
    }
    program.finish()
}

/// Returns true if a program ends in every order of steps with eager sends. If not all sends are
/// eager, it must also end in the orders that some seeds choose.
fn always_ends(program: &Program, eager: Eager) -> bool {
    match outcomes(program, &Options::default(), 20_000) {
        Ok(Some(_)) => {
            eager == Eager::All || (0..16).all(|seed| outcome(program, seed, eager).is_ok())
        }
        Ok(None) | Err(_) => false,
    }
}

#[test]
fn wild_programs_that_always_end_do_so_in_windows() {
    let mut counts = [0; 3];
    let programs = goal_filetest::seeds(500);
    for seed in 0..programs {
        let program = wild(seed, seed % 2 == 0);
        let mut after = program.clone();
        let windowed = window(&mut after, 1 + (seed % 5) as u32);
        let eager = [Eager::All, Eager::None];
        for (which, eager) in eager.into_iter().enumerate() {
            if !always_ends(&program, eager) {
                continue;
            }
            match windowed {
                Ok(done) => {
                    counts[which] += 1;
                    check_windows(&after, 1 + (seed % 5) as u32);
                    assert!(done.eager_limit.is_none() || eager == Eager::All, "seed {seed}");
                    assert!(always_ends(&after, eager), "seed {seed}, {eager:?}");
                }
                Err(WindowError::TooSmall { .. } | WindowError::OpenEnded { .. }) => counts[2] += 1,
                Err(ref error) => panic!("seed {seed}: {error}"),
            }
        }
    }
    let [all, none, refused] = counts;
    assert!(
        all > programs / 5 && none > programs * 3 / 40 && refused < (all + none) / 3,
        "{counts:?}"
    );
}
