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

/// First bytes of every file: one that text never has, the name, and line ends that a text transfer
/// would change.
pub const MAGIC: [u8; 8] = *b"\x8eNISA\r\n\x1a";

/// Newest format version. A reader refuses a higher major version, which adds instructions; a
/// higher minor version only adds parts that may be skipped. A file states the lowest major version
/// that has its instructions.
pub const MAJOR: u16 = 2;
/// See [`MAJOR`].
pub const MINOR: u16 = 0;

pub(super) const HEADER_SIZE: usize = 44;
/// Place of the numbers of ranks and sections.
pub(super) const COUNTS: std::ops::Range<usize> = 12..20;
pub(super) const PRODUCER: std::ops::Range<usize> = 24..40;
pub(super) const CRC_AT: usize = 40;
/// Bytes of a part around its payload: kind and length before it, the checksum behind it.
pub(super) const PART_HEAD: usize = 12;
pub(super) const PART_TAIL: usize = 4;
/// Bytes of a rank's entry in the table.
pub(super) const RANK_SIZE: usize = 4;
/// Bytes of a section's entry in the table.
pub(super) const SECTION_SIZE: usize = 8;
/// Stands for "no image" and "no source name".
pub(super) const NONE: u32 = u32::MAX;

/// The kinds of parts. A reader skips kinds it doesn't know where the top bit is set, and refuses
/// the others.
pub mod part {
    /// The sections, end to end.
    pub const CODE: u32 = 1;
    /// Per section: bytes of memory, bytes of scratch memory. Left out where all are 0.
    pub const MEMORY: u32 = 2;
    /// Init and expect data. Left out where there are none.
    pub const IMAGES: u32 = 3;
    /// Kinds from here on may be skipped.
    pub const ANCILLARY: u32 = 1 << 31;
    /// Labels, source names and lines.
    pub const DEBUG: u32 = ANCILLARY | 1;
}

/// What every part's checksum and the header's are made with.
pub(super) fn crc(before: u32, bytes: &[u8]) -> u32 {
    crc32c::crc32c_append(before, bytes)
}

/// The next multiple of 4.
pub(super) const fn padded(bytes: u64) -> u64 {
    bytes.next_multiple_of(4)
}
