//! Messages that are merged, and messages that are not.

use crate::{Machine, Pipeline, Timings, run};
use goal_interp::{Eager, Options, outcomes};
use goal_lang::{
    Action, ActionId, Body, BodyBuilder, Datatype, Datum, MemoryImage, Payload, Piece, Placement,
    Program, ProgramBuilder, Space,
};

fn buffer(addr: u64, size: u64) -> Payload {
    Payload::Buffer(Piece { addr, size, space: Space::Memory })
}

fn send(to: u32, tag: u32, payload: Payload) -> Action {
    Action::Send { payload, to, tag, placement: Placement::default() }
}

fn recv(from: u32, tag: u32, payload: Payload) -> Action {
    Action::Recv { payload, from, tag, placement: Placement::default() }
}

fn program(bodies: impl IntoIterator<Item = BodyBuilder>) -> Program {
    let mut program = ProgramBuilder::default();
    for body in bodies {
        let datum = Datum { addr: 0, datatype: Datatype::UInt8, bytes: (1..=64).collect() };
        let image = program.image(MemoryImage { init: vec![datum], ..MemoryImage::default() });
        let body = program.body(body.finish());
        program.rank(body, Some(image));
    }
    program.finish()
}

fn coalesced(program: &Program, spec: &str, eager_limit: u64) -> Program {
    let mut after = program.clone();
    let pipeline = Pipeline { eager_limit, ..Pipeline::parse(spec).expect("a pass") };
    run(&mut after, &pipeline, &mut Timings::default(), |_, _| {}).expect("a program");
    after
}

fn messages(body: &Body) -> Vec<u64> {
    let payloads = body.actions.iter().filter_map(|action| match *action {
        Action::Send { payload, .. } | Action::Recv { payload, .. } => {
            Some(body.payload_size(payload))
        }
        _ => None,
    });
    payloads.collect()
}

/// Rank 0 sends `sizes` to rank 1, all with the same tag or each with its own.
fn parts(sizes: &[u64], same_tag: bool) -> Program {
    let mut bodies = [BodyBuilder::default(), BodyBuilder::default()];
    for (at, &size) in sizes.iter().enumerate() {
        let (tag, at) = (if same_tag { 0 } else { at as u32 }, at as u64);
        bodies[0].action(send(1, tag, buffer(8 * at, size)));
        bodies[1].action(recv(0, tag, buffer(100 + 8 * at, size)));
    }
    program(bodies)
}

#[test]
fn bundles_are_as_large_as_allowed() {
    for same_tag in [false, true] {
        let before = parts(&[4, 4, 4, 8, 4, 4, 4], same_tag);
        let sizes = |spec, limit| messages(coalesced(&before, spec, limit).body_of(1));
        assert_eq!(sizes("coalesce(size=12)", 1 << 16), [12, 12, 8]);
        assert_eq!(sizes("coalesce(size=4)", 1 << 16), [4, 4, 4, 8, 4, 4, 4]);
        assert_eq!(sizes("coalesce", 1 << 16), [32]);
        assert_eq!(sizes("coalesce", 12), [12, 12, 8]);
        assert_eq!(sizes("coalesce", 0), [4, 4, 4, 8, 4, 4, 4]);
    }
}

#[test]
fn the_machine_says_what_is_small() {
    let machine = |text| super::default_size(&Machine::parse(text).expect("a machine"));
    assert_eq!(machine("L=1000,o=500,G=2"), 1000);
    assert_eq!(machine("L=1000,o=500,G=1,O=0.5"), 1000);
    assert_eq!(machine("G=0,O=0"), u64::MAX);
}

/// Messages of one tag that become ready together match in any order before the pass, and in that
/// of the layout afterwards.
#[test]
fn of_the_outcomes_that_the_order_of_messages_allows_one_stays() {
    let before = parts(&[8, 8, 8], true);
    let after = coalesced(&before, "coalesce(size=16)", 1 << 16);
    assert_eq!(messages(after.body_of(0)), [16, 8]);
    let all =
        |program| outcomes(program, &Options::default(), 10_000).expect("they end").expect("few");
    let (allowed, found) = (all(&before), all(&after));
    assert!(allowed.len() > 1 && found.len() == 1 && found.is_subset(&allowed));
}

/// A channel stays if some of its messages wait for more than others and their order isn't known.
#[test]
fn other_prerequisites_are_another_readiness() {
    for (is_ordered, expected) in [(false, vec![4, 4, 4, 4, 4]), (true, vec![8, 4, 8])] {
        let mut bodies = [BodyBuilder::default(), BodyBuilder::default()];
        let mut last: Option<[ActionId; 2]> = None;
        for at in 0..4 {
            let ends = [
                bodies[0].action(send(1, 0, buffer(8 * at, 4))),
                bodies[1].action(recv(0, 0, buffer(100 + 8 * at, 4))),
            ];
            if at == 1 {
                let other = bodies[1].action(send(0, 0, buffer(0, 4)));
                bodies[1].requires(other, ends[1]);
                let other = bodies[0].action(recv(1, 0, buffer(200, 4)));
                last = Some([other, ends[1]]);
            }
            if at > 1
                && let Some([recv, first]) = last
            {
                bodies[0].requires(ends[0], recv);
                if is_ordered {
                    bodies[0].requires(ends[0], ActionId(0));
                    bodies[0].requires(ends[0], ActionId(1));
                    bodies[1].requires(ends[1], ActionId(0));
                    bodies[1].requires(ends[1], first);
                }
            }
        }
        let after = coalesced(&program(bodies), "coalesce", 1 << 16);
        assert_eq!(messages(after.body_of(0)), expected, "in order: {is_ordered}");
    }
}

/// A rank answers the first message before it takes the second, whose sender waits for the answer:
/// a merged message would never be sent.
#[test]
fn messages_that_are_in_order_stay_apart() {
    let mut bodies = [BodyBuilder::default(), BodyBuilder::default()];
    bodies[0].action(send(1, 0, buffer(0, 4)));
    let answer = bodies[0].action(recv(1, 0, buffer(200, 4)));
    let second = bodies[0].action(send(1, 1, buffer(8, 4)));
    bodies[0].requires(second, answer);
    let first = bodies[1].action(recv(0, 0, buffer(100, 4)));
    let answer = bodies[1].action(send(0, 0, buffer(0, 4)));
    bodies[1].requires(answer, first);
    bodies[1].action(recv(0, 1, buffer(104, 4)));
    let after = coalesced(&program(bodies), "coalesce", 1 << 16);
    assert_eq!(messages(after.body_of(1)), [4, 4, 4]);
    goal_interp::run(&after, &Options { eager: Eager::None, ..Options::default() })
        .expect("it ends");
}

/// The pattern that a receive stores depends on the number of messages before it.
#[test]
fn stored_patterns_keep_their_numbers() {
    let with_pattern = |received: Payload| {
        let mut bodies = [BodyBuilder::default(), BodyBuilder::default()];
        for at in 0..3 {
            let (tag, pattern) = (at as u32, Payload::Pattern { size: 4 });
            bodies[0].action(send(1, tag, if at == 2 { pattern } else { buffer(8 * at, 4) }));
            bodies[1].action(recv(
                0,
                tag,
                if at == 2 { received } else { buffer(100 + 8 * at, 4) },
            ));
        }
        messages(coalesced(&program(bodies), "coalesce", 1 << 16).body_of(1))
    };
    assert_eq!(with_pattern(Payload::Pattern { size: 4 }), [8, 4]);
    assert_eq!(with_pattern(buffer(200, 4)), [4, 4, 4]);
}
