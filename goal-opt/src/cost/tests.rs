use super::*;
use goal_lang::{ParseOptions, SourceMap};
use std::sync::Arc;

fn program(text: &str) -> Program {
    let mut sources = SourceMap::default();
    sources.add("test.goal", Arc::new(text.as_bytes().to_vec()));
    goal_lang::parse(&sources, &ParseOptions::default()).program.expect("a program")
}

fn finish_ns(text: &str, machine: &str) -> Vec<f64> {
    predict(&program(text), &Machine::parse(machine).expect("a machine"))
        .expect("it ends")
        .finish_ns
}

const MACHINE: &str = "L=2500,o=1500,g=1000,G=6,O=0,S=65535";

#[test]
fn one_message_costs_what_the_model_says() {
    let text = "num_ranks 2 rank 0 { send 0,8 to 1 } rank 1 { recv 0,8 from 0 }";
    let machine = Machine::parse(MACHINE).expect("a machine");
    let prediction = predict(&program(text), &machine).expect("it ends");
    assert_eq!(prediction.finish_ns, [1500.0, machine.message_ns(8)]);
    assert_eq!(prediction.makespan_ns(), 5542.0);
}

#[test]
fn a_local_operation_costs_what_its_bytes_do_on_the_wire() {
    let text = "num_ranks 1 rank 0 { a: exec copyInt8 with 0,100 100,100 b: calc 7 b requires a }";
    assert_eq!(finish_ns(text, MACHINE), [607.0]);
}

#[test]
fn a_large_message_waits_for_its_receive() {
    let text = "num_ranks 2
        rank 0 { a: send 0,100 to 1 b: calc 5 b requires a }
        rank 1 { a: calc 10000 cpu 1 b: recv 0,100 from 0 b requires a }";
    assert_eq!(finish_ns(text, "L=10,o=5,g=0,G=1,O=0,S=100"), [10.0, 10000.0]);
    assert_eq!(finish_ns(text, "L=10,o=5,g=0,G=1,O=0,S=99")[0], 10005.0);
}

#[test]
fn what_does_not_end_has_no_finish() {
    let text = "num_ranks 1 rank 0 { a: send 0,100 to 0 b: recv 100,100 from 0 b requires a }";
    let machine = Machine::parse("S=99").expect("a machine");
    assert_eq!(predict(&program(text), &machine), Err(CostError::Stuck(2, 99)));
}
