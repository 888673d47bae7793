use goal_lang::{ANY, BodyBuilder};

use super::*;
use crate::{Cause, Eager, Error, Failure, Options, Wait, outcomes, run};

fn failure(program: &Program) -> Failure {
    match run(program, &Options::default()) {
        Err(Error::Failure(failure)) => failure,
        other => panic!("{other:?}"),
    }
}

fn one(body: Body) -> Program {
    program(vec![(body, &[0; 16])])
}

#[test]
fn a_size_mismatch_names_both_ends() {
    let program = program(vec![
        (free(&[send(bytes(8), 1, 3)]), &[]),
        (free(&[recv(bytes(9), ANY, ANY)]), &[]),
    ]);
    let failure = failure(&program);
    assert_eq!(
        failure.to_string(),
        "rank 1, action 0: receives 9 bytes, but the message of rank 0, action 0 has 8"
    );
}

#[test]
fn labels_and_lines_are_named() {
    let mut body = BodyBuilder::default();
    body.labelled("halve", exec(Op::Div, Datatype::Int32, 0, 4, None, 4));
    let mut body = body.finish();
    body.debug.lines = vec![12];
    let failure = failure(&one(body));
    assert_eq!(failure.cause, Cause::DivisionByZero { element: 0 });
    assert_eq!(
        failure.to_string(),
        "rank 0, action 0 `halve`, line 12: element 0 is divided by zero"
    );
}

#[test]
fn operands_that_do_not_fit() {
    let overlap = exec(Op::Sum, Datatype::Int8, 0, 1, None, 2);
    assert_eq!(failure(&one(free(&[overlap]))).cause, Cause::PartialOverlap);
    let overlap = exec(Op::Sum, Datatype::Int8, 0, 4, Some(5), 2);
    assert_eq!(failure(&one(free(&[overlap]))).cause, Cause::PartialOverlap);
    let odd = exec(Op::Sum, Datatype::Int16, 0, 4, None, 3);
    assert_eq!(failure(&one(free(&[odd]))).cause, Cause::OperandSize(vec![3, 3]));
    let float8 = exec(Op::Sum, Datatype::Float8, 0, 4, None, 1);
    assert_eq!(failure(&one(free(&[float8]))).cause, Cause::IllegalOperation);
    let bitwise = exec(Op::Band, Datatype::Float32, 0, 4, None, 4);
    assert_eq!(failure(&one(free(&[bitwise]))).cause, Cause::IllegalOperation);
}

#[test]
fn what_is_not_there() {
    assert_eq!(failure(&one(free(&[send(bytes(1), 1, 0)]))).cause, Cause::PeerOutOfRange(1));
    let past = send(Payload::Buffer(scratch(u64::MAX, 8)), 0, 0);
    assert_eq!(failure(&one(free(&[past]))).cause, Cause::ScratchOutOfRange(0));
    let mut body = BodyBuilder::default();
    let operand = body.pieces(&[memory(0, 1)]);
    body.action(Action::User { function: 3, operands: [operand, operand] });
    assert_eq!(failure(&one(body.finish())).cause, Cause::UnknownUserFunction(3));
}

#[test]
fn two_ranks_that_receive_first_are_stuck() {
    let side = |peer| chain(&[recv(bytes(4), peer, 0), send(bytes(4), peer, 0), Action::Nop]);
    let program = program(vec![(side(1), &[]), (side(0), &[])]);
    let Err(Error::Stuck(stuck)) = run(&program, &Options::default()) else { panic!("it ends") };
    let waits: Vec<_> =
        stuck.waiting.iter().map(|w| (w.place.rank, w.place.action.0, &w.wait)).collect();
    assert_eq!(waits[0], (0, 0, &Wait::Message { from: 1, tag: 0 }));
    assert_eq!(waits[1], (1, 0, &Wait::Message { from: 0, tag: 0 }));
    assert_eq!(waits[2], (0, 1, &Wait::Ends(vec![ActionId(0)])));
    assert_eq!(waits.len(), 6);
    assert!(matches!(outcomes(&program, &Options::default(), 100), Err(Error::Stuck(_))));
}

#[test]
fn two_ranks_that_send_first_depend_on_the_eager_limit() {
    let side = |peer| chain(&[send(bytes(4), peer, 0), recv(bytes(4), peer, 0)]);
    let program = program(vec![(side(1), &[]), (side(0), &[])]);
    let with = |eager| run(&program, &Options { eager, ..Options::default() });
    assert!(with(Eager::All).is_ok());
    assert!(with(Eager::Limit(4)).is_ok());
    for eager in [Eager::None, Eager::Limit(3)] {
        let Err(Error::Stuck(stuck)) = with(eager) else { panic!("it ends") };
        assert_eq!(stuck.waiting[0].wait, Wait::Receive { to: 1, tag: 0 });
    }
}

#[test]
fn a_cycle_is_stuck() {
    let mut body = BodyBuilder::default();
    let a = body.action(Action::Nop);
    let b = body.action(Action::Nop);
    body.requires(a, b);
    body.irequires(b, a);
    let program = one(body.finish());
    let Err(Error::Stuck(stuck)) = run(&program, &Options::default()) else { panic!("it ends") };
    assert_eq!(stuck.waiting[0].wait, Wait::Ends(vec![b]));
    assert_eq!(stuck.waiting[1].wait, Wait::Starts(vec![a]));
    assert!(matches!(outcomes(&program, &Options::default(), 100), Err(Error::Stuck(_))));
}
