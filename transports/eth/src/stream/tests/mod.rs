//! Tests that run random programs on hosts of a simulated network, which loses, doubles, delays and
//! damages frames, and compare their memory with the interpreter's.

mod hostile;
mod lies;
mod written;

use super::EspTransport;
use crate::{Driver, LostInterface};
use goal_engine::testing::{Rank, first_room, options, program as parsed, start};
use goal_engine::transport::{Full, Header, Kind, Transport};
use goal_engine::{Calc, Options};
use goal_esp::auth::JobKey;
use goal_esp::endpoint::{Config, FRAME_LEN_MAX};
use goal_esp::sim::{Counts, Faults, Links, Network, Random, Simulation};
use goal_esp::wire::Mac;
use goal_fabric::Exchanged;
use goal_interp::Eager;
use goal_lang::Program;
use goal_smith::{Shape, program};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::rc::Rc;
use std::time::Duration;

/// The simulated time after which a job counts as stuck.
const PATIENCE_NS: u64 = 600_000_000_000;

/// The shortest and the longest frames of an interface.
const MTU_MIN: usize = 310;
const MTU_MAX: usize = 3000;

/// The hosts' network and time.
struct World {
    network: Network,
    now_ns: u64,
    inboxes: Vec<VecDeque<Vec<u8>>>,
}

impl World {
    /// Advances the time to `at_ns`, and delivers the frames that arrive until then.
    fn advance(&mut self, at_ns: u64) {
        self.now_ns = self.now_ns.max(at_ns);
        while self.network.next_ns().is_some_and(|next_ns| next_ns <= self.now_ns) {
            if let Some((host, frame)) = self.network.advance() {
                self.inboxes[host].push_back(frame);
            }
        }
    }
}

type Esp = EspTransport<SimulatedDriver, Box<dyn Fn() -> u64>>;

/// The simulated time as a clock.
fn clock(world: &Rc<RefCell<World>>) -> Box<dyn Fn() -> u64> {
    let world = Rc::clone(world);
    Box::new(move || world.borrow().now_ns)
}

/// The interface of a host in the simulated network.
struct SimulatedDriver {
    host: usize,
    world: Rc<RefCell<World>>,
}

impl Driver for SimulatedDriver {
    fn mac(&self) -> Mac {
        Simulation::address(self.host).mac
    }

    fn mtu(&self) -> usize {
        MTU_MAX
    }

    fn send(
        &mut self,
        write: impl FnOnce(&mut [u8]) -> Option<usize>,
    ) -> Result<bool, crate::QueueFull> {
        let World { network, now_ns, .. } = &mut *self.world.borrow_mut();
        let mut frame = [0; FRAME_LEN_MAX];
        let len = write(&mut frame);
        if let Some(len) = len {
            network.send(*now_ns, self.host, &frame[..len]);
        }
        Ok(len.is_some())
    }

    fn flush(&mut self) -> Result<(), LostInterface> {
        Ok(())
    }

    fn has_unsent(&self) -> bool {
        false
    }

    fn has_frame(&self) -> bool {
        !self.world.borrow().inboxes[self.host].is_empty()
    }

    fn receive(&mut self, frames_max: usize, mut sink: impl FnMut(&[u8])) -> usize {
        let inbox = &mut self.world.borrow_mut().inboxes[self.host];
        let taken = inbox.len().min(frames_max);
        inbox.drain(..taken).for_each(|frame| sink(&frame));
        taken
    }

    fn wait(&mut self, _limit: Option<Duration>) -> Result<(), LostInterface> {
        unreachable!("the simulation waits for all hosts")
    }
}

/// An interface that has accepted frames and sends none.
struct Jammed;

impl Driver for Jammed {
    fn mac(&self) -> Mac {
        Simulation::address(0).mac
    }

    fn mtu(&self) -> usize {
        MTU_MAX
    }

    fn send(
        &mut self,
        _write: impl FnOnce(&mut [u8]) -> Option<usize>,
    ) -> Result<bool, crate::QueueFull> {
        Err(crate::QueueFull)
    }

    fn flush(&mut self) -> Result<(), LostInterface> {
        Err(LostInterface { interface: "v0".to_owned(), cause: io::ErrorKind::NetworkDown.into() })
    }

    fn has_unsent(&self) -> bool {
        true
    }

    fn has_frame(&self) -> bool {
        false
    }

    fn receive(&mut self, _frames_max: usize, _sink: impl FnMut(&[u8])) -> usize {
        0
    }

    fn wait(&mut self, _limit: Option<Duration>) -> Result<(), LostInterface> {
        Ok(())
    }
}

/// Runs a program with a host for each rank. Returns the memory of each rank, and the counts of
/// frames.
fn run(program: &Program, seed: u64, faults: Faults, options: Options) -> (Vec<Vec<u8>>, Counts) {
    let ranks = program.num_ranks() as usize;
    let mut random = Random::new(seed);
    let job_key = JobKey::new(&random.bytes());
    let addresses: Vec<_> = (0..ranks).map(Simulation::address).collect();
    let network = Network::new(ranks, Links::default(), faults, Random::new(random.number()));
    let inboxes = vec![VecDeque::new(); ranks];
    let world = Rc::new(RefCell::new(World { network, now_ns: 1, inboxes }));
    let mut esps = Vec::new();
    for rank in 0..ranks {
        // Hosts have frames of different lengths. Two hosts use the shorter ones of theirs.
        let mtu = MTU_MIN + random.number() as usize % (MTU_MAX - MTU_MIN);
        let payload_max = Config::payload_max_of(mtu).expect("it is enough");
        let config = Config::new(addresses[rank], job_key.clone(), payload_max);
        let driver = SimulatedDriver { host: rank, world: Rc::clone(&world) };
        let esp =
            Esp::new(rank as u32, addresses.clone(), config, random.bytes(), driver, clock(&world));
        esps.push(esp.with_first_room(first_room(seed)));
    }
    let mut all = start(program, options, esps);
    while !all.iter().all(Rank::has_ended) {
        let now_ns = world.borrow().now_ns;
        assert!(now_ns < PATIENCE_NS, "seed {seed}: stuck");
        let mut worked = false;
        for Rank { engine, .. } in &mut all {
            worked |= engine
                .poll(now_ns)
                .unwrap_or_else(|failure| panic!("seed {seed}: {failure:?}"))
                .worked;
            let esp = &engine.transport().others;
            assert_eq!(esp.lost(), None, "seed {seed}");
            // A connection always has a timer, if only for a sign of life.
            assert!(
                esp.exchanged() == Exchanged::default() || esp.timeout_ns().is_some(),
                "seed {seed}: nothing wakes it"
            );
        }
        let timeouts =
            all.iter_mut().filter_map(|rank| rank.engine.transport().others.timeout_ns());
        let next_ns = timeouts.chain(world.borrow().network.next_ns()).min();
        let later_ns = now_ns + 1000;
        world.borrow_mut().advance(if worked {
            later_ns
        } else {
            next_ns.unwrap_or(later_ns).max(later_ns)
        });
    }
    let memory = all.into_iter().map(Rank::memory).collect();
    let counts = world.borrow().network.counts();
    (memory, counts)
}

fn check(seed: u64, faults: Faults) -> u64 {
    check_shape(seed, &Shape::varied(seed), faults)
}

fn check_shape(seed: u64, shape: &Shape, faults: Faults) -> u64 {
    let program = program(seed, shape);
    let interpreter =
        goal_interp::Options { eager: Eager::None, ..goal_interp::Options::default() };
    let expected = goal_interp::run(&program, &interpreter).expect("a program without deadlock");
    let (memory, counts) = run(&program, seed, faults, options(seed));
    assert_eq!(expected.first_difference(&memory), None, "seed {seed}: (rank, address) differs");
    counts.lost
}

#[test]
fn the_memory_is_the_interpreters() {
    for seed in 0..goal_filetest::seeds(150) {
        check(seed, Faults::default());
    }
}

#[test]
fn what_arrives_is_combined_however_it_falls_into_packets() {
    for seed in 0..goal_filetest::seeds(40) {
        let lost = Faults { lost: 20_000, ..Faults::default() };
        check_shape(
            seed,
            &Shape::reductions(),
            if seed % 2 == 0 { Faults::default() } else { lost },
        );
    }
}

#[test]
fn frames_are_lost_doubled_delayed_and_damaged() {
    let mut lost = 0;
    for seed in 0..goal_filetest::seeds(150) {
        let part = [10_000, 100_000, 300_000][seed as usize % 3];
        let other = Faults {
            lost: 10_000,
            doubled: 50_000,
            delayed: 50_000,
            delay_ns: 100_000,
            damaged: 20_000,
            ..Faults::default()
        };
        let faults = if seed % 2 == 0 { Faults { lost: part, ..Faults::default() } } else { other };
        lost += check(seed, faults);
    }
    assert!(lost > 100, "{lost} frames");
}

/// The first message between two ranks shares the first packet of their connection, so an alltoall
/// between hosts takes a bounded number of frames for each pair.
#[test]
fn a_first_message_takes_few_frames() {
    const RANKS: u64 = 8;
    let rank = |rank: u64| -> String {
        let others = (0..RANKS).filter(|&other| other != rank);
        let both = others.map(|other| format!("send 100b to {other}; recv 100b from {other};"));
        format!("rank {rank} {{ {} }}\n", both.collect::<String>())
    };
    let text = (0..RANKS).map(rank).collect::<String>();
    let program = parsed(&format!("num_ranks {RANKS} {text}"));
    let frames = [0, 2].map(|seed| {
        let options = Options { calc: Calc::Skip, ..Options::default() };
        run(&program, seed, Faults::default(), options).1.delivered / (RANKS * (RANKS - 1) / 2)
    });
    println!("{frames:?} frames for each pair, without and with room for first messages");
    // Ten if both ask at once: both repeat the whole handshake.
    assert!(frames[1] <= 10 && frames[1] < frames[0], "{frames:?}");
}

#[test]
fn unsent_frames_are_work_without_a_timer() {
    let addresses: Vec<_> = (0..2).map(Simulation::address).collect();
    let payload_max = Config::payload_max_of(1500).expect("it is enough");
    let config = Config::new(addresses[0], JobKey::new(&[1; 32]), payload_max);
    let mut esp = EspTransport::new(0, addresses, config, [2; 32], Jammed, || 1);
    let request = Header::new(Kind::Rts, 0);
    assert_eq!(esp.try_send(1, &request, |_| {}), Err(Full));
    assert!(!esp.exchange_frames());
    // No timer runs for the unsent frames, and none may arrive.
    assert_eq!(esp.timeout_ns(), None);
    assert!(esp.has_work());
    assert!(esp.fault().is_some_and(|lost| lost.to_string().starts_with("interface v0 ")));
}
