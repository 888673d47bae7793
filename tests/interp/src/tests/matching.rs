use std::collections::HashSet;

use goal_lang::pattern::MessageKey;
use goal_lang::{ANY, BodyBuilder};

use super::*;
use crate::matching::{Content, Envelope, Message, Queues};
use crate::{Eager, Options, Taken, outcomes, run};

fn message(source: u32, tag: u32, sequence: u64) -> Message {
    Message {
        source,
        send: ActionId(0),
        destination: 9,
        tag,
        size: 0,
        sequence,
        content: Content::Pattern,
    }
}

fn envelope(from: u32, tag: u32) -> Envelope {
    Envelope { from, tag }
}

#[test]
fn the_receive_posted_first_takes_the_message() {
    let mut queues = Queues::default();
    let envelopes = [(2, 5), (ANY, 5), (1, ANY), (1, 5), (ANY, ANY)];
    for (nth, (from, tag)) in envelopes.into_iter().enumerate() {
        assert_eq!(queues.post(ActionId(nth as u32), envelope(from, tag)), None);
    }
    let mut taker = |source, tag| queues.arrive(message(source, tag, 0)).map(|(recv, _)| recv.0);
    assert_eq!(taker(1, 5), Some(1));
    assert_eq!(taker(1, 5), Some(2));
    assert_eq!(taker(1, 5), Some(3));
    assert_eq!(taker(1, 5), Some(4));
    assert_eq!(taker(1, 5), None);
    assert_eq!(taker(2, 5), Some(0));
    assert_eq!(queues.unexpected(), 1);
}

#[test]
fn the_message_that_arrived_first_is_taken() {
    let mut queues = Queues::default();
    let arrivals = [(2, 7, 0), (1, 5, 0), (1, 6, 1), (2, 5, 1), (1, 5, 2)];
    for (source, tag, sequence) in arrivals {
        assert_eq!(queues.arrive(message(source, tag, sequence)), None);
    }
    let mut taken = |from, tag| {
        queues
            .post(ActionId(0), envelope(from, tag))
            .map(|message| (message.source, message.sequence))
    };
    assert_eq!(taken(ANY, 5), Some((1, 0)));
    assert_eq!(taken(1, ANY), Some((1, 1)));
    assert_eq!(taken(ANY, ANY), Some((2, 0)));
    assert_eq!(taken(1, 5), Some((1, 2)));
    assert_eq!(taken(1, 5), None);
    assert_eq!(taken(ANY, ANY), Some((2, 1)));
}

/// The paper's Example 2.
#[test]
fn a_reduction() {
    let mut root = BodyBuilder::default();
    let r1 = root.action(recv(buffer(503, 1), 1, 0));
    let r2 = root.action(recv(buffer(504, 1), 2, 0));
    let e1 = root.action(exec(Op::Sum, Datatype::Int8, 501, 503, None, 1));
    let e2 = root.action(exec(Op::Sum, Datatype::Int8, 502, 504, None, 1));
    root.requires(e1, r1);
    root.requires(e2, r2);
    let leaf = || free(&[send(buffer(501, 1), 0, 0)]);
    let mut program =
        program(vec![(root.finish(), &[0; 505]), (leaf(), &[0; 502]), (leaf(), &[0; 502])]);
    program.images[0].init[0].bytes[501..503].copy_from_slice(&[1, 2]);
    program.images[1].init[0].bytes[501] = 10;
    program.images[2].init[0].bytes[501] = 20;
    for seed in 0..goal_filetest::seeds(50) {
        for eager in [Eager::All, Eager::None, Eager::Limit(0), Eager::Limit(1)] {
            let outcome = run(&program, &Options { seed, eager, ..Options::default() }).unwrap();
            assert_eq!(outcome.memory[0][501..], [1, 2, 11, 22]);
            assert_eq!((outcome.messages, outcome.bytes, outcome.verified_bytes), (2, 2, 0));
        }
    }
}

#[test]
fn patterns_are_stored_or_counted() {
    let sender = chain(&[send(bytes(3), 1, 4), send(bytes(5), 1, 6), send(buffer(0, 2), 1, 4)]);
    let receiver = free(&[recv(bytes(3), 0, 4), recv(buffer(1, 5), 0, 6)]);
    let mut receiver_actions = receiver.actions.clone();
    receiver_actions.push(recv(bytes(2), 0, 4));
    let program = program(vec![(sender, &[1, 2]), (chain(&receiver_actions), &[])]);
    let outcome = run(&program, &Options::default()).unwrap();
    let mut wanted = [0; 6];
    MessageKey { source: 0, destination: 1, tag: 6, sequence: 1 }.fill(0, &mut wanted[1..]);
    assert_eq!(outcome.memory[1], wanted);
    assert_eq!((outcome.messages, outcome.bytes, outcome.verified_bytes), (3, 10, 3));
}

#[test]
fn messages_of_no_bytes_to_oneself() {
    let program = program(vec![(free(&[recv(bytes(0), 0, 1), send(bytes(0), 0, 1)]), &[])]);
    for eager in [Eager::All, Eager::None] {
        let outcome = run(&program, &Options { eager, ..Options::default() }).unwrap();
        assert_eq!((outcome.messages, outcome.bytes), (1, 0));
    }
}

#[test]
fn a_message_without_a_receive_is_counted() {
    let program = program(vec![(free(&[send(bytes(8), 0, 1)]), &[])]);
    assert_eq!(run(&program, &Options::default()).unwrap().unreceived, 1);
}

fn listed(program: &Program) -> HashSet<Vec<u8>> {
    let all = outcomes(program, &Options::default(), 10_000).unwrap().unwrap();
    all.into_iter().map(|mut memories| memories.swap_remove(0)).collect()
}

/// Rank 0 receives one byte from each of three ranks.
fn gather(root: Body) -> Program {
    let leaf = || free(&[send(buffer(0, 1), 0, 0)]);
    program(vec![(root, &[0; 3]), (leaf(), &[1]), (leaf(), &[2]), (leaf(), &[3])])
}

#[test]
fn any_source_gives_every_permutation() {
    let actions = [0, 1, 2].map(|addr| recv(buffer(addr, 1), ANY, 0));
    for root in [free(&actions), chain(&actions)] {
        let found = listed(&gather(root));
        assert_eq!(found.len(), 6);
        assert!(found.contains(&vec![3, 1, 2]));
    }
    let named = [1, 2, 3].map(|from| recv(buffer(from - 1, 1), from as u32, 0));
    assert_eq!(listed(&gather(free(&named))), HashSet::from([vec![1, 2, 3]]));
}

#[test]
fn seeds_reach_every_outcome() {
    let program = gather(free(&[0, 1, 2].map(|addr| recv(buffer(addr, 1), ANY, 0))));
    let end = |seed| {
        run(&program, &Options { seed, ..Options::default() }).unwrap().memory.swap_remove(0)
    };
    assert_eq!((0..200).map(end).collect::<HashSet<_>>(), listed(&program));
}

#[test]
fn the_order_of_one_source_is_kept() {
    let two = || chain(&[send(buffer(0, 1), 0, 0), send(buffer(1, 1), 0, 0)]);
    let posted = chain(&[0, 1].map(|addr| recv(buffer(addr, 1), ANY, ANY)));
    let program = program(vec![(posted, &[]), (two(), &[1, 2])]);
    assert_eq!(listed(&program), HashSet::from([vec![1, 2]]));
}

#[test]
fn sends_without_order_are_tried_in_both() {
    let two = free(&[send(buffer(0, 1), 0, 0), send(buffer(1, 1), 0, 0)]);
    let posted = chain(&[0, 1].map(|addr| recv(buffer(addr, 1), 1, 0)));
    let program = program(vec![(posted, &[]), (two, &[1, 2])]);
    assert_eq!(listed(&program), HashSet::from([vec![1, 2], vec![2, 1]]));
}

#[test]
fn start_dependencies_order_the_posting() {
    let mut root = BodyBuilder::default();
    let first = root.action(recv(buffer(0, 1), ANY, 0));
    let second = root.action(recv(buffer(1, 1), 1, 0));
    root.irequires(second, first);
    let leaf = || chain(&[send(buffer(0, 1), 0, 0), send(buffer(1, 1), 0, 0)]);
    let program = program(vec![(root.finish(), &[]), (leaf(), &[1, 2])]);
    assert_eq!(listed(&program), HashSet::from([vec![1, 2]]));
    let outcome = run(&program, &Options::default()).unwrap();
    assert_eq!(outcome.matches.receives[&(0, first)], Taken { source: 1, sequence: 0 });
}

#[test]
fn too_many_states_are_given_up() {
    let program = gather(free(&[0, 1, 2].map(|addr| recv(buffer(addr, 1), ANY, 0))));
    assert_eq!(outcomes(&program, &Options::default(), 3), Ok(None));
}
