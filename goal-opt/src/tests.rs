use crate::limits::INDEGREE_MAX;
use crate::passes::join;
use crate::*;
use goal_lang::{
    Action, ActionId, Body, BodyBuilder, Datatype, Op, Payload, Placement, Program, ProgramBuilder,
    Space,
};

fn calc(nanos: u64) -> Action {
    Action::Calc { nanos, placement: Placement::default() }
}

/// One action that waits for `n` others, for every third by its start. It comes first.
fn fan_in(n: u64) -> Body {
    let mut builder = BodyBuilder::default();
    let waiter = builder.labelled("waiter", calc(0));
    for i in 0..n {
        let prerequisite = builder.action(calc(i + 1));
        match i % 3 {
            0 => builder.irequires(waiter, prerequisite),
            _ => builder.requires(waiter, prerequisite),
        }
    }
    builder.finish()
}

fn program(body: Body) -> Program {
    let mut builder = ProgramBuilder::default();
    builder.rank_with(body);
    builder.finish()
}

/// The durations of the calcs that must have ended, and of those that must have started, before the
/// waiter of [`fan_in`] starts, through all joins.
fn prerequisites(body: &Body) -> (Vec<u64>, Vec<u64>) {
    let waiter =
        body.ids().find(|&id| body.debug.labels.get(id) == Some("waiter")).expect("a waiter");
    let (by_end, by_start) =
        (body.requires.transposed(body.len()), body.irequires.transposed(body.len()));
    let (mut ends, mut starts, mut todo) = (vec![], vec![], vec![waiter]);
    while let Some(id) = todo.pop() {
        for &prerequisite in by_end.row(id) {
            match body.action(prerequisite) {
                Action::Nop => todo.push(prerequisite),
                Action::Calc { nanos, .. } => ends.push(*nanos),
                other => panic!("{other:?}"),
            }
        }
        for &prerequisite in by_start.row(id) {
            match body.action(prerequisite) {
                Action::Calc { nanos, .. } => starts.push(*nanos),
                other => panic!("{other:?}"),
            }
        }
    }
    ends.sort_unstable();
    starts.sort_unstable();
    (ends, starts)
}

#[test]
fn joins_keep_every_dependency() {
    for n in [65_535, 65_536, 70_000, 200_000] {
        let mut program = program(fan_in(n));
        let before = prerequisites(&program.bodies[0]);
        run(&mut program, &Pipeline::new(Level::O0), &mut Timings::default(), |_, _| {})
            .expect("valid");
        let body = &program.bodies[0];
        assert!(body.indegrees().iter().all(|&indegree| indegree <= INDEGREE_MAX));
        assert!(prerequisites(body) == before, "{n} dependencies");
        let joins = if n > 65_535 { n.div_ceil(65_535) } else { 0 };
        assert_eq!(body.len() as u64, n + 1 + joins);
    }
}

#[test]
fn joins_make_a_tree_of_several_levels() {
    let mut program = program(fan_in(100));
    let before = prerequisites(&program.bodies[0]);
    assert!(join(&mut program.bodies[0], 3));
    assert!(!join(&mut program.bodies[0], 3));
    verify(&program).expect("valid");
    let body = &program.bodies[0];
    assert!(body.indegrees().iter().all(|&indegree| indegree <= 3));
    assert_eq!(prerequisites(body), before);
}

#[test]
fn joins_carry_places() {
    let mut body = fan_in(9);
    body.debug.actions = (0..10).map(|i| i * 100).collect();
    body.debug.requires = (0..body.requires.len() as u64).map(|i| 1000 + i).collect();
    body.debug.irequires = (0..body.irequires.len() as u64).map(|i| 2000 + i).collect();
    let mut program = program(body);
    assert!(join(&mut program.bodies[0], 4));
    assert!(topological(&mut program, &Machine::default()));
    verify(&program).expect("valid");
}

#[test]
fn joins_stand_right_before_their_waiter() {
    let mut builder = BodyBuilder::default();
    let prerequisites: Vec<_> =
        (0..9).map(|i| builder.labelled(&format!("p{i}"), calc(i))).collect();
    let waiter = builder.labelled("waiter", calc(9));
    builder.labelled("behind", calc(10));
    prerequisites.iter().for_each(|&prerequisite| builder.requires(waiter, prerequisite));
    let mut body = builder.finish();
    assert!(join(&mut body, 3));
    let labels: Vec<_> =
        body.ids().map(|id| body.debug.labels.get(id).unwrap_or_default()).collect();
    assert_eq!(labels[9..], ["", "", "", "waiter", "behind"]);
    assert!(body.requires.edges().all(|edge| edge.prerequisite < edge.waiter));
}

#[test]
fn the_topological_layout_is_stable_and_idempotent() {
    let mut builder = BodyBuilder::default();
    let ids: Vec<_> = ["a", "b", "c", "d"]
        .iter()
        .enumerate()
        .map(|(i, l)| builder.labelled(l, calc(i as u64)))
        .collect();
    builder.requires(ids[0], ids[3]);
    builder.irequires(ids[1], ids[2]);
    let mut program = program(builder.finish());
    program.bodies[0].debug.actions = vec![10, 20, 30, 40];
    program.bodies[0].debug.requires = vec![50];
    run(&mut program, &Pipeline::new(Level::O1), &mut Timings::default(), |_, _| {})
        .expect("valid");
    let body = &program.bodies[0];
    let labels: Vec<_> =
        body.ids().map(|id| body.debug.labels.get(id).expect("labelled")).collect();
    assert_eq!(labels, ["d", "c", "b", "a"]);
    assert_eq!(body.debug.actions, [40, 30, 20, 10]);
    assert_eq!(body.requires.row(ActionId(0)), [ActionId(3)]);
    assert_eq!(body.irequires.row(ActionId(1)), [ActionId(2)]);
    let before = program.clone();
    run(&mut program, &Pipeline::new(Level::O1), &mut Timings::default(), |_, _| {})
        .expect("valid");
    assert!(program.bodies[0].same_graph(&before.bodies[0]));
}

#[test]
fn the_verifier_names_what_is_wrong() {
    let exec = |op, datatype, a, b, size| Action::Exec {
        op,
        datatype,
        spaces: [Space::Memory; 3],
        has_c: false,
        a,
        b,
        c: 0,
        size,
    };
    let send = |to, tag| Action::Send {
        payload: Payload::Pattern { size: 1 },
        to,
        tag,
        placement: Placement::default(),
    };
    let marker = |to, tag| Action::Marker { to, tag, placement: Placement::default() };
    let cases = [
        (send(1, 0), "no rank 1"),
        (marker(9_999_998, 0), "no number of a marker"),
        (marker(9_999_999, goal_lang::ANY), "needs a tag"),
        (send(0, goal_lang::ANY), "needs a tag"),
        (exec(Op::Band, Datatype::Float32, 0, 8, 8), "not defined"),
        (exec(Op::Sum, Datatype::Int32, 0, 8, 6), "no whole number"),
        (exec(Op::Sum, Datatype::Int32, 0, 4, 8), "overlap partly"),
        (exec(Op::Sum, Datatype::Int8, u64::MAX, 4, 8), "ends outside"),
        (Action::Wtime { addr: 0, space: Space::Scratch }, "scratch memory"),
    ];
    for (action, wanted) in cases {
        let mut builder = BodyBuilder::default();
        builder.action(action);
        let faults = verify(&program(builder.finish())).expect_err(wanted);
        assert_eq!(faults.count, 1);
        assert!(faults.to_string().contains(wanted), "{faults}");
        assert!(faults.to_string().starts_with("rank 0, action 0: "), "{faults}");
    }
}

#[test]
fn the_verifier_shows_a_cycle() {
    let mut builder = BodyBuilder::default();
    let (a, b) = (builder.labelled("a", calc(1)), builder.labelled("b", calc(2)));
    builder.requires(a, b);
    builder.irequires(b, a);
    let faults = verify(&program(builder.finish())).expect_err("a cycle");
    assert!(faults.to_string().contains("wait for each other: 0 (a), 1 (b)"), "{faults}");
}
