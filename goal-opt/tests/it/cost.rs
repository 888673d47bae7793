//! The cost model on programs of many messages.

use goal_lang::{ParseOptions, SourceMap};
use goal_opt::Machine;
use goal_opt::cost::predict;
use std::sync::Arc;

/// All ranks send to one, whose processor takes one message after the other. A simulation that
/// looked at all waiting messages for each of them would take hours.
#[test]
fn many_messages_wait_for_one_processor() {
    let ranks = 200_000;
    let mut text = format!("num_ranks {ranks} rank 0 {{\n");
    (1..ranks).for_each(|rank| text += &format!("recv 1b from {rank}\n"));
    text += "}\n";
    (1..ranks).for_each(|rank| text += &format!("rank {rank} {{ send 1b to 0 }}\n"));
    let mut sources = SourceMap::default();
    sources.add("gather.goal", Arc::new(text.into_bytes()));
    let program = goal_lang::parse(&sources, &ParseOptions::default()).program.expect("a program");
    let machine = Machine::parse("L=10,o=5,g=0,G=0,O=0,S=1").expect("a machine");
    let finish_ns = predict(&program, &machine).expect("it ends").finish_ns;
    assert_eq!(finish_ns[0], 15.0 + 5.0 * f64::from(ranks - 1));
    assert!(finish_ns[1..].iter().all(|&ns| ns == 5.0));
}
