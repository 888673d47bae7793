//! Malformed frames: the dissector must report the same errors as goal-esp's parsers, and never
//! fail.

use crate::capture::{Capture, End, edp_frame, esp_frame, ethernet};
use crate::shown::{FIRST, TAGGED, WHOLE, bytes_of, chunk, communicator, set_up};
use crate::tshark::{Row, Tshark};
use goal_esp::limits::{PAYLOAD_MAX, PAYLOAD_MIN, RANGES_MAX};
use goal_esp::wire::{
    Datagram, ETHERTYPE_EDP, ETHERTYPE_ESP, EdpRepr, Extension, Flags, Malformed, Message, Packet,
    Parameters, Ports, State,
};
use goal_fabric::chunk::ChunkKind;
use goal_fabric::message::Reader;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

const HEADER_LEN: usize = 14;

/// The verdict of goal-esp's parsers on a frame.
fn verdict(frame: &[u8]) -> Option<Malformed> {
    let payload = &frame[HEADER_LEN..];
    if frame[12..14] == ETHERTYPE_ESP.to_be_bytes() {
        Packet::new_checked(payload).err()
    } else {
        Datagram::new_checked(payload).err()
    }
}

/// The faults of a header that the dissector shows.
fn faults(row: &Row) -> Vec<&str> {
    let faults = ["short", "unknown_version", "contradiction", "wrong_checksum"];
    let protocols = ["goal_esp", "goal_edp"];
    let is_shown =
        |fault: &&str| protocols.iter().any(|name| row.contains_key(&format!("{name}.{fault}")));
    faults.into_iter().filter(is_shown).collect()
}

fn check(capture: &Capture, tshark: &Tshark, name: &str) {
    for (index, (row, (frame, _))) in
        capture.shown(tshark, name, &["-2"]).iter().zip(&capture.frames).enumerate()
    {
        let faults = faults(row);
        // goal-esp does not know the frames of schedules in the kernel.
        let is_of_schedule =
            frame[12..14] == ETHERTYPE_ESP.to_be_bytes() && frame.get(14) == Some(&0x28);
        let is_told = match verdict(frame) {
            _ if is_of_schedule => faults.is_empty(),
            None => faults.is_empty(),
            Some(Malformed::Short) => faults == ["short"],
            Some(Malformed::Version) => faults == ["unknown_version"],
            Some(Malformed::Contradiction) => faults.starts_with(&["contradiction"]),
            Some(Malformed::Checksum) => faults == ["wrong_checksum"],
        };
        assert!(
            is_told,
            "frame {} of {name} is {:?}, shown is {faults:?}",
            index + 1,
            verdict(frame)
        );
    }
}

/// Returns a frame of each form and kind.
fn whole() -> Vec<Vec<u8>> {
    let [one, _] = End::pair(1);
    let parameters = Parameters { payload_max: 1500, authenticates_data: false };
    let handshake = Extension::Handshake { control: 0, nonce_high: 9, parameters };
    let packets = [
        (Flags::SYN, handshake, vec![]),
        (Flags::ACK | Flags::TXF, TAGGED, bytes_of(&communicator(), &[])),
        (Flags::RRQ | Flags::ACK, TAGGED, vec![1; 16]),
        (Flags::FIN, TAGGED, vec![]),
        (Flags::RST, TAGGED, vec![]),
        (Flags::TXS, Extension::None, bytes_of(&communicator(), &[])),
        (Flags::TXS, WHOLE, bytes_of(&communicator(), &[])),
    ];
    let packets = packets.map(|(flags, extension, payload)| {
        esp_frame(&one, &one.repr(flags, FIRST, extension), &payload)
    });
    let (job, round) = (1, 2);
    let messages = [
        Message::Echo(&[1; 20]),
        Message::Discovery { job, nonce: 3 },
        Message::Answer {
            job,
            nonce: 3,
            ranks: 5,
            ports: Ports::parse(&[0, 0, 0, 4, 0, 9, 0, 2]).expect("a run"),
        },
        Message::Probe { job, round },
        Message::ProbeReply { job, round, rank: 4, state: State::Idle, sent: 5, taken: 6 },
    ];
    let datagram = |message| EdpRepr { source_port: 1, destination_port: 2, number: 3, message };
    packets.into_iter().chain(messages.map(|message| edp_frame(&datagram(message)))).collect()
}

/// Corrects the checksum of a frame that is as long as its header says.
fn reseal(frame: &mut [u8]) {
    let is_esp = frame[12..14] == ETHERTYPE_ESP.to_be_bytes();
    let bytes = &mut frame[HEADER_LEN..];
    if bytes.len() < 4 {
        return;
    }
    let (at, lens) = if is_esp { (20, [26, 42, 50, 42]) } else { (12, [16, 28, 28, 28]) };
    let form = usize::from(bytes[0] & 15).min(3);
    if is_esp && form == 3 {
        return;
    }
    let len = lens[form] + usize::from(u16::from_be_bytes([bytes[2], bytes[3]]));
    if bytes.len() >= len {
        let sum = crc32c::crc32c(&[&bytes[..at], &[0; 4], &bytes[at + 4..len]].concat());
        bytes[at..at + 4].copy_from_slice(&sum.to_be_bytes());
    }
}

/// Returns values of a strategy, the same ones each time.
fn values<S: Strategy>(strategy: S, count: usize) -> Vec<S::Value> {
    let mut runner = TestRunner::deterministic();
    (0..count).map(|_| strategy.new_tree(&mut runner).expect("a value").current()).collect()
}

#[test]
fn frames_whose_fields_contradict_each_other() {
    let Some(tshark) = Tshark::find() else { return };
    let [one, _] = End::pair(1);
    let handshake = |payload_max| {
        let parameters = Parameters { payload_max, authenticates_data: false };
        Extension::Handshake { control: 0, nonce_high: 9, parameters }
    };
    let packets = [
        (Flags::TXS, Extension::None, PAYLOAD_MAX + 1),
        (Flags::SYN, handshake(1500), 1),
        (Flags::SYN, handshake(PAYLOAD_MIN as u16 - 1), 0),
        (Flags::SYN, handshake(PAYLOAD_MAX as u16 + 1), 0),
        (Flags::RST, TAGGED, 1),
        (Flags::RRQ | Flags::ACK, TAGGED, 7),
        (Flags::RRQ | Flags::ACK, TAGGED, 8 * RANGES_MAX + 8),
        (Flags::FIN, TAGGED, 1),
    ];
    let mut capture = Capture::default();
    for (flags, extension, len) in packets {
        let frame = esp_frame(&one, &one.repr(flags, FIRST, extension), &vec![0; len]);
        capture.push(frame, Row::new());
    }
    let message = Message::Echo(&[0; PAYLOAD_MAX + 1]);
    capture.push(
        edp_frame(&EdpRepr { source_port: 1, destination_port: 2, number: 3, message }),
        Row::new(),
    );
    assert!(
        capture.frames.iter().all(|(frame, _)| verdict(frame) == Some(Malformed::Contradiction))
    );
    check(&capture, &tshark, "contradictions");
}

#[test]
fn frames_cut_anywhere() {
    let Some(tshark) = Tshark::find() else { return };
    let mut capture = Capture::default();
    for frame in whole() {
        for len in HEADER_LEN..=frame.len() {
            capture.push(frame[..len].to_vec(), Row::new());
        }
    }
    check(&capture, &tshark, "cut");
    for ((_, len), row) in capture.frames.iter_mut().zip(&mut capture.rows) {
        (*len, *row) = (200, Row::new());
    }
    for row in capture.shown(&tshark, "captured_in_part", &["-2"]) {
        assert_eq!(faults(&row), [""; 0], "{row:?}");
    }
}

#[test]
fn frames_changed_anywhere() {
    let Some(tshark) = Tshark::find() else { return };
    let mut capture = Capture::default();
    let change = (
        0..whole().len(),
        proptest::collection::vec((0usize..50, proptest::num::u8::ANY), 1..4),
        0..4,
    );
    for (index, changes, seal) in values(change, goal_filetest::seeds(4000) as usize) {
        let mut frame = whole().swap_remove(index);
        for (at, value) in changes {
            let at = HEADER_LEN + at % (frame.len() - HEADER_LEN);
            frame[at] = value;
        }
        if seal > 0 {
            reseal(&mut frame);
        }
        capture.push(frame, Row::new());
    }
    check(&capture, &tshark, "changed");
}

#[test]
fn random_frames() {
    let Some(tshark) = Tshark::find() else { return };
    let mut capture = Capture::default();
    let [one, _] = End::pair(1);
    let frame =
        (proptest::collection::vec(proptest::num::u8::ANY, 0..120), proptest::bool::ANY, 0..6u8);
    for (mut bytes, is_esp, likely) in values(frame, goal_filetest::seeds(4000) as usize) {
        if likely > 0 && bytes.len() > 4 {
            bytes[0] = 0x10 | (likely % 4);
            bytes[2] = 0;
            bytes[1] &= if is_esp { 0xf7 } else { 7 };
        }
        let ethertype = if is_esp { ETHERTYPE_ESP } else { ETHERTYPE_EDP };
        let mut frame = ethernet(one.address, one.peer, ethertype, &bytes);
        if likely > 1 {
            reseal(&mut frame);
        }
        capture.push(frame, Row::new());
    }
    check(&capture, &tshark, "random");
}

#[test]
fn chunks_are_found_where_the_reader_finds_them() {
    let Some(tshark) = Tshark::find() else { return };
    let mut capture = Capture::default();
    let mut expected = Vec::new();
    let one_chunk = (proptest::sample::select(&ChunkKind::ALL[..]), 0u32..40);
    let changes = proptest::collection::vec((0usize..80, proptest::num::u8::ANY), 0..3);
    let payload =
        (proptest::collection::vec(one_chunk, 0..5), changes, proptest::bool::weighted(0.9));
    for (number, (chunks, changes, is_named)) in
        values(payload, goal_filetest::seeds(500) as usize).into_iter().enumerate()
    {
        let mut bytes = if is_named { bytes_of(&communicator(), &[]) } else { Vec::new() };
        for (kind, len) in chunks {
            let len = if kind.has_bytes() { len } else { 0 };
            bytes.extend(bytes_of(&chunk(kind, len), &vec![3; len as usize]));
        }
        for (at, value) in changes {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = value;
            }
        }
        if bytes.is_empty() {
            continue;
        }
        let ends = End::pair(number as u16);
        set_up(&mut capture, &ends);
        capture.esp(&ends[0], &ends[0].repr(Flags::TXS, FIRST, Extension::None), &bytes);
        let (mut reader, mut kinds) = (Reader::default(), Vec::new());
        let is_broken =
            reader.read(&bytes, |chunk, _| kinds.push((chunk.kind as u8).to_string())).is_err();
        if reader.communicator().is_some() {
            kinds.insert(0, "8".into());
        }
        expected.push((capture.frames.len() - 1, is_broken, kinds));
    }
    let rows = capture.shown(&tshark, "chunks", &["-2"]);
    assert!(expected.iter().any(|(_, is_broken, _)| *is_broken));
    for (index, is_broken, kinds) in expected {
        let row = &rows[index];
        assert_eq!(row.contains_key("goal.contradiction"), is_broken, "frame {}", index + 1);
        let mut shown = row.get("goal.kind").cloned().unwrap_or_default();
        // The reader passes on only complete chunks, and pieces of those that come in pieces.
        if row.contains_key("goal.begins_in") && shown.len() > kinds.len() {
            shown.pop();
        }
        assert_eq!(shown, kinds, "frame {}", index + 1);
    }
}
