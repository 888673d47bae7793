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
    /// Clear to send: the receive of a request is posted.
    Cts = 3,
    /// A part of a payload that was cleared.
    Data = 4,
    /// The receiver no longer needs the sender's buffer.
    Fin = 5,
    /// The envelope of a message whose payload follows in the next [`Kind::Part`]s from this
    /// source.
    Long = 6,
    /// The next part of the payload that was announced last.
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
    /// Rank that sends this.
    pub source: u32,
    /// The lower 32 bits of the number of the message's communicator.
    pub communicator: u32,
    /// Number of the schedule's instance in that communicator.
    pub instance: u32,
    /// Tag of the message; cookie of the receive (direct Cts).
    pub tag: u32,
    /// Number of the message among those of this instance from this source to this destination. In
    /// a Cts: the most bytes to send, or 0 for the rest of the payload.
    pub sequence: u32,
    /// Offset of the send in its section, for reports.
    pub action: u32,
    /// Names an operation of the rank that receives this (Cts, Data, Fin) or that sends it (Rts).
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
    /// Of a request: the payload can be read under the name in `offset`. Of its answer (Cts): the
    /// sender shall write the payload to the buffer under that name. Of Data: it has written it.
    pub const DIRECT: u8 = 2;

    /// A header of this kind with nothing else in it.
    pub fn new(kind: Kind, source: u32) -> Self {
        let mut header = Self::new_zeroed();
        header.kind = kind as u8;
        header.source = source;
        header
    }

    /// The number of the message's communicator.
    #[inline(always)]
    pub fn communicator(&self) -> u64 {
        u64::from(self.communicator_upper) << 32 | u64::from(self.communicator)
    }

    /// Returns true if the payload is a pattern.
    #[inline]
    pub fn is_pattern(&self) -> bool {
        self.flags & Self::PATTERN != 0
    }

    /// The rank that sent it.
    #[inline(always)]
    pub(crate) fn sender(&self) -> Rank {
        Rank(self.source)
    }

    /// The message, for its pattern. `destination` is the rank that receives it.
    #[inline]
    pub(crate) fn message(&self, destination: u32) -> MessageKey {
        MessageKey {
            source: self.source,
            destination,
            tag: self.tag,
            sequence: u64::from(self.sequence),
        }
    }

    /// The kind.
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

    /// Bytes that follow the header.
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
