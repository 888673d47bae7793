//! Items survive any division of the stream, and bytes that are none are refused.

use crate::inbox::Inbox;
use crate::limits::{MESSAGE_MAX, PART_MAX};
use crate::wire::Item;
use goal_fabric::chunk::{Chunk, ChunkKind};
use std::ops::ControlFlow;

fn part(len: usize) -> Item {
    let kind = ChunkKind::Data;
    Item::Chunk(Chunk {
        kind,
        len: len as u32,
        message: 9,
        receive: 0,
        offset: 4096,
        envelope: None,
    })
}

/// Returns the stream of an item with bytes that count up.
fn stream(item: &Item) -> Vec<u8> {
    let mut bytes = vec![0; item.header_len()];
    item.emit(&mut bytes);
    bytes.extend((0..item.len()).map(|at| at as u8));
    bytes
}

/// Feeds bytes in portions of the given lengths, in turn. Returns the items with their bytes.
fn read(bytes: &[u8], portions: &[usize]) -> Vec<(Item, Vec<u8>)> {
    let (mut inbox, mut all, mut at) = (Inbox::default(), vec![], 0);
    let mut buffer = vec![0; 1 << 20];
    for &portion in portions.iter().cycle() {
        let kept = inbox.kept();
        inbox.restore(&mut buffer);
        let end = (at + portion).min(bytes.len());
        buffer[kept..kept + end - at].copy_from_slice(&bytes[at..end]);
        let len = kept + end - at;
        let sink = |item: &Item, bytes: &[u8], _| {
            all.push((*item, bytes.to_vec()));
            ControlFlow::Continue(())
        };
        let handled = inbox.read(&buffer[..len], sink).unwrap();
        inbox.keep(&buffer[handled..len]);
        at = end;
        if at == bytes.len() {
            break;
        }
    }
    assert!(!inbox.is_open());
    all
}

#[test]
fn a_stream_may_be_divided_anywhere() {
    let items = [part(100), part(101), part(0), part(7), part(PART_MAX), Item::Bye];
    let bytes: Vec<u8> = items.iter().flat_map(stream).collect();
    for portions in [&[1][..], &[7], &[24, 1], &[100, 3], &[4096], &[1 << 20]] {
        let all = read(&bytes, portions);
        // Pieces of an item follow each other, and all but the last have whole elements.
        let mut joined: Vec<(Item, Vec<u8>)> = vec![];
        for (item, piece) in all {
            let place = |item: &Item| match item {
                Item::Chunk(chunk) => chunk.offset,
                Item::Bye => 0,
            };
            match joined.last_mut() {
                Some((whole, bytes))
                    if place(whole) + bytes.len() as u64 == place(&item) && !bytes.is_empty() =>
                {
                    assert_eq!(bytes.len() % 8, 0);
                    bytes.extend(piece);
                }
                _ => joined.push((item, piece)),
            }
        }
        let lens: Vec<usize> = joined.iter().map(|(_, bytes)| bytes.len()).collect();
        assert_eq!(lens, [100, 101, 0, 7, PART_MAX, 0], "{portions:?}");
        for (_, bytes) in &joined {
            assert!(bytes.iter().enumerate().all(|(at, &byte)| byte == at as u8));
        }
    }
}

#[test]
fn bytes_that_are_no_items_are_refused() {
    let refuses = |change: fn(&mut Vec<u8>)| {
        let mut bytes = stream(&part(8));
        change(&mut bytes);
        Inbox::default().read(&bytes, |_, _, _| ControlFlow::Continue(())).is_err()
    };
    assert!(!refuses(|_| {}));
    assert!(refuses(|bytes| bytes[0] = 0));
    assert!(refuses(|bytes| bytes[0] = 10));
    assert!(refuses(|bytes| bytes[0] = 17));
    assert!(refuses(|bytes| bytes[0] = 255));
    assert!(refuses(|bytes| bytes[1] = 1));
    assert!(refuses(|bytes| bytes[12] = 1));
    assert!(refuses(|bytes| bytes[4] = 1), "longer than a chunk");
    assert!(refuses(|bytes| bytes[16..24].fill(255)), "an end beyond all addresses");
    assert!(refuses(|bytes| bytes[0] = 16), "a farewell with bytes");
    let eager = Item::Chunk(Chunk {
        kind: ChunkKind::Eager,
        len: MESSAGE_MAX as u32 + 1,
        message: 0,
        receive: 0,
        offset: MESSAGE_MAX as u64 + 1,
        envelope: Some(goal_fabric::chunk::Envelope::default()),
    });
    let read = Inbox::default().read(&stream(&eager), |_, _, _| ControlFlow::Continue(()));
    assert!(read.is_err(), "a message in one piece that is too long");
}

#[test]
fn random_bytes_end_or_are_refused() {
    let mut random = fastrand::Rng::with_seed(1);
    let mut handled = 0;
    for _ in 0..goal_filetest::seeds(2000) {
        let mut bytes: Vec<u8> = [part(100), part(40), Item::Bye].iter().flat_map(stream).collect();
        for _ in 0..random.usize(1..8) {
            let at = random.usize(..bytes.len());
            bytes[at] = random.u8(..);
        }
        handled += Inbox::default().read(&bytes, |_, _, _| ControlFlow::Continue(())).unwrap_or(0);
    }
    assert!(handled > 0);
}
