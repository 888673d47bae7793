//! Frames that two processors of a host handle at the same time.

use crate::native::Engine;
use goal_kernel::Plan;
use goal_lang::{ParseOptions, SourceMap};
use std::sync::Arc;

/// The start of a run meets the last acknowledgement that it waits for: one of both begins the run.
#[test]
fn a_start_and_its_last_acknowledgement_do_not_miss_each_other() {
    let Some(engine) = Engine::or_skip("races") else { return };
    let mut sources = SourceMap::default();
    let text = b"rank 0 { send 8b to 1; } rank 1 { recv 8b from 0; }";
    sources.add("one.goal", Arc::new(text.to_vec()));
    let program = goal_lang::parse(&sources, &ParseOptions::default()).program.expect("valid");
    let plan = Plan::of(&crate::nisa(&program), 64).unwrap();
    let runs = 20_000 * goal_filetest::seeds(1) as u32;
    // The frames of all runs, one after the other. The acknowledgement of a run comes before the
    // start of the next but one.
    let (mut sender, from, _) = crate::ahead::host(engine, &plan, 0);
    let (mut receiver, to, _) = crate::ahead::host(engine, &plan, 1);
    let mut pairs: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    let mut acks: Vec<Vec<u8>> = Vec::new();
    for epoch in 1..=runs {
        let start = from.start(epoch).to_vec();
        if let Some(before) = epoch.checked_sub(3) {
            pairs.push((start.clone(), acks[before as usize].clone()));
            sender.ingress(&acks[before as usize]);
        }
        let (_, sent) = sender.egress(&start);
        receiver.egress(&to.start(epoch));
        let (_, answer) = receiver.ingress(&sent[0].0);
        acks.push(answer[0].0.clone());
        assert_eq!((sender.status[0].done, receiver.status[0].done), (epoch, epoch));
    }
    let (mut sender, ..) = crate::ahead::host(engine, &plan, 0);
    for epoch in 1..=2 {
        sender.egress(&from.start(epoch));
    }
    sender.race(&pairs, |number, status| {
        assert_eq!(status[0].done, number as u32 + 3, "the run does not begin");
    });
}
