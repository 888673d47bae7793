//! Random programs are the same after a round trip through both binary formats, and random bytes
//! never panic. The harness is that of the fuzzers.

use goal_asm::{EncodeError, loggopsim};
use goal_lang::{
    Action, BodyBuilder, ParseOptions, Placement, Program, ProgramBuilder, SourceMap, Style, parse,
    print_ranks,
};
use goal_opt::{Level, Pipeline, Timings};
use goal_smith::Shape;
use std::sync::Arc;

fn random_program(seed: u64) -> Program {
    goal_smith::program(seed, &Shape { wtime: true, ..Shape::default() })
}

#[test]
fn random_programs_return_from_nisa() {
    for seed in 0..goal_filetest::seeds(1000) {
        goal_fuzz::program(&random_program(seed));
    }
}

/// Programs larger than the encoder's buffer, in one section and in many.
#[test]
fn large_programs_return_from_nisa() {
    let calc = |nanos| Action::Calc { nanos, placement: Placement::default() };
    let mut one = ProgramBuilder::default();
    let mut many = ProgramBuilder::default();
    let mut chain = BodyBuilder::default();
    let ids: Vec<_> = (0..100_000).map(|i| chain.action(calc(i))).collect();
    for pair in ids.windows(2) {
        chain.requires(pair[0], pair[1]);
    }
    one.rank_with(chain.finish());
    for rank in 0..300 {
        let mut body = BodyBuilder::default();
        for i in 0..rank * 7 % 500 {
            body.action(calc(i + rank));
        }
        many.rank_with(body.finish());
    }
    goal_fuzz::program(&one.finish());
    goal_fuzz::program(&many.finish());
}

/// Bodies that are made one at a time give the bytes and the text of the whole program.
#[test]
fn ranks_one_at_a_time_give_the_same_program() {
    for seed in 0..goal_filetest::seeds(300) {
        let random = random_program(seed);
        // Some ranks share a body, and others have one like it.
        let of = |rank: u32| {
            let rank = if rank.is_multiple_of(3) { rank / 2 } else { rank };
            let mut body = random.body_of(rank).clone();
            body.debug = Default::default();
            body
        };
        let ranks = random.num_ranks();
        let mut whole = ProgramBuilder::default();
        (0..ranks).for_each(|rank| whole.rank_with(of(rank)));
        let whole = whole.finish();
        let (mut wanted, mut bytes) = (Vec::new(), Vec::new());
        let options = goal_asm::EncodeOptions { strip: true, threads: 1 };
        goal_asm::encode(&whole, &options, None, &mut wanted).expect("fits");
        goal_asm::encode_ranks(ranks, &mut bytes, |rank| Ok::<_, EncodeError>(of(rank)))
            .expect("fits");
        assert!(bytes == wanted, "seed {seed}");
        let mut text = Vec::new();
        print_ranks(ranks, Style::Schedgen, &mut text, |rank| Ok::<_, std::io::Error>(of(rank)))
            .expect("in memory");
        let mut sources = SourceMap::default();
        sources.add("ranks.goal", Arc::new(text));
        let parsed = parse(&sources, &ParseOptions::default()).program.expect("valid text");
        let mut again = Vec::new();
        goal_asm::encode(&parsed, &options, None, &mut again).expect("fits");
        assert!(again == wanted, "seed {seed}: text");
    }
}

#[test]
fn the_default_pipeline_is_idempotent() {
    let optimize = |program: &mut Program| {
        goal_opt::run(program, &Pipeline::new(Level::O1), &mut Timings::default(), |_, _| {})
            .expect("valid");
    };
    for seed in 0..goal_filetest::seeds(300) {
        let mut program = random_program(seed);
        optimize(&mut program);
        let once = goal_fuzz::program(&program);
        optimize(&mut program);
        assert!(goal_fuzz::program(&program) == once, "seed {seed}");
    }
}

/// Changes a few words or bytes of a file, mostly to values that mean something in it.
fn mutate(bytes: &mut Vec<u8>, random: &mut fastrand::Rng) {
    for _ in 0..random.usize(1..4) {
        let at = random.usize(0..bytes.len());
        match random.u8(0..8) {
            0 => bytes.truncate(at.max(1)),
            1 => bytes[at] = random.u8(..),
            2 => bytes[at] ^= 1 << random.u8(0..8),
            3 => {
                let end = bytes.len().min(at + random.usize(0..64));
                let copy = bytes[at..end].to_vec();
                let to = random.usize(0..=bytes.len());
                bytes.splice(to..to, copy);
            }
            kind => {
                let at = at & !3;
                let word = match kind {
                    4 => random.u32(0..4),
                    5 => u32::MAX - random.u32(0..4),
                    6 => random.u32(0..bytes.len() as u32) & !3,
                    _ => u32::from_le_bytes(bytes[at..].first_chunk().copied().unwrap_or_default())
                        .wrapping_add(4),
                };
                let end = bytes.len().min(at + 4);
                bytes[at..end].copy_from_slice(&word.to_le_bytes()[..end - at]);
            }
        }
    }
}

#[test]
fn mutated_nisa_is_refused_or_valid() {
    let mut accepted = 0;
    for seed in 0..goal_filetest::seeds(20_000) {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut bytes = harness_file(seed % 50);
        mutate(&mut bytes, &mut random);
        accepted += u32::from(goal_fuzz::nisa(&bytes));
    }
    assert!(accepted > 0, "no mutation got through to the checks at the end");
}

fn harness_file(seed: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let program = random_program(seed);
    goal_asm::encode(&program, &goal_asm::EncodeOptions::default(), None, &mut bytes)
        .expect("fits");
    bytes
}

#[test]
fn mutated_loggopsim_binaries_are_refused_or_valid() {
    let mut accepted = 0;
    for seed in 0..goal_filetest::seeds(20_000) {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut bytes = Vec::new();
        loggopsim::write(&random_program(seed % 50), &mut bytes).expect("written");
        mutate(&mut bytes, &mut random);
        accepted += u32::from(goal_fuzz::loggopsim(&bytes));
    }
    assert!(accepted > 0, "no mutation got through to the checks at the end");
}

#[test]
fn arbitrary_bytes_are_refused() {
    for seed in 0..goal_filetest::seeds(2000) {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut bytes: Vec<u8> = (0..random.usize(0..400)).map(|_| random.u8(..)).collect();
        assert!(!goal_fuzz::nisa(&bytes));
        assert!(!goal_fuzz::loggopsim(&bytes));
        let start = goal_asm::nisa::MAGIC.len().min(bytes.len());
        bytes[..start].copy_from_slice(&goal_asm::nisa::MAGIC[..start]);
        goal_fuzz::nisa(&bytes);
    }
}
