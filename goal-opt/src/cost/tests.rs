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
    // The end of the send takes L to be known.
    assert_eq!(finish_ns(text, "L=10,o=5,g=0,G=1,O=0,S=99")[0], 10015.0);
}

#[test]
fn a_receive_of_another_size_has_no_prediction() {
    let text = "num_ranks 2
        rank 0 { a: send 0,8 to 1 b: calc 5 b requires a }
        rank 1 { a: calc 900 b: recv 0,99 from 0 b requires a }";
    let machine = Machine::parse("L=10,o=5,g=0,G=0,O=0,S=8").expect("a machine");
    let unequal = ModelError::Unequal { send: 0, receive: 3 };
    assert_eq!(predict(&program(text), &machine), Err(CostError::Model(unequal)));
}

#[test]
fn what_does_not_end_has_no_finish() {
    let text = "num_ranks 1 rank 0 { a: send 0,100 to 0 b: recv 100,100 from 0 b requires a }";
    let machine = Machine::parse("S=99").expect("a machine");
    assert_eq!(predict(&program(text), &machine), Err(CostError::Stuck(2, 99)));
}

fn chains(text: &str, machine: &str) -> ([u64; 2], [f64; 2]) {
    let machine = Machine::parse(machine).expect("a machine");
    let Chains { depth, critical_path_ns } =
        longest_chains(&program(text), &machine).expect("it ends");
    let (depth, path) = (depth, critical_path_ns);
    ([depth.length, depth.rank.into()], [path.length, path.rank.into()])
}

/// A message costs 2 * 5 + 10 + 99 ns, and its sender 5 ns.
const SMALL: &str = "L=10,o=5,g=0,G=1,O=0,S=1";

#[test]
fn chains_lead_through_messages() {
    let text = "num_ranks 3
        rank 0 { a: calc 100 b: send 100b to 1 b requires a c: calc 50 c requires b }
        rank 1 { a: calc 7 b: recv 100b from 0 b requires a c: send 1b to 2 c requires b }
        rank 2 { a: recv 1b from 1 b: calc 9 b requires a }";
    assert_eq!(chains(text, SMALL), ([6, 2], [100.0 + 119.0 + 20.0 + 9.0, 2.0]));
    assert_eq!(chains(text, "L=0,o=0,g=0,G=0"), ([6, 2], [150.0, 0.0]));
}

#[test]
fn what_waits_for_the_start_of_a_receive_does_not_wait_for_its_message() {
    let text = |kind| {
        format!(
            "num_ranks 2
        rank 0 {{ a: calc 100 b: send 1b to 1 b requires a }}
        rank 1 {{ a: recv 1b from 0 b: calc 110 b {kind} a }}"
        )
    };
    assert_eq!(chains(&text("requires"), SMALL), ([4, 1], [230.0, 1.0]));
    assert_eq!(chains(&text("irequires"), SMALL), ([3, 1], [120.0, 1.0]));
}

#[test]
fn a_ring_is_as_deep_as_its_ranks() {
    let mut text = "num_ranks 1000 rank 0 { a: send 1b to 1 b: recv 1b from 999 }".to_owned();
    for rank in 1..1000 {
        let (from, to) = (rank - 1, (rank + 1) % 1000);
        text +=
            &format!("rank {rank} {{ a: recv 1b from {from} b: send 1b to {to} b requires a }}\n");
    }
    assert_eq!(chains(&text, SMALL), ([2000, 0], [20_000.0, 0.0]));
}

#[test]
fn programs_without_an_end_or_an_action_have_short_chains() {
    assert_eq!(chains("num_ranks 2", SMALL), ([0, 0], [0.0, 0.0]));
    let stuck = program("num_ranks 1 rank 0 { recv 1b from 0 }");
    let machine = Machine::default();
    assert_eq!(longest_chains(&stuck, &machine), Err(CostError::Stuck(1, u64::MAX)));
}
