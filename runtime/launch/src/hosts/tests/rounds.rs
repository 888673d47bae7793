//! Tests of the detection of a job that is stuck.

use crate::hosts::{Reply, Rounds};
use goal_esp::wire::State;
use goal_job::host::Host;

const IDLE: Reply = Reply { state: State::Idle, sent: 0, taken: 0 };

fn host(number: u8) -> Host {
    super::host(number).into()
}

fn counted(sent: u64, taken: u64) -> Reply {
    Reply { sent, taken, ..IDLE }
}

/// Does a round with these replies of both hosts. Returns true if it proves that the job is stuck.
fn round(rounds: &mut Rounds, now_ns: u64, replies: [Reply; 2]) -> bool {
    let (round, asked) = rounds.poll(now_ns, true).unwrap();
    assert_eq!(asked, [host(0), host(1)]);
    assert!(!rounds.handle(host(0), round, replies[0]));
    rounds.handle(host(1), round, replies[1])
}

fn new() -> Rounds {
    Rounds::new(vec![host(0), host(1)], 7)
}

#[test]
fn two_equal_rounds_prove_it() {
    let mut rounds = new();
    let replies = [counted(3, 2), counted(2, 3)];
    assert!(!round(&mut rounds, 1, replies));
    assert!(round(&mut rounds, 2, replies));
}

#[test]
fn neither_messages_on_their_way_nor_work_prove_it() {
    let active = Reply { state: State::Active, ..IDLE };
    let done = Reply { state: State::Done, ..IDLE };
    for replies in [[counted(3, 2), counted(2, 2)], [IDLE, active], [done, done]] {
        let mut rounds = new();
        assert!(!(1..9).any(|at| round(&mut rounds, at * 1_000_000_000, replies)), "{replies:?}");
    }
    // Each round is quiet, but something happened between them.
    let mut rounds = new();
    for at in 1..9 {
        assert!(!round(&mut rounds, at, [counted(at, 0), counted(0, at)]));
    }
    // So does work of the leader's own ranks between two rounds.
    let mut rounds = new();
    assert!(!round(&mut rounds, 1, [IDLE; 2]));
    assert_eq!(rounds.poll(2, false), None);
    assert!(!round(&mut rounds, 3, [IDLE; 2]));
    assert!(round(&mut rounds, 4, [IDLE; 2]));
}

#[test]
fn messages_that_stay_on_their_way_are_asked_after_more_and_more_rarely() {
    let mut rounds = new();
    let lost = [counted(3, 2), counted(2, 2)];
    let mut begun = 0;
    for now_ns in (1_000_000_000..5_000_000_000).step_by(100_000) {
        if let Some((round, asked)) = rounds.poll(now_ns, true) {
            begun += 1;
            assert!(
                !asked.into_iter().zip(lost).any(|(host, reply)| rounds.handle(host, round, reply))
            );
        }
    }
    assert!((80..90).contains(&begun), "{begun}");
    // When the messages have arrived, the next two rounds follow at once.
    let came = [counted(3, 2), counted(2, 3)];
    assert!(!round(&mut rounds, 5_050_000_000, came));
    assert!(round(&mut rounds, 5_050_000_001, came));
}

#[test]
fn only_the_silent_are_asked_again_and_old_answers_do_not_count() {
    let mut rounds = new();
    let (first, _) = rounds.poll(1, true).unwrap();
    assert!(!rounds.handle(host(0), first, IDLE));
    assert_eq!(rounds.poll(2, true), None);
    assert_eq!(rounds.poll(1_000_000_000, true), Some((first, vec![host(1)])));
    assert!(!rounds.handle(host(1), first - 1, IDLE));
    assert!(!rounds.handle(host(2), first, IDLE));
    assert!(!rounds.handle(host(1), first, IDLE));
    // Answers of the previous round don't count for this one.
    let (second, _) = rounds.poll(1_000_000_001, true).unwrap();
    assert!(!rounds.handle(host(0), first, IDLE) && !rounds.handle(host(1), first, IDLE));
    assert!(!rounds.handle(host(0), second, IDLE));
    assert!(rounds.handle(host(1), second, IDLE));
}
