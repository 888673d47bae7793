//! Numbers in network order at fixed places.

use crc_fast::{CrcAlgorithm, Digest};
use std::ops::Range;

/// The place of a field.
pub(super) type Field = Range<usize>;

#[inline]
pub(super) fn u16_at(bytes: &[u8], field: Field) -> u16 {
    u16::from_be_bytes(bytes[field].try_into().expect("a field of two bytes"))
}

#[inline]
pub(super) fn u32_at(bytes: &[u8], field: Field) -> u32 {
    u32::from_be_bytes(bytes[field].try_into().expect("a field of four bytes"))
}

#[inline]
pub(super) fn u64_at(bytes: &[u8], field: Field) -> u64 {
    u64::from_be_bytes(bytes[field].try_into().expect("a field of eight bytes"))
}

/// The beginning of a header, at a multiple of 8: the checksum goes faster over such.
#[repr(align(8))]
struct Start([u8; 24]);

/// The checksum (CRC-32C, which iSCSI has too) of bytes whose field for it counts as zeros; it ends at most 24 bytes behind their beginning.
pub(super) fn checksum(bytes: &[u8], field: Field) -> u32 {
    let mut start = Start([0; 24]);
    start.0[..field.start].copy_from_slice(&bytes[..field.start]);
    let mut digest = Digest::new(CrcAlgorithm::Crc32Iscsi);
    digest.update(&start.0[..field.end]);
    digest.update(&bytes[field.end..]);
    digest.finalize() as u32
}
