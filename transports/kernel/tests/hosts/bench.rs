//! A job in the kernels of hosts that are network namespaces of this machine.

#[path = "../common/matches.rs"]
mod matches;

use goal_asm::{EncodeOptions, Nisa, encode};
use goal_cluster::{Cluster, INTERFACE};
use goal_filetest::patience;
use goal_interp::Options;
use goal_kernel::layout::Counter;
use goal_kernel::{Hook, Installation, Job, Kernel, Member, Peer, Plan, Rank, Ticker, Ticks};
use goal_lang::limits::Limits;
use goal_lang::{Datatype, Datum, ImageId, MemoryImage, Program};
use matches::matches;
use rustix::net::netdevice::name_to_index;
use rustix::net::{AddressFamily, SocketType, socket};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use rustix::time::{ClockId, clock_gettime};
use std::fs::File;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The patience with the end of a run.
pub fn limit() -> Duration {
    patience(20)
}

pub fn nisa(program: &Program) -> Nisa {
    let mut bytes = Vec::new();
    encode(program, &EncodeOptions::default(), None, &mut bytes).unwrap();
    Nisa::load(Arc::new(bytes), &Limits::default()).unwrap()
}

/// Pseudorandom bytes that are not 0.
pub fn bytes(seed: u64, count: usize) -> Vec<u8> {
    let mut z = seed;
    let mut next = || {
        z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ (mixed >> 27)) as u8 | 1
    };
    (0..count).map(|_| next()).collect()
}

/// The memories that a program starts with, pseudorandom bytes, and those that it ends with.
pub fn outcome(program: &Program, seed: u64) -> (Vec<Vec<u8>>, goal_interp::Outcome) {
    let (inputs, filled) = filled(program, seed);
    (inputs, goal_interp::run(&filled, &Options::default()).unwrap())
}

/// As [`outcome`], with the messages that a plan has matched.
///
/// # Errors
/// A division by zero.
pub fn planned(
    program: &Program,
    plan: &Plan,
    seed: u64,
) -> Result<(Vec<Vec<u8>>, goal_interp::Outcome), goal_interp::Error> {
    let (inputs, filled) = filled(program, seed);
    Ok((inputs, goal_interp::replay(&filled, &Options::default(), &matches(plan))?))
}

fn filled(program: &Program, seed: u64) -> (Vec<Vec<u8>>, Program) {
    let file = nisa(program);
    let of_rank = |rank| bytes(seed << 8 | u64::from(rank), file.memory_size(rank) as usize);
    let inputs: Vec<Vec<u8>> = (0..file.num_ranks()).map(of_rank).collect();
    let mut filled = program.clone();
    filled.images.clear();
    for (rank, input) in inputs.iter().enumerate() {
        let init = Datum { addr: 0, datatype: Datatype::UInt8, bytes: input.clone() };
        let init = if input.is_empty() { Vec::new() } else { vec![init] };
        filled.images.push(MemoryImage { init, expect: Vec::new() });
        filled.ranks[rank].image = Some(ImageId::new(rank));
    }
    (inputs, filled)
}

/// A host's network namespace, which another process may have made.
pub struct Place {
    pub mac: [u8; 6],
    pub namespace: PathBuf,
}

impl Place {
    pub fn of(cluster: &Cluster) -> Vec<Self> {
        let hosts = cluster.hosts().iter();
        hosts.map(|host| Self { mac: host.mac().0, namespace: host.namespace() }).collect()
    }

    /// Calls `f` on the host, in a thread of its own.
    pub fn call<T: Send>(&self, f: impl FnOnce() -> T + Send) -> T {
        let call = || {
            let namespace = File::open(&self.namespace).unwrap();
            let kind = Some(LinkNameSpaceType::Network);
            move_into_link_name_space(namespace.as_fd(), kind).unwrap();
            f()
        };
        std::thread::scope(|scope| match scope.spawn(call).join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    }
}

/// A job whose ranks take turns at hosts, and the processes' sides of its schedules.
pub struct Bench {
    /// By schedule and rank.
    pub ranks: Vec<Vec<Rank>>,
    pub tickers: Vec<Ticker>,
    pub kernels: Vec<Kernel>,
}

impl Bench {
    /// Loads the engine on all hosts. A schedule of fewer ranks has the first ones of the job.
    pub fn new(cluster: &Cluster, plans: &[Plan], hook: Option<Hook>) -> Self {
        Self::at(&Place::of(cluster), plans, hook, None)
    }

    /// As [`Bench::new`], with ticks of one kind or of the best.
    pub fn at(hosts: &[Place], plans: &[Plan], hook: Option<Hook>, ticks: Option<Ticks>) -> Self {
        let ranks = plans.iter().map(Plan::ranks).max().unwrap() as usize;
        let peer = |rank: usize| Peer {
            mac: hosts[rank % hosts.len()].mac,
            port: (rank / hosts.len()) as u16,
        };
        let peers: Vec<Peer> = (0..ranks).map(peer).collect();
        let mut all_ranks: Vec<Vec<(u32, Rank)>> = plans.iter().map(|_| Vec::new()).collect();
        let mut bench = Self { ranks: Vec::new(), tickers: Vec::new(), kernels: Vec::new() };
        for (number, host) in hosts.iter().enumerate() {
            let mut installation = Installation::new(Job {
                number: 0x1234_5678,
                key: [3, 5],
                secrets: [7 + number as u64, 11],
                ethertype: 0x88b6,
                ifindex: host.call(ifindex),
                mac: host.mac,
                peers: peers.clone(),
            })
            .unwrap();
            let mut members: Vec<(usize, u32, Member)> = Vec::new();
            for (schedule, plan) in plans.iter().enumerate() {
                let all: Vec<u32> = (0..plan.ranks()).collect();
                let added = installation.add(plan, &all).unwrap();
                members.extend(added.iter().map(|(rank, member)| (schedule, *rank, *member)));
            }
            let load = || {
                let kernel = Kernel::load(INTERFACE, &installation, hook)
                    .unwrap_or_else(|error| panic!("{error}"));
                let period = Duration::from_millis(1);
                let ticker = match ticks {
                    None => Ticker::start(&kernel, &installation, period),
                    Some(ticks) => Ticker::start_as(&kernel, &installation, period, ticks),
                };
                let ticker = ticker.unwrap();
                let open = |(schedule, number, member): &(usize, u32, Member)| {
                    let rank = Rank::new(kernel.rank(member).unwrap(), *member).unwrap();
                    (*schedule, *number, rank)
                };
                let ranks: Vec<(usize, u32, Rank)> = members.iter().map(open).collect();
                (kernel, ticker, ranks)
            };
            let (kernel, ticker, ranks) = host.call(load);
            bench.kernels.push(kernel);
            bench.tickers.push(ticker);
            for (schedule, number, rank) in ranks {
                all_ranks[schedule].push((number, rank));
            }
        }
        for mut ranks in all_ranks {
            ranks.sort_by_key(|(number, _)| *number);
            bench.ranks.push(ranks.into_iter().map(|(_, rank)| rank).collect());
        }
        bench
    }

    /// Runs a schedule once. Returns what the memories have at the end.
    pub fn run(&mut self, schedule: usize, inputs: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let began = now_ns();
        for (rank, input) in self.ranks[schedule].iter_mut().zip(inputs) {
            rank.write(0, input);
            rank.start().unwrap();
        }
        let mut memories = Vec::new();
        for number in 0..self.ranks[schedule].len() {
            if !self.ranks[schedule][number].wait(limit()).unwrap() {
                panic!("rank {number} does not end: {}", self.counters());
            }
            let rank = &self.ranks[schedule][number];
            let ended = rank.ended_ns();
            assert!(began < ended && ended < now_ns(), "rank {number} ended at {ended}");
            let mut memory = vec![0; rank.len()];
            rank.read(0, &mut memory);
            memories.push(memory);
        }
        memories
    }

    pub fn counter(&self, counter: Counter) -> u64 {
        self.kernels.iter().map(|kernel| kernel.counter(counter)).sum()
    }

    pub fn counters(&self) -> String {
        Counter::ALL.map(|counter| format!("{counter:?} {}", self.counter(counter))).join(", ")
    }
}

fn ifindex() -> u32 {
    let socket = socket(AddressFamily::UNIX, SocketType::DGRAM, None).unwrap();
    name_to_index(socket, INTERFACE).unwrap()
}

/// The monotonic clock.
fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
