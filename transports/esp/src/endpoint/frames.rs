//! Conversion between segments and frames. No decision is made here.

use super::seals::Seals;
use super::spare::Copied;
use crate::auth::{Address, Key, Route};
use crate::machine::{Body, Identity, Segment};
use crate::seq::Seq;
use crate::transfer::Acknowledgement;
use crate::wire::{Extension, Flags, Frame, Packet, Parameters, Range, Ranges, Repr};

/// The properties of a frame that do not depend on the segment.
#[derive(Clone, Copy)]
pub(super) struct Envelope {
    pub(super) own: Address,
    pub(super) peer: Address,
    pub(super) ethertype: u16,
    /// The parameters of this end, for handshakes.
    pub(super) parameters: Parameters,
    /// The number of packets that the peer may send before the first acknowledgement.
    pub(super) window: u16,
    /// True if all frames have a tag over header and payload.
    pub(super) tags_all: bool,
}

/// Writes the frame of `segment` to `out`, with a tag made by `key` if the frame needs one. A tag
/// over header and payload is left to `seals`, if they are given. `number` counts the frames with a
/// tag, without frames of handshakes. Returns the length of the frame in bytes.
pub(super) fn write(
    out: &mut [u8],
    envelope: &Envelope,
    segment: Segment<&Vec<u8>>,
    key: &Key,
    number: &mut u64,
    seals: Option<&mut Seals>,
) -> usize {
    let mut next_number = || {
        *number += 1;
        *number
    };
    let Envelope { own, peer, parameters, window, .. } = *envelope;
    let mut repr = Repr {
        flags: Flags::NONE,
        source_port: own.port,
        destination_port: peer.port,
        nonce: 0,
        sequence: 0,
        acknowledgement: 0,
        window,
        extension: Extension::None,
    };
    let introduce = |repr: &mut Repr, identity: &Identity| {
        (repr.nonce, repr.sequence) = (identity.nonce as u32, identity.first.0);
        let nonce_high = (identity.nonce >> 32) as u32;
        repr.extension = Extension::Handshake { control: 0, nonce_high, parameters };
    };

    let mut control = 0;
    let mut payload: &[u8] = &[];
    let mut requested: &[Range] = &[];
    match &segment {
        Segment::Syn { identity } => {
            repr.flags = Flags::SYN;
            introduce(&mut repr, identity);
        }
        Segment::SynAck { identity, .. } => {
            repr.flags = Flags::SYN | Flags::ACK;
            introduce(&mut repr, identity);
        }
        Segment::HandshakeAck { identity, .. } => {
            repr.flags = Flags::ACK;
            introduce(&mut repr, identity);
        }
        Segment::Packet { from, body, .. } => {
            (repr.nonce, repr.window) = (*from as u32, 0);
            let mut acknowledged = None;
            match body {
                Body::Data { seq, flags, payload: bytes, acknowledgement } => {
                    (repr.flags, repr.sequence) = (*flags, seq.0);
                    payload = bytes;
                    acknowledged = *acknowledgement;
                }
                Body::Ack(acknowledgement) => acknowledged = Some(*acknowledgement),
                Body::Request { acknowledgement, ranges } => {
                    repr.flags = Flags::RRQ;
                    requested = ranges;
                    acknowledged = Some(*acknowledgement);
                }
                Body::Reset => repr.flags = Flags::RST,
            }
            if let Some(Acknowledgement { next, window }) = acknowledged {
                repr.flags = repr.flags | Flags::ACK;
                (repr.acknowledgement, repr.window) = (next.0, window);
            }
            if repr.flags.is_control() || envelope.tags_all {
                control = next_number();
            }
            repr.extension = match control as u32 {
                control if envelope.tags_all => Extension::Whole { control },
                control if repr.flags.is_control() => Extension::Tagged { control },
                _ => Extension::None,
            };
        }
    }
    let mut frame = Frame::new_checked(&mut *out).expect("room for the longest frame");
    frame.emit(own.mac, peer.mac, envelope.ethertype);
    let bytes = frame.payload_mut();
    let header_len = repr.extension.header_len();
    let payload_len = if requested.is_empty() { payload.len() } else { Ranges::len_of(requested) };
    let body = &mut bytes[header_len..header_len + payload_len];
    if requested.is_empty() {
        body.copy_from_slice(payload);
    } else {
        Ranges::emit(requested, body);
    }
    let mut packet = Packet::emit(bytes, &repr, payload_len);
    let seals = seals.filter(|_| matches!(repr.extension, Extension::Whole { .. }));
    if let Some(seals) = seals {
        seals.push(key, control);
    } else if repr.extension != Extension::None {
        let tag = key.tag(Route { source: own.mac, destination: peer.mac }, control, &packet);
        packet.set_tag(&tag);
    }
    packet.fill_checksum();
    Frame::<&[u8]>::HEADER_LEN + header_len + payload_len
}

/// Returns the contents of a packet of an established connection; `None` if they must be ignored.
/// `counts` is false for a replayed or overtaken frame. Only the data of such a frame is used.
pub(super) fn body<'a>(payload: Copied<'a>, repr: &Repr, counts: bool) -> Option<Body<Copied<'a>>> {
    let acknowledgement = (repr.flags.has(Flags::ACK) && counts)
        .then_some(Acknowledgement { next: Seq(repr.acknowledgement), window: repr.window });
    let is_of_stream = !payload.bytes.is_empty() || repr.flags.has(Flags::FIN);
    if repr.flags.has(Flags::RST) {
        return counts.then_some(Body::Reset);
    }
    if repr.flags.has(Flags::RRQ) {
        let ranges =
            Ranges::parse(payload.bytes).expect("a view is of a whole request").iter().collect();
        return acknowledgement.map(|acknowledgement| Body::Request { acknowledgement, ranges });
    }
    if !is_of_stream {
        return acknowledgement.map(Body::Ack);
    }
    let flags = repr.flags.without(Flags::ACK);
    Some(Body::Data { seq: Seq(repr.sequence), flags, payload, acknowledgement })
}
