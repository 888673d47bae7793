//! Tests a long chain of messages on a network that loses some. Each lost frame is requested soon,
//! and not behind the many messages that nobody has sent yet.

use crate::bench::{Bench, nisa, outcome};
use crate::{FRAGMENT, wiring};
use goal_cluster::{Cluster, Faults, Switch};
use goal_kernel::Plan;
use goal_kernel::layout::Counter;
use goal_lang::{ParseOptions, SourceMap};
use std::fmt::Write;
use std::sync::Arc;
use std::time::Instant;

const MESSAGES: u32 = 1500;

#[test]
fn lost_frames_of_a_long_chain_are_asked_for_soon() {
    let faults = Faults { lost: 50_000, ..Faults::default() };
    let test = "lost_frames_of_a_long_chain_are_asked_for_soon";
    let Some(cluster) = Cluster::or_skip(test, &wiring(2, Switch::Faulty(faults, 1))) else {
        return;
    };
    // Two ranks send a token to and fro.
    let mut text = "num_ranks 2\n".to_owned();
    for rank in 0..2 {
        writeln!(text, "rank {rank} {{").unwrap();
        for message in 0..MESSAGES {
            let peer = 1 - rank;
            let what = if message % 2 == rank { "send 0,8 to" } else { "recv 0,8 from" };
            writeln!(text, "  m{message}: {what} {peer};").unwrap();
            if let Some(before) = message.checked_sub(1) {
                writeln!(text, "  requ m{message} -> m{before};").unwrap();
            }
        }
        text.push_str("}\n");
    }
    let mut sources = SourceMap::default();
    sources.add("chain.goal", Arc::new(text.into_bytes()));
    let program = goal_lang::parse(&sources, &ParseOptions::default()).program.expect("valid");
    let plan = Plan::of(&nisa(&program), FRAGMENT).unwrap();
    let mut bench = Bench::new(&cluster, &[plan], None);
    let began = Instant::now();
    let (inputs, wanted) = outcome(&program, 0);
    assert_eq!(wanted.first_difference(&bench.run(0, &inputs)), None);
    println!("{:?}: {}", began.elapsed(), bench.counters());
    // Requests and answers are lost too, and ranks also ask while the others are in want.
    let (asked, answered) = (bench.counter(Counter::Asked), bench.counter(Counter::Answered));
    assert!(answered > 0 && asked < 20 * answered, "{asked} requests, {answered} answers");
}
