//! The bytes of EDP, ESP and what travels in ESP: each format in one file, with its diagram, its
//! view and its repr.
//!
//! A view ([`Packet`], [`Datagram`]) lies over bytes; making one with `new_checked` proves that no
//! accessor can panic. A repr ([`Repr`], [`Message`], [`Chunk`]) is what the bytes mean. All
//! numbers are in network order.

mod bytes;
mod chunk;
mod edp;
mod esp;
mod ethernet;
mod extension;
mod flags;
mod ports;
mod ranges;
#[cfg(test)]
mod tests;

pub use chunk::{Chunk, ChunkKind, Envelope};
pub use edp::{Datagram, EdpRepr, Message, State};
pub use esp::{Packet, Repr};
pub use ethernet::{Frame, Mac};
pub use extension::{Extension, Parameters};
pub use flags::Flags;
pub use ports::{PortRun, Ports};
pub use ranges::{Range, Ranges};

use std::fmt;

/// Ethertype of EDP unless the caller says otherwise: IEEE 802 local experimental 1.
pub const ETHERTYPE_EDP: u16 = 0x88b5;

/// Ethertype of ESP unless the caller says otherwise: IEEE 802 local experimental 2.
pub const ETHERTYPE_ESP: u16 = 0x88b6;

/// Version of both headers. Version 1 had nonces of 32 bits, data without tags and an answer for
/// each rank.
pub const VERSION: u8 = 2;

/// Bytes of a tag.
pub const TAG_LEN: usize = 12;

/// Proof that a frame was made by one who has the key.
pub type Tag = [u8; TAG_LEN];

/// Why bytes are no frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Malformed {
    /// Fewer bytes than the header has, or than it says that there are.
    Short,
    /// Another version, or a form that this version does not have.
    Version,
    /// Flags, kinds or values that don't go together.
    Contradiction,
    /// The checksum differs.
    Checksum,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Malformed::Short => "fewer bytes than its header says",
            Malformed::Version => "another version or an unknown form of the header",
            Malformed::Contradiction => "fields that don't go together",
            Malformed::Checksum => "a wrong checksum",
        })
    }
}

impl std::error::Error for Malformed {}
