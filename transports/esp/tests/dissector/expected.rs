//! The expected fields of headers and chunks.

use crate::tshark::Row;
use goal_esp::wire::{EdpRepr, Extension, Message, Range, Repr, VERSION};
use goal_fabric::chunk::{Chunk, Envelope};

/// The tag of all frames in these tests. The dissector has no key to check it.
pub(crate) const TAG: [u8; 12] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];

/// Appends a value of a field.
pub(crate) fn put(row: &mut Row, field: &str, value: impl ToString) {
    row.entry(field.into()).or_default().push(value.to_string());
}

/// Writes bytes as `tshark` does. Empty fields are left out.
pub(crate) fn put_bytes(row: &mut Row, field: &str, bytes: &[u8]) {
    if !bytes.is_empty() {
        put(row, field, bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
    }
}

fn checksum_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

/// Expects the header and payload of an ESP packet with these `bytes`.
pub(crate) fn esp_row(repr: &Repr, payload: &[u8], bytes: &[u8]) -> Row {
    let mut row = Row::new();
    let r = &mut row;
    put(r, "goal_esp.version", VERSION);
    let form = match repr.extension {
        Extension::None => 0,
        Extension::Tagged { .. } => 1,
        Extension::Handshake { .. } => 2,
        Extension::Whole { .. } => 3,
    };
    put(r, "goal_esp.form", form);
    put(r, "goal_esp.flags", repr.flags.0);
    for (bit, name) in ["syn", "ack", "fin", "rst", "rrq", "txs", "txf", "txr"].iter().enumerate() {
        put(r, &format!("goal_esp.flags.{name}"), repr.flags.0 >> bit & 1);
    }
    put(r, "goal_esp.length", payload.len());
    put(r, "goal_esp.srcport", repr.source_port);
    put(r, "goal_esp.dstport", repr.destination_port);
    put(r, "goal_esp.nonce", repr.nonce);
    put(r, "goal_esp.seq", repr.sequence);
    put(r, "goal_esp.ack", repr.acknowledgement);
    put(r, "goal_esp.checksum", checksum_at(bytes, 20));
    put(r, "goal_esp.window", repr.window);
    if let Some(control) = repr.extension.control() {
        put(r, "goal_esp.control", control);
        put_bytes(r, "goal_esp.tag", &TAG);
    }
    if let Extension::Handshake { parameters, nonce_high, .. } = repr.extension {
        put(r, "goal_esp.nonce_high", nonce_high);
        put(r, "goal_esp.payload_max", parameters.payload_max);
        put(r, "goal_esp.options", u8::from(parameters.authenticates_data));
        put(r, "goal_esp.options.authenticates_data", u8::from(parameters.authenticates_data));
    }
    put_bytes(r, "goal_esp.payload", payload);
    row
}

/// Expects an EDP datagram with these `bytes`.
pub(crate) fn edp_row(repr: &EdpRepr<'_>, bytes: &[u8]) -> Row {
    let mut row = Row::new();
    let r = &mut row;
    put(r, "goal_edp.version", VERSION);
    put(r, "goal_edp.form", u8::from(repr.message.is_tagged()));
    put(r, "goal_edp.length", repr.message.len());
    put(r, "goal_edp.srcport", repr.source_port);
    put(r, "goal_edp.dstport", repr.destination_port);
    put(r, "goal_edp.number", repr.number);
    put(r, "goal_edp.checksum", checksum_at(bytes, 12));
    if repr.message.is_tagged() {
        put_bytes(r, "goal_edp.tag", &TAG);
    }
    let kind = match repr.message {
        Message::Echo(data) => {
            put_bytes(r, "goal_edp.data", data);
            1
        }
        Message::EchoReply(data) => {
            put_bytes(r, "goal_edp.data", data);
            2
        }
        Message::Discovery { job, nonce } => {
            put(r, "goal_edp.job", job);
            put(r, "goal_edp.nonce", nonce);
            3
        }
        Message::Answer { job, nonce, ranks, ports } => {
            put(r, "goal_edp.job", job);
            put(r, "goal_edp.nonce", nonce);
            put(r, "goal_edp.ranks", ranks);
            for run in ports.iter() {
                put(r, "goal_edp.rank", run.rank);
                put(r, "goal_edp.port", run.port);
                put(r, "goal_edp.count", run.count);
            }
            4
        }
        Message::Probe { job, round } => {
            put(r, "goal_edp.job", job);
            put(r, "goal_edp.round", round);
            5
        }
        Message::ProbeReply { job, round, rank, state, sent, taken } => {
            put(r, "goal_edp.job", job);
            put(r, "goal_edp.round", round);
            put(r, "goal_edp.rank", rank);
            put(r, "goal_edp.state", state as u8);
            put(r, "goal_edp.sent", sent);
            put(r, "goal_edp.taken", taken);
            6
        }
    };
    put(r, "goal_edp.kind", kind);
    row
}

/// Expects the ranges of a request.
pub(crate) fn put_ranges(row: &mut Row, ranges: &[Range]) {
    for range in ranges {
        put(row, "goal_esp.range.first", range.first);
        put(row, "goal_esp.range.count", range.count);
    }
}

/// Expects the header of a chunk.
pub(crate) fn put_chunk(row: &mut Row, chunk: &Chunk) {
    put(row, "goal.kind", chunk.kind as u8);
    put(row, "goal.length", chunk.len);
    put(row, "goal.message", chunk.message);
    put(row, "goal.receive", chunk.receive);
    put(row, "goal.offset", chunk.offset);
    if let Some(envelope) = chunk.envelope {
        let Envelope { communicator, schedule, sender, receiver, flags, tag, sequence, action } =
            envelope;
        put(row, "goal.communicator", communicator);
        put(row, "goal.schedule", schedule);
        put(row, "goal.sender", sender);
        put(row, "goal.receiver", receiver);
        put(row, "goal.size", chunk.offset as u32);
        put(row, "goal.flags", flags);
        put(row, "goal.tag", tag);
        put(row, "goal.sequence", sequence);
        put(row, "goal.action", action);
    }
}

/// Expects a part of a chunk that begins in frame `first`. With `last`, expects that it is complete
/// in that frame.
pub(crate) fn put_part(row: &mut Row, data: &[u8], first: u32, last: Option<u32>) {
    put_bytes(row, "goal.part", data);
    put(row, "goal.begins_in", first);
    if let Some(last) = last {
        put(row, "goal.ends_in", last);
    }
}

/// Expects that a chunk over several packets is complete.
pub(crate) fn put_whole(row: &mut Row, data: &[u8], packets: u32) {
    put(row, "goal.packets", packets);
    put_bytes(row, "goal.data", data);
}
