//! Tests of launchers that meet at an address of TCP: their messages, and lies of a launcher with
//! the key.

use crate::hosts::error::DiscoveryError;
use crate::hosts::{LauncherMessage, LinkEvent, Machine, RankList, Rendezvous};
use goal_job::host::{Host, Location};
use std::net::IpAddr;

const RANKS: u32 = 6;
const SECOND: u64 = 1_000_000_000;

/// The address of a launcher's host.
fn address(number: u32) -> IpAddr {
    IpAddr::from([10, 0, 0, number as u8 + 1])
}

/// Launchers whose connections carry all bytes at once.
struct World {
    now_ns: u64,
    ends: Vec<Rendezvous>,
    events: Vec<Vec<LinkEvent>>,
}

impl World {
    fn new(size: u32, here: &[Option<&str>]) -> Self {
        let end = |number: u32| {
            let here = here[number as usize].map(|text| RankList::parse(text).unwrap());
            Rendezvous::new(0, (number, size), RANKS, here.as_ref(), None).unwrap()
        };
        let ends: Vec<Rendezvous> = (0..size).map(end).collect();
        let events = vec![vec![]; ends.len()];
        Self { now_ns: 0, ends, events }
    }

    fn join(&mut self, number: u32) {
        self.ends[0].joined(self.now_ns, number, address(number), address(0));
        self.ends[number as usize].joined(self.now_ns, 0, address(0), address(number));
    }

    /// Carries all bytes, in pieces of this length, and handles events as a launcher does.
    fn settle(&mut self, piece: usize) {
        for _ in 0..20 {
            for number in 0..self.ends.len() {
                self.ends[number].handle_timeout(self.now_ns);
                while let Some(event) = self.ends[number].poll_event() {
                    if let LinkEvent::Mine(ranks) = &event {
                        let ports: Vec<u16> =
                            ranks.iter().map(|&rank| 1000 + rank as u16).collect();
                        self.ends[number].claimed(&ports);
                    }
                    self.events[number].push(event);
                }
            }
            for number in 1..self.ends.len() as u32 {
                for (from, to) in [(0, number), (number, 0)] {
                    let unsent = self.ends[from as usize].unsent(to).map(std::mem::take);
                    for bytes in unsent.unwrap_or_default().chunks(piece) {
                        self.ends[to as usize].received(self.now_ns, from, bytes);
                    }
                }
            }
        }
    }

    /// Sends a message from a launcher whose own code would not send it.
    fn lie(&mut self, from: u32, to: u32, message: &LauncherMessage) {
        self.ends[to as usize].received(self.now_ns, from, &message.encode(&[]));
    }

    fn contradiction(&self, number: usize) -> Option<&DiscoveryError> {
        self.events[number].iter().find_map(|event| match event {
            LinkEvent::Contradiction(error) => Some(error),
            _ => None,
        })
    }

    fn found(&self, number: usize) -> Option<&Vec<Location>> {
        self.events[number].iter().find_map(|event| match event {
            LinkEvent::Found(all) => Some(all),
            _ => None,
        })
    }

    fn lost(&self, number: usize) -> Option<&str> {
        self.events[number].iter().find_map(|event| match event {
            LinkEvent::Lost(_, why) => Some(&**why),
            _ => None,
        })
    }
}

#[test]
fn all_learn_the_locations_of_all_ranks_in_any_order_of_joining() {
    for bootstrap in [[1, 2], [2, 1]] {
        for piece in [1, 7, 1 << 20] {
            let mut world = World::new(3, &[None; 3]);
            for number in bootstrap {
                world.join(number);
                world.settle(piece);
            }
            for number in 0..3 {
                let found = world.found(number).expect("all are there");
                let expected = |rank: u32| Location {
                    host: Host::Launcher(rank / 2, address(rank / 2)),
                    port: 1000 + rank as u16,
                };
                let others = (0..RANKS).filter(|rank| rank / 2 != number as u32);
                for rank in others {
                    let (one, other) = (found[rank as usize], expected(rank));
                    assert_eq!((one.socket(), one.host), (other.socket(), other.host));
                }
                assert_eq!(world.contradiction(number), None);
            }
        }
    }
}

#[test]
fn a_launcher_claims_ports_when_the_others_are_there() {
    let mut world = World::new(3, &[None; 3]);
    world.join(1);
    world.settle(100);
    let has_mine =
        |events: &[LinkEvent]| events.iter().any(|event| matches!(event, LinkEvent::Mine(_)));
    assert_eq!(
        [0, 1, 2].map(|number: usize| has_mine(&world.events[number])),
        [false, true, false]
    );
    world.join(2);
    world.settle(100);
    assert!(world.events.iter().all(|events| has_mine(events)));
}

#[test]
fn claims_that_contradict_are_told() {
    let both = &[Some("0-2"), Some("2-5")];
    let lacking = &[Some("0-1"), Some("3-5")];
    for (here, says) in [(both, "have rank 2"), (lacking, "rank 2")] {
        let mut world = World::new(2, here);
        world.join(1);
        world.settle(100);
        let error = world.contradiction(0).expect("they contradict").to_string();
        assert!(error.contains(says), "{error}");
        assert_eq!(world.found(1), None);
    }
}

fn claims(ranks: u32, size: u32, mine: &[u32]) -> LauncherMessage {
    let mine = mine.iter().map(|&rank| (rank, 7)).collect();
    LauncherMessage::Claims {
        ranks,
        size,
        mine,
        address: None,
        reached: address(0),
        machine: Machine::default(),
    }
}

#[test]
fn lies_about_ranks_end_the_job() {
    for (lie, says) in [
        (claims(RANKS, 3, &[3, 4, 5]), "was started for 3 launchers"),
        (claims(8, 2, &[3, 4, 5]), "a program of 8 ranks"),
        (claims(RANKS, 2, &[3, 4, 6]), "has rank 6"),
        (claims(RANKS, 2, &[u32::MAX]), "has rank 4294967295"),
        (claims(RANKS, 2, &[3, 3, 4]), "rank 3 is named twice"),
        (claims(RANKS, 2, &[0, 3, 4, 5]), "have rank 0"),
        (claims(RANKS, 2, &[]), "no host has ranks 3-5"),
    ] {
        let mut world = World::new(2, &[None; 2]);
        world.ends[0].joined(0, 1, address(1), address(0));
        world.ends[0].claimed(&[1, 2, 3]);
        world.lie(1, 0, &lie);
        world.settle(100);
        let error = world.contradiction(0).expect("it lies").to_string();
        assert!(error.contains(says), "{error}");
        assert_eq!(world.found(0), None);
    }
}

#[test]
fn a_leader_that_lies_is_lost() {
    let place =
        |number: u32, port| Location { host: Host::Launcher(number, address(number)), port };
    let truth: Vec<Location> = (0..RANKS).map(|rank| place(rank / 3, 1000 + rank as u16)).collect();
    let with = |rank: usize, location| {
        let mut all = truth.clone();
        all[rank] = location;
        all
    };
    for lie in [
        vec![],
        truth[..5].to_vec(),
        with(3, place(1, 7)),
        with(3, place(0, 1003)),
        with(0, place(1, 1000)),
        with(0, Location { host: Host::Mac([2; 6]), port: 1 }),
    ] {
        let mut world = World::new(2, &[None; 2]);
        world.ends[1].joined(0, 0, address(0), address(1));
        world.settle(100);
        world.lie(0, 1, &LauncherMessage::Found { locations: lie, is_crowded: false });
        world.settle(100);
        assert_eq!(world.lost(1), Some("it placed ranks where they are not"));
        assert_eq!(world.found(1), None);
    }
}

#[test]
fn messages_for_others_end_the_connection() {
    let state = LauncherMessage::State { round: 1, state: 0, sent: 0, taken: 0 };
    for (from, to, message) in [
        (1, 0, LauncherMessage::Found { locations: vec![], is_crowded: false }),
        (1, 0, LauncherMessage::Probe { round: 1 }),
        (0, 1, claims(RANKS, 2, &[0])),
        (0, 1, state),
    ] {
        let mut world = World::new(2, &[None; 2]);
        world.join(1);
        world.lie(from, to, &message);
        world.settle(100);
        assert_eq!(world.lost(to as usize), Some("it sent what is not for this launcher"));
        // Nothing more is taken from it.
        assert!(!world.ends[to as usize].has(from));
        world.lie(from, to, &LauncherMessage::Leaving);
    }
}

#[test]
fn garbage_and_impossible_lengths_end_the_connection() {
    for bytes in [
        &[255; 8][..],
        b"GET / HTTP/1.1\r\n\r\n",
        &[4, 0, 0, 0, 0, 0, 0, 0, b'n', b'o', b'n', b'o'],
    ] {
        let mut world = World::new(2, &[None; 2]);
        world.join(1);
        world.ends[0].received(0, 1, bytes);
        world.settle(100);
        assert_eq!(world.lost(0), Some("what it sent is no message of a launcher"), "{bytes:?}");
    }
}

#[test]
fn a_number_that_is_taken_or_does_not_exist_is_told() {
    for (number, says) in [(0, "number 0"), (2, "no launcher 2"), (u32::MAX, "no launcher")] {
        let mut world = World::new(2, &[None; 2]);
        world.ends[0].joined(0, number, address(1), address(0));
        world.settle(100);
        let error = world.contradiction(0).expect("there is none").to_string();
        assert!(error.contains(says), "{error}");
    }
    let mut world = World::new(2, &[None; 2]);
    world.join(1);
    assert!(world.ends[0].refuse_same(1).contains("two launchers have the number 1"));
    world.settle(100);
    assert_eq!(world.contradiction(0), Some(&DiscoveryError::SameNumber(1)));
}

#[test]
fn a_launcher_that_is_silent_is_lost_and_one_that_says_little_is_not() {
    for silence_s in [1, 10] {
        let mut world = World::new(2, &[None; 2]);
        world.ends = world.ends.into_iter().map(|end| end.with_silence(silence_s)).collect();
        world.join(1);
        world.settle(100);
        // Signs of life keep both.
        let until_ns = 3 * u64::from(silence_s) * SECOND;
        while world.now_ns < until_ns {
            let next = world.ends.iter().filter_map(Rendezvous::poll_timeout).min();
            world.now_ns = next.expect("a sign of life is due").max(world.now_ns + 1);
            world.settle(100);
        }
        assert_eq!((world.lost(0), world.lost(1)), (None, None));
        // Nothing is carried any more.
        let silent_ns = world.now_ns + u64::from(silence_s) * SECOND;
        world.ends[0].handle_timeout(silent_ns - SECOND / 2);
        assert!(
            world.ends[0].poll_event().is_none_or(|event| !matches!(event, LinkEvent::Lost(..)))
        );
        world.ends[0].handle_timeout(silent_ns);
        let lost = std::iter::from_fn(|| world.ends[0].poll_event())
            .any(|event| matches!(event, LinkEvent::Lost(_, why) if why == format!("not heard of for {silence_s} s")));
        assert!(lost);
    }
}

/// A launcher that waits for a processor says nothing, and its system acknowledges what it is sent.
#[test]
fn a_launcher_whose_system_answers_has_more_time() {
    for (silence_s, most_s) in [(1, 3), (3, 9), (5, 10), (20, 20)] {
        let mut world = World::new(2, &[None; 2]);
        world.ends = world.ends.into_iter().map(|end| end.with_silence(silence_s)).collect();
        world.join(1);
        world.settle(100);
        let (mut now_ns, last_ns) = (world.now_ns, world.now_ns + most_s * SECOND);
        let end = &mut world.ends[0];
        let mut is_lost = |now_ns| {
            for number in end.silent(now_ns) {
                end.system_heard(number, now_ns);
            }
            end.handle_timeout(now_ns);
            std::iter::from_fn(|| end.poll_event())
                .any(|event| matches!(event, LinkEvent::Lost(..)))
        };
        while now_ns < last_ns - SECOND / 2 {
            assert!(!is_lost(now_ns), "{silence_s} s");
            now_ns += SECOND / 4;
        }
        assert!(is_lost(last_ns), "{silence_s} s");
    }
}

#[test]
fn other_keys_are_told_with_few_addresses() {
    let mut world = World::new(2, &[None; 2]);
    for number in 0..100 {
        world.ends[0].has_other_key(address(number));
        world.ends[0].has_other_key(address(number));
    }
    world.settle(100);
    let told: Vec<&String> = (world.events[0].iter())
        .filter_map(|event| if let LinkEvent::Missing(text) = event { Some(text) } else { None })
        .collect();
    assert_eq!(told.len(), 4);
    assert!(told[3].contains("another key came from 10.0.0.1, 10.0.0.2, 10.0.0.3, 10.0.0.4"));
}

#[test]
fn launchers_of_one_machine_know_if_their_ranks_share_its_processors() {
    // Each of three launchers has two of the six ranks.
    let crowded = |machines: [(&str, u32); 3]| {
        let mut world = World::new(3, &[None, None, None]);
        world.ends = (world.ends.into_iter().zip(machines))
            .map(|(end, (id, processors))| {
                end.on_machine(Machine { id: id.to_owned(), processors })
            })
            .collect();
        world.join(1);
        world.join(2);
        world.settle(1000);
        let is_told = |events: &Vec<LinkEvent>| events.contains(&LinkEvent::Crowded);
        let have_found = |events: &Vec<LinkEvent>| {
            events.iter().any(|event| matches!(event, LinkEvent::Found(_)))
        };
        assert!(world.events.iter().all(have_found));
        [0, 1, 2].map(|number| is_told(&world.events[number]))
    };
    assert_eq!(crowded([("a", 2), ("a", 2), ("b", 2)]), [true, true, false]);
    assert_eq!(crowded([("a", 4), ("a", 4), ("b", 1)]), [false; 3], "alone it knows by itself");
    assert_eq!(crowded([("a", 4), ("a", 4), ("a", 4)]), [true; 3]);
    assert_eq!(crowded([("", 1), ("", 1), ("", 1)]), [false; 3], "nobody knows the machine");
}
