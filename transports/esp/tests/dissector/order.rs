//! Chunks over several packets, which arrive in any order, twice, or never.

use crate::capture::{Capture, End};
use crate::expected::{put, put_bytes, put_chunk, put_part, put_whole};
use crate::shown::{FIRST, TAGGED, bytes, bytes_of, chunk, communicator, set_up};
use crate::tshark::Tshark;
use goal_esp::wire::{Extension, Flags};
use goal_fabric::chunk::{Chunk, ChunkKind};
use goal_fabric::message::Writer;

/// The longest payload in these tests.
const PAYLOAD_MAX: usize = 300;

/// Packets as goal-esp fills them: a communicator, 700 bytes of data over three packets, and an
/// announcement behind them in the third one.
fn packets() -> ([Chunk; 2], Vec<u8>, Vec<Vec<u8>>) {
    let chunks = [chunk(ChunkKind::Data, 700), chunk(ChunkKind::Rts, 0)];
    let data = bytes(700);
    let (mut writer, mut packets) = (Writer::default(), Vec::new());
    writer.write(&communicator(), &[], PAYLOAD_MAX, |packet| push(&mut packets, packet));
    writer.flush(|packet| push(&mut packets, packet));
    writer.write(&chunks[0], &data, PAYLOAD_MAX, |packet| push(&mut packets, packet));
    writer.write(&chunks[1], &[], PAYLOAD_MAX, |packet| push(&mut packets, packet));
    writer.flush(|packet| push(&mut packets, packet));
    assert_eq!(packets.len(), 4);
    (chunks, data, packets)
}

/// Sends packet number `index` of a stream.
fn send<'a>(
    capture: &'a mut Capture,
    end: &End,
    index: u32,
    payload: &[u8],
) -> &'a mut crate::tshark::Row {
    let flags = if index == 0 { Flags::TXS } else { Flags::NONE };
    capture.esp(end, &end.repr(flags, FIRST.wrapping_add(index), Extension::None), payload)
}

pub(crate) fn chunks_over_packets(capture: &mut Capture) {
    let (chunks, data, packets) = packets();
    let in_order = End::pair(11);
    set_up(capture, &in_order);
    put_chunk(send(capture, &in_order[0], 0, &packets[0]), &communicator());
    let first = capture.next();
    let row = send(capture, &in_order[0], 1, &packets[1]);
    put_chunk(row, &chunks[0]);
    put_part(row, &data[..276], first, Some(first + 3));
    put_part(send(capture, &in_order[0], 2, &packets[2]), &data[276..576], first, Some(first + 3));
    let row = send(capture, &in_order[0], 1, &packets[1]);
    put(row, "goal_esp.first_sent_in", first);
    put(row, "goal_esp.sent_again", 1);
    let row = send(capture, &in_order[0], 3, &packets[3]);
    put_part(row, &data[576..], first, Some(first + 3));
    put_whole(row, &data, 3);
    put_chunk(row, &chunks[1]);
    reordered(capture, 12, true);
}

/// The packets with the data arrive last, first, second. On the first pass, less is known of a
/// frame than after the packets before it were seen.
fn reordered(capture: &mut Capture, number: u16, is_second_pass: bool) {
    let (chunks, data, packets) = packets();
    let ends = End::pair(number);
    set_up(capture, &ends);
    let first = capture.next() + 2;
    let row = send(capture, &ends[0], 3, &packets[3]);
    if is_second_pass {
        put_part(row, &data[576..], first, Some(first + 1));
        put_chunk(row, &chunks[1]);
    } else {
        put(row, "goal_esp.early", 1);
    }
    put_chunk(send(capture, &ends[0], 0, &packets[0]), &communicator());
    let row = send(capture, &ends[0], 1, &packets[1]);
    put_chunk(row, &chunks[0]);
    put_part(row, &data[..276], first, is_second_pass.then_some(first + 1));
    let row = send(capture, &ends[0], 2, &packets[2]);
    put_part(row, &data[276..576], first, Some(first + 1));
    put_whole(row, &data, 3);
}

/// Packets that are missing from the capture.
pub(crate) fn lost_to_the_capture(capture: &mut Capture) {
    let (chunks, data, packets) = packets();
    // Packet 1 is not acknowledged, so it may still arrive.
    let ends = End::pair(13);
    set_up(capture, &ends);
    put_chunk(send(capture, &ends[0], 0, &packets[0]), &communicator());
    put(send(capture, &ends[0], 2, &packets[2]), "goal_esp.early", 1);
    // Packet 2 is acknowledged, but was not captured. The next chunk is found where one begins a
    // packet.
    let ends = End::pair(14);
    set_up(capture, &ends);
    put_chunk(send(capture, &ends[0], 0, &packets[0]), &communicator());
    let first = capture.next();
    let row = send(capture, &ends[0], 1, &packets[1]);
    put_chunk(row, &chunks[0]);
    put_part(row, &data[..276], first, None);
    put(row, "goal.not_captured", 1);
    let mut acknowledgement = ends[1].repr(Flags::ACK, FIRST, TAGGED);
    acknowledgement.acknowledgement = FIRST.wrapping_add(4);
    put(send(capture, &ends[0], 3, &packets[3]), "goal_esp.unread", 1);
    capture.esp(&ends[1], &acknowledgement, &[]);
    let eager = chunk(ChunkKind::Eager, 20);
    let row = send(capture, &ends[0], 4, &bytes_of(&eager, &data[..20]));
    put_chunk(row, &eager);
    put_bytes(row, "goal.data", &data[..20]);
    // The capture began within a chunk.
    let ends = End::pair(15);
    put(send(capture, &ends[0], 2, &packets[2]), "goal_esp.unread", 1);
    let row = send(capture, &ends[0], 3, &bytes_of(&eager, &data[..20]));
    put_chunk(row, &eager);
    put_bytes(row, "goal.data", &data[..20]);
}

/// Malformed chunks, and communicators that are not named once and first.
pub(crate) fn no_chunks(capture: &mut Capture) {
    let eager = chunk(ChunkKind::Eager, 0);
    let past_the_end = Chunk { offset: u64::MAX, ..chunk(ChunkKind::Data, 1) };
    let cases = [
        (vec![communicator()], bytes_of(&past_the_end, &[0])),
        (vec![communicator()], bytes_of(&eager, &[])[..59].to_vec()),
        (vec![], vec![9; 30]),
        (vec![], bytes_of(&eager, &[])),
        (vec![communicator()], bytes_of(&communicator(), &[])),
        (vec![communicator(), eager], vec![4; 23]),
    ];
    for (index, (chunks, wrong)) in cases.into_iter().enumerate() {
        let ends = End::pair(20 + index as u16);
        set_up(capture, &ends);
        let mut payload: Vec<u8> = chunks.iter().flat_map(|chunk| bytes_of(chunk, &[])).collect();
        payload.extend(wrong);
        let row = send(capture, &ends[0], 0, &payload);
        chunks.iter().for_each(|chunk| put_chunk(row, chunk));
        put(row, "goal.contradiction", 1);
    }
}

#[test]
fn one_pass_shows_what_is_known_by_then() {
    let Some(tshark) = Tshark::find() else { return };
    let mut capture = Capture::default();
    reordered(&mut capture, 12, false);
    capture.check(&tshark, "one_pass", &[]);
}

#[test]
fn long_chunks_are_put_together() {
    let Some(tshark) = Tshark::find() else { return };
    let mut capture = Capture::default();
    let ends = End::pair(1);
    set_up(&mut capture, &ends);
    let (mut writer, mut packets) = (Writer::default(), Vec::new());
    let data = bytes(128 << 10);
    writer.write(&communicator(), &[], 9216, |packet| push(&mut packets, packet));
    writer.write(&chunk(ChunkKind::Eager, 128 << 10), &data, 9216, |packet| {
        push(&mut packets, packet)
    });
    writer.flush(|packet| push(&mut packets, packet));
    for (index, packet) in packets.iter().enumerate() {
        send(&mut capture, &ends[0], index as u32, packet);
    }
    let rows = capture.shown(&tshark, "long", &["-2"]);
    let hex: String = data.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(rows.last().expect("there are frames")["goal.data"], [hex]);
    assert_eq!(rows.last().expect("there are frames")["goal.packets"], [packets.len().to_string()]);
    let rows = capture.shown(&tshark, "long", &["-2", "-o", "goal_esp.reassembles:FALSE"]);
    assert!(rows.iter().all(|row| !row.contains_key("goal.data")));
}

fn push(packets: &mut Vec<Vec<u8>>, packet: Vec<u8>) -> Vec<u8> {
    packets.push(packet);
    Vec::new()
}
