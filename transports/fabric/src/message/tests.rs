//! Chunks are read as they were written, however packets divide them.

use super::{Broken, Reader, Writer};
use crate::chunk::{Chunk, ChunkKind, Envelope, Malformed};
use crate::limits::ELEMENT_BYTES_MAX;
use proptest::collection::vec;
use proptest::prelude::*;

fn communicator(number: u32) -> Chunk {
    Chunk {
        kind: ChunkKind::Communicator,
        len: 0,
        message: number,
        receive: 0,
        offset: 0,
        envelope: None,
    }
}

fn data(message: u32, offset: u64, len: usize) -> Chunk {
    Chunk { kind: ChunkKind::Data, len: len as u32, message, receive: 0, offset, envelope: None }
}

fn eager(tag: u32, len: usize) -> Chunk {
    let envelope = Some(Envelope { tag, ..Envelope::default() });
    Chunk {
        kind: ChunkKind::Eager,
        len: len as u32,
        message: 0,
        receive: 0,
        offset: len as u64,
        envelope,
    }
}

fn push(packets: &mut Vec<Vec<u8>>, packet: Vec<u8>) -> Vec<u8> {
    packets.push(packet);
    Vec::new()
}

/// Appends a chunk to those found before, or joins it to the last one if it is its next piece.
fn join(found: &mut Vec<(Chunk, Vec<u8>)>, chunk: &Chunk, bytes: &[u8]) {
    if let Some((last, before)) = found.last_mut()
        && last.kind == ChunkKind::Data
        && (chunk.kind, chunk.message) == (last.kind, last.message)
        && chunk.offset == last.offset + u64::from(last.len)
    {
        assert!(
            (last.len as usize).is_multiple_of(ELEMENT_BYTES_MAX),
            "a piece ends within an element"
        );
        last.len += chunk.len;
        before.extend_from_slice(bytes);
    } else {
        found.push((*chunk, bytes.to_vec()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: goal_filetest::seeds(500) as u32,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn chunks_come_through(
        sizes in vec((any::<bool>(), prop_oneof![0usize..100, 0usize..5000], any::<bool>()), 0..40),
        payload_max in 256usize..2000,
    ) {
        let mut writer = Writer::default();
        let mut packets = Vec::new();
        let mut expected = Vec::new();
        writer.write(&communicator(3), &[], payload_max, |packet| push(&mut packets, packet));
        for (number, (is_eager, len, is_end)) in sizes.into_iter().enumerate() {
            let chunk = if is_eager { eager(number as u32, len) } else { data(number as u32, 7, len) };
            let bytes: Vec<u8> = (0..len).map(|at| (at + number) as u8).collect();
            match writer.reserve(&chunk, payload_max, |packet| push(&mut packets, packet)) {
                Some(place) => place.copy_from_slice(&bytes),
                None => writer.write(&chunk, &bytes, payload_max, |packet| push(&mut packets, packet)),
            }
            if is_end {
                writer.flush(|packet| push(&mut packets, packet));
            }
            expected.push((chunk, bytes));
        }
        writer.flush(|packet| push(&mut packets, packet));
        let mut reader = Reader::default();
        let (mut found, mut ended) = (Vec::new(), 0);
        for packet in packets {
            prop_assert!((1..=payload_max).contains(&packet.len()));
            ended += reader.read(&packet, |chunk, bytes| join(&mut found, chunk, bytes)).unwrap();
        }
        prop_assert_eq!(reader.communicator(), Some(3));
        prop_assert_eq!(ended, expected.len() as u64);
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn a_part_that_there_is_room_for_is_read_in_one_piece(
        before in vec(0usize..700, 0..10),
        payload_max in 256usize..2000,
        less in 0usize..300,
    ) {
        let mut writer = Writer::default();
        let mut packets = Vec::new();
        let mut reader = Reader::default();
        writer.write(&communicator(3), &[], payload_max, |packet| push(&mut packets, packet));
        for len in before {
            writer.write(&eager(1, len), &vec![1; len], payload_max, |packet| push(&mut packets, packet));
        }
        let part = data(1, 0, writer.room(payload_max).saturating_sub(less));
        prop_assert!(writer.reserve(&part, payload_max, |packet| push(&mut packets, packet)).is_some());
        writer.flush(|packet| push(&mut packets, packet));
        let mut pieces = Vec::new();
        for packet in packets {
            reader.read(&packet, |chunk, _| pieces.extend((chunk.kind == ChunkKind::Data).then_some(*chunk))).unwrap();
        }
        prop_assert_eq!(pieces, vec![part]);
    }

    #[test]
    fn any_packets_are_read_without_harm(packets in vec(vec(any::<u8>(), 0..200), 0..10)) {
        let mut reader = Reader::default();
        for packet in packets {
            if reader.read(&packet, |_, _| {}).is_err() {
                break;
            }
        }
    }
}

#[test]
fn the_communicator_is_named_once_and_first() {
    let packet = |chunks: &[Chunk]| {
        let mut writer = Writer::default();
        let mut packets = Vec::new();
        for chunk in chunks {
            writer.write(chunk, &[], 1000, |packet| push(&mut packets, packet));
        }
        writer.flush(|packet| push(&mut packets, packet));
        packets.remove(0)
    };
    assert_eq!(Reader::communicator_of(&packet(&[communicator(7)])), Ok(7));
    assert_eq!(Reader::communicator_of(&packet(&[eager(1, 0)])), Err(Broken::Communicator));
    let read = |packet: &[u8]| Reader::default().read(packet, |_, _| {});
    assert_eq!(read(&packet(&[communicator(1), eager(1, 0)])), Ok(1));
    assert_eq!(read(&packet(&[eager(1, 0)])), Err(Broken::Communicator));
    assert_eq!(read(&packet(&[communicator(1), communicator(1)])), Err(Broken::Communicator));
    assert_eq!(read(&[9; 30]), Err(Broken::Header(Malformed::Contradiction)));
    assert_eq!(read(&[0; 30]), Err(Broken::Header(Malformed::Version)));
}
