//! The passes `fuse` and `dce` on random programs, compared with the reference interpreter.

use goal_interp::{Eager, Error, Options, outcomes, run};
use goal_lang::{ActionKind, Payload, Program};
use goal_opt::{Pipeline, Timings};
use goal_smith::{Shape, program};

/// The number of programs of each kind.
const PROGRAMS: u64 = 2_500;
/// The number of orders in which each program is run after a pass.
const ORDERS: u64 = 3;

fn pass(list: &str, program: &Program) -> Program {
    let mut after = program.clone();
    let pipeline = Pipeline::parse(list).expect("a list of passes");
    goal_opt::run(&mut after, &pipeline, &mut Timings::default(), |_, _| {})
        .expect("a valid program");
    after
}

fn options(order: u64) -> Options {
    let eager = [Eager::None, Eager::All, Eager::Limit(16)][(order % 3) as usize];
    Options { seed: order, eager, wtime: 17.25, ..Options::default() }
}

/// A shape that gives the passes much to do: few bytes, many local operations, mostly no ranks with
/// the same actions.
fn shape(seed: u64) -> Shape {
    Shape {
        events: (5, 30),
        memory: [96, 320][(seed % 2) as usize],
        scratch: 96,
        ..Shape::varied(seed)
    }
}

/// Runs a program before and after passes in several orders, and asserts that the memory at the end
/// is the same. Returns the program after the passes.
fn check(list: &str, seed: u64, program: &Program) -> Program {
    let after = pass(list, program);
    let expected = run(program, &options(0)).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    for order in 0..ORDERS {
        let outcome = run(&after, &options(seed + order));
        let outcome =
            outcome.unwrap_or_else(|error| panic!("seed {seed}, order {order}, {list}: {error}"));
        let difference = expected.first_difference(&as_long(outcome.memory, &expected.memory));
        assert_eq!(difference, None, "seed {seed}, order {order}, {list}: (rank, address) differs");
        assert_eq!(outcome.messages, expected.messages, "seed {seed}, {list}");
        assert_eq!(outcome.bytes, expected.bytes, "seed {seed}, {list}");
    }
    after
}

/// Extends the memory with zeros. A rank has as much memory as its actions name, and bytes that
/// only dead operations read keep their first content.
fn as_long(mut memory: Vec<Vec<u8>>, other: &[Vec<u8>]) -> Vec<Vec<u8>> {
    for (memory, other) in memory.iter_mut().zip(other) {
        memory.resize(memory.len().max(other.len()), 0);
    }
    memory
}

fn actions(program: &Program) -> usize {
    program.bodies.iter().map(|body| body.len()).sum()
}

/// The numbers of receives and sends that carry an operation.
fn reductions(program: &Program) -> [usize; 2] {
    [ActionKind::Recv, ActionKind::Send].map(|kind| {
        let reduces = |action: &&goal_lang::Action| match **action {
            goal_lang::Action::Send { payload, .. } | goal_lang::Action::Recv { payload, .. } => {
                action.kind() == kind && matches!(payload, Payload::Reduced { .. })
            }
            _ => false,
        };
        program.bodies.iter().map(|body| body.actions.iter().filter(reduces).count()).sum()
    })
}

#[test]
fn fused_programs_end_with_the_same_memory() {
    let programs = goal_filetest::seeds(PROGRAMS);
    let mut fused = [0, 0];
    let mut gone = 0;
    for seed in 0..programs {
        let program = program(seed, &shape(seed));
        let after = check("fuse", seed, &program);
        let (before, now) = (reductions(&program), reductions(&after));
        for kind in 0..2 {
            fused[kind] += now[kind] - before[kind];
        }
        gone += actions(&program) - actions(&after);
    }
    let enough = programs as usize * 3 / 100;
    assert!(fused[0] > enough && fused[1] > enough, "only {fused:?} receives and sends were fused");
    assert!(gone > fused[0] + fused[1], "no copy was fused");
}

#[test]
fn programs_without_dead_code_end_with_the_same_memory() {
    let programs = goal_filetest::seeds(PROGRAMS);
    let mut gone = 0;
    for seed in 0..programs {
        let program = program(seed, &shape(seed));
        let after = check("dce", seed, &program);
        gone += actions(&program) - actions(&after);
    }
    assert!(gone > programs as usize * 3 / 10, "only {gone} actions were taken out");
}

/// Both passes, more than once, in several orders. No pass leaves something that it could do.
#[test]
fn the_passes_go_together() {
    for seed in 0..goal_filetest::seeds(500) {
        let program = program(seed, &shape(seed));
        check("fuse,dce,fuse", seed, &program);
        let once = check("dce,fuse", seed, &program);
        for list in ["fuse", "dce,fuse"] {
            let again = pass(list, &once);
            let same =
                once.bodies.iter().zip(&again.bodies).all(|(once, again)| once.same_graph(again));
            assert!(same, "seed {seed}: {list} again changes more");
        }
    }
}

#[test]
fn no_outcome_is_added() {
    let programs = goal_filetest::seeds(PROGRAMS);
    let mut listed = 0;
    for seed in 0..programs {
        let shape = Shape { memory: 48, scratch: 32, events: (3, 8), ..Shape::several_outcomes() };
        let program = program(seed, &shape);
        let after = pass("dce,fuse", &program);
        if actions(&after) == actions(&program) {
            continue;
        }
        let all = |program| outcomes(program, &Options::default(), 2_000);
        let (Ok(Some(before)), Ok(Some(after))) = (all(&program), all(&after)) else { continue };
        listed += 1;
        let some = before.iter().next().expect("a program ends");
        let mut outcomes = after.into_iter().map(|memory| as_long(memory, some));
        assert!(
            outcomes.all(|memory| before.contains(&memory)),
            "seed {seed}: an outcome that was not there before"
        );
    }
    assert!(listed > programs / 20, "only {listed} programs were changed and small enough");
}

/// If only expected values are outputs, these stay.
#[test]
fn expected_outputs_stay() {
    let mut gone = [0, 0];
    for seed in 0..goal_filetest::seeds(3000) {
        let program = program(seed, &Shape { wtime: false, ..shape(seed) });
        let outcome =
            run(&program, &options(0)).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let mut expecting = outcome.expected_by(&program);
        for image in &mut expecting.images {
            // Expect a part of the memory only.
            image.expect.retain(|datum| (datum.addr + seed) % 3 == 0);
        }
        let all = pass("dce,fuse", &expecting);
        let some = pass("dce(outputs=expect),fuse(outputs=expect)", &expecting);
        gone[0] += actions(&program) - actions(&all);
        gone[1] += actions(&program) - actions(&some);
        for order in 0..ORDERS {
            match run(&some, &options(order)) {
                Ok(outcome) => assert_eq!(outcome.mismatches(&some), [], "seed {seed}"),
                Err(Error::Stuck(stuck)) => panic!("seed {seed}: {stuck}"),
                Err(error) => panic!("seed {seed}: {error}"),
            }
        }
    }
    assert!(gone[1] > 2 * gone[0], "{gone:?}: no less is left where less counts");
}
