//! Correct programs and programs with a seeded mistake: the proof and the interpreter must agree.

use super::{Case, Parameters, algorithms, report};
use crate::Collective;
use crate::postcondition::layout::{Content, Layout};
use crate::postcondition::value::neutral;
use fastrand::Rng;
use goal_lang::{
    Action, CollectiveKind, Datatype, Datum, Function, ImageId, MemoryImage, Op, Payload, Program,
};
use std::collections::BTreeMap;

/// Operations whose results nearly always depend on every operand.
const TELLING: [(Op, Datatype); 5] = [
    (Op::Sum, Datatype::Int32),
    (Op::Sum, Datatype::UInt8),
    (Op::Bxor, Datatype::Int16),
    (Op::Max, Datatype::Int64),
    (Op::Band, Datatype::UInt16),
];

/// The runs with random inputs after which a program counts as correct.
const RUNS: u64 = 12;

/// Returns true if runs with random inputs all end as the collective is defined; `None` if the
/// program can't be run.
fn runs_right(case: &Case, rng: &mut Rng) -> Option<bool> {
    let mut program = case.program();
    let layout = Layout::new(case.collective.clone(), &program).expect("fitting");
    for seed in 0..RUNS {
        let inputs: Vec<Vec<u8>> = (0..layout.ranks)
            .map(|rank| {
                // Every second time all ranks but one have neutral inputs, so that the result shows
                // if that rank is left out.
                let is_telling =
                    seed % 2 == 0 || seed / 2 % u64::from(layout.ranks) == u64::from(rank);
                let size = layout.input(rank).1;
                (0..size)
                    .map(|at| if is_telling { rng.u8(..) } else { neutral_byte(case, at) })
                    .collect()
            })
            .collect();
        fill(&mut program, &layout, &inputs);
        let options = goal_interp::Options { seed, ..goal_interp::Options::default() };
        let outcome = goal_interp::run(&program, &options).ok()?;
        if !ends_right(&layout, &case.collective, &inputs, &outcome.memory) {
            return Some(false);
        }
    }
    Some(true)
}

fn neutral_byte(case: &Case, at: u64) -> u8 {
    let Function::Predefined(op, datatype) = case.collective.function else { unreachable!() };
    let bits = neutral(op, datatype).expect("of an integer");
    (bits >> (8 * (at % datatype.width()))) as u8
}

fn fill(program: &mut Program, layout: &Layout, inputs: &[Vec<u8>]) {
    program.images.clear();
    for (rank, bytes) in inputs.iter().enumerate() {
        let (addr, datatype) = (layout.input(rank as u32).0, Datatype::UInt8);
        let init = if bytes.is_empty() {
            vec![]
        } else {
            vec![Datum { addr, datatype, bytes: bytes.clone() }]
        };
        program.ranks[rank].image = Some(ImageId::new(rank));
        program.images.push(MemoryImage { init, expect: vec![] });
    }
}

fn ends_right(
    layout: &Layout,
    collective: &Collective,
    inputs: &[Vec<u8>],
    memory: &[Vec<u8>],
) -> bool {
    (0..layout.ranks).all(|rank| {
        let mut is_right = true;
        layout.visit_outputs(rank, |wanted| {
            let of = |rank: u32| {
                &inputs[rank as usize][wanted.input_offset as usize..][..wanted.size as usize]
            };
            let bytes = match wanted.content {
                Content::Of(rank) => of(rank).to_vec(),
                Content::Combined(last) => {
                    let Function::Predefined(op, datatype) = collective.function else {
                        unreachable!()
                    };
                    (1..=last).fold(of(0).to_vec(), |all, rank| {
                        goal_interp::apply(op, datatype, &all, of(rank)).expect("no division")
                    })
                }
            };
            let found = |at: u64| memory[rank as usize].get(at as usize).copied().unwrap_or(0);
            is_right &= (wanted.addr..).zip(&bytes).all(|(at, &byte)| found(at) == byte);
        });
        is_right
    })
}

/// Removes a message at both ends: the one that the action at a position of a rank sends.
fn lose_message(case: &mut Case, rank: usize, at: usize) {
    let Action::Send { to, .. } = case.ranks[rank][at] else { unreachable!() };
    let is_sent =
        |action: &&Action| matches!(action, Action::Send { to: other, .. } if *other == to);
    let number = case.ranks[rank][..at].iter().filter(is_sent).count();
    case.ranks[rank][at] = Action::Nop;
    let receiver = &mut case.ranks[to as usize];
    let mut received = receiver
        .iter_mut()
        .filter(|action| matches!(action, Action::Recv { from, .. } if *from as usize == rank));
    if let Some(received) = received.nth(number) {
        *received = Action::Nop;
    }
}

/// Makes one mistake: a wrong address, size or peer, a lost message, a lost or repeated action, a
/// wrong operation or type.
fn seed_mistake(case: &mut Case, rng: &mut Rng) -> &'static str {
    let busy: Vec<usize> =
        (0..case.ranks.len()).filter(|&rank| !case.ranks[rank].is_empty()).collect();
    let Some(&rank) = rng.choice(&busy) else { return "none" };
    let at = rng.usize(..case.ranks[rank].len());
    if matches!(case.ranks[rank][at], Action::Send { .. }) && rng.u8(..4) == 0 {
        lose_message(case, rank, at);
        return "a lost message";
    }
    let ranks = case.ranks.len() as u32;
    let actions = &mut case.ranks[rank];
    let bytes = if rng.bool() { 1 } else { case.collective.datatype.width() };
    let moved = |addr: u64, rng: &mut Rng| {
        if rng.bool() { addr + bytes } else { addr.saturating_sub(bytes) }
    };
    match &mut actions[at] {
        Action::Send { to, .. } if rng.u8(..8) == 0 => {
            *to = (*to + 1) % ranks;
            "another destination"
        }
        Action::Send { payload: Payload::Buffer(piece), .. }
        | Action::Recv { payload: Payload::Buffer(piece), .. } => {
            piece.addr = moved(piece.addr, rng);
            "a moved message"
        }
        Action::Exec { op, datatype, a, b, size, .. } => match rng.u8(..7) {
            0 => {
                *a = moved(*a, rng);
                "a moved operand"
            }
            1 => {
                *b = moved(*b, rng);
                "a moved accumulator"
            }
            2 => {
                *size = size.saturating_sub(datatype.width());
                "a short operation"
            }
            3 => {
                *op = if *op == Op::Sum { Op::Bxor } else { Op::Sum };
                "another operation"
            }
            4 => {
                *datatype = if datatype.width() == 1 { Datatype::Int16 } else { Datatype::Int8 };
                *size -= *size % datatype.width();
                "another type"
            }
            5 => {
                actions[at] = Action::Nop;
                "a lost operation"
            }
            _ => {
                let again = actions[at];
                actions.insert(at, again);
                "an operation done twice"
            }
        },
        _ => "none",
    }
}

/// Passes keep the result of a program, so the proof must hold after them, too, also for receives
/// and sends that combine.
fn assert_same_after_fusion(case: &Case, seed: u64) {
    let options =
        crate::Options { collective: Some(case.collective.clone()), ..crate::Options::default() };
    let mut program = case.program();
    let before = crate::check(&program, None, &options).has_errors();
    let pipeline = goal_opt::Pipeline::parse("dce,fuse").expect("passes");
    goal_opt::run(&mut program, &pipeline, &mut goal_opt::Timings::default(), |_, _| {})
        .expect("a valid program");
    let after = crate::check(&program, None, &options);
    let found = after.diagnostics.first().map(|found| &found.message);
    assert_eq!(after.has_errors(), before, "seed {seed}: {found:?}\n{case:?}");
}

#[test]
fn proofs_and_runs_agree() {
    let mut tally: BTreeMap<(&str, bool), u32> = BTreeMap::new();
    let mut mistakes: BTreeMap<&str, u32> = BTreeMap::new();
    let algorithms: Vec<_> = algorithms().collect();
    for seed in 0..goal_filetest::seeds(12_000) {
        let mut rng = Rng::with_seed(seed);
        let (op, datatype) = *rng.choice(&TELLING).expect("some");
        let ranks = rng.u32(1..=RUNS as u32 / 2);
        let (root, count, in_place) = (rng.u32(..ranks), rng.u64(1..9), rng.bool());
        let parameters = Parameters { ranks, root, count, op, datatype, in_place };
        let algorithm = *rng.choice(&algorithms).expect("some");
        let name = algorithm.name;
        let Some(mut case) = Case::from_algorithm(algorithm, &parameters) else { continue };
        let mistake = if rng.u8(..8) > 0 { seed_mistake(&mut case, &mut rng) } else { "none" };
        if case.collective.kind == CollectiveKind::Barrier
            || goal_opt::verify(&case.program()).is_err()
        {
            continue;
        }
        if rng.bool() {
            assert_same_after_fusion(&case, seed);
        }
        let Some(is_right) = runs_right(&case, &mut rng) else {
            assert!(report(&case).has_errors(), "seed {seed}: {name} can't run, {mistake}");
            continue;
        };
        let proved = report(&case);
        let found = proved.diagnostics.first().map(|found| &found.message);
        assert_eq!(
            proved.has_errors(),
            !is_right,
            "seed {seed}: {name} on {ranks} ranks with {mistake}: {found:?}\n{case:?}"
        );
        *tally.entry((case.collective.kind.name(), is_right)).or_default() += 1;
        if !is_right {
            *mistakes.entry(mistake).or_default() += 1;
        }
    }
    for kind in CollectiveKind::ALL
        .into_iter()
        .filter(|&kind| kind != CollectiveKind::Barrier && !kind.has_neighbors())
    {
        for is_right in [false, true] {
            assert!(tally.contains_key(&(kind.name(), is_right)), "{kind} {is_right}: {tally:?}");
        }
    }
    // All but another destination, whose receive waits for ever.
    assert!(mistakes.len() >= 9, "{mistakes:?}");
}
