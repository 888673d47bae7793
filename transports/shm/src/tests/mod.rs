//! Tests messages in a segment. `unsafe`: senders and receivers of segments.
#![allow(unsafe_code)]

mod cma;
mod growth;
mod local;
mod populate;
mod segment;

use crate::{Endpoint, HEADER_WORDS, Layout, Mailbox, RankSizes, SHORT_MAX, Segment};
use goal_sync::Full;
use std::collections::BTreeSet;
use std::time::Duration;

/// Puts a message. Each rank has one sender here.
fn put(
    endpoint: &Endpoint<'_>,
    into: (u32, Mailbox<'_>),
    header: &[u64; HEADER_WORDS],
    len: usize,
    fill: impl FnOnce(&mut [u8]),
) -> Result<(), Full> {
    // SAFETY: one sender per rank.
    unsafe { endpoint.put(into, header, len, fill) }
}

/// Takes a message. Each rank has one receiver here.
fn take(endpoint: &Endpoint<'_>, sink: impl FnOnce(&[u64; HEADER_WORDS], &[u8])) -> bool {
    // SAFETY: one receiver per rank.
    unsafe { endpoint.take(sink) }
}

const LINE: usize = 64;

/// Mailboxes and rings are small, so that they often wrap and fill up.
const SLOTS: usize = 16;
const RING_BYTES: usize = 2048;
const LARGE: usize = RING_BYTES / 8;

fn layout(ranks: usize, rings: usize) -> Layout {
    let sizes = vec![RankSizes::default(); ranks];
    Layout::new(sizes.into_iter(), 1 << 30).unwrap().shrunk(SLOTS, rings, RING_BYTES)
}

fn segment(ranks: usize, rings: usize) -> Segment {
    Segment::create(layout(ranks, rings)).unwrap()
}

#[test]
fn messages_of_all_lengths_arrive_in_order_across_the_ends_of_box_and_ring() {
    let segment = segment(2, 1);
    let (sender, receiver) = (segment.endpoint(0), segment.endpoint(1));
    assert_eq!(sender.payload_max(1), LARGE);
    let len = |i: u64| (i * 37 % (LARGE as u64 + 1)) as usize;
    let (mut sent, mut received) = (0, 0);
    while received < 5_000 {
        // All state lies in the segment, so another endpoint can go on.
        let put = |i: u64| {
            let fill = |payload: &mut [u8]| payload.fill(i as u8);
            put(&segment.endpoint(0), (1, segment.mailbox(1)), &[i, 1, 2, 3, 4, 5], len(i), fill)
        };
        while put(sent).is_ok() {
            sent += 1;
        }
        let taken = take(&receiver, |header, payload| {
            assert_eq!(*header, [received, 1, 2, 3, 4, 5]);
            assert_eq!(payload.len(), len(received));
            assert!(payload.iter().all(|&byte| byte == received as u8));
        });
        received += u64::from(taken);
        assert_eq!(segment.mailbox(1).positions(), (sent, received));
        segment.mailbox(1).publish();
    }
}

/// Sends and takes messages of many lengths by turns through a ring of 64 KiB, which holds `behind`
/// of them. Returns the number of lines at which payloads began.
fn lines_used(behind: usize) -> usize {
    let segment = Segment::create(
        Layout::new([RankSizes::default(); 2].into_iter(), 1 << 30).unwrap().shrunk(
            64,
            1,
            64 << 10,
        ),
    )
    .unwrap();
    let receiver = segment.endpoint(1);
    let len = |i: usize| SHORT_MAX + 1 + i * 37 % 2000;
    let mut used = BTreeSet::new();
    for i in 0..3_000 {
        put(&segment.endpoint(0), (1, segment.mailbox(1)), &[i as u64; 6], len(i), |payload| {
            used.insert(payload.as_ptr().addr());
            payload.fill(i as u8);
        })
        .unwrap();
        let Some(first) = i.checked_sub(behind) else { continue };
        assert!(take(&receiver, |header, payload| {
            assert_eq!((header[0], payload.len()), (first as u64, len(first)));
            assert!(payload.iter().all(|&byte| byte == first as u8));
        }));
        receiver.mailbox.publish();
    }
    used.len()
}

#[test]
fn an_empty_ring_begins_again() {
    let (empty, filled) = (lines_used(0), lines_used(10));
    assert!(empty <= (16 << 10) / LINE + 32, "payloads begin at {empty} lines");
    assert!(filled > 900, "of 1024 lines of a ring that is never empty, {filled} are used");
}

#[test]
fn a_full_mailbox_says_so_and_recovers() {
    let segment = segment(2, 1);
    let (sender, receiver) = (segment.endpoint(0), segment.endpoint(1));
    let put = |fill: fn(&mut [u8])| put(&sender, (1, segment.mailbox(1)), &[0; 6], 8, fill);
    for _ in 0..SLOTS {
        put(|_| {}).unwrap();
    }
    assert_eq!(put(|_| panic!("no room")), Err(Full));
    assert!(take(&receiver, |_, _| {}));
    assert_eq!(put(|_| {}), Err(Full), "room is published in quarters");
    receiver.mailbox.publish();
    assert_eq!(put(|_| {}), Ok(()));
}

#[test]
fn a_full_ring_holds_up_large_messages_only() {
    let segment = segment(2, 1);
    let (sender, receiver) = (segment.endpoint(0), segment.endpoint(1));
    let put = |len: usize| put(&sender, (1, segment.mailbox(1)), &[0; 6], len, |_| {});
    for _ in 0..8 {
        put(LARGE).unwrap();
    }
    assert_eq!(put(SHORT_MAX + 1), Err(Full));
    assert_eq!(put(SHORT_MAX), Ok(()));
    assert!(take(&receiver, |_, payload| assert_eq!(payload.len(), LARGE)));
    assert_eq!(put(SHORT_MAX + 1), Ok(()), "a ring's room is told at once");
}

#[test]
fn a_pair_without_a_ring_has_short_messages() {
    let segment = segment(3, 2);
    let endpoint = |rank| segment.endpoint(rank);
    assert_eq!(endpoint(0).payload_max(1), LARGE);
    assert_eq!(endpoint(0).payload_max(1), LARGE, "the same ring");
    assert_eq!(endpoint(2).payload_max(2), LARGE);
    assert_eq!(endpoint(1).payload_max(0), SHORT_MAX, "there are two");
    assert_eq!(endpoint(0).payload_max(2), SHORT_MAX);
    put(&endpoint(0), (2, segment.mailbox(2)), &[7; 6], SHORT_MAX, |payload| payload.fill(9))
        .unwrap();
    assert!(take(&endpoint(2), |header, payload| assert_eq!(
        (header[0], payload),
        (7, &[9; SHORT_MAX][..])
    )));
}

#[test]
fn many_senders_and_a_receiver_that_sleeps() {
    const SENDERS: u64 = 4;
    const EACH: u64 = 20_000;
    let segment = segment(SENDERS as usize + 1, SENDERS as usize - 1);
    let to = SENDERS as u32;
    std::thread::scope(|scope| {
        for rank in 0..SENDERS {
            let segment = &segment;
            scope.spawn(move || {
                let sender = segment.endpoint(rank as u32);
                for i in 0..EACH {
                    let len = ((rank + i) % 200).min(sender.payload_max(to) as u64) as usize;
                    let header = [rank, i, len as u64, 0, 0, 0];
                    let put = || {
                        put(&sender, (to, segment.mailbox(to)), &header, len, |payload| {
                            payload.fill(i as u8)
                        })
                    };
                    while put().is_err() {
                        std::thread::yield_now();
                    }
                }
            });
        }
        let receiver = segment.endpoint(to);
        let mut next = [0; SENDERS as usize];
        while next.iter().sum::<u64>() < SENDERS * EACH {
            let taken = take(&receiver, |header, payload| {
                let rank = header[0] as usize;
                assert_eq!(header[1], next[rank]);
                assert_eq!(payload.len() as u64, header[2]);
                assert!(payload.iter().all(|&byte| byte == header[1] as u8));
                next[rank] += 1;
            });
            if !taken && receiver.mailbox.arm() {
                receiver.mailbox.wait(None);
            }
        }
    });
}

#[test]
fn a_sleeper_wakes_up_by_itself_where_asked_to() {
    let segment = segment(1, 1);
    assert!(segment.mailbox(0).arm());
    segment.mailbox(0).wait(Some(Duration::from_millis(1)));
    assert!(!segment.mailbox(0).has_message());
}
