//! Tests segments with room for more ranks than a job starts with. `unsafe`: senders and receivers
//! of segments.
#![allow(unsafe_code)]

use super::{put, take};
use crate::directory;
use crate::{Layout, RING_BYTES, RankSizes, SHORT_MAX, Segment};
use std::fs::File;
use std::os::unix::fs::MetadataExt;

const SIZES: RankSizes =
    RankSizes { memory: 1 << 30, scratch: 0, instance: 64, matches: 0, trace: 0, engine: 0 };

fn layout(started: usize, capacity: usize, limit: u64) -> Option<Layout> {
    Layout::with_reserve(vec![SIZES; capacity].into_iter(), started, RING_BYTES, limit).ok()
}

/// The bytes of the pages that a segment has.
fn pages(segment: &Segment) -> u64 {
    let file = File::from(segment.fd().try_clone_to_owned().unwrap());
    file.metadata().unwrap().blocks() * 512
}

#[test]
fn a_reserve_changes_no_size_and_counts_towards_no_limit() {
    for started in [1, 2, 3, 64, 200] {
        let alone = layout(started, started, u64::MAX).unwrap();
        for capacity in [started + 1, started + 64] {
            let with_room = layout(started, capacity, u64::MAX).unwrap();
            assert_eq!(with_room.slots, alone.slots);
            let ring = |layout: &Layout| layout.rings.bytes.len() / layout.rings.rings;
            assert_eq!(ring(&with_room), ring(&alone));
            assert!(with_room.rings.rings >= 2 * capacity);
            assert_eq!(with_room.ranks.len(), capacity);
            // Tables of more ranks need some pages more, and areas begin at other places in huge
            // pages. A rank has far more bytes.
            let slack = (started as u64 + 4) * 4096 + (4 << 20);
            let boards: usize = alone.ranks.iter().map(|rank| rank.boards.len()).sum();
            let needed = (alone.len - boards - size_of::<directory::Words>()) as u64;
            assert!(layout(started, capacity, needed + slack).is_some(), "{started} {capacity}");
            assert!(layout(started, capacity, needed - slack).is_none(), "{started} {capacity}");
        }
    }
}

#[test]
fn ranks_of_the_reserve_lie_behind_all_others() {
    let layout = layout(2, 5, u64::MAX).unwrap();
    let reserve = layout.reserve().unwrap();
    for (rank, areas) in layout.ranks.iter().enumerate() {
        for range in [&areas.memory, &areas.local, &areas.instance] {
            assert_eq!(reserve.contains(&range.start), rank >= 2);
        }
        assert_eq!(reserve.contains(&areas.status), rank >= 2);
        assert_eq!(reserve.contains(&areas.mailbox), rank >= 2);
    }
    assert_eq!(self::layout(2, 2, u64::MAX).unwrap().reserve(), None);
}

#[test]
fn ranks_that_are_not_there_take_no_memory() {
    let segment = Segment::create(layout(2, 66, u64::MAX).unwrap()).unwrap();
    assert_eq!((segment.num_ranks(), segment.num_started(), segment.capacity()), (2, 2, 66));
    let before = pages(&segment);
    assert!(before <= 8192, "{before}");
    assert_eq!(segment.num_members(), 2);
    for rank in 0..66 {
        assert!(segment.rank(rank).memory.len() == 1 << 30);
    }
    assert_eq!(pages(&segment), before);
}

#[test]
fn a_message_to_a_new_rank_needs_no_other_step() {
    let segment = Segment::create(layout(2, 4, u64::MAX).unwrap()).unwrap();
    segment.rank_count().set_ranks(3);
    segment.status(2).member_state.begin(false);
    assert_eq!((segment.num_ranks(), segment.num_members()), (3, 2));
    assert!(segment.status(2).member_state.accept());
    assert_eq!(segment.num_members(), 3);
    let (sender, receiver) = (segment.endpoint(0), segment.endpoint(2));
    for len in [0, SHORT_MAX, 4000] {
        assert!(len <= sender.payload_max(2), "the pair has a ring");
        let header = [7; crate::HEADER_WORDS];
        put(&sender, (2, segment.mailbox(2)), &header, len, |bytes| bytes.fill(9)).unwrap();
        let mut taken = None;
        assert!(take(&receiver, |header, payload| taken = Some((*header, payload.to_vec()))));
        assert_eq!(taken, Some((header, vec![9; len])));
    }
}

#[test]
fn a_rank_can_not_claim_more_ranks_than_there_is_room_for() {
    let segment = Segment::create(layout(1, 2, u64::MAX).unwrap()).unwrap();
    segment.rank_count().set_ranks(u32::MAX);
    assert_eq!(segment.num_ranks(), 2);
}
