use std::rc::Rc;

use goal_lang::{Action, BodyBuilder, Datatype, Op, Payload};

use super::*;
use crate::{Options, run};

fn memory_after(body: Body, init: &[u8]) -> Vec<u8> {
    run(&program(vec![(body, init)]), &Options::default()).unwrap().memory[0].clone()
}

#[test]
fn the_second_buffer_is_the_accumulator() {
    let action = exec(Op::Sub, Datatype::Int8, 0, 1, None, 1);
    assert_eq!(memory_after(free(&[action]), &[9, 4]), [9, 5]);
}

#[test]
fn the_third_buffer_is_the_result() {
    let action = exec(Op::Sub, Datatype::Int8, 0, 1, Some(2), 1);
    assert_eq!(memory_after(free(&[action]), &[9, 4]), [9, 4, 5]);
}

#[test]
fn operands_may_be_the_same_buffer() {
    let same = exec(Op::Sum, Datatype::UInt16, 0, 0, None, 4);
    assert_eq!(memory_after(free(&[same]), &[1, 2, 3, 4]), [2, 4, 6, 8]);
    let into_first = exec(Op::Sub, Datatype::UInt8, 0, 2, Some(0), 2);
    assert_eq!(memory_after(free(&[into_first]), &[9, 8, 1, 2]), [8, 6, 1, 2]);
    let into_second = exec(Op::Sub, Datatype::UInt8, 0, 2, Some(2), 2);
    assert_eq!(memory_after(free(&[into_second]), &[9, 8, 1, 2]), [9, 8, 8, 6]);
}

#[test]
fn copy_ignores_the_old_content() {
    let action = exec(Op::Copy, Datatype::Int32, 0, 4, None, 4);
    assert_eq!(memory_after(free(&[action]), &[1, 2, 3, 4, 9, 9, 9, 9]), [1, 2, 3, 4, 1, 2, 3, 4]);
}

#[test]
fn elements_may_lie_across_pieces() {
    let mut body = BodyBuilder::default();
    // A is bytes 0, 4, 1, 5 (two Int16), B is bytes 6 to 9, C is bytes 2, 3 and 10, 11 in the
    // opposite order.
    let a = body.pieces(&[memory(0, 1), memory(4, 1), memory(1, 1), memory(5, 1)]);
    let b = body.pieces(&[memory(6, 4)]);
    let c = body.pieces(&[memory(10, 1), memory(2, 2), memory(11, 1)]);
    body.action(Action::ExecVector { op: Op::Sum, datatype: Datatype::Int16, operands: [a, b, c] });
    let before = [0xff, 2, 0, 0, 0, 3, 1, 0, 5, 6, 0, 0];
    // 0x00ff + 0x0001 = 0x0100; 0x0302 + 0x0605 = 0x0907.
    assert_eq!(memory_after(body.finish(), &before), [0xff, 2, 1, 7, 0, 3, 1, 0, 5, 6, 0, 9]);
}

#[test]
fn scratch_is_another_memory() {
    let mut body = BodyBuilder::default();
    body.scratch(4);
    let copy = |spaces, a, b| Action::Exec {
        op: Op::Copy,
        datatype: Datatype::Int8,
        spaces,
        has_c: false,
        a,
        b,
        c: 0,
        size: 2,
    };
    use Space::{Memory, Scratch};
    let into = body.action(copy([Memory, Scratch, Memory], 0, 0));
    let out = body.action(copy([Scratch, Memory, Memory], 0, 2));
    body.requires(out, into);
    let program = program(vec![(body.finish(), &[7, 8])]);
    let outcome = run(&program, &Options::default()).unwrap();
    assert_eq!(outcome.memory[0], [7, 8, 7, 8]);
    assert!(outcome.unspecified[0].is_empty());
}

#[test]
fn the_time_and_what_derives_from_it_is_unspecified() {
    let vector = |body: &mut BodyBuilder, pieces: &[Piece]| Payload::Vector(body.pieces(pieces));
    let mut first = BodyBuilder::default();
    let wtime = first.action(Action::Wtime { addr: 0, space: Space::Memory });
    let sum = first.action(exec(Op::Sum, Datatype::Int16, 0, 8, None, 2));
    let payload = vector(&mut first, &[memory(9, 1), memory(12, 1)]);
    let send = first.action(send(payload, 1, 0));
    first.requires(sum, wtime);
    first.requires(send, sum);
    let second = free(&[recv(buffer(0, 2), 0, 0)]);
    let program = program(vec![(first.finish(), &[0; 13]), (second, &[])]);
    let options = Options { wtime: 2.0, ..Options::default() };
    let outcome = run(&program, &options).unwrap();
    assert_eq!(outcome.memory[0][..8], 2f64.to_le_bytes());
    let unspecified: Vec<usize> = (0..13).filter(|&at| outcome.unspecified[0][at]).collect();
    assert_eq!(unspecified, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(outcome.unspecified[1], [true, false]);

    let later = run(&program, &Options { wtime: 3.0, ..options }).unwrap();
    assert_ne!(outcome.memory, later.memory);
    assert_eq!(outcome.first_difference(&later.memory), None);
}

#[test]
fn scratch_that_was_never_written_is_unspecified() {
    let mut body = BodyBuilder::default();
    body.scratch(2);
    body.action(send(Payload::Buffer(scratch(0, 2)), 0, 0));
    body.action(recv(buffer(1, 2), 0, 0));
    let outcome = run(&program(vec![(body.finish(), &[5])]), &Options::default()).unwrap();
    assert_eq!(outcome.unspecified[0], [false, true, true]);
}

#[test]
fn user_functions_are_called_by_number() {
    let mut body = BodyBuilder::default();
    let operands = [body.pieces(&[memory(0, 2)]), body.pieces(&[memory(2, 3)])];
    body.action(Action::User { function: 4, operands });
    let program = program(vec![(body.finish(), &[1, 2, 3, 4, 5])]);
    let mut options = Options::default();
    let function = |a: &mut [u8], b: &mut [u8]| {
        a[0] = b.len() as u8;
        b[2] += a[1];
    };
    options.user_functions.insert(4, Rc::new(function));
    assert_eq!(run(&program, &options).unwrap().memory[0], [3, 2, 3, 4, 7]);
}

#[test]
fn an_expectation_that_is_not_met_is_named() {
    let mut program =
        program(vec![(chain(&[exec(Op::Sum, Datatype::Int16, 0, 2, None, 2)]), &[1, 0, 2, 0])]);
    let datum =
        |addr, bytes: &[u8]| Datum { addr, datatype: Datatype::Int16, bytes: bytes.to_vec() };
    program.images[0].expect = vec![datum(0, &[1, 0, 4, 0]), datum(4, &[0, 0])];
    let mismatches = run(&program, &Options::default()).unwrap().mismatches(&program);
    assert_eq!(mismatches.len(), 1);
    assert_eq!((mismatches[0].rank, mismatches[0].addr), (0, 2));
    assert_eq!(
        (mismatches[0].wanted.as_slice(), mismatches[0].found.as_slice()),
        (&[4, 0][..], &[3, 0][..])
    );
}
