//! Ranks that send without a pause.

use super::{V4, exchange, fabrics, now_ns, patience_ns};
use crate::limits::{PART_MAX, READS_PER_LOOK};
use goal_engine::transport::{Header, Kind, Transport};
use goal_fabric::Fabric;
use std::ops::ControlFlow;

/// Rank 0 always has a part of rank 1 to read, so its connection is always the one that is read.
#[test]
fn a_rank_that_sends_without_a_pause_holds_up_no_other() {
    let mut ends = fabrics(3, V4, 0);
    assert!(exchange(&mut ends));
    let (message, since_ns) = (Header::new(Kind::Fin, 0), now_ns());
    while ends[2].try_send(0, &message, |_| {}).is_err() {
        assert!(now_ns() - since_ns < patience_ns(10), "rank 2 can't connect");
        ends[2].progress();
        ends[0].poll(1, |_, _| ControlFlow::Continue(()));
    }
    let payload = vec![1; PART_MAX];
    let part = Header { size: PART_MAX as u64, ..Header::new(Kind::Part, 0) };
    let (mut polls, mut parts, mut has_come) = (0, 0, false);
    while !has_come {
        while ends[1].try_send_zcopy(0, &part, &payload).is_ok() {}
        ends[1].progress();
        if polls == 50 {
            ends[2].progress();
            parts = 0;
        }
        ends[0].poll(1, |header, _| {
            has_come |= header.kind() == Kind::Fin;
            parts += 1;
            ControlFlow::Continue(())
        });
        polls += 1;
        assert!(polls < 10_000, "the message of rank 2 does not come");
    }
    // A read brings several pieces at most.
    assert!(parts < 8 * READS_PER_LOOK, "{parts} pieces came first");
}
