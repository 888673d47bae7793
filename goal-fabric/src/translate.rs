//! The translation of a message's header to a chunk of a stream, and back.

use crate::StreamFault;
use goal_engine::transport::{Header, Kind};
use goal_esp::wire::{Chunk, ChunkKind, Envelope};
use goal_lang::ANY;

/// Returns the chunk of a message to rank `to`.
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
        // The other flags are about payloads that are read in memory, which no other host can do.
        flags: u32::from(header.flags & Header::PATTERN),
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

/// The communicator of a job's messages.
pub const COMMUNICATOR: u32 = goal_engine::WORLD;

/// Returns the header of the message whose chunk came from rank `source` to rank `own`. Messages
/// may be of `any` communicator, or of that of the job only.
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
        if !any && envelope.communicator != COMMUNICATOR {
            return Err(StreamFault::Communicator(envelope.communicator));
        }
        if envelope.tag == ANY {
            return Err(StreamFault::Tag);
        }
        if kind == Kind::Long && header.size == 0 {
            return Err(StreamFault::Empty);
        }
        header.flags = envelope.flags as u8 & Header::PATTERN;
        (header.communicator, header.instance) = (envelope.communicator, envelope.schedule);
        (header.tag, header.sequence, header.action) =
            (envelope.tag, envelope.sequence, envelope.action);
    }
    Ok(header)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_of_another_communicator_is_one_where_programs_open_them() {
        let mut sent = Header::new(Kind::Eager, 1);
        (sent.communicator, sent.tag) = (3, 5);
        let chunk = chunk(&sent, 0);
        assert_eq!(header(&chunk, 1, 0, false), Err(StreamFault::Communicator(3)));
        let taken = header(&chunk, 1, 0, true).unwrap();
        assert_eq!((taken.communicator, taken.tag), (3, 5));
    }
}
