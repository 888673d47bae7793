//! Translates the header of a message to a chunk of a stream, and back.

use crate::StreamFault;
use crate::chunk::{Chunk, ChunkKind, Envelope};
use goal_engine::transport::{Header, Kind};
use goal_lang::ANY;

/// Returns the chunk that carries a message with this header to rank `to`.
pub fn chunk(header: &Header, to: u32) -> Chunk {
    let kind = match header.kind() {
        Kind::Eager => ChunkKind::Eager,
        Kind::Rts => ChunkKind::Rts,
        Kind::Cts => ChunkKind::Cts,
        Kind::Data => ChunkKind::Data,
        Kind::Fin => ChunkKind::Fin,
        Kind::Long => ChunkKind::Long,
        Kind::Part => ChunkKind::Part,
    };
    let envelope = kind.has_envelope().then(|| Envelope {
        communicator: header.communicator,
        schedule: header.instance,
        sender: header.source,
        receiver: to,
        // The other flags are about payloads that a rank reads or writes in the memory of the other
        // rank. No rank of another host can do that.
        flags: u32::from(header.flags & Header::PATTERN)
            | u32::from(header.communicator_upper) << COMMUNICATOR_SHIFT,
        tag: header.tag,
        sequence: header.sequence,
        action: header.action,
    });
    let (message, receive, offset) = match kind {
        ChunkKind::Eager | ChunkKind::Long => (0, 0, header.size),
        ChunkKind::Rts => (header.cookie, 0, header.size),
        ChunkKind::Cts => (header.cookie, header.offset as u32, header.size),
        ChunkKind::Data => (header.cookie, 0, header.offset),
        ChunkKind::Fin => (header.cookie, 0, 0),
        ChunkKind::Part | ChunkKind::Communicator | ChunkKind::Room => (0, 0, 0),
    };
    Chunk { kind, len: header.payload_len() as u32, message, receive, offset, envelope }
}

/// The number of the communicator of all ranks of a job ([`goal_engine::WORLD`]).
pub const COMMUNICATOR: u32 = goal_engine::WORLD as u32;

/// The place of the upper 16 bits of a communicator's number in the flags of a transfer header.
const COMMUNICATOR_SHIFT: u32 = 16;

/// Returns the header of a message, from its chunk that rank `source` sent to rank `own`. If `any`
/// is false, the message must be of the communicator [`COMMUNICATOR`].
///
/// # Errors
/// [`StreamFault`] if the chunk is not one of a message, or names something that is not of this
/// connection or of this job.
pub fn header(chunk: &Chunk, source: u32, own: u32, any: bool) -> Result<Header, StreamFault> {
    let kind = match chunk.kind {
        ChunkKind::Eager => Kind::Eager,
        ChunkKind::Rts => Kind::Rts,
        ChunkKind::Cts => Kind::Cts,
        ChunkKind::Data => Kind::Data,
        ChunkKind::Fin => Kind::Fin,
        ChunkKind::Long => Kind::Long,
        ChunkKind::Part => Kind::Part,
        ChunkKind::Communicator | ChunkKind::Room => return Err(StreamFault::Rank),
    };
    let mut header = Header::new(kind, source);
    header.cookie = chunk.message;
    match chunk.kind {
        ChunkKind::Cts => (header.offset, header.size) = (chunk.receive.into(), chunk.offset),
        ChunkKind::Data => (header.offset, header.size) = (chunk.offset, chunk.len.into()),
        ChunkKind::Part => header.size = chunk.len.into(),
        _ => header.size = chunk.offset,
    }
    if let Some(envelope) = chunk.envelope {
        if (envelope.sender, envelope.receiver) != (source, own) {
            return Err(StreamFault::Rank);
        }
        header.communicator = envelope.communicator;
        header.communicator_upper = (envelope.flags >> COMMUNICATOR_SHIFT) as u16;
        if !any && header.communicator() != u64::from(COMMUNICATOR) {
            return Err(StreamFault::Communicator(header.communicator()));
        }
        if envelope.tag == ANY {
            return Err(StreamFault::Tag);
        }
        if kind == Kind::Long && header.size == 0 {
            return Err(StreamFault::Empty);
        }
        header.flags = envelope.flags as u8 & Header::PATTERN;
        (header.instance, header.tag) = (envelope.schedule, envelope.tag);
        (header.sequence, header.action) = (envelope.sequence, envelope.action);
    }
    Ok(header)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_of_another_communicator_is_one_where_programs_open_them() {
        let mut sent = Header::new(Kind::Eager, 1);
        for (lower, upper, whole) in
            [(3, 0, 3), (0, 7, 7 << 32), (u32::MAX, u16::MAX, (1 << 48) - 1)]
        {
            (sent.communicator, sent.communicator_upper, sent.tag) = (lower, upper, 5);
            sent.flags = Header::PATTERN;
            let chunk = chunk(&sent, 0);
            assert_eq!(header(&chunk, 1, 0, false), Err(StreamFault::Communicator(whole)));
            let taken = header(&chunk, 1, 0, true).unwrap();
            assert_eq!((taken.communicator(), taken.tag, taken.flags), (whole, 5, sent.flags));
        }
    }
}
