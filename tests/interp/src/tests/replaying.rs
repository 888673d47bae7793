use goal_lang::ANY;

use super::*;
use crate::{Error, Illegal, Matches, Options, Taken, replay};

/// Two messages with tags 0 and 1 from rank 1 to two receives of rank 0.
fn pair(recvs: [Action; 2], ordered: bool) -> Program {
    let root = if ordered { chain(&recvs) } else { free(&recvs) };
    let leaf = chain(&[send(buffer(0, 1), 0, 0), send(buffer(1, 1), 0, 1)]);
    program(vec![(root, &[0; 2]), (leaf, &[1, 2])])
}

fn record(sends: [u64; 2], receives: [u64; 2]) -> Matches {
    let vertex = |rank, nth| (rank, ActionId(nth as u32));
    Matches {
        sends: (0..2).map(|nth| (vertex(1, nth), sends[nth])).collect(),
        receives: (0..2)
            .map(|nth| (vertex(0, nth), Taken { source: 1, sequence: receives[nth] }))
            .collect(),
    }
}

fn end(program: &Program, matches: &Matches) -> Result<Vec<u8>, Illegal> {
    match replay(program, &Options::default(), matches) {
        Ok(outcome) => Ok(outcome.memory[0].clone()),
        Err(Error::Illegal(illegal)) => Err(illegal),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn receives_without_order_may_take_either() {
    let program = pair([recv(buffer(0, 1), ANY, ANY), recv(buffer(1, 1), ANY, ANY)], false);
    assert_eq!(end(&program, &record([0, 1], [0, 1])), Ok(vec![1, 2]));
    assert_eq!(end(&program, &record([0, 1], [1, 0])), Ok(vec![2, 1]));
}

#[test]
fn the_receive_posted_first_must_take_the_first() {
    let mut root = BodyBuilder::default();
    let first = root.action(recv(buffer(0, 1), 1, ANY));
    let second = root.action(recv(buffer(1, 1), 1, ANY));
    root.irequires(second, first);
    let mut program = pair([recv(bytes(1), 1, 0), recv(bytes(1), 1, 1)], false);
    program.bodies[0] = root.finish();
    assert_eq!(end(&program, &record([0, 1], [0, 1])), Ok(vec![1, 2]));
    assert!(matches!(end(&program, &record([0, 1], [1, 0])), Err(Illegal::Impossible(_))));
}

#[test]
fn a_receive_may_pass_over_what_it_does_not_fit() {
    // The first receive takes the second message, since its tag does not fit the first.
    let mut root = BodyBuilder::default();
    let first = root.action(recv(buffer(0, 1), ANY, 1));
    let second = root.action(recv(buffer(1, 1), ANY, ANY));
    root.irequires(second, first);
    let mut program = pair([recv(bytes(1), 1, 0), recv(bytes(1), 1, 1)], false);
    program.bodies[0] = root.finish();
    assert_eq!(end(&program, &record([0, 1], [1, 0])), Ok(vec![2, 1]));
}

#[test]
fn dependencies_of_sends_hold() {
    let program = pair([recv(buffer(0, 1), ANY, ANY), recv(buffer(1, 1), ANY, ANY)], false);
    assert!(matches!(end(&program, &record([1, 0], [0, 1])), Err(Illegal::Impossible(_))));
}

#[test]
fn records_that_do_not_fit_the_program() {
    let program = pair([recv(buffer(0, 1), 1, 0), recv(buffer(1, 1), 1, 1)], true);
    assert_eq!(end(&program, &record([0, 1], [0, 1])), Ok(vec![1, 2]));
    assert!(matches!(end(&program, &record([0, 1], [1, 0])), Err(Illegal::Envelope { .. })));
    assert!(matches!(end(&program, &record([0, 1], [0, 0])), Err(Illegal::NoSuchMessage { .. })));
    assert!(matches!(end(&program, &record([0, 1], [0, 2])), Err(Illegal::NoSuchMessage { .. })));
    assert!(matches!(end(&program, &record([0, 2], [0, 2])), Err(Illegal::Order(_))));
    assert!(matches!(end(&program, &record([1, 1], [0, 1])), Err(Illegal::Order(_))));
    let mut matches = record([0, 1], [0, 1]);
    matches.receives.remove(&(0, ActionId(1)));
    assert!(matches!(end(&program, &matches), Err(Illegal::Missing(_))));
}
