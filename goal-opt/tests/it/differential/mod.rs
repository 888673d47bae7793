//! Runs every pass of the table, and the pipelines of the levels, on random programs. The result of
//! a program, the message that each receive takes, and its end must stay the same (`RULES.md`).
//!
//! A new row of the table is tested without a new test. A pass gets a row in [`trial::SPECIAL`] if
//! its name alone, or its usual programs, are not enough. `cargo test -p goal-opt --test it
//! differential -- --nocapture` prints the numbers of programs and orders.

mod forwards;
mod judge;
mod programs;
mod trial;

use goal_interp::{Eager, Options};
use goal_opt::PASSES;
use trial::{SPECIAL, Trial};

#[test]
fn every_pass_keeps_the_rules() {
    for pass in PASSES {
        Trial::of_pass(pass.name).run();
    }
}

#[test]
fn the_levels_keep_the_rules() {
    for trial in Trial::of_levels() {
        trial.run();
    }
}

#[test]
fn special_rows_are_of_passes_in_the_table() {
    for special in SPECIAL {
        assert!(
            PASSES.iter().any(|pass| pass.name == special.pass),
            "there is no pass {}",
            special.pass
        );
    }
}

/// The comparison must find passes that break the rules, and some programs must rely on eager
/// sends.
#[test]
fn broken_passes_are_noticed() {
    let (mut races, mut hangs, mut relying) = (0, 0, 0);
    for seed in 0..goal_filetest::seeds(200) {
        let program = programs::usual(seed);
        races += usize::from(
            judge::same_outcome(seed, &program, &programs::without_order(&program)).is_err(),
        );
        let waiting = programs::with_more_order(seed, &program);
        hangs += usize::from(judge::ends_as_before(seed, &program, &waiting, 0).is_err());
        let restricted = programs::restricted(seed);
        let ends =
            |eager| goal_interp::run(&restricted, &Options { eager, ..Options::default() }).is_ok();
        relying += usize::from(ends(Eager::All) && !ends(Eager::None));
    }
    println!("of 200: {races} races, {hangs} hangs, {relying} rely on eager sends");
    assert!(
        races > 100 && hangs > 30 && relying > 10,
        "{races} races, {hangs} hangs, {relying} relying"
    );
}
