//! Headers of chunks are the same after they were written and read.

use super::{Chunk, ChunkKind, Envelope, Malformed};
use crate::harness;
use proptest::collection::vec;
use proptest::prelude::*;

fn chunks() -> impl Strategy<Value = Chunk> {
    let envelope = any::<[u32; 8]>().prop_map(
        |[communicator, schedule, sender, receiver, flags, tag, sequence, action]| Envelope {
            communicator,
            schedule,
            sender,
            receiver,
            flags,
            tag,
            sequence,
            action,
        },
    );
    (
        prop::sample::select(&ChunkKind::ALL[..]),
        any::<[u32; 2]>(),
        any::<u64>(),
        0u32..=128 << 10,
        envelope,
    )
        .prop_map(|(kind, [message, receive], offset, len, envelope)| {
            let (names, has_offset) = match kind {
                ChunkKind::Eager | ChunkKind::Long | ChunkKind::Room => (false, true),
                ChunkKind::Rts | ChunkKind::Cts | ChunkKind::Data => (true, true),
                ChunkKind::Fin | ChunkKind::Communicator => (true, false),
                ChunkKind::Part => (false, false),
            };
            let len = if kind.has_bytes() { len } else { 0 };
            let offset = match kind {
                ChunkKind::Eager => len.into(),
                ChunkKind::Data => offset >> 1,
                _ if has_offset => offset,
                _ => 0,
            };
            Chunk {
                kind,
                len,
                message: if names { message } else { 0 },
                receive: if kind == ChunkKind::Cts { receive } else { 0 },
                offset,
                envelope: kind.has_envelope().then_some(envelope),
            }
        })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: goal_filetest::seeds(2_000) as u32,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn chunks_come_back(chunk in chunks()) {
        let mut bytes = vec![0xee; chunk.header_len()];
        chunk.emit(&mut bytes);
        prop_assert_eq!(Chunk::parse(&bytes), Ok(chunk));
        prop_assert_eq!(Chunk::parse(&bytes[..chunk.header_len() - 1]), Err(Malformed::Short));
    }

    #[test]
    fn any_bytes_are_read_without_harm(bytes in vec(any::<u8>(), 0..300)) {
        harness::chunk(&bytes);
    }
}
