use super::*;
use goal_interp::{Eager, Options};
use goal_lang::{
    ANY, Action, BodyBuilder, Payload, Piece, Placement, Program, ProgramBuilder, Space,
};
use std::collections::BTreeMap;

fn piece(addr: u64, size: u64) -> Payload {
    Payload::Buffer(Piece { addr, size, space: Space::Memory })
}

fn send(size: u64, to: u32, tag: u32) -> Action {
    Action::Send { payload: piece(0, size), to, tag, placement: Placement::default() }
}

fn recv(size: u64, from: u32, tag: u32) -> Action {
    Action::Recv { payload: piece(64, size), from, tag, placement: Placement::default() }
}

/// A program whose ranks execute one action after the other.
fn chains(ranks: &[&[Action]]) -> Program {
    let mut program = ProgramBuilder::default();
    for actions in ranks {
        let mut body = BodyBuilder::default();
        let ids: Vec<_> = actions.iter().map(|&action| body.action(action)).collect();
        ids.windows(2).for_each(|pair| body.requires(pair[1], pair[0]));
        program.rank_with(body.finish());
    }
    program.finish()
}

fn trace(program: &Program, eager_limit: u64) -> Trace {
    Run::new(&Whole::new(program).expect("few actions")).finish(eager_limit)
}

#[test]
fn an_exchange_works_from_the_size_of_its_smaller_message_on() {
    let program = chains(&[&[send(40, 1, 0), recv(24, 1, 0)], &[send(24, 0, 0), recv(40, 0, 0)]]);
    let ended = trace(&program, 1 << 20);
    assert!(ended.is_complete());
    assert_eq!(ended.least_eager_limit, 24);
    let stuck = trace(&program, 23);
    assert!(!stuck.is_complete());
    assert!(
        stuck.order.is_empty() && stuck.has_started(Vertex(0)) && !stuck.has_started(Vertex(1))
    );
    assert_eq!(stuck.least_eager_limit, 0);
}

#[test]
fn messages_of_a_source_and_tag_are_received_in_order() {
    let program = chains(&[
        &[send(8, 1, 5), send(8, 1, 5), send(8, 1, 6)],
        &[recv(8, 0, 6), recv(8, 0, 5), recv(8, 0, 5)],
    ]);
    let trace = trace(&program, 8);
    assert!(trace.is_complete());
    assert_eq!(trace.partner, [4, 5, 3, 2, 0, 1].map(Vertex));
    assert_eq!(trace.least_eager_limit, 8);
}

#[test]
fn a_wildcard_takes_the_first_message_that_fits() {
    let program = chains(&[
        &[recv(8, ANY, 2), recv(8, 1, ANY), recv(8, ANY, ANY)],
        &[send(8, 0, 1), send(8, 0, 2), send(8, 0, 3)],
    ]);
    let trace = trace(&program, 8);
    assert!(trace.is_complete() && trace.has_wildcards);
    assert_eq!(trace.partner, [4, 3, 5, 1, 0, 2].map(Vertex));
}

#[test]
fn the_order_is_one_that_the_dependencies_allow() {
    for seed in 0..goal_filetest::seeds(500) {
        let program = goal_smith::program(seed, &goal_smith::Shape::varied(seed));
        let whole = Whole::new(&program).expect("few actions");
        let trace = Run::new(&whole).finish(0);
        assert!(trace.is_complete(), "seed {seed}");
        let mut place = vec![usize::MAX; whole.len()];
        for (at, vertex) in trace.order.iter().enumerate() {
            place[vertex.index()] = at;
        }
        for vertex in whole.vertices() {
            for waiter in whole.requires(vertex) {
                assert!(place[vertex.index()] < place[waiter.index()], "seed {seed}");
            }
            if let Action::Send { .. } | Action::Recv { .. } = whole.action(vertex) {
                let partner = trace.partner[vertex.index()];
                assert_eq!(trace.partner[partner.index()], vertex, "seed {seed}");
            }
        }
    }
}

/// Every run matches the messages that are reported as unique in the same way.
#[test]
fn unique_messages_are_the_same_in_every_run() {
    let mut unique = 0;
    let mut ambiguous = 0;
    for seed in 0..goal_filetest::seeds(400) {
        let mut shape = goal_smith::Shape::varied(seed);
        shape.outcomes_may_differ = seed % 2 == 0;
        let program = goal_smith::program(seed, &shape);
        let whole = Whole::new(&program).expect("few actions");
        let trace = Run::new(&whole).finish(u64::MAX);
        assert!(trace.is_complete(), "seed {seed}");
        let partners = unique_partners(&whole, &trace);
        for run in 0..6 {
            let options = Options { seed: run, eager: Eager::All, ..Options::default() };
            let Ok(outcome) = goal_interp::run(&program, &options) else { continue };
            let sends: BTreeMap<_, _> = (outcome.matches.sends.iter())
                .map(|(&(rank, id), &number)| {
                    ((rank, destination(&program, rank, id), number), (rank, id))
                })
                .collect();
            for (&(rank, id), taken) in &outcome.matches.receives {
                let recv = whole.vertex(rank, id);
                let (source, send) = sends[&(taken.source, rank, taken.sequence)];
                match partners[recv.index()].some() {
                    Some(partner) => {
                        unique += 1;
                        assert_eq!(partner, whole.vertex(source, send), "seed {seed}, {rank} {id}");
                    }
                    None => ambiguous += 1,
                }
            }
        }
    }
    assert!(unique > 1000 && ambiguous > 100, "{unique} unique, {ambiguous} ambiguous");
}

fn destination(program: &Program, rank: u32, id: goal_lang::ActionId) -> u32 {
    match *program.body_of(rank).action(id) {
        goal_lang::Action::Send { to, .. } => to,
        other => panic!("{other:?} is no send"),
    }
}
