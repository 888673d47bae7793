//! Compares random programs on threads and on processes with the reference interpreter, in every
//! mode of progress and of waiting.

use goal_asm::{EncodeOptions, Nisa, encode};

use goal_engine::Calc;
use goal_filetest::patience;
use goal_interp::{Eager, Options as Interpreter, outcomes};
use goal_job::{JobSpec, Mode, Wait};
use goal_lang::limits::Limits;
use goal_launch::{End, Options, Outcome, Ranks, run};
use goal_run::verify::verify;
use goal_smith::{Shape, program};
use std::sync::Arc;

/// Both sides of the messages' sizes.
const EAGER_LIMITS: [u64; 3] = [0, 40, 16 << 10];

fn processes() -> Ranks {
    Ranks::Processes { executable: env!("CARGO_BIN_EXE_goal-run").into() }
}

fn schedule(seed: u64, shape: &Shape) -> Arc<Nisa> {
    let mut bytes = Vec::new();
    let mut program = program(seed, shape);
    if seed % 4 == 1 {
        program = goal_smith::on_buffers(&program);
    }
    encode(&program, &EncodeOptions::default(), None, &mut bytes).unwrap();
    Arc::new(Nisa::load(Arc::new(bytes), &Limits::default()).unwrap())
}

fn complete(seed: u64, nisa: &Arc<Nisa>, ranks: &Ranks, repeat: u64) -> Outcome {
    let options = Options {
        spec: JobSpec {
            eager_limit: EAGER_LIMITS[seed as usize % EAGER_LIMITS.len()],
            calc: Calc::Skip,
            progress: Mode::ALL[(seed / 2 % 3) as usize],
            wait: [Wait::Adaptive, Wait::Block, Wait::Adaptive, Wait::Spin]
                [(seed / 6 % 4) as usize],
            repeat,
            timeout: Some(patience(60)),
            ..JobSpec::default()
        },
        ranks: ranks.clone(),
        record: true,
        ..Options::default()
    };
    let outcome = run(nisa, &options).unwrap();
    assert_eq!(outcome.end, End::Complete, "seed {seed}");
    outcome
}

/// The memory, what matched what and the counts must be the interpreter's.
fn check(seed: u64, shape: &Shape, ranks: &Ranks) {
    let nisa = schedule(seed, shape);
    let repeat = 1 + seed % 2;
    let outcome = complete(seed, &nisa, ranks, repeat);
    let verified = verify(&outcome).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    let options = Interpreter { eager: Eager::None, ..Interpreter::default() };
    let wanted = goal_interp::run(&nisa.decode(), &options)
        .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    assert_eq!(verified.receives, wanted.messages, "seed {seed}");
    assert_eq!(outcome.counts.messages, repeat * wanted.messages, "seed {seed}");
    assert_eq!(outcome.counts.bytes, repeat * wanted.bytes, "seed {seed}");
    assert_eq!(outcome.counts.verified_bytes, repeat * wanted.verified_bytes, "seed {seed}");
    let memory: Vec<Vec<u8>> = (0..nisa.num_ranks()).map(|rank| outcome.memory(rank)).collect();
    assert_eq!(wanted.first_difference(&memory), None, "seed {seed}: (rank, address) differs");
}

/// The outcome of a run must be among the possible ones.
fn check_outcomes(seeds: std::ops::Range<u64>, ranks: &Ranks) {
    let (all_seeds, mut listed, mut several) = (seeds.end - seeds.start, 0, 0);
    for seed in seeds {
        let nisa = schedule(seed, &Shape::several_outcomes());
        let outcome = complete(seed, &nisa, ranks, 1);
        verify(&outcome).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let program = nisa.decode();
        let Some(all) = outcomes(&program, &Interpreter::default(), 5_000).expect("no failure")
        else {
            continue;
        };
        listed += 1;
        several += u64::from(all.len() > 1);
        let memory: Vec<Vec<u8>> = (0..nisa.num_ranks()).map(|rank| outcome.memory(rank)).collect();
        assert!(all.contains(&memory), "seed {seed}: an outcome that is not listed");
    }
    assert!(
        listed > all_seeds / 2 && several > all_seeds / 20,
        "{listed} listed, {several} with several outcomes"
    );
}

#[test]
fn programs_on_threads() {
    for seed in 0..goal_filetest::seeds(600) {
        check(seed, &Shape::varied(seed), &Ranks::Threads);
    }
}

#[test]
fn large_messages_on_threads() {
    for seed in 0..goal_filetest::seeds(25) {
        check(seed, &Shape::large_messages(), &Ranks::Threads);
    }
}

#[test]
fn programs_with_several_outcomes_on_threads() {
    check_outcomes(0..goal_filetest::seeds(75), &Ranks::Threads);
}

#[test]
fn programs_on_processes() {
    for seed in 10_000..10_000 + goal_filetest::seeds(60) {
        check(seed, &Shape::varied(seed), &processes());
    }
}

#[test]
fn large_messages_on_processes() {
    for seed in 100..100 + goal_filetest::seeds(13) {
        check(seed, &Shape::large_messages(), &processes());
    }
}

#[test]
fn programs_with_several_outcomes_on_processes() {
    check_outcomes(300..300 + goal_filetest::seeds(13), &processes());
}
