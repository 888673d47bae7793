//! The byte format of chunks, the units of a stream. A chunk that begins a message has GOAL's
//! transfer header (thesis Fig. 4.6).
//!
//! ```text
//!  0       1       2               4               8               12
//! +-------+-------+---------------+---------------+---------------+
//! | kind  |   0   |       0       | bytes to come |    message    |
//! +-------+-------+---------------+---------------+---------------+ 12
//! |    receive    |            offset             |
//! +---------------+-------------------------------+ 24: the end, but for Eager, Rts and Long
//! | communicator  |schedule number|    sender     |   receiver    |
//! +---------------+---------------+---------------+---------------+ 40
//! |    length     |     flags     |      tag      |
//! +---------------+---------------+---------------+---------------+ 52: the end of Fig. 4.6
//! |   sequence    |    action     |
//! +---------------+---------------+ 60
//! ```
//!
//! The meaning of the fields by kind. Fields without a meaning are 0:
//!
//! ```text
//! kind             message           receive          offset           bytes to come  header
//! 1 Eager          0                 0                size             the message    yes
//! 2 Rts            sender's name     0                size             0              yes
//! 3 Cts            sender's name     receiver's name  bytes it has     0              no
//! 4 Data           receiver's name   0                place in message a part         no
//! 5 Fin            sender's name     0                0                0              no
//! 6 Long           0                 0                size             0              yes
//! 7 Part           0                 0                0                a part         no
//! 8 Communicator   its number        0                0                0              no
//! 9 Room           0                 0                bytes of room    0              no
//! ```
//!
//! The length in the transfer header is the low half of the message's size. A header never lies
//! across two packets: if the rest of a packet is too short for a header, the header begins the
//! next packet. All numbers are in network order.

#[cfg(test)]
mod tests;

use crate::limits::{CHUNK_BYTES_MAX, PART_BYTES_MAX};

const HEADER_LEN: usize = 24;
const ENVELOPE_LEN: usize = 36;

/// The error of malformed bytes of a chunk, or of a frame that carries chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// There are fewer bytes than a header has, or fewer than the header says.
    #[error("fewer bytes than its header says")]
    Short,
    /// Another version, or a form or kind that this version does not have.
    #[error("another version or an unknown form of the header")]
    Version,
    /// Flags, kinds or values that contradict each other.
    #[error("fields that don't go together")]
    Contradiction,
    /// The checksum of a frame is wrong. Chunks have no checksum of their own.
    #[error("a wrong checksum")]
    Checksum,
}

/// The kind of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ChunkKind {
    /// A whole message.
    Eager = 1,
    /// Announces a message whose payload stays with its sender.
    Rts = 2,
    /// Tells the sender that the receive of an announced message is posted (MSG_PREPOSTED_RECEIVE,
    /// thesis 4.2.2). This chunk names the message by the number in the announcement instead of
    /// repeating the transfer header.
    Cts = 3,
    /// A part of a payload that was requested with [`ChunkKind::Cts`].
    Data = 4,
    /// Tells the sender that the receiver no longer needs the payload of an announced message.
    Fin = 5,
    /// The envelope of a message whose payload follows in chunks of kind [`ChunkKind::Part`].
    Long = 6,
    /// The next part of the last long message.
    Part = 7,
    /// The communicator that the stream belongs to: the first chunk of a stream (thesis 4.2.1).
    Communicator = 8,
    /// A grant: the total number of bytes of messages without a receive that the other rank may
    /// send (see [`Credit`](crate::Credit)).
    Room = 9,
}

impl ChunkKind {
    /// All kinds, in the order of their numbers.
    pub const ALL: [ChunkKind; 9] = [
        ChunkKind::Eager,
        ChunkKind::Rts,
        ChunkKind::Cts,
        ChunkKind::Data,
        ChunkKind::Fin,
        ChunkKind::Long,
        ChunkKind::Part,
        ChunkKind::Communicator,
        ChunkKind::Room,
    ];

    /// Returns true if a chunk of this kind has a transfer header.
    pub fn has_envelope(self) -> bool {
        matches!(self, ChunkKind::Eager | ChunkKind::Rts | ChunkKind::Long)
    }

    /// Returns true if the bytes of a chunk may be divided into several chunks of this kind.
    pub fn comes_in_pieces(self) -> bool {
        matches!(self, ChunkKind::Data | ChunkKind::Part)
    }

    /// Returns true if payload bytes follow the header of this kind.
    pub fn has_bytes(self) -> bool {
        matches!(self, ChunkKind::Eager | ChunkKind::Data | ChunkKind::Part)
    }
}

/// GOAL's transfer header, with two more fields for error messages: `sequence` and `action`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Envelope {
    /// Communicator of the message.
    pub communicator: u32,
    /// Number of the schedule's instance in the communicator.
    pub schedule: u32,
    /// Rank that sends the message.
    pub sender: u32,
    /// Rank that receives the message.
    pub receiver: u32,
    /// Flags of the engine, and the upper bits of the communicator: see [`crate::translate`].
    pub flags: u32,
    /// Tag of the message.
    pub tag: u32,
    /// Number of the message among all messages of this instance from `sender` to `receiver`.
    pub sequence: u32,
    /// The send's place in its schedule, for reports.
    pub action: u32,
}

/// The header of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Chunk {
    /// The kind.
    pub kind: ChunkKind,
    /// The number of payload bytes that follow.
    pub len: u32,
    /// The number of a message, or of the communicator.
    pub message: u32,
    /// The number of a receive.
    pub receive: u32,
    /// The size of the message, a place in the message, or the granted room, depending on the kind.
    /// All are in bytes.
    pub offset: u64,
    /// The transfer header, if the kind has one.
    pub envelope: Option<Envelope>,
}

impl Chunk {
    /// The length of the shortest header in bytes.
    pub const HEADER_LEN_MIN: usize = HEADER_LEN;

    /// The length of the longest header in bytes.
    pub const HEADER_LEN_MAX: usize = HEADER_LEN + ENVELOPE_LEN;

    /// Returns the length of the header in bytes.
    pub fn header_len(&self) -> usize {
        HEADER_LEN + if self.envelope.is_some() { ENVELOPE_LEN } else { 0 }
    }

    /// Returns the chunk for a piece of the payload: `len` bytes behind the first `before` bytes.
    /// [`ChunkKind::comes_in_pieces`] must hold for the kind.
    pub fn piece(&self, before: usize, len: usize) -> Self {
        let offset =
            if self.kind == ChunkKind::Data { self.offset + before as u64 } else { self.offset };
        Self { len: len as u32, offset, ..*self }
    }

    /// Reads the header at the beginning of `bytes`.
    ///
    /// # Errors
    /// [`Malformed`].
    pub fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        if bytes.len() < HEADER_LEN {
            return Err(Malformed::Short);
        }
        let kind = ChunkKind::ALL.get(usize::from(bytes[0]).wrapping_sub(1)).copied();
        let kind = kind.ok_or(Malformed::Version)?;
        let [len, message, receive] = [4, 8, 12].map(|at| u32_at(bytes, at));
        let offset = u64::from_be_bytes(bytes[16..24].try_into().expect("a field of eight bytes"));
        if kind.has_envelope() && bytes.len() < Self::HEADER_LEN_MAX {
            return Err(Malformed::Short);
        }
        let envelope = kind.has_envelope().then(|| parse_envelope(bytes));
        let chunk = Self { kind, len, message, receive, offset, envelope };
        let is_length_right = envelope.is_none() || u32_at(bytes, 40) == offset as u32;
        let holds = bytes[1..4] == [0; 3] && is_length_right && chunk.is_consistent();
        if holds { Ok(chunk) } else { Err(Malformed::Contradiction) }
    }

    /// Returns true if the fields agree with the kind: fields without a meaning are 0, and `len` is
    /// within the limit.
    fn is_consistent(&self) -> bool {
        let Self { kind, len, message, receive, offset, .. } = *self;
        let names_message = matches!(
            kind,
            ChunkKind::Rts
                | ChunkKind::Cts
                | ChunkKind::Data
                | ChunkKind::Fin
                | ChunkKind::Communicator
        );
        let has_offset =
            !matches!(kind, ChunkKind::Fin | ChunkKind::Part | ChunkKind::Communicator);
        (kind.has_bytes() || len == 0)
            && len <= if kind.comes_in_pieces() { PART_BYTES_MAX } else { CHUNK_BYTES_MAX }
            && (kind != ChunkKind::Eager || u64::from(len) == offset)
            && (kind != ChunkKind::Data || offset.checked_add(len.into()).is_some())
            && (names_message || message == 0)
            && (kind == ChunkKind::Cts || receive == 0)
            && (has_offset || offset == 0)
    }

    /// Writes the header to the beginning of `out`, which must have room for it.
    pub fn emit(&self, out: &mut [u8]) {
        out[0] = self.kind as u8;
        out[1..4].fill(0);
        put(&mut out[4..], [self.len, self.message, self.receive]);
        out[16..24].copy_from_slice(&self.offset.to_be_bytes());
        if let Some(envelope) = self.envelope {
            let Envelope { communicator, schedule, sender, receiver, flags, tag, sequence, action } =
                envelope;
            let length = self.offset as u32;
            put(
                &mut out[HEADER_LEN..],
                [communicator, schedule, sender, receiver, length, flags, tag, sequence, action],
            );
        }
    }
}

fn parse_envelope(bytes: &[u8]) -> Envelope {
    let [communicator, schedule, sender, receiver, _, flags, tag, sequence, action] =
        std::array::from_fn(|index| u32_at(bytes, HEADER_LEN + 4 * index));
    Envelope { communicator, schedule, sender, receiver, flags, tag, sequence, action }
}

/// Returns the number in the four bytes from `at` on.
#[inline]
fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes[at..at + 4].try_into().expect("a field of four bytes"))
}

fn put<const N: usize>(out: &mut [u8], words: [u32; N]) {
    for (bytes, word) in out.chunks_exact_mut(4).zip(words) {
        bytes.copy_from_slice(&word.to_be_bytes());
    }
}
