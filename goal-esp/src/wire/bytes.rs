//! Numbers in network order at fixed places.

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

/// The checksum of bytes whose field for it counts as zeros.
pub(super) fn checksum(bytes: &[u8], field: Field) -> u32 {
    let sum = crc32c::crc32c(&bytes[..field.start]);
    let sum = crc32c::crc32c_append(sum, &[0; 4]);
    crc32c::crc32c_append(sum, &bytes[field.end..])
}
