//! Tests senders that run ahead of their receivers.

use crate::Seed;
use crate::engine::{Engine, Options, Schedule, Storage, WORLD};
use crate::testing::{nisa, program, state};
use crate::transport::InMemory;
use std::sync::Arc;

/// Rank 0 starts this many instances before rank 1 looks for messages.
const AHEAD: usize = 20;

/// Returns the engines of two ranks, and the schedule of rank 1. Rank 0 has sent rank 1 the
/// messages of its instances.
fn engines() -> ([Engine<'static, InMemory>; 2], Arc<Schedule>) {
    let (engines, [_, of_receiver]) = engines_in(WORLD);
    (engines, of_receiver)
}

/// The engines and schedules of two ranks. Rank 0 has sent its messages in a communicator.
fn engines_in(communicator: u64) -> ([Engine<'static, InMemory>; 2], [Arc<Schedule>; 2]) {
    let program = program(
        "num_ranks 2
         rank 0 { send 0,100 to 1 }
         rank 1 { recv 0,100 from 0 }",
    );
    let nisa = nisa(&program);
    let schedule = |rank| Arc::new(Schedule::new(Arc::clone(&nisa), rank, Seed::default()));
    let ends = <[InMemory; 2]>::try_from(InMemory::group(2)).expect("two ends");
    let mut ranks = 0..;
    let [mut sender, mut receiver] = ends
        .map(|end| Engine::new(ranks.next().expect("a rank"), end, Options::default(), state()));
    // Announces the room for messages.
    receiver.poll(0).unwrap();
    let schedules = [schedule(0), schedule(1)];
    for _ in 0..AHEAD {
        let handle = sender.start(&schedules[0], communicator, Storage::new(&schedules[0]));
        while !sender.test(&handle) {
            sender.poll(0).unwrap();
        }
        sender.finish(handle);
    }
    ([sender, receiver], schedules)
}

/// Numbers that differ in their upper bits alone are those of different communicators.
#[test]
fn a_communicator_that_is_forgotten_begins_anew() {
    const MADE: u64 = 5 << 32;
    let ([mut sender, mut receiver], schedules) = engines_in(MADE);
    while receiver.poll(0).unwrap().worked {}
    let waits = receiver.start(&schedules[1], WORLD, Storage::new(&schedules[1]));
    receiver.poll(0).unwrap();
    assert!(!receiver.test(&waits), "a message of another communicator was taken");
    assert!(!receiver.forget(WORLD), "an instance of it runs");
    assert!(sender.forget(MADE) && receiver.forget(MADE));
    assert_eq!(receiver.stats().unreceived, AHEAD as u64);
    for communicator in [MADE, WORLD] {
        let handle = sender.start(&schedules[0], communicator, Storage::new(&schedules[0]));
        while !sender.test(&handle) {
            sender.poll(0).unwrap();
        }
        sender.finish(handle);
    }
    let handle = receiver.start(&schedules[1], MADE, Storage::new(&schedules[1]));
    while receiver.poll(0).unwrap().worked {}
    assert!(receiver.test(&handle) && receiver.test(&waits));
    receiver.finish(handle);
    receiver.finish(waits);
    assert!(receiver.forget(MADE) && receiver.forget(WORLD) && receiver.forget(7));
    assert_eq!(receiver.stats().unreceived, AHEAD as u64);
}

#[test]
fn a_receiver_in_a_loop_keeps_no_message() {
    let ([_sender, mut receiver], schedule) = engines();
    for _ in 0..AHEAD {
        let handle = receiver.start(&schedule, WORLD, Storage::new(&schedule));
        while !receiver.test(&handle) {
            assert!(receiver.poll(0).unwrap().worked);
        }
        receiver.finish(handle);
    }
    assert_eq!(receiver.stats().unexpected, 0);
}

#[test]
fn a_receiver_that_has_nothing_to_receive_keeps_one_message_a_poll() {
    let ([_sender, mut receiver], schedule) = engines();
    for polls in 1..=AHEAD as u64 {
        assert!(receiver.poll(0).unwrap().worked);
        assert_eq!(receiver.stats().unexpected, polls);
    }
    assert!(!receiver.poll(0).unwrap().worked);
    for _ in 0..AHEAD {
        let handle = receiver.start(&schedule, WORLD, Storage::new(&schedule));
        receiver.poll(0).unwrap();
        assert!(receiver.test(&handle));
        receiver.finish(handle);
    }
}

/// All instances run before the first poll: the messages of all of them are taken at once.
#[test]
fn a_receiver_of_many_instances_takes_many_messages_a_poll() {
    let ([_sender, mut receiver], schedule) = engines();
    let handles: Vec<_> = (0..AHEAD)
        .map(|_| {
            let handle = receiver.start(&schedule, WORLD, Storage::new(&schedule));
            receiver.run_started(0).unwrap();
            handle
        })
        .collect();
    receiver.poll(0).unwrap();
    assert!(handles.iter().all(|handle| receiver.test(handle)));
}
