//! A host without the key that sees every frame and sends copies of them, changed or not.

use crate::streams::{Scenario, Streams};
use goal_esp::endpoint::Stats;
use goal_esp::sim::{Faults, Links, Random};
use goal_esp::wire::{Flags, Frame, Packet};

const SCENARIO: Scenario = Scenario {
    hosts: 3,
    links: Links { byte_ps: 800, latency_ns: 2_000, queue_frames_max: 256 },
    faults: Faults {
        lost: 20_000,
        burst: 0,
        burst_frames: 0,
        doubled: 0,
        delayed: 0,
        delay_ns: 1,
        damaged: 0,
        lost_from: 0,
    },
    partition: None,
    both_ask: false,
    authenticates_data: true,
    opens_ns: 0,
    bytes_max: 1 << 17,
    burst_length: 64,
    limit_ns: 100_000_000_000,
};

/// The number of frames that the hostile host sends in a plain run of the tests.
const FRAMES: u64 = 100_000;

/// Runs the scenario while a hostile host sends frames after each step. All streams must arrive
/// unharmed.
fn attack(
    scenario: &Scenario,
    seed: u64,
    mut forge: impl FnMut(&mut Random, &[Vec<u8>]) -> Vec<u8>,
) -> Stats {
    let mut streams = Streams::new(seed, scenario);
    let mut random = Random::new(seed);
    let mut heard: Vec<Vec<u8>> = Vec::new();
    let mut sent = 0;
    let frames = goal_filetest::seeds(FRAMES);
    while !streams.is_done() || sent < frames {
        if !streams.is_done() {
            streams.step().unwrap_or_else(|problem| panic!("seed {seed}: {problem}"));
        }
        heard.extend(streams.simulation.network.take_sent());
        for _ in 0..4 {
            if sent == frames || heard.is_empty() {
                break;
            }
            let frame = forge(&mut random, &heard);
            let host = random.below(scenario.hosts as u64) as usize;
            let now_ns = streams.simulation.host_now_ns(host);
            streams.simulation.hosts[host].endpoint.handle_frame(now_ns, &frame);
            streams.simulation.flush(host);
            sent += 1;
        }
    }
    for host in &mut streams.simulation.hosts {
        assert_eq!(
            host.endpoint.poll_event(),
            None,
            "seed {seed}: something happened after the end"
        );
    }
    streams.simulation.hosts[0].endpoint.stats()
}

fn any_of(random: &mut Random, heard: &[Vec<u8>]) -> Vec<u8> {
    heard[random.below(heard.len() as u64) as usize].clone()
}

#[test]
fn replayed_frames_change_nothing() {
    for authenticates_data in [false, true] {
        let stats = attack(&Scenario { authenticates_data, ..SCENARIO }, 1, any_of);
        assert!(stats.overtaken > 0, "{stats:?}");
    }
}

/// Flips any bits and corrects the checksum.
#[test]
fn forged_frames_change_nothing() {
    let stats = attack(&SCENARIO, 2, |random, heard| {
        let mut frame = any_of(random, heard);
        for _ in 0..=random.below(3) {
            let bit = 8 * 14 + random.below(8 * (frame.len() as u64 - 14)) as usize;
            frame[bit / 8] ^= 1 << (bit % 8);
        }
        goal_esp::harness::repair_checksum(&mut frame);
        frame
    });
    assert!(stats.unproven > 1000, "{stats:?}");
}

/// Changes control frames of a connection whose data is not authenticated, except their data.
#[test]
fn forged_control_frames_change_nothing() {
    let scenario = Scenario { authenticates_data: false, ..SCENARIO };
    attack(&scenario, 3, |random, heard| {
        let mut frame = any_of(random, heard);
        let header = Frame::new_checked(&frame[..]).expect("it was sent");
        let packet = Packet::new_checked(header.payload()).expect("it was sent");
        let is_control = packet.flags().is_control();
        let proven =
            if packet.flags().has(Flags::RRQ) { packet.len() } else { packet.header_len() };
        if is_control {
            let at = 14 + random.below(proven as u64) as usize;
            // The flags stay, because other flags would make it a frame of data.
            frame[if at == 15 { 16 } else { at }] ^= 1 + random.below(255) as u8;
            goal_esp::harness::repair_checksum(&mut frame);
        }
        frame
    });
}

#[test]
fn random_frames_change_nothing() {
    let stats = attack(&SCENARIO, 4, |random, heard| {
        let mut frame = any_of(random, heard);
        frame.truncate(14 + random.below(100) as usize);
        for byte in &mut frame[14..] {
            *byte = random.number() as u8;
        }
        frame
    });
    assert!(stats.malformed > 1000, "{stats:?}");
}
