//! Tests mailboxes and rings between processes. They are so small that they wrap and fill up all
//! the time.
//!
//! The test binary starts itself again as senders: in such a process [`sender`] does what the
//! environment variable says.

#![allow(unsafe_code)] // a sender and a receiver of mailboxes

use goal_filetest::patience;
use goal_shm::{Layout, RankSizes, Segment};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const VARIABLE: &str = "GOAL_RUN_STRESS";
const SENDERS: u32 = 3;
const RECEIVER: u32 = SENDERS;

/// The messages of a process to the receiver.
#[derive(Serialize, Deserialize)]
struct Order {
    segment: i32,
    rank: u32,
    /// Numbers of its messages.
    first: u64,
    end: u64,
    seed: u64,
}

fn layout() -> Layout {
    let sizes = [RankSizes::default(); SENDERS as usize + 1];
    // One ring fewer than senders.
    Layout::new(sizes.into_iter(), 1 << 30).unwrap().shrunk(16, SENDERS as usize - 1, 4096)
}

fn start(segment: &Segment, rank: u32, first: u64, end: u64) -> Child {
    let order = Order {
        segment: segment.fd().as_raw_fd(),
        rank,
        first,
        end,
        seed: first + u64::from(rank),
    };
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "stress::sender", "--nocapture"])
        .env(VARIABLE, serde_json::to_string(&order).unwrap())
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// The byte at `place` in the payload of a message.
fn byte(rank: u64, number: u64, place: usize) -> u8 {
    (rank * 31 + number * 7 + place as u64) as u8
}

/// Sends messages in a process that was started as a sender, and passes as a test otherwise.
#[test]
fn sender() {
    let Ok(order) = std::env::var(VARIABLE) else { return };
    let Order { segment, rank, first, end, seed } = serde_json::from_str(&order).unwrap();
    let path = format!("/proc/{}/fd/{segment}", std::os::unix::process::parent_id());
    let file = File::options().read(true).write(true).open(path).unwrap();
    let segment = Segment::open(file.into(), layout()).unwrap();
    let endpoint = segment.endpoint(rank);
    let mut random = fastrand::Rng::with_seed(seed);
    let len_max = endpoint.payload_max(RECEIVER);
    for number in first..end {
        // Half of them short.
        let len = if random.bool() { random.usize(..=64) } else { random.usize(..=len_max) };
        let header = [u64::from(rank), number, len as u64, 0, 0, 0];
        let fill = |payload: &mut [u8]| {
            payload.iter_mut().enumerate().for_each(|(i, to)| *to = byte(header[0], number, i));
        };
        let into = || (RECEIVER, segment.mailbox(RECEIVER));
        // SAFETY: this process is the rank's one sender.
        while unsafe { endpoint.put(into(), &header, len, fill) }.is_err() {
            std::thread::yield_now();
        }
        if random.u32(..2_000) == 0 {
            // Now and then the receiver finds nothing and sleeps.
            std::thread::sleep(Duration::from_micros(200));
        }
    }
}

/// Takes a message if one is there, and checks it: numbers of each sender come in order.
fn take(segment: &Segment, next: &mut [u64]) -> bool {
    let sink = |header: &[u64; 6], payload: &[u8]| {
        let [rank, number, len, ..] = *header;
        assert_eq!(number, next[rank as usize], "of rank {rank}");
        assert_eq!(payload.len() as u64, len);
        let first_wrong = payload.iter().enumerate().find(|&(i, &is)| is != byte(rank, number, i));
        assert_eq!(first_wrong, None, "message {number} of rank {rank}, {len} bytes");
        next[rank as usize] += 1;
    };
    // SAFETY: this process is the one receiver.
    unsafe { segment.endpoint(RECEIVER).take(sink) }
}

#[test]
fn everything_arrives_from_several_processes_while_the_receiver_sleeps_now_and_then() {
    const EACH: u64 = 70_000;
    let segment = Segment::create(layout()).unwrap();
    let mut next = [0; SENDERS as usize];
    // Two processes one after the other for each rank: the second goes on where the first ended.
    for (first, end) in [(0, EACH / 2), (EACH / 2, EACH)] {
        let mut senders: Vec<Child> =
            (0..SENDERS).map(|rank| start(&segment, rank, first, end)).collect();
        while next.iter().any(|&next| next < end) {
            if take(&segment, &mut next) {
                continue;
            }
            let mailbox = segment.mailbox(RECEIVER);
            if mailbox.arm() {
                mailbox.wait(Some(patience(10)));
                let ended = senders.iter_mut().all(|sender| sender.try_wait().unwrap().is_some());
                assert!(
                    !ended || mailbox.has_message() || next.iter().all(|&next| next == end),
                    "lost: {next:?}"
                );
            }
        }
        for mut sender in senders {
            assert!(sender.wait().unwrap().success());
        }
    }
    let (sent, taken) = segment.mailbox(RECEIVER).positions();
    assert_eq!((sent, taken), (u64::from(SENDERS) * EACH, u64::from(SENDERS) * EACH));
}

#[test]
fn what_a_killed_sender_sent_arrives() {
    for round in 0..10 {
        let segment = Segment::create(layout()).unwrap();
        let mut sender = start(&segment, 0, 0, u64::MAX);
        let mut next = [0; SENDERS as usize];
        while next[0] < 500 + 37 * round {
            if !take(&segment, &mut next) {
                std::thread::yield_now();
            }
        }
        sender.kill().unwrap();
        sender.wait().unwrap();
        while take(&segment, &mut next) {}
        let (sent, taken) = segment.mailbox(RECEIVER).positions();
        assert_eq!(taken, next[0]);
        // It may have drawn a number for a message that it never finished. The receiver knows only
        // that the message comes.
        assert!(sent - taken <= 1, "{sent} sent, {taken} taken");
        assert_eq!(segment.mailbox(RECEIVER).arm(), sent == taken);
    }
}
