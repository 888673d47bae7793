//! Tests layouts, failure records, claims and copies. `unsafe`: writes to segments.
#![allow(unsafe_code)]

use super::{layout, segment};
use crate::board::{self, Look, Ring};
use crate::directory::SETS;
use crate::mapping::Mapping;
use crate::{
    Layout, Part, RING_BYTES_MAX, RING_BYTES_MIN, RankSizes, Sealed, Segment, ShmTransport, State,
};
use goal_engine::transport::Transport;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::atomic::{AtomicU32, Ordering};

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
fn a_job_may_set_the_size_of_rings() {
    let of = |ranks: usize, ring: u64| {
        let sizes = vec![RankSizes::default(); ranks];
        let layout = Layout::with_rings(sizes.into_iter(), ring, 1 << 34).unwrap();
        (layout.rings.bytes.len() / layout.rings.rings) as u64
    };
    assert_eq!(of(2, RING_BYTES_MIN), RING_BYTES_MIN);
    assert_eq!(of(2, RING_BYTES_MAX), RING_BYTES_MAX);
    assert_eq!([of(2, 0), of(2, u64::MAX)], [RING_BYTES_MIN, RING_BYTES_MAX]);
    // Those of many ranks together stay within their target.
    assert_eq!([of(64, RING_BYTES_MAX), of(64, 8 << 10)], [16 << 10, 8 << 10]);
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
        assert!(rank.boards.len() >= SETS * size_of::<board::Words>());
        for range in [&rank.memory, &rank.scratch, &rank.instance, &rank.matches, &rank.boards] {
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
fn messages_are_emptied_and_nothing_else() {
    let sizes = [RankSizes { memory: 5000, trace: 100, ..RankSizes::default() }; 3];
    let layout = Layout::new(sizes.into_iter(), 1 << 30).unwrap();
    let (places, mailbox) = (layout.messages().collect::<Vec<_>>(), layout.ranks[1].mailbox);
    let segment = Segment::create(layout).unwrap();
    // One message for each rank, with and without a ring.
    for to in 0..3 {
        let endpoint = segment.endpoint(1);
        for len in [8, endpoint.payload_max(to)] {
            let fill = |payload: &mut [u8]| payload.fill(7);
            super::put(&endpoint, (to, segment.mailbox(to)), &[1; 6], len, fill).unwrap();
        }
    }
    for (ring, len) in [(Ring::Short, 8), (Ring::Long, 4 << 10)] {
        // SAFETY: the only writer, and a lap that nobody has read.
        unsafe { segment.board(1).put(ring, 5, 1, len, |payload| payload.fill(7)) };
        assert_eq!(segment.board(1).look(ring, 5, 1), Look::Arrived);
    }
    segment.board(2).consume(Ring::Long, 3);
    let place = segment.directory().place_of(6).unwrap();
    segment.directory().leave(place.set, 1, [8, 9]);
    let _ = segment.napping().enter(2);
    let _ = segment.awaiting_room().enter(1);
    // SAFETY: nobody else uses the memory of rank 2.
    unsafe { segment.write(segment.rank(2).memory.start, &[5; 5000]) };
    segment.status(2).lose(4);
    assert!(places.iter().any(|place| place.start == mailbox));
    assert_eq!(segment.napping().sleepers(u64::MAX), 1 << 2);
    assert_eq!(segment.awaiting_room().sleepers(u64::MAX), 1 << 1);
    // SAFETY: nobody uses messages meanwhile.
    unsafe { segment.reset_messages().unwrap() };
    for rank in 0..3 {
        assert_eq!(segment.mailbox(rank).positions(), (0, 0));
        assert!(!super::take(&segment.endpoint(rank), |_, _| ()));
        assert_eq!(segment.board(rank).look(Ring::Short, 5, 1), Look::Missing);
        assert_eq!(segment.board(rank).consumed(Ring::Long), 0);
    }
    assert_eq!(segment.napping().sleepers(u64::MAX), 0, "nobody naps");
    assert_eq!(segment.awaiting_room().sleepers(u64::MAX), 0);
    for place in &places {
        // SAFETY: as above.
        let bytes: Vec<u8> = unsafe { segment.copy_of(place) };
        assert!(bytes.iter().all(|&byte| byte == 0), "{place:?}");
    }
    // SAFETY: as above.
    let memory: Vec<u8> = unsafe { segment.copy_of(&segment.rank(2).memory) };
    assert_eq!(memory, [5; 5000]);
    let status = segment.status(2);
    assert!(status.is_lost() && !status.is_missing_in(4) && status.is_missing_in(5));
    assert_eq!(segment.lost().collect::<Vec<_>>(), [2]);
}

#[test]
fn a_gate_breaks_and_opens_again() {
    let segment = segment(1, 2);
    let start_barrier = segment.start_barrier();
    start_barrier.break_up();
    assert!(!start_barrier.is_broken(), "before it is open, a loss ends the job");
    assert!(start_barrier.pass(1, || 3));
    start_barrier.break_up();
    assert!(
        start_barrier.is_broken()
            && start_barrier.is_stopped()
            && !start_barrier.has_ended()
            && !start_barrier.is_stuck()
    );
    assert!(start_barrier.pass(9, || 3), "a rank that wakes up late has passed");
    start_barrier.mend();
    assert!(start_barrier.is_open() && !start_barrier.is_stopped());
    assert_eq!(start_barrier.generation(), 1);
    start_barrier.break_up();
    start_barrier.stop();
    assert!(start_barrier.has_ended() && !start_barrier.is_broken());
}

#[test]
fn a_failure_record_is_cut_at_a_character() {
    let layout = Layout::new([RankSizes::default()].into_iter(), 1 << 30).unwrap();
    let segment = Segment::create(layout).unwrap();
    assert_eq!(segment.failure(0), None);
    segment.fail(0, &"é".repeat(3000));
    assert_eq!(segment.status(0).state(), State::Failed);
    assert_eq!(segment.failure(0).unwrap(), "é".repeat(1536));
    assert_eq!(segment.told_waits(0, 1), None);
    segment.tell_waits(0, 1, &"é".repeat(3000));
    assert_eq!(segment.told_waits(0, 1).unwrap(), "é".repeat(512));
    assert_eq!(segment.failure(0).unwrap(), "é".repeat(1536));
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
    segment.mailbox(1).disarm_and_wake();
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

#[test]
fn a_sender_that_waits_in_a_call_has_a_window() {
    let segment = segment(2, 1);
    // SAFETY: the only end of the rank.
    let mut transport = unsafe { ShmTransport::new(&segment, 0) };
    let state = &segment.status(1).process_state;
    assert_eq!(transport.window(1), 0);
    state.set_answers(true);
    assert_eq!(transport.window(1), 1 << 20);
    state.set_answers(false);
    assert_eq!(transport.window(1), 0);
}
