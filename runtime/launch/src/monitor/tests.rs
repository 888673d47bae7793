#![allow(unsafe_code)] // senders and receivers of segments

use super::{Exchanged, Watch};
use goal_engine::testing::{nisa, program};
use goal_job::ActionPlace;
use goal_shm::{Layout, RankSizes, Segment, State};
use std::sync::atomic::Ordering;

fn segment(ranks: usize) -> Segment {
    let sizes = vec![RankSizes::default(); ranks];
    Segment::create(Layout::new(sizes.into_iter(), 1 << 30).unwrap()).unwrap()
}

/// Enters these states. A rank that is idle has armed its mailbox.
fn enter(segment: &Segment, states: &[State]) {
    for (rank, &state) in (0..).zip(states) {
        if state == State::Idle {
            assert!(segment.mailbox(rank).arm());
        }
        segment.status(rank).enter(state);
    }
}

#[test]
fn ranks_that_rest_in_two_readings_are_stuck() {
    let segment = segment(3);
    enter(&segment, &[State::Idle, State::Done, State::Idle]);
    let mut watch = Watch::new(false, (0..segment.num_ranks()).collect());
    assert!(!watch.is_stuck(&segment), "one reading says nothing");
    assert!(watch.is_stuck(&segment));
}

#[test]
fn a_rank_that_ran_in_between_is_not_stuck() {
    let segment = segment(2);
    enter(&segment, &[State::Idle, State::Idle]);
    let mut watch = Watch::new(false, (0..segment.num_ranks()).collect());
    for _ in 0..5 {
        assert!(!watch.is_stuck(&segment));
        enter(&segment, &[State::Running]);
        enter(&segment, &[State::Idle]);
    }
    assert!(!watch.is_stuck(&segment));
    assert!(watch.is_stuck(&segment));
}

#[test]
fn a_rank_that_starts_or_runs_is_not_stuck() {
    let segment = segment(2);
    let mut watch = Watch::new(false, (0..segment.num_ranks()).collect());
    for state in [State::Starting, State::Running] {
        enter(&segment, &[State::Idle, state]);
        for _ in 0..3 {
            assert!(!watch.is_stuck(&segment));
        }
    }
}

#[test]
fn a_message_on_its_way_will_wake_its_receiver() {
    let segment = segment(2);
    enter(&segment, &[State::Idle, State::Idle]);
    let mut watch = Watch::new(false, (0..segment.num_ranks()).collect());
    // SAFETY: each rank has one sender here.
    unsafe { segment.endpoint(0).put((1, segment.mailbox(1)), &[0; 6], 0, |_| {}) }.unwrap();
    for _ in 0..3 {
        assert!(!watch.is_stuck(&segment));
    }
    let receiver = segment.endpoint(1);
    // SAFETY: each rank has one receiver here.
    assert!(unsafe { receiver.take(|_, _| {}) });
    assert!(receiver.mailbox.arm());
    assert!(!watch.is_stuck(&segment));
    assert!(watch.is_stuck(&segment));
}

#[test]
fn a_rank_that_was_rung_does_not_rest() {
    for together in [false, true] {
        let segment = segment(2);
        let mut watch = Watch::new(together, (0..segment.num_ranks()).collect());
        enter(&segment, &[State::Idle, State::Idle]);
        assert!(!watch.is_stuck(&segment));
        assert!(watch.is_stuck(&segment));
        // The writer of a cell does this, or a rank that acts for others.
        assert!(segment.mailbox(0).wake());
        assert!(!watch.is_stuck(&segment));
        assert!(!watch.is_stuck(&segment));
    }
}

/// A rank that has ended its part wakes up no more, and its mailbox is not armed.
#[test]
fn ranks_that_wait_for_one_that_has_ended_are_stuck() {
    let segment = segment(2);
    let mut watch = Watch::new(false, (0..segment.num_ranks()).collect());
    enter(&segment, &[State::Done, State::Idle]);
    assert!(!watch.is_stuck(&segment));
    assert!(watch.is_stuck(&segment));
}

#[test]
fn what_ranks_sent_and_took_is_told_when_they_rest() {
    let segment = segment(3);
    enter(&segment, &[State::Idle, State::Starting, State::Done]);
    let mut watch = Watch::new(false, vec![0, 2]);
    let send = |rank| segment.status(rank).remote_sent.fetch_add(2, Ordering::SeqCst);
    send(0);
    assert_eq!(watch.rest(&segment), None);
    send(2);
    assert_eq!(watch.rest(&segment), None, "a message was sent in between");
    segment.status(2).remote_taken.store(1, Ordering::SeqCst);
    assert_eq!(watch.rest(&segment), None, "a message was taken in between");
    assert_eq!(watch.rest(&segment), Some(Exchanged { sent: 4, taken: 1 }));
}

/// Offsets come from other hosts.
#[test]
fn an_offset_of_no_action_is_told_as_it_is() {
    let nisa = nisa(&program("rank 0 { a: calc 5  b: calc 6 }"));
    let begins: Vec<u32> = nisa.section(0).records().map(|(offset, _)| offset).collect();
    for offset in (0..64).chain([u32::MAX - 1, u32::MAX]).filter(|at| !begins.contains(at)) {
        let text = ActionPlace::new(&nisa, 0, offset).to_string();
        assert_eq!(text, format!("rank 0, action at offset {offset:#x}"));
    }
    assert_eq!(ActionPlace::new(&nisa, 0, begins[1]).to_string(), "rank 0, calc `b`");
}
