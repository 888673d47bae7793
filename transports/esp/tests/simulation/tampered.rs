//! A host without the key between two others, which sees every frame first and may change it.

use goal_esp::auth::{Address, JobKey};
use goal_esp::endpoint::{Config, ConnectionId, Endpoint, Event, FRAME_LEN_MAX};
use goal_esp::wire::{Flags, Frame, Mac, Packet};

const ENDS: [Address; 2] = [
    Address { mac: Mac([2, 0, 0, 0, 0, 1]), port: 1 },
    Address { mac: Mac([2, 0, 0, 0, 0, 2]), port: 2 },
];

/// The place in a frame at which an ESP packet begins.
const PACKET: usize = 14;

/// Two endpoints and the host between them.
struct Wire {
    ends: [Endpoint; 2],
    ids: [Option<ConnectionId>; 2],
    read: Vec<Vec<u8>>,
    now_ns: u64,
}

impl Wire {
    fn new(authenticates_data: [bool; 2], seed: u8) -> Self {
        let end = |number: usize| {
            let mut config = Config::new(ENDS[number], JobKey::new(&[5; 32]), 1000);
            config.authenticates_data = authenticates_data[number];
            Endpoint::new(config, [seed + number as u8; 32])
        };
        let mut ends = [end(0), end(1)];
        ends[0].connect(0, ENDS[1]).expect("one peer");
        Self { ends, ids: [None, None], read: Vec::new(), now_ns: 0 }
    }

    /// Carries frames for a short time, each after `change` has changed it. The payloads that host
    /// 1 reads are kept.
    fn carry(&mut self, mut change: impl FnMut(usize, &mut Vec<u8>)) {
        for _ in 0..20 {
            self.now_ns += 1_000_000;
            for from in [0, 1] {
                self.ends[from].handle_timeout(self.now_ns);
                let mut out = [0; FRAME_LEN_MAX];
                while let Some(len) = self.ends[from].poll_transmit(self.now_ns, &mut out) {
                    let mut frame = out[..len].to_vec();
                    change(from, &mut frame);
                    self.give(1 - from, &frame);
                }
            }
        }
    }

    fn give(&mut self, to: usize, frame: &[u8]) {
        let end = &mut self.ends[to];
        end.handle_frame(self.now_ns, frame);
        while let Some(event) = end.poll_event() {
            match event {
                Event::Connected { id, .. } => self.ids[to] = Some(id),
                Event::Readable(id) if to == 1 => {
                    self.read.extend(std::iter::from_fn(|| end.read(self.now_ns, id)));
                }
                _ => {}
            }
        }
    }

    fn push(&mut self, payload: &[u8]) {
        let id = self.ids[0].expect("it is connected");
        self.ends[0].push(id, payload.to_vec(), true).expect("room");
    }
}

fn flags(frame: &[u8]) -> Flags {
    Packet::new_checked(Frame::new_checked(frame).unwrap().payload()).unwrap().flags()
}

fn has_data(frame: &[u8]) -> bool {
    Packet::new_checked(Frame::new_checked(frame).unwrap().payload()).unwrap().payload_len() > 0
}

/// Changes the payload, and everything else that needs no key.
#[allow(clippy::ptr_arg)] // As the others are.
fn spoil(frame: &mut Vec<u8>) {
    *frame.last_mut().expect("it has a payload") ^= 1;
    goal_esp::harness::repair_checksum(frame);
}

/// Turns it into a frame of the form without a tag, which a connection accepts if its data is not
/// authenticated.
fn strip(frame: &mut Vec<u8>) {
    frame.drain(PACKET + 26..PACKET + 42);
    frame[PACKET] &= 0xf0;
    frame[PACKET + 1] &= !2;
    let last = frame.len() - 1;
    frame[last] ^= 1;
    goal_esp::harness::repair_checksum(frame);
}

/// Turns it into a frame whose tag covers only the header.
#[allow(clippy::ptr_arg)] // As the others are.
fn weaken(frame: &mut Vec<u8>) {
    frame[PACKET] = frame[PACKET] & 0xf0 | 1;
    spoil(frame);
}

#[test]
fn data_that_was_changed_on_its_way_is_never_read() {
    for (name, change) in
        [("spoil", spoil as fn(&mut Vec<u8>)), ("strip", strip), ("weaken", weaken)]
    {
        let mut wire = Wire::new([true, true], 1);
        wire.carry(|_, _| {});
        wire.push(b"pay 10 to Ann");
        wire.carry(|from, frame| {
            if from == 0 && has_data(frame) {
                change(frame);
            }
        });
        assert_eq!(wire.read, [b""; 0], "{name}");
        assert!(wire.ends[1].stats().unproven > 0, "{name}");
        // The unchanged packet arrives later.
        wire.carry(|_, _| {});
        assert_eq!(wire.read, [b"pay 10 to Ann"], "{name}");
    }
}

/// Shows the attack that is possible without tags.
#[test]
fn without_tags_data_that_was_changed_is_read() {
    let mut wire = Wire::new([false, false], 1);
    wire.carry(|_, _| {});
    wire.push(b"pay 10 to Ann");
    wire.carry(|from, frame| {
        if from == 0 && has_data(frame) {
            spoil(frame);
        }
    });
    assert_eq!(wire.read, [b"pay 10 to Ano"]);
}

/// Clears or sets the option in the frames of a handshake, and changes everything else that needs
/// no key.
#[test]
fn a_host_without_the_key_cannot_switch_off_tags() {
    for asks in [[true, true], [true, false], [false, true], [false, false]] {
        for which in [Flags::SYN, Flags::SYN | Flags::ACK, Flags::ACK] {
            let mut wire = Wire::new(asks, 1);
            wire.carry(|_, frame| {
                let is_handshake = frame[PACKET] & 0xf == 2;
                if is_handshake && flags(frame) == which {
                    frame[PACKET + 45] ^= 1;
                    goal_esp::harness::repair_checksum(frame);
                }
            });
            let connected = [wire.ids[0].is_some(), wire.ids[1].is_some()];
            assert_ne!(connected, [true, true], "{asks:?} {which:?}");
            assert!(wire.ends.iter().any(|end| end.stats().unproven > 0), "{asks:?} {which:?}");
        }
        // The frames are not changed any more: one end that asks for tags is enough.
        let mut wire = Wire::new(asks, 1);
        wire.carry(|_, _| {});
        wire.push(b"pay 10 to Ann");
        let mut forms = Vec::new();
        wire.carry(|_, frame| forms.extend(has_data(frame).then_some(frame[PACKET] & 0xf)));
        assert_eq!(forms.contains(&3), asks.contains(&true), "{asks:?}");
        assert_eq!(wire.read, [b"pay 10 to Ann"]);
    }
}

/// Frames of one connection are refused on another one between the same ends with the same key,
/// even if one of the nonces is the same.
#[test]
fn frames_of_another_connection_are_not_taken() {
    let mut recorded = Vec::new();
    let mut first = Wire::new([true, true], 1);
    first.carry(|_, _| {});
    first.push(b"pay 10 to Ann");
    first.carry(|from, frame| recorded.extend((from == 0).then(|| frame.clone())));
    assert_eq!(first.read, [b"pay 10 to Ann"]);
    let mut second = Wire::new([true, true], 1);
    let config = second.ends[1].config().clone();
    second.ends[1] = Endpoint::new(config, [9; 32]);
    second.carry(|_, _| {});
    let before = second.ends[1].stats().unproven;
    for frame in &recorded {
        second.give(1, frame);
    }
    assert_eq!(second.read, [b""; 0]);
    assert_eq!(second.ends[1].stats().unproven - before, recorded.len() as u64);
}
