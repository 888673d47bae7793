//! Tests that run random programs on hosts of a simulated network, which loses, doubles, delays and
//! damages frames, and compare their memory with the interpreter's.

mod hostile;
mod lies;
mod written;

use super::EspTransport;
use crate::{Driver, Lost};
use goal_engine::Seed;
use goal_engine::memory::{Imported, Span};
use goal_engine::testing::{add_bytes, nisa, program as parsed, state};
use goal_engine::transport::{Full, Header, Kind, Transport};
use goal_engine::{Calc, Engine, Options, Schedule, Storage, sends};
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
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;
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
    ) -> Result<bool, crate::Full> {
        let World { network, now_ns, .. } = &mut *self.world.borrow_mut();
        let mut frame = [0; FRAME_LEN_MAX];
        let len = write(&mut frame);
        if let Some(len) = len {
            network.send(*now_ns, self.host, &frame[..len]);
        }
        Ok(len.is_some())
    }

    fn flush(&mut self) -> Result<(), Lost> {
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

    fn wait(&mut self, _limit: Option<Duration>) -> Result<(), Lost> {
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
    ) -> Result<bool, crate::Full> {
        Err(crate::Full)
    }

    fn flush(&mut self) -> Result<(), Lost> {
        Err(Lost { interface: "v0".to_owned(), cause: io::ErrorKind::NetworkDown.into() })
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

    fn wait(&mut self, _limit: Option<Duration>) -> Result<(), Lost> {
        Ok(())
    }
}

/// The transports of a host: a queue to itself, and streams to others.
struct Ways {
    rank: u32,
    own: VecDeque<(Header, Vec<u8>)>,
    own_room: u64,
    esp: Esp,
}

impl Transport for Ways {
    fn short_max(&self) -> usize {
        self.esp.short_max()
    }

    fn payload_max(&mut self, to: u32) -> usize {
        self.esp.payload_max(to)
    }

    fn try_send(
        &mut self,
        to: u32,
        header: &Header,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<(), Full> {
        if to != self.rank {
            return self.esp.try_send(to, header, fill);
        }
        let mut payload = vec![0; header.payload_len()];
        fill(&mut payload);
        self.own.push_back((*header, payload));
        Ok(())
    }

    fn poll(
        &mut self,
        messages_max: usize,
        mut sink: impl FnMut(&Header, &[u8]) -> ControlFlow<()>,
    ) -> usize {
        let mut taken = self.esp.poll(messages_max, &mut sink);
        while let Some((header, payload)) = self.own.pop_front() {
            taken += 1;
            if sink(&header, &payload).is_break() {
                break;
            }
        }
        taken
    }

    fn announce_room(&mut self, bytes: u64, most: u64) {
        self.own_room = bytes;
        self.esp.announce_room(bytes, most);
    }

    fn room(&self, to: u32) -> u64 {
        if to == self.rank { self.own_room } else { self.esp.room(to) }
    }

    fn export(&self, _to: u32, _bytes: Span) -> Option<u64> {
        None
    }

    fn import(&self, _source: u32, _address: u64, _len: u64) -> Option<Imported<'_>> {
        None
    }
}

/// Runs a program with a host for each rank. Returns the memory of each rank, and the counts of
/// frames.
fn run(program: &Program, seed: u64, faults: Faults, options: Options) -> (Vec<Vec<u8>>, Counts) {
    let nisa = nisa(program);
    let ranks = nisa.num_ranks() as usize;
    let mut random = Random::new(seed);
    let job_key = JobKey::new(&random.bytes());
    let addresses: Vec<_> = (0..ranks).map(Simulation::address).collect();
    let network = Network::new(ranks, Links::default(), faults, Random::new(random.number()));
    let inboxes = vec![VecDeque::new(); ranks];
    let world = Rc::new(RefCell::new(World { network, now_ns: 1, inboxes }));
    let first_room = [0, 1 << 10, 8 << 10][seed as usize % 3];
    let mut engines = Vec::new();
    for rank in 0..ranks {
        // Hosts have frames of different lengths. Two hosts use the shorter ones of theirs.
        let mtu = MTU_MIN + random.number() as usize % (MTU_MAX - MTU_MIN);
        let payload_max = Config::payload_max_of(mtu).expect("it is enough");
        let config = Config::new(addresses[rank], job_key.clone(), payload_max);
        let driver = SimulatedDriver { host: rank, world: Rc::clone(&world) };
        let esp =
            Esp::new(rank as u32, addresses.clone(), config, random.bytes(), driver, clock(&world));
        let esp = esp.with_first_room(first_room);
        let ways = Ways { rank: rank as u32, own: VecDeque::new(), own_room: 0, esp };
        let mut engine = Engine::new(rank as u32, ways, options, state());
        engine.register(1, Box::new(add_bytes));
        let bound = Arc::clone(&nisa);
        engine.bound_requests(move |source| sends(&bound, source, rank as u32));
        let schedule = Arc::new(Schedule::new(Arc::clone(&nisa), rank as u32, Seed::default()));
        let handle = engine.start(&schedule, 0, Storage::new(&schedule));
        engines.push((engine, handle));
    }
    while !engines.iter().all(|(engine, handle)| engine.test(handle)) {
        let now_ns = world.borrow().now_ns;
        assert!(now_ns < PATIENCE_NS, "seed {seed}: stuck");
        let mut worked = false;
        for (engine, _) in &mut engines {
            worked |= engine
                .poll(now_ns)
                .unwrap_or_else(|failure| panic!("seed {seed}: {failure:?}"))
                .worked;
            let esp = &engine.transport().esp;
            assert_eq!(esp.lost(), None, "seed {seed}");
            // A connection always has a timer, if only for a sign of life.
            assert!(
                esp.exchanged() == Exchanged::default() || esp.timeout_ns().is_some(),
                "seed {seed}: nothing wakes it"
            );
        }
        let timeouts =
            engines.iter_mut().filter_map(|(engine, _)| engine.transport().esp.timeout_ns());
        let next_ns = timeouts.chain(world.borrow().network.next_ns()).min();
        let later_ns = now_ns + 1000;
        world.borrow_mut().advance(if worked {
            later_ns
        } else {
            next_ns.unwrap_or(later_ns).max(later_ns)
        });
    }
    let mut memory = Vec::new();
    for (mut engine, handle) in engines {
        assert_eq!(engine.stats().unreceived, 0, "seed {seed}");
        assert!(engine.test(&handle));
        memory.push(engine.finish(handle).memory().to_vec());
    }
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
    let eager_limit = [0, 100, 5000, 16 << 10, 1 << 20][seed as usize % 5];
    let options = Options { eager_limit, calc: Calc::Scaled(1.0), ..Options::default() };
    let (memory, counts) = run(&program, seed, faults, options);
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
