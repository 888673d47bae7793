use super::{CompactCheck, Doubt};
use crate::{Options, check};
use goal_lang::{ParseOptions, Program, SourceMap};
use goal_smith::Shape;
use std::sync::Arc;

fn compact(program: &Program) -> Result<(), Doubt> {
    let mut all = CompactCheck::default();
    for rank in 0..program.num_ranks() {
        let body = program.body_of(rank);
        let indegrees = body.indegrees();
        all.begin_rank(rank);
        for id in body.ids() {
            let row = |waiter: &goal_lang::ActionId| waiter.0;
            all.push(
                body.action(id),
                indegrees[id.index()],
                body.requires.row(id).iter().map(row),
                body.irequires.row(id).iter().map(row),
            )?;
        }
        all.end_rank()?;
    }
    all.finish()
}

fn parsed(text: &str) -> Program {
    let mut sources = SourceMap::default();
    sources.add("test.goal", Arc::new(text.as_bytes().to_vec()));
    goal_lang::parse(&sources, &ParseOptions::default()).program.expect("valid")
}

/// Puts the actions in an order in which each comes behind those that it waits for.
fn forward(mut program: Program) -> Program {
    let pipeline = goal_opt::Pipeline::parse("topological").expect("a pass");
    goal_opt::run(&mut program, &pipeline, &mut Default::default(), |_, _| {}).expect("valid");
    program
}

#[test]
fn programs_without_a_doubt_have_no_findings_at_any_eager_limit() {
    let mut sure = 0;
    for seed in 0..goal_filetest::seeds(600) {
        let shape = Shape {
            wildcards: false,
            memory: 0,
            scratch: 0,
            operand_max: 0,
            floats: false,
            reductions: false,
            ..Shape::varied(seed)
        };
        for program in [goal_smith::program(seed, &shape), goal_smith::tangle(seed)] {
            let program = forward(program);
            if compact(&program).is_err() {
                continue;
            }
            sure += 1;
            for eager_limit in [0, 16 << 10, u64::MAX] {
                let report = check(&program, None, &Options { eager_limit, ..Options::default() });
                assert!(report.diagnostics.is_empty(), "seed {seed}: {:?}", report.diagnostics);
            }
        }
    }
    assert!(sure > 50, "{sure} programs without a doubt");
}

#[test]
fn each_fault_is_a_doubt() {
    let doubts = [
        ("rank 0 { send 8b to 1 } rank 1 { recv 9b from 0 }", Doubt::Unequal),
        ("rank 0 { send 8b to 1 } rank 1 { }", Doubt::Unequal),
        ("rank 0 { send 8b to 1 tag 1 } rank 1 { recv 8b from 0 tag 2 }", Doubt::Unequal),
        ("rank 0 { send 8b to 1 } rank 1 { recv 8b from any }", Doubt::Wildcard { rank: 1 }),
        ("rank 0 { send 0,8 to 1 } rank 1 { recv 8b from 0 }", Doubt::Data { rank: 0 }),
        ("rank 0 { b: calc 1 a: calc 2 b requires a }", Doubt::Backward { rank: 0 }),
        (
            "rank 0 { send 8b to 1 send 8b to 1 } rank 1 { a: recv 8b from 0 b: recv 8b from 0 b requires a }",
            Doubt::Unordered { rank: 0 },
        ),
        (
            "rank 0 { a: recv 8b from 1 b: send 8b to 1 b requires a } rank 1 { a: recv 8b from 0 b: send 8b to 0 b requires a }",
            Doubt::Stuck { left: 4 },
        ),
        (
            "rank 0 { a: send 8b to 1 b: send 4b to 1 b requires a } rank 1 { a: recv 4b from 0 b: recv 8b from 0 b requires a }",
            Doubt::Unequal,
        ),
    ];
    for (text, doubt) in doubts {
        assert_eq!(compact(&parsed(text)), Err(doubt), "{text}");
    }
}

#[test]
fn exchanges_in_steps_leave_no_doubt() {
    let exchange = |peer: u32| {
        format!(
            "a: calc 1 s: send 8b to {peer} r: recv 8b from {peer} s requires a r irequires a
             b: calc 2 b requires s b requires r t: send 9b to {peer} t requires b
             u: recv 9b from {peer} u irequires b"
        )
    };
    let text = format!("rank 0 {{ {} }} rank 1 {{ {} }}", exchange(1), exchange(0));
    assert_eq!(compact(&parsed(&text)), Ok(()));
}
