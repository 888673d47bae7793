use super::*;
use crate::verify;
use goal_lang::{Action, BodyBuilder, Payload, Placement, ProgramBuilder};
use goal_smith::Shape;

fn calc(nanos: u64) -> Action {
    Action::Calc { nanos, placement: Placement::default() }
}

fn send(size: u64, to: u32, tag: u32) -> Action {
    Action::Send { payload: Payload::Pattern { size }, to, tag, placement: Placement::default() }
}

fn recv(size: u64, from: u32, tag: u32) -> Action {
    Action::Recv { payload: Payload::Pattern { size }, from, tag, placement: Placement::default() }
}

fn labels(body: &Body) -> Vec<&str> {
    body.ids().map(|id| body.debug.labels.get(id).expect("labelled")).collect()
}

#[test]
fn a_send_that_a_chain_across_ranks_waits_for_comes_first() {
    let mut program = ProgramBuilder::default();
    let mut first = BodyBuilder::default();
    first.labelled("bulk", send(1 << 20, 2, 0));
    first.labelled("small", send(8, 1, 0));
    program.rank_with(first.finish());
    let mut second = BodyBuilder::default();
    let (got, work) =
        (second.labelled("got", recv(8, 0, 0)), second.labelled("work", calc(1_000_000)));
    second.requires(work, got);
    program.rank_with(second.finish());
    let mut third = BodyBuilder::default();
    third.labelled("got", recv(1 << 20, 0, 0));
    program.rank_with(third.finish());
    let mut program = program.finish();
    assert!(topological(&mut program, &Machine::default()));
    assert_eq!(labels(&program.bodies[0]), ["small", "bulk"]);
    // On a machine with a slower wire the order is the opposite.
    let slow = Machine { gap_per_byte_ns: 10.0, ..Machine::default() };
    assert!(topological(&mut program, &slow));
    assert_eq!(labels(&program.bodies[0]), ["bulk", "small"]);
}

#[test]
fn what_a_long_path_waits_for_comes_first_and_equals_stay() {
    let mut builder = BodyBuilder::default();
    let short = builder.labelled("short", calc(5));
    builder.labelled("a", calc(10));
    let b = builder.labelled("b", calc(10));
    let last = builder.labelled("last", calc(1));
    builder.requires(last, b);
    builder.irequires(short, last);
    let mut program = ProgramBuilder::default();
    program.rank_with(builder.finish());
    let mut program = program.finish();
    assert!(topological(&mut program, &Machine::default()));
    assert_eq!(labels(&program.bodies[0]), ["b", "a", "last", "short"]);
}

#[test]
fn messages_that_could_be_taken_for_each_other_keep_their_order() {
    let with = |tags: [u32; 2], receives: [Action; 2]| {
        let mut program = ProgramBuilder::default();
        let mut first = BodyBuilder::default();
        first.labelled("idle", send(8, 1, tags[0]));
        let wanted = first.labelled("wanted", send(8, 1, tags[1]));
        let after = first.labelled("after", calc(1_000_000));
        first.requires(after, wanted);
        program.rank_with(first.finish());
        let mut second = BodyBuilder::default();
        for receive in receives {
            second.action(receive);
        }
        program.rank_with(second.finish());
        let mut program = program.finish();
        topological(&mut program, &Machine::default());
        labels(&program.bodies[0]).join(" ")
    };
    assert_eq!(with([0, 1], [recv(8, 0, 0), recv(8, 0, 1)]), "wanted after idle");
    assert_eq!(with([0, 0], [recv(8, 0, 0), recv(8, 0, 0)]), "idle wanted after");
    assert_eq!(with([0, 1], [recv(8, 0, 0), recv(8, 0, goal_lang::ANY)]), "idle wanted after");
}

/// By kind of message end, peer and tag, the labels in the order of the layout.
fn by_channel(body: &Body) -> Vec<(bool, u32, u32, Vec<u64>)> {
    let mut channels: Vec<(bool, u32, u32, Vec<u64>)> = Vec::new();
    for (index, action) in body.actions.iter().enumerate() {
        let key = match *action {
            Action::Send { to, tag, .. } => (true, to, tag),
            Action::Recv { from, tag, .. } => (false, from, tag),
            _ => continue,
        };
        let found = channels.iter().position(|channel| (channel.0, channel.1, channel.2) == key);
        let at = found.unwrap_or_else(|| {
            channels.push((key.0, key.1, key.2, Vec::new()));
            channels.len() - 1
        });
        channels[at].3.push(body.debug.actions[index]);
    }
    channels.sort();
    channels
}

#[test]
fn random_programs_come_out_in_order_and_stay_so() {
    let machine = Machine::default();
    let mut moved = 0;
    for seed in 0..goal_filetest::seeds(600) {
        let shape = if seed % 2 == 0 { Shape::several_outcomes() } else { Shape::varied(seed) };
        let mut program = goal_smith::program(seed, &shape);
        for body in &mut program.bodies {
            forward(body);
            body.debug.actions = (0..body.len() as u64).collect();
        }
        let before = program.clone();
        topological(&mut program, &machine);
        verify(&program).unwrap_or_else(|faults| panic!("seed {seed}: {faults}"));
        for (body, before) in program.bodies.iter().zip(&before.bodies) {
            let edges = || body.requires.edges().chain(body.irequires.edges());
            assert!(edges().all(|edge| edge.prerequisite < edge.waiter), "seed {seed}");
            assert_eq!(by_channel(body), by_channel(before), "seed {seed}");
            moved += usize::from(!body.same_graph(before));
        }
        assert!(!topological(&mut program, &machine), "seed {seed}: not idempotent");
    }
    assert!(moved > 600, "only {moved} bodies changed");
}
