//! The bytes of EDP and of ESP: each format in one file, with its diagram, its view and its repr.
//!
//! A view ([`Packet`], [`Datagram`]) lies over bytes. Its constructor `new_checked` checks them, so
//! that no accessor can panic. A repr ([`Repr`], [`Message`]) is the meaning of the bytes. All
//! numbers are in network order.

mod bytes;
mod edp;
mod esp;
mod ethernet;
mod extension;
mod flags;
mod ports;
mod ranges;
#[cfg(test)]
mod tests;

pub use edp::{Datagram, EdpRepr, Message, State};
pub use esp::{Packet, Repr};
pub use ethernet::{Frame, Mac};
pub use extension::{Extension, Parameters};
pub use flags::Flags;
pub use goal_fabric::chunk::Malformed;
pub use ports::{PortRun, Ports};
pub use ranges::{Range, Ranges};

/// The default ethertype of EDP: IEEE 802 local experimental 1.
pub const ETHERTYPE_EDP: u16 = 0x88b5;

/// The default ethertype of ESP: IEEE 802 local experimental 2.
pub const ETHERTYPE_ESP: u16 = 0x88b6;

/// The version of both headers. Version 1 had nonces of 32 bits, data without tags, and an answer
/// for each rank.
pub const VERSION: u8 = 2;

/// The length of a tag in bytes.
pub const TAG_LEN: usize = 12;

/// A message authentication code: only a holder of the key can make it.
pub type Tag = [u8; TAG_LEN];
