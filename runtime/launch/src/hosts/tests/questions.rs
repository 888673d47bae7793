//! Tests of repeated questions, by the asking host itself and by an attacker who has recorded them.

use super::links::{World, is_found};
use crate::hosts::questions::{LONG_PAUSE_NS, PAUSE_NS, Questions};
use crate::hosts::{LinkEvent, Reply};
use goal_esp::sim::{Faults, Network};
use goal_esp::wire::{Mac, State};

const SECOND_NS: u64 = 1_000_000_000;
const MAC: Mac = Mac([2; 6]);

#[test]
fn a_question_is_answered_once() {
    let mut questions = Questions::default();
    assert!(questions.is_due(0, MAC, 1, 5));
    assert!(!questions.is_due(SECOND_NS, MAC, 1, 5), "again");
    assert!(!questions.is_due(SECOND_NS, MAC, 1, 4), "an earlier one");
    assert!(questions.is_due(SECOND_NS, MAC, 1, 6));
    assert!(questions.is_due(SECOND_NS, Mac([4; 6]), 1, 5), "of another host");
    // Numbers wrap.
    assert!(questions.is_due(2 * SECOND_NS, MAC, 2, u32::MAX));
    assert!(questions.is_due(3 * SECOND_NS, MAC, 2, 0));
}

#[test]
fn old_questions_take_no_answer_from_new_ones() {
    let mut questions = Questions::default();
    // An attacker repeats ten recorded questions of each of many earlier runs, much faster than
    // they may be answered.
    let (mut answered, mut answered_old) = (0, 0);
    for step in 0..100_000u64 {
        let now_ns = 10_000 * step;
        let (nonce, number) = (step % 1000, (step / 1000 % 10) as u32);
        answered_old += u32::from(questions.is_due(now_ns, MAC, nonce, number));
        // The host itself asks ten times a second.
        if step % 10_000 == 5_000 {
            answered +=
                u32::from(questions.is_due(now_ns, MAC, 1_000_000, step as u32 / 10_000 + 1));
        }
    }
    assert!(
        answered >= 9,
        "the first one may come right behind the answer to an old one: {answered}"
    );
    let before = 50_000_000 / PAUSE_NS as u32;
    let behind = (SECOND_NS / LONG_PAUSE_NS) as u32;
    assert!(answered_old <= before + behind + 2, "{answered_old}");
}

#[test]
fn old_questions_are_answered_once_and_then_rarely() {
    let mut questions = Questions::default();
    // The attacker has time to choose the order of questions that serves it best.
    let old = |nonce| (0..10).map(move |number| (nonce, number));
    let recorded: Vec<(u64, u32)> = (0..100).flat_map(old).collect();
    let ask = |questions: &mut Questions, round: u64| {
        let times = (round * SECOND_NS..).step_by(PAUSE_NS as usize);
        recorded
            .iter()
            .zip(times)
            .filter(|&(&(nonce, number), now_ns)| questions.is_due(now_ns, MAC, nonce, number))
            .count()
    };
    assert_eq!(ask(&mut questions, 0), recorded.len());
    for round in 1..10 {
        assert!(ask(&mut questions, 3 * round) <= 27, "ten a second");
    }
    assert!(questions.is_due(100 * SECOND_NS, MAC, 100, 0));
}

#[test]
fn a_host_whose_clock_was_set_back_is_answered() {
    let mut questions = Questions::default();
    assert!(questions.is_due(0, MAC, u64::MAX, 7));
    assert!(questions.is_due(SECOND_NS, MAC, 1, 0));
    assert!(questions.is_due(2 * SECOND_NS, MAC, 1, 1));
}

#[test]
fn answers_keep_a_pause_and_tables_an_end() {
    let mut questions = Questions::default();
    let of = |questions: &mut Questions, now_ns: u64, nonces: std::ops::Range<u64>| {
        nonces.filter(|&nonce| questions.is_due(now_ns, MAC, nonce, 1)).count()
    };
    assert_eq!(of(&mut questions, 0, 0..1000), 1, "a thousand runs at once");
    assert_eq!(of(&mut questions, PAUSE_NS, 1000..2000), 1);
    questions.begin();
    let due = (0..100u64)
        .filter(|step| questions.is_due((1 + step) * SECOND_NS / 100, MAC, 10_000 + *step, 1));
    assert_eq!(due.count(), 10, "ten a second while the job runs");
    for host in 0..100_000u32 {
        let [a, b, c, d] = host.to_be_bytes();
        questions.is_due(u64::from(host), Mac([2, 0, a, b, c, d]), 1, 1);
    }
    assert!(questions.hosts() <= 1024);
}

/// A host without the key repeats all frames that it has heard to host 0 for a second.
#[test]
fn a_flood_of_what_was_recorded_neither_multiplies_nor_holds_up_streams() {
    let mut world = World::new(5, Faults::default());
    // From here on.
    world.network.take_sent();
    world.run("found", |world| (0..3).all(|number| is_found(world, number)));
    let run = 77;
    world.links.iter_mut().for_each(|link| link.begin(run));
    let connected = |world: &World| {
        world.events[0].iter().filter(|event| matches!(event, LinkEvent::Connected(_))).count() == 2
    };
    world.run("connected", connected);
    let heard = world.network.take_sent();
    let edp: Vec<Vec<u8>> =
        heard.into_iter().filter(|frame| frame[12..14] == [0x88, 0xb5]).collect();
    assert!(edp.len() > 4);
    let (mut sent, mut floods) = (0, 0);
    let until_ns = world.now_ns + SECOND_NS;
    let mut round = 0;
    while world.now_ns < until_ns {
        world.now_ns += 100_000;
        let now_ns = world.now_ns;
        for frame in &edp {
            world.links[0].handle_frame(now_ns, frame);
            floods += 1;
        }
        while let Some(len) = world.links[0].poll_transmit(now_ns, &mut world.out) {
            sent += u64::from(world.out[12..14] == [0x88, 0xb5]);
            world.network.send(now_ns, 0, &world.out[..len]);
        }
        if now_ns.is_multiple_of(20_000_000) {
            round += 1;
            world.links[0].probe(Network::mac(1), round);
        }
        world.pass();
        for number in 0..3 {
            for event in std::mem::take(&mut world.events[number]) {
                match event {
                    LinkEvent::Lost(..) | LinkEvent::Contradiction(_) => panic!("{event:?}"),
                    LinkEvent::Probe { from, round } => {
                        let reply = Reply { state: State::Idle, sent: round, taken: 0 };
                        world.links[number].reply(from.mac(), round, 3, reply);
                    }
                    LinkEvent::Replied(_, of, reply) => assert_eq!(of, reply.sent),
                    _ => {}
                }
            }
        }
    }
    // The probes of this host are among them.
    assert!(floods > 50_000 && sent < 100 + round, "{sent} of {floods}, {round} rounds");
}

/// An attacker repeats probes that were recorded in another run, or earlier in this one.
#[test]
fn probes_count_in_their_run_and_once() {
    let mut world = World::new(6, Faults::default());
    world.run("found", |world| (0..3).all(|number| is_found(world, number)));
    let probes = |world: &mut World, number: usize| {
        let events = std::mem::take(&mut world.events[number]);
        events.iter().filter(|event| matches!(event, LinkEvent::Probe { .. })).count()
    };
    world.links.iter_mut().for_each(|link| link.begin(1));
    world.network.take_sent();
    world.links[0].probe(Network::mac(1), u64::MAX);
    world.pass_until(world.now_ns + SECOND_NS / 100);
    assert_eq!(probes(&mut world, 1), 1);
    let recorded =
        world.network.take_sent().into_iter().find(|frame| frame[15] == 5).expect("a probe");
    world.links[0].probe(Network::mac(1), 0);
    world.pass_until(world.now_ns + SECOND_NS / 100);
    assert_eq!(probes(&mut world, 1), 1, "rounds wrap");
    for _ in 0..100 {
        world.links[1].handle_frame(world.now_ns, &recorded);
        world.pass_until(world.now_ns + SECOND_NS / 100);
    }
    assert_eq!(probes(&mut world, 1), 0, "an earlier round");
    world.links[1].begin(2);
    world.links[0].probe(Network::mac(1), 9);
    world.pass_until(world.now_ns + SECOND_NS / 100);
    assert_eq!(probes(&mut world, 1), 0, "of another run");
}

/// Returns a datagram of version 1, as an older goal-run sends it.
#[test]
fn a_host_of_another_version_is_named() {
    let mut world = World::new(7, Faults::default());
    let mut frame = vec![0; 60];
    frame[..6].fill(0xff);
    frame[6..12].copy_from_slice(&[2, 9, 9, 9, 9, 9]);
    frame[12..16].copy_from_slice(&[0x88, 0xb5, 0x11, 3]);
    world.links[0].handle_frame(0, &frame);
    world.links[0].tell_missing();
    let Some(LinkEvent::Missing(text)) = world.links[0].poll_event(0) else {
        panic!("it was to be told")
    };
    let hint =
        "host 02:09:09:09:09:09 sends frames of version 1, and this goal-run those of version 2";
    assert!(text.contains(hint), "{text}");
}
