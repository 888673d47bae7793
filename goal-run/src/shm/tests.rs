use super::ring::{Consumer, Full, Inbox};
use super::{Layout, Mapping, RankSizes, Sealed, Segment, State};
use std::time::Duration;

const CELLS: usize = 64;

fn mapping() -> Mapping {
    Mapping::create(256 + CELLS * 64).unwrap()
}

#[test]
fn messages_arrive_in_order_across_the_end_of_the_ring() {
    let mapping = mapping();
    let inbox = Inbox::new(&mapping, 0, CELLS);
    let mut consumer = Consumer::new(inbox);
    let mut sent = 0;
    let mut received = 0;
    while received < 5_000 {
        let len = |i: u64| (i * 37 % (inbox.payload_max() as u64 + 1)) as usize;
        while inbox.put(&[sent, 1, 2, 3, 4, 5], len(sent), |payload| payload.fill(sent as u8)).is_ok() {
            sent += 1;
        }
        let taken = consumer.take(|header, payload| {
            assert_eq!(*header, [received, 1, 2, 3, 4, 5]);
            assert_eq!(payload.len(), len(received));
            assert!(payload.iter().all(|&byte| byte == received as u8));
        });
        received += u64::from(taken);
        consumer.publish();
    }
}

#[test]
fn a_full_ring_says_so_and_recovers() {
    let mapping = mapping();
    let inbox = Inbox::new(&mapping, 0, CELLS);
    for _ in 0..CELLS {
        inbox.put(&[0; 6], 8, |_| {}).unwrap();
    }
    assert_eq!(inbox.put(&[0; 6], 0, |_| panic!("no room")), Err(Full));
    let mut consumer = Consumer::new(inbox);
    assert!(consumer.take(|_, _| {}));
    assert_eq!(inbox.put(&[0; 6], 0, |_| {}), Err(Full), "room is published in quarters");
    consumer.publish();
    assert_eq!(inbox.put(&[0; 6], 0, |_| {}), Ok(()));
}

#[test]
fn many_senders_and_a_receiver_that_sleeps() {
    const SENDERS: u64 = 4;
    const EACH: u64 = 20_000;
    let mapping = mapping();
    let inbox = Inbox::new(&mapping, 0, CELLS);
    std::thread::scope(|scope| {
        for sender in 0..SENDERS {
            scope.spawn(move || {
                for i in 0..EACH {
                    let len = ((sender + i) % 200) as usize;
                    let header = [sender, i, 0, 0, 0, 0];
                    while inbox.put(&header, len, |payload| payload.fill(i as u8)).is_err() {
                        std::thread::yield_now();
                    }
                }
            });
        }
        let mut consumer = Consumer::new(inbox);
        let mut next = [0; SENDERS as usize];
        while next.iter().sum::<u64>() < SENDERS * EACH {
            let taken = consumer.take(|header, payload| {
                let sender = header[0] as usize;
                assert_eq!(header[1], next[sender]);
                assert_eq!(payload.len() as u64, (header[0] + header[1]) % 200);
                assert!(payload.iter().all(|&byte| byte == header[1] as u8));
                next[sender] += 1;
            });
            if !taken && consumer.arm() {
                consumer.wait(None);
            }
        }
    });
}

#[test]
fn a_sleeper_wakes_up_by_itself_where_asked_to() {
    let mapping = mapping();
    let mut consumer = Consumer::new(Inbox::new(&mapping, 0, CELLS));
    assert!(consumer.arm());
    consumer.wait(Some(Duration::from_millis(1)));
    assert!(!consumer.has_message());
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
        RankSizes { memory: 5000, scratch: 0, instance: 17, matches: 1 },
        RankSizes { memory: 0, scratch: 4096, instance: 0, matches: 0 },
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
    assert!(error.to_string().contains("--max-segment"));
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
