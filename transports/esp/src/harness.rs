//! The bodies of the fuzz targets. The bounded tests on stable Rust run them too. Each function
//! takes any bytes, and panics if this crate breaks a promise.

use crate::wire::{Datagram, EdpRepr, Extension, Frame, Packet, Ranges};

/// Checks that a frame which is accepted as ESP or EDP is the same when it is written again.
/// Returns true if the frame was accepted.
///
/// # Panics
/// If it is not the same.
pub fn frame(bytes: &[u8]) -> bool {
    let Ok(frame) = Frame::new_checked(bytes) else { return false };
    let repaired = [repair_packet(frame.payload()), repair_datagram(frame.payload())];
    let packets = [frame.payload(), &repaired[0]].into_iter().filter(|bytes| packet(bytes)).count();
    let datagrams =
        [frame.payload(), &repaired[1]].into_iter().filter(|bytes| datagram(bytes)).count();
    packets + datagrams > 0
}

/// Corrects the checksum of an ESP frame, if it has one.
pub fn repair_checksum(frame: &mut [u8]) {
    if let Ok(mut frame) = Frame::new_checked(frame) {
        Packet::repair_checksum(frame.payload_mut());
    }
}

/// Copies a packet and corrects the checksum of the copy. So changed bytes get past the check of
/// the checksum.
fn repair_packet(bytes: &[u8]) -> Vec<u8> {
    let mut repaired = bytes.to_vec();
    Packet::repair_checksum(&mut repaired[..]);
    repaired
}

fn repair_datagram(bytes: &[u8]) -> Vec<u8> {
    let mut repaired = bytes.to_vec();
    Datagram::repair_checksum(&mut repaired[..]);
    repaired
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
