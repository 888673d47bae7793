//! Tests of frames that the system refuses.

use super::{FRAMES_MAX, Queue, REFUSED_MAX_NS};
use rustix::io::Errno;

const NONE: [usize; 0] = [];

/// Returns a queue with a frame of each length.
fn queue(lens: &[usize]) -> Queue {
    let mut queue = Queue::new();
    for &len in lens {
        assert_eq!(queue.push(|_| Some(len)), Ok(true));
    }
    queue
}

/// Flushes the queue to a system that accepts frames until one that it `refuses` with `errno`.
/// Returns the lengths of the accepted frames.
fn flush(
    queue: &mut Queue,
    now_ns: u64,
    errno: Errno,
    refuses: impl Fn(usize) -> bool,
) -> Vec<usize> {
    let mut taken = vec![];
    let send = |frames: &[&[u8]]| {
        let lens: Vec<usize> =
            frames.iter().map(|frame| frame.len()).take_while(|&len| !refuses(len)).collect();
        taken.extend(&lens);
        if lens.is_empty() { Err(errno) } else { Ok(lens.len()) }
    };
    queue.flush(|| now_ns, send).unwrap();
    taken
}

#[test]
fn a_frame_that_is_refused_again_and_again_holds_up_no_other() {
    let mut queue = queue(&[60, 1400, 61, 1400, 62]);
    let is_long = |len| len > 1000;
    let end_ns = 7 + REFUSED_MAX_NS;
    assert_eq!(flush(&mut queue, 7, Errno::NOBUFS, is_long), [60]);
    assert_eq!(flush(&mut queue, end_ns - 1, Errno::NOBUFS, is_long), NONE);
    assert_eq!(flush(&mut queue, end_ns, Errno::NOBUFS, is_long), [61]);
    // The next refused frame has the same time.
    assert_eq!(flush(&mut queue, 2 * end_ns - 8, Errno::NOBUFS, is_long), NONE);
    assert_eq!(flush(&mut queue, 2 * end_ns, Errno::NOBUFS, is_long), [62]);
    assert!(queue.is_empty());
}

#[test]
fn frames_that_a_full_queue_refuses_leave_in_order_when_it_has_room() {
    let mut queue = queue(&(1..=FRAMES_MAX).collect::<Vec<_>>());
    assert_eq!(flush(&mut queue, 0, Errno::NOBUFS, |len| len == 2), [1]);
    assert_eq!(flush(&mut queue, REFUSED_MAX_NS - 1, Errno::NOBUFS, |len| len == 4), [2, 3]);
    // A full send buffer is not the fault of one frame, so nothing is dropped however long it
    // lasts.
    for at in 1..9 {
        assert_eq!(flush(&mut queue, at * REFUSED_MAX_NS, Errno::AGAIN, |_| true), NONE);
    }
    let rest: Vec<usize> = (4..=FRAMES_MAX).collect();
    assert_eq!(flush(&mut queue, 9 * REFUSED_MAX_NS, Errno::AGAIN, |_| false), rest);
    assert!(queue.is_empty());
}
