//! Frames that goal-esp writes, each with the expected output of the dissector.

use crate::expected::{TAG, edp_row, esp_row};
use crate::tshark::{Row, Tshark};
use goal_esp::wire::{
    Datagram, ETHERTYPE_EDP, ETHERTYPE_ESP, EdpRepr, Extension, Flags, Frame, Mac, Packet, Repr,
};

/// One end of a connection.
#[derive(Clone, Copy)]
pub(crate) struct End {
    pub(crate) address: Mac,
    pub(crate) peer: Mac,
    pub(crate) source_port: u16,
    pub(crate) destination_port: u16,
    pub(crate) nonce: u32,
}

impl End {
    /// Returns both ends of connection number `number`.
    pub(crate) fn pair(number: u16) -> [End; 2] {
        let addresses = [Mac([2, 0, 0, 0, 0, 1]), Mac([2, 0, 0, 0, 0, 2])];
        [(0, 1), (1, 0)].map(|(from, to)| End {
            address: addresses[from],
            peer: addresses[to],
            source_port: 10 * number + from as u16,
            destination_port: 10 * number + to as u16,
            nonce: 0x7000_0000 + 2 * u32::from(number) + from as u32,
        })
    }

    /// Returns the header of a packet of this end, which the caller changes.
    pub(crate) fn repr(&self, flags: Flags, sequence: u32, extension: Extension) -> Repr {
        Repr {
            flags,
            source_port: self.source_port,
            destination_port: self.destination_port,
            nonce: self.nonce,
            sequence,
            acknowledgement: 0,
            window: 64,
            extension,
        }
    }
}

/// Frames in the order in which they were captured.
#[derive(Default)]
pub(crate) struct Capture {
    /// The frames, with their lengths on the wire.
    pub(crate) frames: Vec<(Vec<u8>, usize)>,
    /// The expected fields of each frame.
    pub(crate) rows: Vec<Row>,
}

impl Capture {
    /// Appends a frame with the expected fields `row`, and returns these.
    pub(crate) fn push(&mut self, bytes: Vec<u8>, row: Row) -> &mut Row {
        let len = bytes.len();
        self.frames.push((bytes, len));
        self.rows.push(row);
        self.rows.last_mut().expect("it was appended")
    }

    /// Returns the number of the next frame.
    pub(crate) fn next(&self) -> u32 {
        self.frames.len() as u32 + 1
    }

    /// Appends an ESP frame, and expects its header.
    pub(crate) fn esp(&mut self, end: &End, repr: &Repr, payload: &[u8]) -> &mut Row {
        let bytes = esp_frame(end, repr, payload);
        let row = esp_row(repr, payload, &bytes[Frame::<&[u8]>::HEADER_LEN..]);
        self.push(bytes, row)
    }

    /// Appends an EDP frame.
    pub(crate) fn edp(&mut self, repr: &EdpRepr<'_>) -> &mut Row {
        let bytes = edp_frame(repr);
        let row = edp_row(repr, &bytes[Frame::<&[u8]>::HEADER_LEN..]);
        self.push(bytes, row)
    }

    /// Returns the capture as a file in libpcap's format.
    pub(crate) fn pcap(&self) -> Vec<u8> {
        let words =
            |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        let mut file = words(&[0xa1b2_c3d4, 4 << 16 | 2, 0, 0, 1 << 18, 1]);
        for (number, (bytes, len)) in self.frames.iter().enumerate() {
            file.extend(words(&[1, number as u32, bytes.len() as u32, *len as u32]));
            file.extend(bytes);
        }
        file
    }

    /// Returns the fields that `tshark` shows.
    pub(crate) fn shown(&self, tshark: &Tshark, name: &str, options: &[&str]) -> Vec<Row> {
        let rows = tshark.rows(&self.pcap(), name, options);
        assert_eq!(rows.len(), self.frames.len());
        rows
    }

    /// Fails unless `tshark` shows exactly the expected fields.
    pub(crate) fn check(&self, tshark: &Tshark, name: &str, options: &[&str]) {
        for (index, (shown, row)) in
            self.shown(tshark, name, options).iter().zip(&self.rows).enumerate()
        {
            assert_eq!(shown, row, "frame {} of {name}", index + 1);
        }
    }
}

/// A frame with Ethernet's header in front of `payload`.
pub(crate) fn ethernet(source: Mac, destination: Mac, ethertype: u16, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; Frame::<&[u8]>::HEADER_LEN + payload.len()];
    let mut frame = Frame::new_checked(&mut bytes[..]).expect("there is room for the header");
    frame.emit(source, destination, ethertype);
    frame.payload_mut().copy_from_slice(payload);
    bytes
}

/// An ESP frame.
pub(crate) fn esp_frame(end: &End, repr: &Repr, payload: &[u8]) -> Vec<u8> {
    let header_len = repr.extension.header_len();
    let mut bytes = vec![0; header_len];
    bytes.extend(payload);
    let mut packet = Packet::emit(&mut bytes[..], repr, payload.len());
    if repr.extension != Extension::None {
        packet.set_tag(&TAG);
    }
    packet.fill_checksum();
    ethernet(end.address, end.peer, ETHERTYPE_ESP, &bytes)
}

/// An EDP frame.
pub(crate) fn edp_frame(repr: &EdpRepr<'_>) -> Vec<u8> {
    let mut bytes = vec![0; repr.len()];
    let mut datagram = Datagram::emit(&mut bytes[..], repr);
    if repr.message.is_tagged() {
        datagram.set_tag(&TAG);
    }
    datagram.fill_checksum();
    ethernet(Mac([2, 0, 0, 0, 0, 1]), Mac::BROADCAST, ETHERTYPE_EDP, &bytes)
}
