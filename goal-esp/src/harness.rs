//! What fuzz targets and the bounded tests on stable both run: each function takes any bytes, and
//! panics where a promise of this crate is broken.

use crate::wire::{Chunk, Datagram, EdpRepr, Extension, Frame, Packet, Ranges};

/// A frame: what is accepted as ESP or EDP comes back from writing it. True where it was accepted.
///
/// # Panics
/// Where that does not hold.
pub fn frame(bytes: &[u8]) -> bool {
    let Ok(frame) = Frame::new_checked(bytes) else { return false };
    let sealed = [seal_packet(frame.payload()), seal_datagram(frame.payload())];
    let packets = [frame.payload(), &sealed[0]].into_iter().filter(|bytes| packet(bytes)).count();
    let datagrams =
        [frame.payload(), &sealed[1]].into_iter().filter(|bytes| datagram(bytes)).count();
    packets + datagrams > 0
}

/// Makes the checksum of an ESP frame right, where there is one.
pub fn seal(frame: &mut [u8]) {
    if let Ok(mut frame) = Frame::new_checked(frame) {
        Packet::reseal(frame.payload_mut());
    }
}

/// With the checksum made right, so that changed bytes reach the checks behind it.
fn seal_packet(bytes: &[u8]) -> Vec<u8> {
    let mut sealed = bytes.to_vec();
    Packet::reseal(&mut sealed[..]);
    sealed
}

fn seal_datagram(bytes: &[u8]) -> Vec<u8> {
    let mut sealed = bytes.to_vec();
    Datagram::reseal(&mut sealed[..]);
    sealed
}

fn packet(bytes: &[u8]) -> bool {
    let Ok(packet) = Packet::new_checked(bytes) else { return false };
    let repr = packet.repr();
    let len = packet.len();
    let mut again = vec![0; len];
    again[repr.extension.header_len()..].copy_from_slice(packet.payload());
    let mut written = Packet::emit(&mut again[..], &repr, packet.payload_len());
    if let Some(tag) = packet.tag() {
        assert_ne!(repr.extension, Extension::None, "a tag without its extension");
        written.set_tag(&tag);
    }
    written.fill_checksum();
    assert_eq!(again, bytes[..len], "another packet was written");
    if repr.flags.has(crate::wire::Flags::RRQ) {
        let ranges: Vec<_> = Ranges::parse(packet.payload()).expect("checked").iter().collect();
        assert_eq!(Ranges::len_of(&ranges), packet.payload_len());
    }
    true
}

fn datagram(bytes: &[u8]) -> bool {
    let Ok(datagram) = Datagram::new_checked(bytes) else { return false };
    let repr: EdpRepr<'_> = datagram.repr();
    let mut again = vec![0; repr.len()];
    let mut written = Datagram::emit(&mut again[..], &repr);
    if let Some(tag) = datagram.tag() {
        written.set_tag(&tag);
    }
    written.fill_checksum();
    assert_eq!(again, bytes[..repr.len()], "another datagram was written");
    true
}

/// The header of a chunk: what is accepted comes back from writing it. True where it was accepted.
///
/// # Panics
/// Where that does not hold.
pub fn chunk(bytes: &[u8]) -> bool {
    let Ok(chunk) = Chunk::parse(bytes) else { return false };
    let mut again = vec![0xff; chunk.header_len()];
    chunk.emit(&mut again);
    assert_eq!(again, bytes[..chunk.header_len()], "another chunk was written");
    true
}
