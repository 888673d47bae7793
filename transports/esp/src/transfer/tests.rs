//! Tests of single packets: which ones leave, and which ones are requested. The model does not
//! cover these.

use super::{Acknowledgement, Answer, Receiver, Rules, Sender};
use crate::limits::RANGES_MAX;
use crate::seq::Seq;
use crate::wire::{Flags, Range};

const RULES: Rules = Rules {
    initial_burst_length: 4,
    burst_length: 16,
    reordered_max: 2,
    ack_every: 4,
    repeats_end: true,
    answers_with_data: false,
};

fn sender() -> Sender<u8> {
    Sender::new(RULES, Seq(10), 4)
}

fn ack(next: u32, window: u16) -> Acknowledgement {
    Acknowledgement { next: Seq(next), window }
}

fn receiver() -> Receiver<u8> {
    Receiver::new(RULES, Seq(10))
}

/// Returns the numbers and flags of all packets that leave now.
fn leaving(sender: &mut Sender<u8>) -> Vec<(u32, Flags)> {
    std::iter::from_fn(|| sender.poll().map(|(seq, packet)| (seq.0, packet.flags))).collect()
}

fn numbers(sender: &mut Sender<u8>) -> Vec<u32> {
    leaving(sender).into_iter().map(|(seq, _)| seq).collect()
}

fn write(sender: &mut Sender<u8>, count: u8) {
    for number in 0..count {
        sender.push(number, if number + 1 == count { Flags::TXR } else { Flags::NONE });
    }
}

fn ranges(take: impl FnOnce(&mut Vec<Range>)) -> Vec<(u32, u32)> {
    let mut ranges = Vec::new();
    take(&mut ranges);
    ranges.into_iter().map(|Range { first, count }| (first, count)).collect()
}

#[test]
fn writes_merge_until_the_last_packet_has_left() {
    let mut sender = sender();
    write(&mut sender, 2);
    write(&mut sender, 1);
    let (start, end) = (Flags::TXS, Flags::TXF | Flags::TXR);
    assert_eq!(leaving(&mut sender), [(10, start), (11, Flags::TXR), (12, end)]);
    write(&mut sender, 1);
    assert_eq!(leaving(&mut sender), [(13, start | end)]);
}

#[test]
fn a_start_leaves_with_an_initial_burst_and_the_rest_when_it_is_acknowledged() {
    let mut sender = sender();
    write(&mut sender, 10);
    assert_eq!(numbers(&mut sender), [10, 11, 12, 13]);
    assert!(sender.runs_timer());
    assert_eq!(sender.acknowledge(ack(11, 5), drop), 1);
    assert_eq!(numbers(&mut sender), [14, 15]);
    assert!(!sender.runs_timer(), "the receiver is in control");
    assert_eq!(sender.acknowledge(ack(16, 16), drop), 5);
    assert_eq!(numbers(&mut sender), [16, 17, 18, 19]);
    assert!(sender.runs_timer(), "the end is not acknowledged");
    assert_eq!(sender.acknowledge(ack(20, 16), drop), 4);
    assert!(!sender.runs_timer());
}

#[test]
fn a_transfer_begins_with_as_many_packets_as_the_end_of_the_one_before_was_answered_with() {
    let mut sender = sender();
    write(&mut sender, 6);
    assert_eq!(numbers(&mut sender), [10, 11, 12, 13]);
    assert_eq!(sender.acknowledge(ack(14, 16), drop), 4);
    assert_eq!(numbers(&mut sender), [14, 15]);
    assert_eq!(sender.acknowledge(ack(16, 3), drop), 2);
    write(&mut sender, 8);
    assert_eq!(numbers(&mut sender), [16, 17, 18], "though the one before was allowed more");
    assert_eq!(sender.acknowledge(ack(17, 14), drop), 1);
    assert_eq!(numbers(&mut sender), [19, 20, 21, 22, 23]);
}

#[test]
fn a_receiver_lets_the_next_transfer_begin_with_what_its_connection_may_have() {
    let mut receiver = receiver();
    receiver.set_share(16, 7);
    assert_eq!(receiver.accept(Seq(10), Flags::TXS | Flags::TXF, 0), (true, Answer::Soon));
    assert_eq!(receiver.acknowledgement(), ack(11, 7));
    receiver.accept(Seq(11), Flags::TXS, 0);
    // Those that it began with, and as many more as have come.
    assert_eq!(receiver.acknowledgement(), ack(12, 8));
    receiver.set_share(16, 1);
    receiver.accept(Seq(12), Flags::TXF, 0);
    assert_eq!(receiver.acknowledgement(), ack(13, 4), "never less than an initial burst");
}

#[test]
fn the_timer_sends_one_packet_again() {
    let mut sender = sender();
    write(&mut sender, 3);
    assert_eq!(numbers(&mut sender).len(), 3);
    sender.repeat_first();
    sender.repeat_first();
    assert_eq!(numbers(&mut sender), [10]);
}

#[test]
fn impossible_acknowledgements_are_ignored() {
    let mut sender = sender();
    write(&mut sender, 3);
    numbers(&mut sender);
    assert_eq!(sender.acknowledge(ack(14, 5), drop), 0);
    assert_eq!(sender.acknowledge(ack(9, 5), drop), 0);
    assert_eq!(sender.queued(), 3);
}

#[test]
fn only_what_was_sent_is_sent_again() {
    let mut sender = sender();
    write(&mut sender, 10);
    numbers(&mut sender);
    let asked = [(0, 11), (13, 100), (12, 0), (u32::MAX, u32::MAX)];
    let count = sender.request(asked.into_iter().map(|(first, count)| Range { first, count }));
    assert_eq!(count, 4);
    assert_eq!(numbers(&mut sender), [10, 11, 12, 13]);
}

#[test]
fn a_packet_without_room_is_sent_again_when_there_is_some() {
    let mut sender = sender();
    write(&mut sender, 1);
    assert_eq!(numbers(&mut sender), [10]);
    sender.acknowledge(ack(11, 3), drop);
    write(&mut sender, 3);
    assert_eq!(numbers(&mut sender), [11, 12, 13]);
    write(&mut sender, 1);
    assert!(numbers(&mut sender).is_empty());
    sender.acknowledge(ack(14, 0), drop);
    assert_eq!(numbers(&mut sender), [14], "a start may always leave");
    sender.acknowledge(ack(14, 0), drop);
    assert!(numbers(&mut sender).is_empty());
    sender.acknowledge(ack(14, 3), drop);
    assert_eq!(numbers(&mut sender), [14]);
}

#[test]
fn a_receiver_asks_once_for_what_was_overtaken() {
    let mut receiver = receiver();
    assert_eq!(receiver.accept(Seq(10), Flags::TXS, 0), (true, Answer::Soon));
    receiver.acknowledgement();
    assert_eq!(receiver.accept(Seq(12), Flags::NONE, 2), (true, Answer::None));
    assert_eq!(receiver.accept(Seq(13), Flags::NONE, 3), (true, Answer::Request));
    assert_eq!(ranges(|out| receiver.take_request(out)), [(11, 1)]);
    receiver.acknowledgement();
    assert_eq!(receiver.accept(Seq(14), Flags::NONE, 4), (true, Answer::None));
    // Up to the edge: an initial burst and the three that had come are allowed.
    assert_eq!(ranges(|out| receiver.take_everything_missing(out)), [(11, 1), (15, 3)]);
    assert!(receiver.accept(Seq(11), Flags::NONE, 1).0);
    let read: Vec<_> = std::iter::from_fn(|| receiver.read()).collect();
    assert_eq!(read, [0, 1, 2, 3, 4]);
}

#[test]
fn a_request_has_so_many_ranges_and_the_next_one_goes_on() {
    let rules = Rules { initial_burst_length: 200, burst_length: 200, reordered_max: 0, ..RULES };
    let mut receiver = Receiver::<u8>::new(rules, Seq(0));
    for seq in (1..200).step_by(2) {
        receiver.accept(Seq(seq), Flags::NONE, 0);
    }
    let first = ranges(|out| receiver.take_request(out));
    assert_eq!((first.len(), first[0]), (RANGES_MAX, (0, 1)));
    let second = ranges(|out| receiver.take_request(out));
    assert_eq!((second.len(), second[0]), (RANGES_MAX, (2 * RANGES_MAX as u32, 1)));
}

#[test]
fn duplicates_are_answered_and_change_nothing() {
    let mut receiver = receiver();
    receiver.accept(Seq(10), Flags::TXS | Flags::TXF, 0);
    receiver.accept(Seq(12), Flags::NONE, 2);
    let before = receiver.clone();
    for seq in [10, 12, 9, 10 + 16] {
        assert_eq!(receiver.accept(Seq(seq), Flags::NONE, 9), (false, Answer::Now), "{seq}");
    }
    assert_eq!(receiver.next(), before.next());
    assert_eq!(receiver.read(), Some(0));
    assert_eq!(receiver.read(), None);
}

#[test]
fn nothing_is_taken_of_a_postponed_stream() {
    let mut receiver = receiver();
    // As many as may have left before anything is acknowledged.
    for (seq, expected) in [(11, Answer::None), (13, Answer::Request)] {
        assert_eq!(receiver.accept(Seq(seq), Flags::NONE, 0), (true, expected));
    }
    assert_eq!(receiver.accept(Seq(14), Flags::NONE, 0), (false, Answer::Now));
    assert!(receiver.is_first(Seq(10)) && !receiver.is_first(Seq(11)));
    receiver.postpone();
    assert_eq!(receiver.kept(), 0);
    assert!(!receiver.is_in_control());
    for seq in 10..30 {
        assert_eq!(receiver.accept(Seq(seq), Flags::TXS, 0), (false, Answer::Now), "{seq}");
        assert_eq!(receiver.acknowledgement(), ack(10, 0));
    }
    assert_eq!(receiver.kept(), 0);
    assert!(receiver.admit());
    assert_eq!(ranges(|out| receiver.take_everything_missing(out)), [(10, 4)]);
    assert!(receiver.accept(Seq(10), Flags::TXS, 0).0);
    assert!(!receiver.admit() && !receiver.is_first(Seq(10)) && !receiver.is_first(Seq(11)));
}

#[test]
fn a_sender_that_is_told_of_no_room_sends_the_start_alone() {
    let mut sender = sender();
    write(&mut sender, 6);
    assert_eq!(numbers(&mut sender), [10, 11, 12, 13]);
    sender.acknowledge(ack(10, 0), drop);
    assert!(numbers(&mut sender).is_empty());
    sender.repeat_first();
    assert_eq!(numbers(&mut sender), [10]);
    sender.acknowledge(ack(10, 4), drop);
    assert_eq!(sender.request([Range { first: 10, count: 4 }].into_iter()), 4);
    assert_eq!(numbers(&mut sender), [10, 11, 12, 13]);
}

#[test]
fn nothing_follows_the_end() {
    let mut receiver = receiver();
    assert_eq!(
        receiver.accept(Seq(10), Flags::TXS | Flags::TXF | Flags::FIN, 0),
        (true, Answer::Soon)
    );
    assert!(receiver.is_finished() && !receiver.is_in_control());
    assert_eq!(receiver.accept(Seq(11), Flags::TXS, 0), (false, Answer::Now));
    assert_eq!(receiver.read(), None);
}

#[test]
fn a_read_opens_the_window() {
    let mut receiver = receiver();
    for seq in 10..26 {
        receiver.accept(Seq(seq), if seq == 10 { Flags::TXS } else { Flags::NONE }, 0);
    }
    assert_eq!(receiver.acknowledgement(), ack(26, 0));
    assert!(!receiver.is_update_due());
    receiver.read();
    assert!(receiver.is_update_due());
    assert_eq!(receiver.acknowledgement(), ack(26, 1));
}
