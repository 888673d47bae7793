//! Tests of the sleep that a thread and its rank share.

use super::WakeSources;
use crate::transport::Sleeper;
use goal_filetest::patience;
use goal_shm::{Layout, RankSizes, Segment};
use std::time::{Duration, Instant};

/// Thread and rank may sleep at the same time. One ring wakes both, in whichever order the
/// system lets them look at the bell.
#[test]
fn one_ring_wakes_the_thread_and_the_rank() {
    let limit = patience(5);
    let layout = Layout::new([RankSizes::default()].into_iter(), 1 << 30).unwrap();
    let mut segment = Segment::create(layout).unwrap();
    segment.create_bells(0..1).unwrap();
    let mailbox = segment.mailbox(0);
    let sources = || WakeSources { mailbox, sleeper: Some(Sleeper::from_bell()) };
    let (of_thread, of_rank) = (sources(), sources());
    for _ in 0..3 {
        assert!(mailbox.arm());
        assert!(mailbox.wake(), "the bell is armed");
        let began = Instant::now();
        // The thread looks first.
        of_thread.sleep_leaving_bell(Some(limit));
        of_rank.wait(Some(limit));
        assert!(began.elapsed() < limit, "the rank slept on");
    }
    // The rank has drained the bell.
    let began = Instant::now();
    of_thread.sleep_leaving_bell(Some(Duration::from_millis(20)));
    assert!(began.elapsed() >= Duration::from_millis(20), "the bell rang again");
}
