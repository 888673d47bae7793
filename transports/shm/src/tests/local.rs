//! Tests the messages of a rank to itself.
#![allow(unsafe_code)] // queues of segments

use crate::layout::LOCAL_BYTES;
use crate::local::{HEADER_WORDS, Local, PAYLOAD_MAX, QUEUE, WORD};
use crate::{Layout, RankSizes, Segment, ShmTransport};
use goal_engine::transport::{Full, Header, Kind, Transport};
use std::ops::ControlFlow;

fn segment() -> Segment {
    let layout = Layout::new([RankSizes::default()].into_iter(), u64::MAX).unwrap();
    Segment::create(layout).unwrap()
}

fn message(tag: u32, len: usize) -> Header {
    let mut header = Header::new(Kind::Eager, 0);
    header.tag = tag;
    header.size = len as u64;
    header
}

#[test]
fn messages_keep_their_order_and_their_bytes_however_many_are_taken_at_once() {
    let mut random = fastrand::Rng::with_seed(7);
    let segment = segment();
    // SAFETY: the segment's one queue.
    let mut local = unsafe { Local::new(&segment, 0) };
    let (mut sent, mut received) = (0, 0);
    let len = |tag: u32| (tag as usize * 37) % (PAYLOAD_MAX + 1);
    while received < 20_000 {
        for _ in 0..random.usize(..20) {
            let header = message(sent, len(sent));
            sent += u32::from(local.try_send(0, &header, |out| out.fill(sent as u8)).is_ok());
        }
        let most = random.usize(1..10);
        let taken = local.poll(most, |header, payload| {
            assert_eq!(*header, message(received, len(received)));
            assert!(
                payload.len() == len(received)
                    && payload.iter().all(|&byte| byte == received as u8)
            );
            received += 1;
            ControlFlow::Continue(())
        });
        assert!(taken <= most);
        assert_eq!(local.has_message(), received < sent);
    }
}

/// Takes messages until one has this tag. Returns the number taken.
fn take_up_to(transport: &mut impl Transport, last: u32) -> usize {
    transport.poll(usize::MAX, |header, _| match header.tag == last {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    })
}

#[test]
fn messages_behind_the_last_one_that_is_wanted_stay() {
    let segment = segment();
    // SAFETY: the rank's one end of each transport.
    let (mut local, mut shm) = unsafe { (Local::new(&segment, 0), ShmTransport::new(&segment, 0)) };
    for tag in 0..5 {
        assert_eq!(local.try_send(0, &message(tag, 100), |_| {}), Ok(()));
        assert_eq!(shm.try_send(0, &message(tag, 100), |_| {}), Ok(()));
    }
    assert_eq!([take_up_to(&mut local, 1), take_up_to(&mut shm, 1)], [2, 2]);
    assert_eq!([take_up_to(&mut local, 2), take_up_to(&mut shm, 2)], [1, 1]);
    assert_eq!([take_up_to(&mut local, 9), take_up_to(&mut shm, 9)], [2, 2]);
}

#[test]
fn a_full_queue_says_so_and_takes_messages_again_when_it_is_empty() {
    let segment = segment();
    // SAFETY: the segment's one queue.
    let mut local = unsafe { Local::new(&segment, 0) };
    let most = (LOCAL_BYTES / WORD - QUEUE) / HEADER_WORDS;
    for _ in 0..most {
        assert_eq!(local.try_send(0, &message(0, 0), |_| {}), Ok(()));
    }
    assert_eq!(local.try_send(0, &message(0, 0), |_| panic!("no room")), Err(Full));
    assert_eq!(local.poll(usize::MAX, |_, _| ControlFlow::Continue(())), most);
    assert_eq!(local.try_send(0, &message(0, PAYLOAD_MAX), |_| {}), Ok(()));
}

#[test]
fn a_message_to_oneself_is_not_written_to_its_buffer_in_the_segment() {
    let sizes = [RankSizes { memory: 4096, ..RankSizes::default() }; 2];
    let segment = Segment::create(Layout::new(sizes.into_iter(), 1 << 30).unwrap()).unwrap();
    // SAFETY: nothing else accesses the segment.
    let (shm, memory) =
        unsafe { (ShmTransport::new(&segment, 0), segment.region(&segment.rank(0).memory)) };
    // Its payload may overlap the buffer.
    assert_eq!(shm.export_mut(0, memory.whole()), None);
    assert!(shm.export_mut(1, memory.whole()).is_some());
}
