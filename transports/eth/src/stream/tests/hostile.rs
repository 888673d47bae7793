//! Tests of a rank with the key that sends messages which no engine sends: headers of each kind
//! with any fields at any time.

use super::{Esp, PATIENCE_NS, SimulatedDriver, World, clock};
use crate::LostPeer;
use goal_engine::testing::{Rank, WithSelf, nisa, options};
use goal_engine::transport::{Full, Header, Kind, Sink, Transport};
use goal_engine::{Cause, Failure, Options};
use goal_esp::auth::JobKey;
use goal_esp::endpoint::Config;
use goal_esp::sim::{Faults, Links, Network, Random, Simulation};
use goal_lang::Program;
use goal_smith::{Shape, program};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// The rank that sends wrong messages.
pub(super) const MAD: u32 = 1;
/// The number of polls after which the test gives up a job that waits for the wrong rank.
const POLLS_MAX: u32 = 20_000;

/// Makes a rank ignore the grants, so that it sends more than it was granted.
pub(super) fn take_all_room(esp: &mut Esp) {
    esp.peers.connections.iter_mut().flatten().for_each(|peer| peer.credit.set(u64::MAX));
}

/// The transports of a rank, which change some headers and make others up.
struct MadWays {
    ways: WithSelf<Esp>,
    random: Random,
    /// One in `one_in` messages is changed, and the same number of messages is made up; 0 for none.
    one_in: u64,
    ranks: u32,
}

impl MadWays {
    fn happens(&mut self) -> bool {
        self.one_in > 0 && self.random.below(self.one_in) == 0
    }

    /// Returns a number that is likely to be in use, or is far from all numbers in use.
    fn number(&mut self) -> u64 {
        match self.random.below(8) {
            0 => u64::MAX - self.random.below(3),
            1 => u32::MAX.into(),
            2 => self.random.number() >> self.random.below(64),
            3 => 8 * self.random.below(2000),
            _ => self.random.below(12),
        }
    }

    /// Changes one field. The number of bytes that follow the header stays possible.
    fn change(&mut self, header: &mut Header) {
        let (number, has_payload) = (self.number(), header.payload_len() > 0);
        match self.random.below(10) {
            0 => header.source = number as u32,
            1 => header.communicator = number as u32,
            2 => header.instance = number as u32,
            3 => header.tag = number as u32,
            4 => header.sequence = number as u32,
            5 => header.cookie = number as u32,
            6 => header.offset = number,
            7 => header.flags = number as u8,
            8 => header.action = number as u32,
            _ if has_payload => header.size = self.random.below(3000),
            _ => header.size = number,
        }
    }

    fn out_of_nowhere(&mut self) {
        let kinds =
            [Kind::Eager, Kind::Rts, Kind::Cts, Kind::Data, Kind::Fin, Kind::Long, Kind::Part];
        let mut header = Header::new(kinds[self.random.below(7) as usize], MAD);
        header.size = self.random.below(3000);
        for _ in 0..self.random.below(5) {
            self.change(&mut header);
        }
        let to = self.random.below(self.ranks.into()) as u32;
        if to != MAD {
            take_all_room(&mut self.ways.others);
            // There may be no room, or no connection yet.
            let _ = self.ways.others.try_send(to, &header, |out| out.fill(7));
        }
    }
}

impl Transport for MadWays {
    fn short_max(&self) -> usize {
        self.ways.short_max()
    }

    fn payload_max(&mut self, to: u32) -> usize {
        self.ways.payload_max(to)
    }

    fn try_send_dyn(
        &mut self,
        to: u32,
        header: &Header,
        fill: &mut dyn FnMut(&mut [u8]),
    ) -> Result<(), Full> {
        if to == MAD || !self.happens() {
            return self.ways.try_send_dyn(to, header, fill);
        }
        take_all_room(&mut self.ways.others);
        let mut changed = *header;
        self.change(&mut changed);
        self.ways.others.try_send(to, &changed, |out| out.fill(7))
    }

    fn poll_dyn(&mut self, messages_max: usize, sink: &mut dyn Sink) -> usize {
        if self.happens() {
            self.out_of_nowhere();
        }
        self.ways.poll_dyn(messages_max, sink)
    }

    fn announce_room(&mut self, bytes: u64, most: u64) {
        self.ways.announce_room(bytes, most);
    }

    fn room(&self, to: u32) -> u64 {
        self.ways.room(to)
    }
}

/// The end of a rank that is not mad.
#[derive(Debug)]
pub(super) enum Ended {
    /// It has all that it was to get.
    Well,
    /// It still waits.
    Waiting,
    Failed(Failure),
    Lost(u32, LostPeer),
}

/// Runs a program, whose rank [`MAD`] goes mad; `before_poll` is called with its ways before it is
/// polled. How each other rank ended, and the most bytes that one kept of messages without a
/// receive.
pub(super) fn run(
    program: &Program,
    seed: u64,
    one_in: u64,
    options: Options,
    mut before_poll: impl FnMut(u32, &mut Esp),
) -> (Vec<Ended>, u64) {
    let nisa = nisa(program);
    let ranks = nisa.num_ranks();
    let mut random = Random::new(seed);
    let job_key = JobKey::new(&random.bytes());
    let addresses: Vec<_> = (0..ranks as usize).map(Simulation::address).collect();
    let network = Network::new(
        ranks as usize,
        Links::default(),
        Faults::default(),
        Random::new(random.number()),
    );
    let inboxes = vec![VecDeque::new(); ranks as usize];
    let world = Rc::new(RefCell::new(World { network, now_ns: 1, inboxes }));
    let mut engines = Vec::new();
    for rank in 0..ranks {
        let payload_max = Config::payload_max_of(1500).expect("it is enough");
        let config = Config::new(addresses[rank as usize], job_key.clone(), payload_max);
        let driver = SimulatedDriver { host: rank as usize, world: Rc::clone(&world) };
        let esp = Esp::new(rank, addresses.clone(), config, random.bytes(), driver, clock(&world));
        let ways = WithSelf::new(rank, esp);
        let one_in = if rank == MAD { one_in } else { 0 };
        let ways = MadWays { ways, random: Random::new(random.number()), one_in, ranks };
        let Rank { engine, handle } = Rank::start(&nisa, rank, ways, options);
        engines.push((engine, handle, Ended::Waiting));
    }
    for poll in 0..POLLS_MAX {
        let now_ns = world.borrow().now_ns;
        let mut worked = false;
        for (rank, (engine, handle, ended)) in (0..).zip(&mut engines) {
            if rank == MAD {
                before_poll(poll, &mut engine.transport().ways.others);
            }
            match engine.poll(now_ns) {
                Ok(progress) => worked |= progress.worked,
                Err(failure) => {
                    let (text, names) = (failure.to_string(), ["action ", "recv number "]);
                    assert!(names.iter().any(|name| text.starts_with(name)), "{failure}");
                    *ended = Ended::Failed(failure);
                }
            }
            if let (Ended::Waiting, Some((rank, cause))) =
                (&ended, engine.transport().ways.others.lost())
            {
                *ended = Ended::Lost(rank, cause);
            }
            if matches!(ended, Ended::Waiting) && engine.test(handle) {
                *ended = Ended::Well;
            }
        }
        let mut others = engines.iter().enumerate().filter(|&(rank, _)| rank as u32 != MAD);
        if others.all(|(_, (_, _, ended))| !matches!(ended, Ended::Waiting)) || now_ns > PATIENCE_NS
        {
            break;
        }
        let timeouts = engines
            .iter_mut()
            .filter_map(|(engine, ..)| engine.transport().ways.others.timeout_ns());
        let next_ns = timeouts.chain(world.borrow().network.next_ns()).min();
        let later_ns = now_ns + 1000;
        world.borrow_mut().advance(if worked {
            later_ns
        } else {
            next_ns.unwrap_or(later_ns).max(later_ns)
        });
    }
    let kept = engines.iter().enumerate().filter(|&(rank, _)| rank as u32 != MAD);
    let kept = kept.map(|(_, (engine, ..))| engine.stats().unexpected_max).max().unwrap_or(0);
    let ended = engines.into_iter().enumerate().filter(|&(rank, _)| rank as u32 != MAD);
    (ended.map(|(_, (_, _, ended))| ended).collect(), kept)
}

#[test]
fn whatever_a_rank_sends_is_told_of_it_and_harms_nobody() {
    let (mut foreign, mut lost, mut other) = (0, 0, 0);
    for seed in 0..goal_filetest::seeds(300) {
        let shape = Shape { ranks: (2, 4), ..Shape::varied(seed) };
        let options =
            Options { unexpected_limit: [20_000, 1 << 20][seed as usize % 2], ..options(seed) };
        let one_in = [2, 10, 40][seed as usize % 3];
        let (ended, _) = run(&program(seed, &shape), seed, one_in, options, |_, _| {});
        for end in ended {
            match end {
                Ended::Failed(Failure { cause: Cause::Foreign { source_rank, .. }, .. }) => {
                    assert_eq!(source_rank, MAD, "seed {seed}");
                    foreign += 1;
                }
                Ended::Lost(rank, LostPeer::Connection(_)) => {
                    panic!("seed {seed}: rank {rank} was there")
                }
                Ended::Lost(rank, _) => {
                    assert_eq!(rank, MAD, "seed {seed}");
                    lost += 1;
                }
                Ended::Failed(Failure { cause, .. }) => {
                    // An engine may send such messages too: of another size, with other bytes, with
                    // a zero to divide by.
                    let is_its = match cause {
                        Cause::SizeMismatch { source_rank, .. }
                        | Cause::PatternMismatch { source_rank, .. } => source_rank == MAD,
                        Cause::DivisionByZero { .. } => true,
                        _ => false,
                    };
                    assert!(is_its, "seed {seed}: {cause:?}");
                    other += 1;
                }
                Ended::Well | Ended::Waiting => {}
            }
        }
    }
    assert!(foreign > 50 && lost > 50 && other > 10, "{foreign} {lost} {other}");
}
