//! Messages, failures and claims in a segment. `unsafe`: senders and receivers of segments.
#![allow(unsafe_code)]

mod cma;
mod local;

use crate::mapping::Mapping;
use crate::{
    Endpoint, HEADER_WORDS, Layout, Mailbox, Part, RankSizes, SHORT_MAX, Sealed, Segment, State,
};
use goal_engine::transport::Full;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Puts a message. Each rank has one sender here.
fn put(
    endpoint: &Endpoint<'_>,
    into: (u32, Mailbox<'_>),
    header: &[u64; HEADER_WORDS],
    len: usize,
    fill: impl FnOnce(&mut [u8]),
) -> Result<(), Full> {
    // SAFETY: one sender a rank.
    unsafe { endpoint.put(into, header, len, fill) }
}

/// Takes a message. Each rank has one receiver here.
fn take(endpoint: &Endpoint<'_>, sink: impl FnOnce(&[u64; HEADER_WORDS], &[u8])) -> bool {
    // SAFETY: one receiver a rank.
    unsafe { endpoint.take(sink) }
}

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
        segment.endpoint(1).publish();
    }
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
    receiver.publish();
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
            if !taken && receiver.arm() {
                receiver.wait(None);
            }
        }
    });
}

#[test]
fn a_sleeper_wakes_up_by_itself_where_asked_to() {
    let segment = segment(1, 1);
    assert!(segment.endpoint(0).arm());
    segment.endpoint(0).wait(Some(Duration::from_millis(1)));
    assert!(!segment.endpoint(0).has_message());
}

#[test]
fn every_rank_count_has_a_box_and_rings() {
    for ranks in [1, 2, 4, 64, 128, 1000] {
        let layout = Layout::new(vec![RankSizes::default(); ranks].into_iter(), 1 << 34).unwrap();
        assert!(layout.slots.is_power_of_two() && layout.slots >= 64);
        let rings = &layout.rings;
        assert!(rings.rings >= 2 * ranks && (ranks > 128 || rings.rings >= ranks * ranks));
        assert!(rings.bytes.len() <= (64 << 20).max(2 * ranks * (64 << 10)));
        assert!((rings.bytes.len() / rings.rings).is_power_of_two());
        assert_eq!(rings.bytes.len() % rings.rings, 0);
    }
}

#[test]
fn sealed_bytes_are_the_given_ones_and_cannot_be_written() {
    let sealed = Sealed::copy_of(b"schedule").unwrap();
    assert_eq!(&*sealed, b"schedule");
    assert!(rustix::io::write(sealed.fd(), b"x").is_err());
    let unsealed = Mapping::create(16).unwrap();
    assert!(Sealed::open(unsealed.fd().try_clone_to_owned().unwrap()).is_err());
}

#[test]
fn areas_do_not_overlap_and_the_limit_holds() {
    let sizes = [
        RankSizes { memory: 5000, scratch: 0, instance: 17, matches: 1, trace: 9, engine: 4096 },
        RankSizes { memory: 0, scratch: 4096, instance: 0, matches: 0, trace: 0, engine: 0 },
    ];
    let layout = Layout::new(sizes.into_iter(), 1 << 30).unwrap();
    let mut ends = vec![];
    for rank in &layout.ranks {
        for range in [&rank.memory, &rank.scratch, &rank.instance, &rank.matches] {
            assert!(range.start % 4096 == 0 && range.end <= layout.len);
            ends.push((range.start, range.end));
        }
    }
    ends.sort_unstable();
    assert!(ends.windows(2).all(|pair| pair[0].1 <= pair[1].0));
    assert_eq!(layout.ranks[0].memory.len(), 5000);

    let large = [RankSizes { memory: u64::MAX, ..RankSizes::default() }];
    let error = Layout::new(large.into_iter(), 1 << 30).unwrap_err();
    assert!(error.to_string().ends_with("the limit is 1073741824"));
    assert_eq!(error.needed, None);

    let four = [RankSizes { memory: 1 << 30, ..RankSizes::default() }; 4];
    let needed = Layout::new(four.into_iter(), 1 << 30).unwrap_err().needed.unwrap();
    assert!(needed > 4 << 30, "all ranks count, not only those below the limit");
    assert!(Layout::new(four.into_iter(), needed).is_ok());
}

#[test]
fn a_failure_record_is_cut_at_a_character() {
    let layout = Layout::new([RankSizes::default()].into_iter(), 1 << 30).unwrap();
    let segment = Segment::create(layout).unwrap();
    assert_eq!(segment.failure(0), None);
    segment.fail(0, &"é".repeat(3000));
    assert_eq!(segment.status(0).state(), State::Failed);
    assert_eq!(segment.failure(0).unwrap(), "é".repeat(2048));
}

/// Another process may record the failure before the rank knows of it. Then the rank's own report
/// changes nothing.
#[test]
fn a_failure_stays_with_its_first_text() {
    let segment = segment(1, 1);
    segment.fail(0, "what a helper found");
    segment.status(0).enter(State::Idle);
    segment.status(0).enter(State::Running);
    segment.record_failure(0, "what the rank found");
    segment.fail(0, "what the rank found");
    assert_eq!(segment.failure_of_failed(0).unwrap(), "what a helper found");
}

#[test]
fn no_word_of_the_segment_says_what_is_written_to() {
    let mut segment = segment(2, 1);
    segment.create_bells(0..2).unwrap();
    let (reader, writer) = io::pipe().unwrap();
    // A rank may write anything to any place.
    let number = (writer.as_raw_fd() as u32 + 1).to_ne_bytes();
    let words = layout(2, 1).len() / number.len();
    // SAFETY: nobody else uses the segment.
    unsafe { segment.write(0, &number.repeat(words)) };
    segment.mailbox(1).wake();
    segment.endpoint(1).disarm_and_wake();
    drop(writer);
    assert_eq!(io::read_to_string(reader).unwrap(), "");
    let rings = |bell: BorrowedFd<'_>| {
        let mut fds = [PollFd::from_borrowed_fd(bell, PollFlags::IN)];
        poll(&mut fds, Some(&Timespec::default())) == Ok(1)
    };
    assert_eq!(segment.bells().map(rings).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn a_part_of_a_rank_has_one_owner_at_a_time() {
    let segment = segment(2, 1);
    let claim = segment.claim(0, Part::Memory).unwrap();
    assert!(segment.claim(0, Part::Memory).is_none(), "it has an owner");
    let others = [(0, Part::Member), (1, Part::Memory), (1, Part::Member)];
    let _others = others.map(|(rank, part)| segment.claim(rank, part).unwrap());
    drop(claim);
    let again = segment.claim(0, Part::Memory).unwrap();
    assert!(segment.claim(0, Part::Memory).is_none());
    // A claim may outlive the segment.
    drop(segment);
    drop(again);
}

#[test]
fn threads_that_claim_a_part_exclude_each_other() {
    let segment = segment(1, 1);
    let owners = AtomicU32::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut claimed = 0;
                while claimed < 1000 {
                    let Some(claim) = segment.claim(0, Part::Member) else {
                        std::thread::yield_now();
                        continue;
                    };
                    assert_eq!(owners.fetch_add(1, Ordering::Relaxed), 0);
                    owners.fetch_sub(1, Ordering::Relaxed);
                    claimed += 1;
                    drop(claim);
                }
            });
        }
    });
}

/// The ends of the bytes are not aligned to words.
#[test]
fn copies_have_the_bytes_that_were_stored() {
    let mapping = Mapping::create(64).unwrap();
    for (start, end) in [(0, 64), (3, 5), (5, 29), (8, 16), (13, 13), (1, 64)] {
        let bytes: Vec<u8> = (start..end).map(|at| at as u8 + 1).collect();
        mapping.store(start, &[0; 64][start..end]);
        mapping.store(start, &bytes);
        let mut copy = vec![0; bytes.len()];
        mapping.load(start, &mut copy);
        assert_eq!(copy, bytes);
    }
}
