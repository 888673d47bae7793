//! Programs written for one question each.

use super::network::{Conditions, End, run};
use crate::engine::{Cause, Options, Waiting};
use goal_lang::{ParseOptions, Program, SourceMap, parse};

fn program(text: &str) -> Program {
    let mut sources = SourceMap::default();
    sources.add("test.goal", std::sync::Arc::new(text.as_bytes().to_vec()));
    parse(&sources, &ParseOptions::default()).program.expect("a valid program")
}

fn conditions(options: Options) -> Conditions {
    Conditions { options, depth: 4, payload_max: 64, ..Conditions::new(1) }
}

#[test]
fn a_receive_of_another_size_names_both_ends() {
    for eager_limit in [0, 1000] {
        let program = program("rank 0 { send 24b to 1 tag 5 } rank 1 { recv 20b from 0 tag 5 }");
        let End::Failed(1, failure) =
            run(&program, &conditions(Options { eager_limit, ..Options::default() }))
        else {
            panic!("must fail on rank 1")
        };
        let Cause::SizeMismatch { source_rank: 0, tag: 5, sent: 24, received: 20, .. } = failure.cause else {
            panic!("{failure}")
        };
    }
}

#[test]
fn division_by_zero_and_unknown_functions_fail() {
    let divided = program("rank 0 { exec divInt32 with 0,8 8,8 }");
    let End::Failed(0, failure) = run(&divided, &conditions(Options::default())) else { panic!("must fail") };
    assert_eq!(failure.cause, Cause::DivisionByZero { element: 0 });
    let unknown = program("rank 0 { exec user 7 with 0,8 8,8 }");
    let End::Failed(0, failure) = run(&unknown, &conditions(Options::default())) else { panic!("must fail") };
    assert_eq!(failure.cause, Cause::UnknownUserFunction(7));
}

#[test]
fn registered_functions_see_the_bytes_of_both_buffers() {
    for (buffers, wanted) in [
        ("0,3 3,3", [1, 2, 3, 11, 22, 33]),
        ("[2,1 0,1] [5,1 3,1]", [1, 2, 3, 11, 20, 33]),
        ("0,6 0,6", [2, 4, 6, 20, 40, 60]),
    ] {
        let text = format!("rank 0 {{ init 0 = UInt8 1 2 3 10 20 30  exec user 1 with {buffers} }}");
        let End::Finished(ends, _) = run(&program(&text), &conditions(Options::default())) else { panic!() };
        assert_eq!(ends[0].0, [wanted], "{buffers}");
    }
}

#[test]
fn a_sender_waits_rather_than_fill_the_receiver() {
    let text = "
        rank 0 { a: send 50b to 1 tag 1  b: send 50b to 1 tag 1  c: send 50b to 1 tag 1  d: send 8b to 1 tag 2
                 b requires a  c requires b  d requires c }
        rank 1 { d: recv 8b from 0 tag 2  a: recv 50b from 0 tag 1  b: recv 50b from 0 tag 1  c: recv 50b from 0 tag 1
                 a requires d  b requires d  c requires d }";
    let options = Options { unexpected_limit: 400, ..Options::default() };
    let End::Stuck(waiting) = run(&program(text), &conditions(options)) else { panic!("must be stuck") };
    assert_eq!(waiting[1], Waiting::Room { refusing: true });
    let End::Finished(_, stats) = run(&program(text), &conditions(Options::default())) else { panic!() };
    assert!(stats.unexpected_max > 400);
}

#[test]
fn a_deadlock_waits_for_messages() {
    let text = "rank 0 { r: recv 8b from 1 s: send 8b to 1 s requires r }
                rank 1 { r: recv 8b from 0 s: send 8b to 0 s requires r }";
    let End::Stuck(waiting) = run(&program(text), &conditions(Options::default())) else { panic!() };
    assert_eq!(waiting, [Waiting::Messages, Waiting::Messages]);
}

#[test]
fn what_nobody_receives_is_counted() {
    let text = "rank 0 { a: send 8b to 1 tag 1 b: send 8b to 1 tag 2 b requires a }
                rank 1 { recv 8b from 0 tag 2 }";
    let End::Finished(_, stats) = run(&program(text), &conditions(Options::default())) else { panic!() };
    assert_eq!((stats.messages, stats.unreceived), (2, 1));
}
