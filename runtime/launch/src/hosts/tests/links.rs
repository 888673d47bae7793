//! Tests of launchers on a simulated network that loses, doubles, delays and damages frames.

use super::host;
use crate::hosts::{Area, Discovery, Key, LauncherMessage, Link, LinkEvent, PORT, Plan};
use goal_esp::auth::Address;
use goal_esp::endpoint::{Config, FRAME_LEN_MAX};
use goal_esp::sim::{Faults, Links, Network, Random};
use goal_esp::wire::{ETHERTYPE_EDP, ETHERTYPE_ESP, Mac};
use goal_job::host::Location;
use goal_job::network::Ethertypes;

const HOSTS: usize = 3;
const RANKS: u32 = 8;
const ETHERTYPES: Ethertypes = Ethertypes { edp: ETHERTYPE_EDP, esp: ETHERTYPE_ESP };

pub(super) struct World {
    pub(super) network: Network,
    pub(super) now_ns: u64,
    pub(super) links: Vec<Link>,
    /// The events at each host.
    pub(super) events: Vec<Vec<LinkEvent>>,
    pub(super) out: Vec<u8>,
}

fn link(now_ns: u64, number: usize, plan: Plan, key: &Key, random: &mut Random) -> Link {
    let me = Address { mac: Network::mac(number), port: PORT };
    let discovery = Discovery::new(key.job(), random.number(), me.mac, RANKS, plan).unwrap();
    let payload_max = Config::payload_max_of(1500).unwrap();
    Link::new(now_ns, (me, ETHERTYPES), key, discovery, payload_max, random.bytes())
}

impl World {
    pub(super) fn new(seed: u64, faults: Faults) -> Self {
        let mut random = Random::new(seed);
        let key = Key::new(random.bytes());
        let links =
            (0..HOSTS).map(|number| link(0, number, Plan::count(HOSTS as u32), &key, &mut random));
        let links = links.collect();
        let network = Network::new(HOSTS, Links::default(), faults, Random::new(random.number()));
        Self { network, now_ns: 0, links, events: vec![vec![]; HOSTS], out: vec![0; FRAME_LEN_MAX] }
    }

    /// Sends a host's frames and handles its events as a launcher does. Its ranks have ports from
    /// 1000 on.
    fn settle(&mut self) {
        for number in 0..HOSTS {
            let link = &mut self.links[number];
            while let Some(event) = link.poll_event(self.now_ns) {
                if let LinkEvent::Mine(ranks) = &event {
                    let ports: Vec<u16> = ranks.iter().map(|&rank| 1000 + rank as u16).collect();
                    link.claimed(&ports);
                }
                if let LinkEvent::Found(addresses) = &event
                    && number > 0
                {
                    link.connect(self.now_ns, addresses[0].host.mac());
                }
                self.events[number].push(event);
            }
            while let Some(len) = link.poll_transmit(self.now_ns, &mut self.out) {
                self.network.send(self.now_ns, number, &self.out[..len]);
            }
        }
    }

    /// Advances the time until `is_over`.
    pub(super) fn run(&mut self, what: &str, is_over: impl Fn(&Self) -> bool) {
        self.settle();
        while !is_over(self) {
            assert!(self.now_ns < 60_000_000_000, "{what}: too late, {:?}", self.events);
            let timeout = self.links.iter().filter_map(Link::poll_timeout).min();
            let next_ns = [timeout, self.network.next_ns()].into_iter().flatten().min();
            self.now_ns = self.now_ns.max(next_ns.expect("something to wait for"));
            self.pass();
        }
    }

    /// Delivers all frames and handles all timers that are due.
    pub(super) fn pass(&mut self) {
        while self.network.next_ns().is_some_and(|next_ns| next_ns <= self.now_ns) {
            if let Some((number, frame)) = self.network.advance() {
                self.links[number].handle_frame(self.now_ns, &frame);
            }
        }
        for link in &mut self.links {
            link.handle_timeout(self.now_ns);
        }
        self.settle();
    }

    /// Advances the time in small steps.
    pub(super) fn pass_until(&mut self, until_ns: u64) {
        while self.now_ns < until_ns {
            self.settle();
            self.now_ns += 100_000;
            self.pass();
        }
    }

    fn heard(&self, number: usize, from: Mac) -> Vec<(&LauncherMessage, usize)> {
        let messages = self.events[number].iter().filter_map(|event| match event {
            LinkEvent::Message(host, message, bytes) if *host == from.into() => {
                Some((message, bytes.len()))
            }
            _ => None,
        });
        messages.collect()
    }
}

pub(super) fn is_found(world: &World, number: usize) -> bool {
    found(&world.events[number]).is_some()
}

fn found(events: &[LinkEvent]) -> Option<&Vec<Location>> {
    events.iter().find_map(|event| if let LinkEvent::Found(all) = event { Some(all) } else { None })
}

/// Hosts find each other, send messages in both directions and close their streams.
fn check(seed: u64, faults: Faults) {
    let mut world = World::new(seed, faults);
    let what = format!("seed {seed}");
    let hears = |world: &World, number: usize| {
        world.events[0]
            .iter()
            .any(|event| *event == LinkEvent::Connected(Network::mac(number).into()))
            && world.events[number]
                .iter()
                .any(|event| *event == LinkEvent::Connected(Network::mac(0).into()))
    };
    world.run(&what, |world| (1..HOSTS).all(|number| hears(world, number)));
    let expected: Vec<Location> = (0..RANKS)
        .map(|rank| Location {
            host: Network::mac([0, 0, 0, 1, 1, 1, 2, 2][rank as usize]).into(),
            port: 1000 + rank as u16,
        })
        .collect();
    world.run(&what, |world| world.events.iter().all(|events| found(events).is_some()));
    for events in &world.events {
        assert_eq!(found(events), Some(&expected), "{what}");
    }
    let left = |offset| LauncherMessage::Left { rank: 3, area: Area::Memory, offset };
    for number in 1..HOSTS {
        for part in 0..4 {
            let bytes = vec![part as u8; LauncherMessage::BYTES_MAX];
            world.links[number].send(Network::mac(0), &left(part), &bytes, true);
        }
        world.links[0].send(Network::mac(number), &LauncherMessage::Go, &[], false);
    }
    let said: Vec<LauncherMessage> = (0..4).map(left).collect();
    let all: Vec<(&LauncherMessage, usize)> =
        said.iter().map(|message| (message, LauncherMessage::BYTES_MAX)).collect();
    world.run(&what, |world| {
        (1..HOSTS).all(|number| world.heard(0, Network::mac(number)).len() == 4)
    });
    world.run(&what, |world| {
        (1..HOSTS).all(|number| world.heard(number, Network::mac(0)).len() == 1)
    });
    for number in 1..HOSTS {
        assert_eq!(world.heard(0, Network::mac(number)), all, "{what}");
    }
    let now_ns = world.now_ns;
    world.links.iter_mut().for_each(|link| link.close(now_ns));
    world.run(&what, |world| world.links.iter().all(Link::is_closed));
    let is_lost =
        |event: &LinkEvent| matches!(event, LinkEvent::Lost(..) | LinkEvent::Contradiction(_));
    assert!(!world.events.iter().flatten().any(is_lost), "{what}: {:?}", world.events);
}

#[test]
fn hosts_find_each_other_and_talk() {
    for seed in 0..goal_filetest::seeds(20) {
        check(seed, Faults::default());
    }
}

#[test]
fn frames_are_lost_doubled_delayed_and_damaged() {
    for seed in 0..goal_filetest::seeds(40) {
        let lost = [10_000, 100_000, 200_000][seed as usize % 3];
        let other = Faults {
            lost: 10_000,
            doubled: 50_000,
            delayed: 50_000,
            delay_ns: 100_000,
            damaged: 20_000,
            ..Faults::default()
        };
        check(seed, if seed % 2 == 0 { Faults { lost, ..Faults::default() } } else { other });
    }
}

#[test]
fn a_host_with_another_key_is_not_there() {
    let mut world = World::new(1, Faults::default());
    let mut random = Random::new(2);
    let key = Key::new(random.bytes());
    world.links[2] = link(0, 2, Plan::count(HOSTS as u32), &key, &mut random);
    let is_missing = |event: &LinkEvent| matches!(event, LinkEvent::Missing(_));
    world.run("missing", |world| world.events.iter().all(|events| events.iter().any(is_missing)));
    let heard = |from: &[usize]| {
        let all: Vec<String> = from.iter().map(|&host| Network::mac(host).to_string()).collect();
        format!("; frames with another key were heard from {}", all.join(", "))
    };
    let missing = |there: u32, from: &[usize]| {
        [LinkEvent::Missing(format!("{there} of 3 hosts are there{}", heard(from)))]
    };
    assert_eq!(world.events[0], missing(2, &[2]));
    assert_eq!(world.events[2], missing(1, &[0, 1]));
}

#[test]
fn who_falls_silent_is_lost() {
    let mut world = World::new(3, Faults::default());
    let found = |world: &World| {
        world.events[0].iter().filter(|e| matches!(e, LinkEvent::Connected(_))).count()
    };
    world.run("connected", |world| found(world) == HOSTS - 1);
    let since_ns = world.now_ns;
    world.network.set_faults(Faults { lost: 1_000_000, ..Faults::default() });
    let losses =
        |world: &World| world.events[0].iter().filter(|e| matches!(e, LinkEvent::Lost(..))).count();
    world.run("lost", |world| losses(world) == HOSTS - 1);
    let lost = LinkEvent::Lost(host(1).into(), "not heard of for 2 s".to_owned());
    assert!(world.events[0].contains(&lost), "{:?}", world.events[0]);
    assert!(
        (2_000_000_000..2_600_000_000).contains(&(world.now_ns - since_ns)),
        "{}",
        world.now_ns - since_ns
    );
}
