//! Tests that a real run may have the matching that is chosen before a run. The memory that the
//! schedule leaves is then one of all its outcomes, as the interpreter lists them.

use crate::matches::matches;
use crate::nisa;
use goal_interp::Options;
use goal_kernel::{Plan, Reason};
use goal_lang::{ParseOptions, Program, SourceMap};
use goal_smith::Shape;
use std::sync::Arc;

/// States that the interpreter visits to list the outcomes of a program.
const STATES_MAX: usize = 20_000;

/// Compares programs of seeds. Returns how many had more than one outcome.
fn compare(program_of: impl Fn(u64) -> Program) -> u64 {
    let (mut compared, mut several, mut refused) = (0, 0, 0);
    for seed in 0..goal_filetest::seeds(200) {
        let program = program_of(seed);
        let plan = match Plan::of(&nisa(&program), 64) {
            Ok(plan) => plan,
            Err(refusals) => {
                // Some orders of a tangle get stuck, or join messages with receives of other sizes.
                let is_known = |reason| {
                    matches!(reason, Reason::Stuck | Reason::NoReceive | Reason::OtherSize { .. })
                };
                let other = refusals.iter().find(|refusal| !is_known(refusal.reason));
                assert!(other.is_none(), "seed {seed}: {}", other.unwrap());
                refused += 1;
                continue;
            }
        };
        let options = Options::default();
        let outcome = goal_interp::replay(&program, &options, &matches(&plan));
        let outcome = outcome.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        // An order of the program that fails hides the other ones.
        let Ok(Some(all)) = goal_interp::outcomes(&program, &options, STATES_MAX) else { continue };
        compared += 1;
        several += u64::from(all.len() > 1);
        assert!(all.contains(&outcome.memory), "seed {seed}: no run ends so");
    }
    println!("{compared} compared, {several} with several outcomes, {refused} refused");
    several
}

#[test]
fn wildcards_take_messages_that_they_may_take() {
    let shape = Shape { calc_nanos_max: 0, ..Shape::several_outcomes() };
    assert!(compare(|seed| goal_smith::program(seed, &shape)) > 0);
}

#[test]
fn messages_that_compete_are_matched_in_their_order() {
    assert!(compare(goal_smith::storing_tangle) > 0);
}

/// The first posted receive takes a message, and a receive the first message.
#[test]
fn the_first_ones_meet() {
    let text = "rank 0 {
        a: recv 4b from any tag any; b: recv 4b from 1 tag 7; c: recv 4b from any tag 7;
        requ b -> a; requ c -> b;
        l: recv 0b from 1 tag 9; requ l -> c;
        x: recv 4b from any tag any; requ x -> l; }
      rank 1 {
        p: send 4b to 0 tag 7; q: send 4b to 0 tag 7; r: send 4b to 0 tag 8; s: send 4b to 0 tag 7;
        t: send 0b to 0 tag 9;
        requ q -> p; requ r -> q; requ s -> r; requ t -> s; }";
    let mut sources = SourceMap::default();
    sources.add("first.goal", Arc::new(text.as_bytes().to_vec()));
    let program = goal_lang::parse(&sources, &ParseOptions::default()).program.expect("valid");
    let plan = Plan::of(&nisa(&program), 64).unwrap();
    let mut met: Vec<(u32, u32)> =
        plan.messages().map(|message| (message.receive.1, message.send.1)).collect();
    met.sort_unstable();
    // `c` takes the third message of tag 7, `x` the one of tag 8 that nobody wanted before.
    assert_eq!(met, [(0, 0), (1, 1), (2, 3), (3, 4), (4, 2)]);
}
