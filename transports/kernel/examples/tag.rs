//! The time that the engine takes to refuse a forged frame: nearly all of it goes to the tag.
//!
//! `cargo run --release -p goal-kernel --example tag`
#![allow(missing_docs)]

use goal_asm::{EncodeOptions, Nisa, encode};
use goal_cluster::{Cluster, INTERFACE, Wiring};
use goal_kernel::layout::{Counter, FRAME_BYTES, FRAME_FORM, FrameHeader, kind};
use goal_kernel::{Installation, Job, Kernel, Peer, Plan};
use goal_lang::limits::Limits;
use goal_lang::{ParseOptions, SourceMap};
use std::sync::Arc;
use zerocopy::IntoBytes;

fn main() {
    let Some(cluster) = Cluster::or_skip("tag", &Wiring::bridge(1)) else { return };
    let mut sources = SourceMap::default();
    let text = "rank 0 { send 0,8 to 1 } rank 1 { recv 0,8 from 0 }";
    sources.add("tag.goal", Arc::new(text.as_bytes().to_vec()));
    let program = goal_lang::parse(&sources, &ParseOptions::default()).program.expect("valid");
    let mut bytes = Vec::new();
    encode(&program, &EncodeOptions::default(), None, &mut bytes).unwrap();
    let nisa = Nisa::load(Arc::new(bytes), &Limits::default()).unwrap();
    let plan = Plan::of(&nisa, 1456).unwrap();
    let (mac, other) = (cluster.hosts()[0].mac().0, [2, 0, 0, 0, 9, 9]);
    let mut installation = Installation::new(Job {
        number: 1,
        key: [1, 2],
        secrets: [3, 4],
        ethertype: 0x88b6,
        ifindex: 1,
        mac,
        peers: vec![Peer { mac: other, port: 0 }, Peer { mac, port: 0 }],
    })
    .unwrap();
    installation.add(&plan, &[0, 1]).unwrap();
    let load = || Kernel::load(INTERFACE, &installation, None);
    let kernel = cluster.hosts()[0].call(load).unwrap().unwrap_or_else(|e| panic!("{e}"));
    const TIMES: u32 = 200_000;
    for bytes in [0, 64, 256, 1024, 3072] {
        let header = FrameHeader {
            to: mac,
            from: other,
            ethertype: 0x88b6u16.to_be(),
            form: FRAME_FORM,
            kind: kind::DATA,
            bytes: (bytes as u16).to_be(),
            job: 1u32.to_be(),
            epoch: 1u32.to_be(),
            ..FrameHeader::default()
        };
        let mut frame = header.as_bytes().to_vec();
        frame.resize(FRAME_BYTES + bytes, 7);
        let before = kernel.counter(Counter::Forged);
        let time = kernel.trial(&frame, TIMES).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(kernel.counter(Counter::Forged) - before, u64::from(TIMES));
        println!("{bytes} bytes of payload: {} ns", time.as_nanos());
    }
}
