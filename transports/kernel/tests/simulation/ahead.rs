//! A sender that does not wait for acknowledgements: its receiver drops what comes too early, and
//! asks for it later.

use crate::native::{Engine, Host};
use goal_kernel::layout::Counter;
use goal_kernel::{Installation, Job, Member, Peer, Plan};
use goal_lang::{ParseOptions, SourceMap};
use std::sync::Arc;

const MACS: [[u8; 6]; 2] = [[2, 0, 0, 0, 0, 0], [2, 0, 0, 0, 0, 1]];

pub fn host(engine: Engine, plan: &Plan, number: usize) -> (Host, Member, [u8; 60]) {
    let mut installation = Installation::new(Job {
        number: 1,
        key: [1, 2],
        secrets: [3, 4],
        ethertype: 0x88b6,
        ifindex: 1,
        mac: MACS[number],
        peers: MACS.map(|mac| Peer { mac, port: 0 }).to_vec(),
    })
    .unwrap();
    let member = installation.add(plan, &[0, 1]).unwrap()[0].1;
    (Host::new(engine, &installation), member, installation.tick())
}

#[test]
fn frames_that_are_too_early_are_asked_for_later() {
    let Some(engine) = Engine::or_skip("frames_that_are_too_early") else { return };
    let mut sources = SourceMap::default();
    let text = "rank 0 { send 0,8 to 1 } rank 1 { recv 0,8 from 0 }";
    sources.add("ahead.goal", Arc::new(text.as_bytes().to_vec()));
    let program = goal_lang::parse(&sources, &ParseOptions::default()).program.expect("valid");
    let plan = Plan::of(&crate::nisa(&program), 64).unwrap();
    let (mut sender, from, _) = host(engine, &plan, 0);
    let (mut receiver, to, tick) = host(engine, &plan, 1);
    for epoch in 1..=4 {
        sender.memory(&from).fill(epoch as u8);
        // The sender takes all acknowledgements for granted.
        sender.parts[0].held = [0; 2];
        let (_, sent) = sender.egress(&from.start(epoch));
        assert_eq!(sent.len(), 1);
        receiver.ingress(&sent[0].0);
    }
    assert_eq!((receiver.counter(Counter::Data), receiver.counter(Counter::Early)), (2, 2));
    for epoch in 1..=4 {
        receiver.egress(&to.start(epoch));
        if epoch > 2 {
            assert_eq!(receiver.status[0].done, epoch - 1, "its frame was too early");
            let asked = (0..2).flat_map(|_| receiver.tick(&tick)).collect::<Vec<_>>();
            let answers = sender.ingress(&asked[0].0).1;
            receiver.ingress(&answers[0].0);
        }
        assert_eq!(receiver.status[0].done, epoch);
        assert_eq!(receiver.memory(&to), [epoch as u8; 8]);
    }
}
