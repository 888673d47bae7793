//! Numbers in network order at fixed places.

use crc32c::{crc32c, crc32c_append};
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

/// The longest copy that is made to compute a checksum, in bytes. A short packet is copied whole,
/// because one sum costs less than two. Of a long packet only the beginning is copied.
const COPY_LEN: usize = 256;

/// Returns the checksum (CRC-32C, as in iSCSI) of bytes in which the checksum's own field counts as
/// zeros.
pub(super) fn checksum(bytes: &[u8], field: Field) -> u32 {
    let copied_len = if bytes.len() <= COPY_LEN { bytes.len() } else { field.end };
    let (copied, rest) = bytes.split_at(copied_len);
    let copy = &mut [0; COPY_LEN][..copied_len];
    copy.copy_from_slice(copied);
    copy[field].fill(0);
    crc32c_append(crc32c(copy), rest)
}

/// Writes the checksum of bytes to its field.
pub(super) fn fill_checksum(bytes: &mut [u8], field: Field) {
    bytes[field.clone()].fill(0);
    let sum = crc32c(bytes);
    bytes[field].copy_from_slice(&sum.to_be_bytes());
}
