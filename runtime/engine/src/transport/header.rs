//! The header of every message between ranks.
//!
//! ```text
//!  0     1     2         4              8              12
//! +-----+-----+---------+--------------+--------------+--------------+
//! |kind |flags|  upper  |    source    | communicator |   instance   |
//! +-----+-----+---------+--------------+--------------+--------------+ 16
//! |     tag       |   sequence   |    action    |    cookie    |
//! +---------------+--------------+--------------+--------------+ 32
//! |             size             |            offset           |
//! +------------------------------+-----------------------------+ 48
//! ```
//!
//! A communicator has a number of 48 bits: its lower 32, and the upper 16 beside the flags.
//! Integers are in the machine's byte order. 48 bytes leave room in a cache line of 64 for a
//! transport's own word and 8 bytes of payload.

use crate::engine::ids::Rank;
use goal_lang::pattern::MessageKey;
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout};

/// The kind of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A whole message with its payload.
    Eager = 1,
    /// Request to send: the envelope of a message whose payload stays with its sender (rendezvous).
    Rts = 2,
    /// Clear to send: the receive of a request is posted, and its rank asks for the payload.
    Cts = 3,
    /// A part of a payload that the receiver has asked for by a [`Kind::Cts`].
    Data = 4,
    /// The receiver no longer needs the sender's buffer.
    Fin = 5,
    /// The envelope of a message whose payload follows in the next [`Kind::Part`]s from this
    /// source.
    Long = 6,
    /// The next part of the message that this source announced last by [`Kind::Long`].
    Part = 7,
}

/// The header of a message. Its kind determines which fields are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Header {
    /// A [`Kind`].
    pub kind: u8,
    /// [`Header::PATTERN`] and [`Header::DIRECT`].
    pub flags: u8,
    /// The upper 16 bits of the communicator's number.
    pub communicator_upper: u16,
    /// The rank that sends this header.
    pub source: u32,
    /// The lower 32 bits of the number of the message's communicator.
    pub communicator: u32,
    /// Number of the schedule's instance in that communicator.
    pub instance: u32,
    /// The tag of the message. In a direct Cts: the cookie of the receive.
    pub tag: u32,
    /// The number of the message among those of its instance from its source to its destination. In
    /// a Cts: the most bytes to send, or 0 for the rest of the payload.
    pub sequence: u32,
    /// Offset of the send in its section, for reports.
    pub action: u32,
    /// A pending message, by its number at the rank that receives this header (Cts, Data, Fin) or
    /// at the rank that sends it (Rts).
    pub cookie: u32,
    /// Bytes of the message (Eager, Long, Rts), of this part (Data, Part), or that the receiver
    /// already has (Cts).
    pub size: u64,
    /// Exported name of the payload (Rts), place of this part in the payload (Data), or cookie of
    /// the receive (Cts). In a direct Cts: the exported name of the receive's buffer.
    pub offset: u64,
}

impl Default for Header {
    fn default() -> Self {
        Self::new_zeroed()
    }
}

impl Header {
    /// The payload is a pattern.
    pub const PATTERN: u8 = 1;
    /// In an Rts: the receiver can read the payload under the name in `offset`. In a Cts: the
    /// sender shall write the payload to the buffer under the name in `offset`. In Data: the sender
    /// has written the payload there.
    pub const DIRECT: u8 = 2;

    /// Creates a header with this kind and source. All other fields are 0.
    pub fn new(kind: Kind, source: u32) -> Self {
        let mut header = Self::new_zeroed();
        header.kind = kind as u8;
        header.source = source;
        header
    }

    /// Returns the number of the message's communicator.
    #[inline(always)]
    pub fn communicator(&self) -> u64 {
        u64::from(self.communicator_upper) << 32 | u64::from(self.communicator)
    }

    /// Returns true if the payload is a pattern.
    #[inline]
    pub fn is_pattern(&self) -> bool {
        self.flags & Self::PATTERN != 0
    }

    /// Returns the rank that sent the header.
    #[inline(always)]
    pub(crate) fn sender(&self) -> Rank {
        Rank(self.source)
    }

    /// Returns the key that determines the message's pattern. `destination` is the rank that
    /// receives the message.
    #[inline]
    pub(crate) fn message(&self, destination: u32) -> MessageKey {
        MessageKey {
            source: self.source,
            destination,
            tag: self.tag,
            sequence: u64::from(self.sequence),
        }
    }

    /// Returns the kind.
    ///
    /// # Panics
    /// If the number is not a kind: the peer is not an engine of this version.
    #[inline]
    pub fn kind(&self) -> Kind {
        match self.kind {
            1 => Kind::Eager,
            2 => Kind::Rts,
            3 => Kind::Cts,
            4 => Kind::Data,
            5 => Kind::Fin,
            6 => Kind::Long,
            7 => Kind::Part,
            other => panic!("message of unknown kind {other}"),
        }
    }

    /// Returns the number of payload bytes that follow the header.
    #[inline]
    pub fn payload_len(&self) -> usize {
        match self.kind() {
            Kind::Data if self.flags & Self::DIRECT != 0 => 0,
            Kind::Eager | Kind::Data | Kind::Part => self.size as usize,
            Kind::Rts | Kind::Cts | Kind::Fin | Kind::Long => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Header;

    #[test]
    fn leaves_room_in_a_cache_line() {
        assert_eq!(size_of::<Header>(), 48);
        assert_eq!(align_of::<Header>(), 8);
    }
}
