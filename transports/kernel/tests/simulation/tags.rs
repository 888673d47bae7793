//! The tag of frames, computed a second time from its description.

use crate::native::{Engine, Host};
use goal_kernel::layout::{Counter, kind};
use goal_kernel::{Installation, Job, Member, Peer, Plan};
use goal_lang::{ParseOptions, SourceMap};
use siphasher::sip::SipHasher24;
use std::sync::Arc;

const KEY: [u64; 2] = [0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908];
const MACS: [[u8; 6]; 2] = [[2, 0, 0, 0, 0, 0], [2, 0, 0, 0, 0, 1]];

fn word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

fn tag(frame: &[u8]) -> u64 {
    let siphash = SipHasher24::new_with_keys(KEY[0], KEY[1]);
    let key = |number: usize| siphash.hash(&(number as u64).to_le_bytes());
    let halves = |word: u64| (word as u32, (word >> 32) as u32);
    let mut sums = [0u64; 2];
    let bytes = usize::from(u16::from_be_bytes([frame[16], frame[17]]));
    for (at, chunk) in frame[56..56 + bytes].chunks(8).enumerate() {
        for (shift, sum) in sums.iter_mut().enumerate() {
            let (low, high) = halves(word(chunk));
            let (key_low, key_high) = halves(key(at + shift));
            let product = |a: u32, b: u32| u64::from(a) * u64::from(b);
            *sum =
                sum.wrapping_add(product(low.wrapping_add(key_low), high.wrapping_add(key_high)));
        }
    }
    let mut proved = frame[..48].to_vec();
    proved.extend(sums.iter().flat_map(|sum| sum.to_le_bytes()));
    siphash.hash(&proved)
}

fn host(engine: Engine, plan: &Plan, number: usize) -> (Host, Member) {
    let mut installation = Installation::new(Job {
        number: 1,
        key: KEY,
        secrets: [3, 4],
        ethertype: 0x88b6,
        ifindex: 1,
        mac: MACS[number],
        peers: MACS.map(|mac| Peer { mac, port: 0 }).to_vec(),
    })
    .unwrap();
    let member = installation.add(plan, &[0, 1]).unwrap()[0].1;
    (Host::new(engine, &installation), member)
}

#[test]
fn tags_are_as_described() {
    let Some(engine) = Engine::or_skip("tags_are_as_described") else { return };
    for bytes in [1, 7, 8, 9, 511, 512, 513, 520, 1023, 4096, 8185, 8192] {
        let mut sources = SourceMap::default();
        let text = format!("rank 0 {{ send 3,{bytes} to 1 }} rank 1 {{ recv 0,{bytes} from 0 }}");
        sources.add("tag.goal", Arc::new(text.into_bytes()));
        let program = goal_lang::parse(&sources, &ParseOptions::default()).program.expect("valid");
        let plan = Plan::of(&crate::nisa(&program), 8192).unwrap();
        let (mut sender, from) = host(engine, &plan, 0);
        let mut random = crate::Random(bytes);
        sender.memory(&from).fill_with(|| random.next() as u8);
        let (_, sent) = sender.egress(&from.start(1));
        let frame = &sent[0].0;
        assert_eq!(word(&frame[48..56]), tag(frame), "{bytes} bytes");

        // No bit may change, but for those behind the payload of a short frame.
        let (mut receiver, _) = host(engine, &plan, 1);
        for _ in 0..200 {
            let mut forged = frame.clone();
            let at = 16 + random.below(40 + bytes) as usize;
            forged[at] ^= 1 << random.below(8);
            let before = receiver.everything();
            assert!(receiver.ingress(&forged).1.is_empty());
            assert!(before == receiver.everything(), "byte {at} of {bytes} was changed");
        }
        assert_eq!(receiver.counter(Counter::Data), 0);
        receiver.ingress(frame);
        assert_eq!(receiver.counter(Counter::Data), 1);
    }
}

/// Everybody on the network can send a sign that a run ended, and would wake the rank's process.
#[test]
fn only_the_engine_of_the_host_sends_signs() {
    let Some(engine) = Engine::or_skip("only_the_engine_of_the_host_sends_signs") else { return };
    let mut sources = SourceMap::default();
    let text = "rank 0 { calc 0 } rank 1 { calc 0 }";
    sources.add("sign.goal", Arc::new(text.as_bytes().to_vec()));
    let program = goal_lang::parse(&sources, &ParseOptions::default()).program.expect("valid");
    let plan = Plan::of(&crate::nisa(&program), 8192).unwrap();
    let (mut host, member) = host(engine, &plan, 0);
    host.status[member.part as usize].waiting = 1;
    let (passed, sent) = host.ingress(&[0; 64]);
    assert!(sent.is_empty(), "a frame of others passes");
    let (dropped, sent) = host.egress(&member.start(1));
    let (sign, is_local) = &sent[0];
    assert!(*is_local && sign[15] == kind::DONE && dropped != passed);
    assert_eq!(host.ingress(sign).0, passed);
    for bit in 0..64 {
        let mut forged = sign.clone();
        forged[48 + bit / 8] ^= 1 << (bit % 8);
        let before = host.counter(Counter::Forged);
        let (verdict, sent) = host.ingress(&forged);
        assert_eq!((verdict, sent.len()), (dropped, 0), "bit {bit}");
        assert_eq!(host.counter(Counter::Forged), before + 1);
    }
}

/// A process that maps the ring that a frame comes from can change it while it is handled.
#[test]
fn a_frame_for_another_host_does_not_get_in_by_changing() {
    let Some(engine) = Engine::or_skip("a_frame_for_another_host_does_not_get_in") else { return };
    let mut sources = SourceMap::default();
    let text = "rank 0 { send 0,8 to 1 recv 8,8 from 1 } rank 1 { send 0,8 to 0 recv 8,8 from 0 }";
    sources.add("change.goal", Arc::new(text.as_bytes().to_vec()));
    let program = goal_lang::parse(&sources, &ParseOptions::default()).program.expect("valid");
    let plan = Plan::of(&crate::nisa(&program), 8192).unwrap();
    let (mut sender, from) = host(engine, &plan, 0);
    let (_, sent) = sender.egress(&from.start(1));
    let genuine = &sent[0].0;
    let mut first: [u8; 56] = genuine[..56].try_into().unwrap();
    first[..6].copy_from_slice(&MACS[0]);
    let before = sender.everything();
    assert!(sender.ingress_changing(&first, genuine).1.is_empty());
    assert!(before == sender.everything(), "its own message came to it");
    assert_eq!(sender.counter(Counter::Data), 0);
}
