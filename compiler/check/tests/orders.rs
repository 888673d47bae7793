//! The promise of the checks: a program without a finding ends in every order of events. The
//! interpreter, which shares no code with the checks, explores small random programs.
//!
//! `GOAL_TANGLES_FROM=S` begins at seed S; `GOAL_SEEDS` says how many programs there are.

use goal_check::{Options, check};
use goal_interp::{Eager, Error, always_ends, outcomes};
use goal_lang::diag::{Code, Report};
use goal_lang::{Program, Style};
use std::env;

const STATES_MAX: usize = 60_000;

/// Numbers of programs, by findings and by the results of the interpreter.
#[derive(Debug, Default)]
struct Counts {
    clean: u32,
    gets_stuck: u32,
    fails: u32,
    too_many_orders: u32,
    /// Programs that end in every order.
    ends: u32,
    ends_and_timing_is_told: u32,
    ends_and_buffering_is_told: u32,
    check_gave_up: u32,
}

fn first_seed() -> u64 {
    env::var("GOAL_TANGLES_FROM").map_or(0, |text| text.parse().expect("a number"))
}

fn ends(program: &Program, eager: Eager) -> Result<Option<()>, Error> {
    always_ends(
        program,
        &goal_interp::Options { eager, ..goal_interp::Options::default() },
        STATES_MAX,
    )
}

fn has(report: &Report, code: Code) -> bool {
    report.diagnostics.iter().any(|found| found.code == code)
}

fn text(program: &Program) -> String {
    let mut text = Vec::new();
    goal_lang::print(program, Style::Paper2009, &mut text).expect("memory");
    String::from_utf8(text).expect("text")
}

#[test]
fn what_passes_ends_in_every_order() {
    let (programs, from) = (goal_filetest::seeds(1_250), first_seed());
    let mut counts = Counts::default();
    let mut wrong = Vec::new();
    for seed in from..from + programs {
        let program = goal_smith::tangle(seed);
        let options = Options {
            eager_limit: [16 << 10, 0, 1 << 20][seed as usize % 3],
            ..Options::default()
        };
        let report = check(&program, None, &options);
        let limits = [options.eager_limit, 0];
        // A program without a finding must also end with an eager limit of 0.
        let asked = &limits[..if report.is_empty() { 2 } else { 1 }];
        let gave_up = has(&report, Code::CheckIncomplete);
        counts.check_gave_up += u32::from(gave_up);
        counts.clean += u32::from(report.is_empty());
        let is_error = has(&report, Code::Deadlock) || has(&report, Code::SizeMismatch);
        for &limit in asked {
            match ends(&program, Eager::Limit(limit)) {
                Ok(None) => counts.too_many_orders += 1,
                Ok(Some(())) if limit == options.eager_limit => {
                    counts.ends += 1;
                    counts.ends_and_timing_is_told +=
                        u32::from(has(&report, Code::TimingDependentMatch));
                    counts.ends_and_buffering_is_told +=
                        u32::from(has(&report, Code::ReliesOnBuffering));
                    if report.has_errors() || gave_up {
                        wrong
                            .push(format!("seed {seed} ends, but: {report:?}\n{}", text(&program)));
                    }
                }
                Ok(Some(())) => {}
                Err(error) => {
                    counts.gets_stuck += u32::from(matches!(error, Error::Stuck(_)));
                    counts.fails += u32::from(!matches!(error, Error::Stuck(_)));
                    if report.is_empty() || !(is_error || gave_up) && limit == options.eager_limit {
                        let found = &report.diagnostics;
                        wrong.push(format!(
                            "seed {seed} passes with {found:?}, but at {limit}: {error}\n{}",
                            text(&program)
                        ));
                    }
                }
            }
        }
    }
    println!("{programs} programs from seed {from}: {counts:?}");
    assert!(wrong.is_empty(), "{} are wrong, the first: {}", wrong.len(), wrong[0]);
    assert!(counts.gets_stuck > 0 && counts.clean > 0, "{counts:?}");
    assert!(u64::from(counts.too_many_orders) * 20 < programs, "{counts:?}");
}

/// A program leaves the same memory in every order, unless a finding says that timing decides.
#[test]
fn what_passes_leaves_the_same_memory() {
    let (programs, from) = (goal_filetest::seeds(500), first_seed());
    let (mut clean, mut differs, mut same_and_told, mut too_many) = (0, 0, 0, 0);
    let mut wrong = Vec::new();
    for seed in from..from + programs {
        let program = goal_smith::storing_tangle(seed);
        let report = check(&program, None, &Options { eager_limit: 1 << 20, ..Options::default() });
        clean += u32::from(report.is_empty());
        match outcomes(&program, &goal_interp::Options::default(), STATES_MAX) {
            Ok(Some(memories)) if memories.len() > 1 => {
                differs += 1;
                if report.is_empty() {
                    wrong.push(format!("seed {seed} passes:\n{}", text(&program)));
                }
            }
            Ok(Some(_)) => same_and_told += u32::from(has(&report, Code::TimingDependentMatch)),
            Ok(None) => too_many += 1,
            // The other test covers programs that get stuck.
            Err(_) => {}
        }
    }
    println!(
        "{programs} programs from seed {from}: {clean} clean, {differs} leave different memory, {same_and_told} leave the same \
         though timing decides who takes what, {too_many} with too many orders"
    );
    assert!(wrong.is_empty(), "{} are wrong, the first: {}", wrong.len(), wrong[0]);
    assert!(clean > 0 && differs > 0 && too_many * 20 < programs);
}
