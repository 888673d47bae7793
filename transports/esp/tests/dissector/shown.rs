//! Every field of every frame.

use crate::capture::{Capture, End, edp_frame, ethernet};
use crate::expected::{put, put_bytes, put_chunk, put_ranges};
use crate::order;
use crate::tshark::Tshark;
use goal_esp::wire::{EdpRepr, Extension, Flags, Message, Parameters, Ports, Range, Ranges, State};
use goal_fabric::chunk::{Chunk, ChunkKind, Envelope};

/// Sequence numbers wrap around during the tests.
pub(crate) const FIRST: u32 = u32::MAX - 1;

pub(crate) const TAGGED: Extension = Extension::Tagged { control: 0x8000_0001 };

pub(crate) const WHOLE: Extension = Extension::Whole { control: 0x8000_0001 };

fn handshake(payload_max: u16, authenticates_data: bool) -> Extension {
    let parameters = Parameters { payload_max, authenticates_data };
    Extension::Handshake { control: 0, nonce_high: 0xfedc_ba98, parameters }
}

/// Appends a handshake whose ends both begin at [`FIRST`].
pub(crate) fn set_up(capture: &mut Capture, [one, other]: &[End; 2]) {
    capture.esp(one, &one.repr(Flags::SYN, FIRST, handshake(9216, false)), &[]);
    let mut answer = other.repr(Flags::SYN | Flags::ACK, FIRST, handshake(256, true));
    answer.acknowledgement = FIRST;
    capture.esp(other, &answer, &[]);
    capture.esp(one, &one.repr(Flags::ACK, FIRST, handshake(9216, false)), &[]);
}

/// Returns the first chunk of each stream.
pub(crate) fn communicator() -> Chunk {
    Chunk {
        kind: ChunkKind::Communicator,
        len: 0,
        message: 5,
        receive: 0,
        offset: 0,
        envelope: None,
    }
}

/// Returns a chunk of this kind with `len` bytes and all fields that it may have.
pub(crate) fn chunk(kind: ChunkKind, len: u32) -> Chunk {
    let (message, receive, offset) = match kind {
        ChunkKind::Eager => (0, 0, len.into()),
        ChunkKind::Rts => (11, 0, 0x1_2345_6789),
        ChunkKind::Cts => (11, 12, 77),
        ChunkKind::Data => (12, 0, 0x1_0000_0000),
        ChunkKind::Fin => (11, 0, 0),
        ChunkKind::Long => (0, 0, 0x2_0000_0001),
        ChunkKind::Part => (0, 0, 0),
        ChunkKind::Communicator => (5, 0, 0),
        ChunkKind::Room => (0, 0, 1 << 20),
    };
    let envelope = Envelope {
        communicator: 5,
        schedule: 6,
        sender: 7,
        receiver: u32::MAX,
        flags: 9,
        tag: 10,
        sequence: 11,
        action: 12,
    };
    Chunk { kind, len, message, receive, offset, envelope: kind.has_envelope().then_some(envelope) }
}

/// Returns the bytes of a chunk's header and its data.
pub(crate) fn bytes_of(chunk: &Chunk, data: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; chunk.header_len()];
    chunk.emit(&mut bytes);
    bytes.extend(data);
    bytes
}

pub(crate) fn bytes(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at * 7) as u8).collect()
}

fn a_connection(capture: &mut Capture) {
    let ends @ [one, other] = End::pair(1);
    set_up(capture, &ends);
    capture.esp(&other, &other.repr(Flags::RRQ | Flags::ACK, FIRST, TAGGED), &[]);
    capture.esp(&one, &one.repr(Flags::ACK, FIRST, TAGGED), &[]);
    for (index, flags) in
        [Flags::TXS, Flags::TXF | Flags::TXR, Flags::TXS | Flags::TXF].into_iter().enumerate()
    {
        let is_first = index == 0;
        let chunks = if is_first { &ChunkKind::ALL[..] } else { &[] };
        let mut payload = bytes_of(&communicator(), &[]);
        let data = bytes(30);
        let chunks: Vec<_> =
            chunks.iter().filter(|kind| **kind != ChunkKind::Communicator).collect();
        if !is_first {
            payload = bytes_of(&chunk(ChunkKind::Eager, 0), &[]);
        }
        for kind in &chunks {
            let len = if kind.has_bytes() { 30 } else { 0 };
            payload.extend(bytes_of(&chunk(**kind, len), &data[..len as usize]));
        }
        let extension = [Extension::None, TAGGED, WHOLE][index];
        let row = capture.esp(
            &one,
            &one.repr(flags, FIRST.wrapping_add(index as u32), extension),
            &payload,
        );
        put_chunk(row, &if is_first { communicator() } else { chunk(ChunkKind::Eager, 0) });
        for kind in chunks {
            let len = if kind.has_bytes() { 30 } else { 0 };
            put_chunk(row, &chunk(*kind, len));
            put_bytes(row, "goal.data", &data[..len as usize]);
        }
    }
    let ranges = [Range { first: u32::MAX, count: 2 }, Range { first: 7, count: u32::MAX }];
    let mut payload = vec![0; Ranges::len_of(&ranges)];
    Ranges::emit(&ranges, &mut payload);
    let mut request = other.repr(Flags::RRQ | Flags::ACK, FIRST, TAGGED);
    request.acknowledgement = FIRST;
    put_ranges(capture.esp(&other, &request, &payload), &ranges);
    let fin =
        one.repr(Flags::FIN | Flags::ACK | Flags::TXS | Flags::TXF, FIRST.wrapping_add(3), TAGGED);
    capture.esp(&one, &fin, &[]);
    capture.esp(&other, &other.repr(Flags::RST, FIRST, TAGGED), &[]);
}

const PORTS: [u8; 16] = [0, 0, 0, 1, 0, 1, 0xff, 0xff, 255, 255, 255, 255, 0xc0, 0, 0, 1];

fn datagrams() -> Vec<EdpRepr<'static>> {
    let (job, round, rank) = (0x0123_4567_89ab_cdef, u64::MAX, u32::MAX);
    let mut messages = vec![
        Message::Echo(&[1, 2, 3]),
        Message::Echo(&[]),
        Message::EchoReply(&[4; 50]),
        Message::Discovery { job, nonce: round },
        Message::Answer { job, nonce: round, ranks: 7, ports: Ports::NONE },
        Message::Answer {
            job,
            nonce: round,
            ranks: 7,
            ports: Ports::parse(&PORTS).expect("two runs"),
        },
        Message::Probe { job, round },
    ];
    for state in [State::Active, State::Idle, State::Done] {
        messages.push(Message::ProbeReply { job, round, rank, state, sent: 1 << 60, taken: 3 });
    }
    let repr = |message| EdpRepr {
        source_port: 9,
        destination_port: u16::MAX,
        number: 0xfedc_ba98,
        message,
    };
    messages.into_iter().map(repr).collect()
}

/// Padding behind short frames, and a frame with a VLAN tag.
fn around(capture: &mut Capture) {
    let [one, _] = End::pair(2);
    let packet = one.repr(Flags::ACK, 5, TAGGED);
    put_bytes(capture.esp(&one, &packet, &[]), "goal_esp.padding", &[0; 4]);
    let datagram = datagrams()[0];
    put_bytes(capture.edp(&datagram), "goal_edp.padding", &[0; 27]);
    for (bytes, len) in capture.frames.iter_mut().rev().take(2) {
        bytes.resize(60, 0);
        *len = 60;
    }
    capture.edp(&datagram);
    let (bytes, len) = capture.frames.last_mut().expect("one was appended");
    bytes.splice(12..12, [0x81, 0, 0, 7]);
    *len = bytes.len();
}

/// Frames with one fault: their other fields are shown all the same.
fn faulty(capture: &mut Capture) {
    let [one, _] = End::pair(3);
    let packet = one.repr(Flags::TXS, 5, Extension::None);
    let payload = bytes_of(&communicator(), &[]);
    let change = |capture: &mut Capture, len: usize| {
        let (bytes, wire_len) = capture.frames.last_mut().expect("one was appended");
        bytes.truncate(14 + len);
        *wire_len = bytes.len();
    };
    put(capture.esp(&one, &packet, &payload), "goal_esp.wrong_checksum", 1);
    capture.frames.last_mut().expect("one was appended").0[14 + 20] ^= 0xff;
    let row = capture.rows.last_mut().expect("one was appended");
    let right: u32 = row["goal_esp.checksum"][0].parse().expect("a number");
    row.insert("goal_esp.checksum".into(), vec![(right ^ 0xff00_0000).to_string()]);

    let row = capture.esp(&one, &packet, &payload);
    row.remove("goal_esp.payload");
    put(row, "goal_esp.short", 1);
    change(capture, 40);
    let row = capture.esp(&one, &packet, &payload);
    row.retain(|field, _| ["goal_esp.version", "goal_esp.form"].contains(&field.as_str()));
    put(row, "goal_esp.short", 1);
    change(capture, 25);
    put(
        capture.esp(&one, &one.repr(Flags::RST | Flags::ACK, 5, TAGGED), &[]),
        "goal_esp.contradiction",
        1,
    );
    for (form, version, number) in [(4, 2, 0x24), (0, 1, 0x10)] {
        let mut bytes = vec![0; 26];
        bytes[0] = number;
        let row = capture.push(ethernet(one.address, one.peer, 0x88b6, &bytes), Default::default());
        put(row, "goal_esp.version", version);
        put(row, "goal_esp.form", form);
        put(row, "goal_esp.unknown_version", 1);
    }

    let datagram = &datagrams()[3];
    put(capture.edp(datagram), "goal_edp.wrong_checksum", 1);
    capture.frames.last_mut().expect("one was appended").0[14 + 16] ^= 1;
    let row = capture.rows.last_mut().expect("one was appended");
    row.insert("goal_edp.tag".into(), vec!["0002030405060708090a0b0c".into()]);
    let row = capture.edp(datagram);
    row.remove("goal_edp.nonce");
    put(row, "goal_edp.short", 1);
    change(capture, 28 + 8);
    let mut bytes = edp_frame(datagram);
    bytes[15] = 9;
    let sum = crc32c::crc32c(&[&bytes[14..26], &[0; 4], &bytes[30..]].concat());
    bytes[26..30].copy_from_slice(&sum.to_be_bytes());
    let row = capture.edp(datagram).clone();
    let (last, _) = capture.frames.last_mut().expect("one was appended");
    *last = bytes;
    let shown = capture.rows.last_mut().expect("one was appended");
    *shown = row;
    shown.retain(|field, _| !["goal_edp.job", "goal_edp.nonce"].contains(&field.as_str()));
    shown.insert("goal_edp.kind".into(), vec!["9".into()]);
    shown.insert("goal_edp.checksum".into(), vec![sum.to_string()]);
    put_bytes(
        shown,
        "goal_edp.data",
        &[0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 255, 255, 255, 255, 255, 255, 255, 255],
    );
    put(shown, "goal_edp.contradiction", 1);
    let row =
        capture.push(ethernet(one.address, one.peer, 0x88b5, &[0x12; 16]), Default::default());
    put(row, "goal_edp.version", 1);
    put(row, "goal_edp.form", 2);
    put(row, "goal_edp.unknown_version", 1);
}

#[test]
fn every_field_is_shown() {
    let Some(tshark) = Tshark::find() else { return };
    let mut capture = Capture::default();
    a_connection(&mut capture);
    for datagram in datagrams() {
        capture.edp(&datagram);
    }
    around(&mut capture);
    faulty(&mut capture);
    order::chunks_over_packets(&mut capture);
    order::lost_to_the_capture(&mut capture);
    order::no_chunks(&mut capture);
    capture.check(&tshark, "every_field", &["-2"]);
    let unshown: Vec<_> = tshark
        .fields
        .iter()
        .filter(|field| !capture.rows.iter().any(|row| row.contains_key(*field)))
        .collect();
    assert!(unshown.is_empty(), "no frame has {unshown:?}");
}

#[test]
fn ethertypes_are_preferences() {
    let Some(tshark) = Tshark::find() else { return };
    let mut capture = Capture::default();
    a_connection(&mut capture);
    capture.edp(&datagrams()[1]);
    for (bytes, _) in &mut capture.frames {
        bytes[13] -= 0xb0;
    }
    let options = ["-2", "-o", "goal_esp.ethertypes:0x8806", "-o", "goal_edp.ethertypes:0x8805"];
    capture.check(&tshark, "ethertypes", &options);
    assert!(capture.shown(&tshark, "ethertypes", &[]).iter().all(|row| row.is_empty()));
}

#[test]
fn filters_of_the_readme_are_filters() {
    let Some(tshark) = Tshark::find() else { return };
    let readme = include_str!("../../../../tools/wireshark/README.md");
    let table =
        readme.split("\n## ").find(|section| section.starts_with("Filters")).expect("a section");
    let filters: Vec<_> =
        table.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    assert!(!filters.is_empty());
    let mut capture = Capture::default();
    capture.edp(&datagrams()[1]);
    for filter in filters {
        // Fails if the filter is invalid.
        tshark.rows(&capture.pcap(), "filters", &["-Y", filter]);
    }
}
