#![allow(unsafe_code)] // a region over a vector

use super::{HEADER_WORDS, Local, PAYLOAD_MAX, QUEUE_BYTES, WORD};
use crate::memory::Region;
use crate::transport::{Full, Header, Kind, Transport};

fn message(tag: u32, len: usize) -> Header {
    let mut header = Header::new(Kind::Eager, 0);
    header.tag = tag;
    header.size = len as u64;
    header
}

#[test]
fn messages_keep_their_order_and_their_bytes_however_many_are_taken_at_once() {
    let mut random = fastrand::Rng::with_seed(7);
    let mut local = Local::new([Region::EMPTY; 2]);
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
            assert!(payload.len() == len(received) && payload.iter().all(|&byte| byte == received as u8));
            received += 1;
        });
        assert!(taken <= most);
        assert_eq!(local.has_message(), received < sent);
    }
}

#[test]
fn a_full_queue_says_so_and_takes_messages_again_when_it_is_empty() {
    let mut local = Local::new([Region::EMPTY; 2]);
    let most = QUEUE_BYTES / WORD / HEADER_WORDS;
    for _ in 0..most {
        assert_eq!(local.try_send(0, &message(0, 0), |_| {}), Ok(()));
    }
    assert_eq!(local.try_send(0, &message(0, 0), |_| panic!("no room")), Err(Full));
    assert_eq!(local.poll(usize::MAX, |_, _| {}), most);
    assert_eq!(local.try_send(0, &message(0, PAYLOAD_MAX), |_| {}), Ok(()));
}

#[test]
fn only_the_ranks_memory_is_exported() {
    let mut bytes = vec![0u8; 100];
    // SAFETY: the vector outlives the region and is reached through it only.
    let region = unsafe { Region::new(bytes.as_mut_ptr(), 100) };
    let local = Local::new([Region::EMPTY, region]);
    let span = region.span(10, 90);
    let name = local.export(0, span).unwrap();
    assert!(local.import(0, name, 90).unwrap().is_same(span));
    for (name, len) in [(name, 91), (name, u64::MAX), (name + 91, 0), (0, 1)] {
        assert!(local.import(0, name, len).is_none());
    }
}
