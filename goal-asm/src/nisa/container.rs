//! The container around the sections: header, table of ranks and sections, parts. `docs/nisa.md`
//! shows every byte.
//!
//! ```text
//!  0  magic              8 bytes
//!  8  major u16, minor u16
//! 12  ranks              u32
//! 16  sections           u32
//! 20  parts              u32
//! 24  producer           16 bytes, zero padded
//! 40  crc32c             u32, of bytes 0 to 40 and of the table
//! 44  table              ranks x { section u32 },
//!                        sections x { length u32 in words of 4 bytes, actions u32 }
//!     parts, kinds ascending, each
//!     { kind u32, length u64, payload, crc32c u32 of kind, length and payload }
//! ```

/// The first bytes of every NISA file: a byte that no text has, the name, and line ends that a
/// transfer as text would change.
pub const MAGIC: [u8; 8] = *b"\x8eNISA\r\n\x1a";

/// The newest major version of the format. A reader refuses a higher one, which has more
/// instructions or parts. A higher minor version only adds parts that may be skipped. A file states
/// the lowest major version that has its instructions and parts.
pub(super) const MAJOR: u16 = 4;
/// The first major version with tables of buffers.
pub(super) const BUFFERS_SINCE: u16 = 3;
/// The newest minor version of the format.
pub(super) const MINOR: u16 = 0;

pub(super) const HEADER_SIZE: usize = 44;
/// The place of the numbers of ranks and sections in the header.
pub(super) const COUNTS: std::ops::Range<usize> = 12..20;
pub(super) const PRODUCER: std::ops::Range<usize> = 24..40;
pub(super) const CRC_AT: usize = 40;
/// The bytes of a part before its payload: kind and length. `PART_TAIL` bytes of checksum follow
/// the payload.
pub(super) const PART_HEAD: usize = 12;
pub(super) const PART_TAIL: usize = 4;
/// Bytes of a rank's entry in the table.
pub(super) const RANK_SIZE: usize = 4;
/// Bytes of a section's entry in the table.
pub(super) const SECTION_SIZE: usize = 8;
/// The index that stands for no image or no source name.
pub(super) const NONE: u32 = u32::MAX;

/// The kinds of parts. A reader skips unknown kinds with the top bit set, and refuses other unknown
/// kinds.
pub(super) mod part {
    /// The sections, end to end.
    pub(in crate::nisa) const CODE: u32 = 1;
    /// The bytes of memory and of scratch memory of each section. Absent if all are 0.
    pub(in crate::nisa) const MEMORY: u32 = 2;
    /// Init and expect data. Absent if there are none.
    pub(in crate::nisa) const IMAGES: u32 = 3;
    /// The lengths of the buffers of each section. Absent if every section's memory is one region.
    pub(in crate::nisa) const BUFFERS: u32 = 4;
    /// Kinds from here on may be skipped.
    pub(in crate::nisa) const ANCILLARY: u32 = 1 << 31;
    /// Labels, source names and lines.
    pub(in crate::nisa) const DEBUG: u32 = ANCILLARY | 1;
}

/// Returns the CRC-32C of earlier bytes, `before`, continued over `bytes`.
pub(super) fn crc(before: u32, bytes: &[u8]) -> u32 {
    crc32c::crc32c_append(before, bytes)
}

/// Returns `bytes` rounded up to a multiple of 4.
pub(super) const fn padded(bytes: u64) -> u64 {
    bytes.next_multiple_of(4)
}
