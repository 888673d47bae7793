//! Hosts with the engine, joined by a network that loses, doubles, delays, damages and
//! floods frames. Time
//! is a number; a seed decides everything.

use crate::native::{Engine, Host, Sent};
use goal_interp::apply;
use goal_kernel::layout::Counter;
use goal_kernel::{Installation, Job, Member, PartImage, Peer, Plan};
use goal_lang::{Datatype, Op};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A random number generator (SplitMix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// The faults of the network, in percent of frames between hosts.
#[derive(Debug, Clone, Copy, Default)]
pub struct Faults {
    pub lost: u64,
    pub doubled: u64,
    pub late: u64,
    pub damaged: u64,
    pub flooded: u64,
}

/// The delay of a late frame is up to this many units; a tick comes every `TICK`.
const LATE: u64 = 400;
const TICK: u64 = 100;
const EVENTS_MAX: u64 = 3_000_000;

enum Event {
    Frame(usize, Vec<u8>),
    Tick(usize),
    /// A rank of a schedule starts its next run.
    Start(usize),
    /// A process has done the operation of an action that was handed over in a run.
    GiveBack(usize, u32, u32),
}

/// A rank of a schedule, with its inputs and its results by epoch.
pub struct Process {
    pub schedule: usize,
    pub rank: u32,
    host: usize,
    member: Member,
    image: PartImage,
    /// Actions that were taken over, ever.
    taken: u64,
    epoch: u32,
    inputs: Vec<Vec<u8>>,
    pub results: Vec<Vec<u8>>,
}

impl Process {
    /// The first entry of the part's ring of actions that are handed over, and their number.
    fn ring(&self) -> (usize, u32) {
        let (first, actions) = self.member.ring();
        (first as usize, if self.member.handed > 0 { actions } else { 0 })
    }
}

pub struct Network {
    random: Random,
    faults: Faults,
    pub hosts: Vec<Host>,
    ticks: Vec<[u8; 60]>,
    pub processes: Vec<Process>,
    events: BinaryHeap<Reverse<(u64, u64, usize)>>,
    bodies: Vec<Option<Event>>,
    now: u64,
    count: u64,
    /// Actions that processes have done.
    pub handed: u64,
    /// Every frame that was between hosts, for replays.
    pub recorded: Vec<(usize, Vec<u8>)>,
}

fn mac(host: usize) -> [u8; 6] {
    [2, 0, 0, 0, (host >> 8) as u8, host as u8]
}

impl Network {
    /// Creates hosts for the ranks of schedules. `inputs` has, by schedule and epoch, the memory of
    /// each rank.
    pub fn new(
        engine: Engine,
        seed: u64,
        faults: Faults,
        plans: &[Plan],
        inputs: &[Vec<Vec<Vec<u8>>>],
    ) -> Self {
        let mut random = Random(seed);
        let ranks = plans.iter().map(Plan::ranks).max().unwrap() as usize;
        let host_count = 1 + random.below(ranks as u64) as usize;
        // Each host gets one rank while ranks are left. Further ranks get a random host.
        let host_of: Vec<usize> =
            (0..ranks)
                .map(|rank| {
                    if rank < host_count { rank } else { random.below(host_count as u64) as usize }
                })
                .collect();
        let mut ports = vec![0; host_count];
        let peers: Vec<Peer> = host_of
            .iter()
            .map(|&host| {
                ports[host] += 1;
                Peer { mac: mac(host), port: ports[host] - 1 }
            })
            .collect();
        let key = [random.next(), random.next()];
        let mut network = Self {
            faults,
            hosts: Vec::new(),
            ticks: Vec::new(),
            processes: Vec::new(),
            events: BinaryHeap::new(),
            bodies: Vec::new(),
            now: 0,
            count: 0,
            handed: 0,
            recorded: Vec::new(),
            random,
        };
        let members: Vec<Vec<u32>> = plans
            .iter()
            .map(|plan| {
                let mut all: Vec<u32> = (0..ranks as u32).collect();
                for i in 0..all.len() {
                    let other = i + network.random.below((all.len() - i) as u64) as usize;
                    all.swap(i, other);
                }
                all.truncate(plan.ranks() as usize);
                all
            })
            .collect();
        for host in 0..host_count {
            let job = Job {
                number: 7,
                key,
                secrets: [network.random.next(), network.random.next()],
                ethertype: 0x88b6,
                ifindex: 1,
                mac: mac(host),
                peers: peers.clone(),
            };
            let mut installation = Installation::new(job).unwrap();
            for (schedule, plan) in plans.iter().enumerate() {
                for (job_rank, member) in installation.add(plan, &members[schedule]).unwrap() {
                    let rank = members[schedule].iter().position(|&m| m == job_rank).unwrap();
                    network.processes.push(Process {
                        schedule,
                        rank: rank as u32,
                        host,
                        member,
                        image: plan.part(rank as u32),
                        taken: 0,
                        epoch: 0,
                        inputs: inputs[schedule].iter().map(|ranks| ranks[rank].clone()).collect(),
                        results: Vec::new(),
                    });
                }
            }
            network.ticks.push(installation.tick());
            network.hosts.push(Host::new(engine, &installation));
            let at = network.random.below(TICK);
            network.at(at, Event::Tick(host));
        }
        for process in 0..network.processes.len() {
            let at = network.random.below(300);
            network.at(at, Event::Start(process));
        }
        network
    }

    fn at(&mut self, after: u64, event: Event) {
        self.count += 1;
        self.events.push(Reverse((self.now + after, self.count, self.bodies.len())));
        self.bodies.push(Some(event));
    }

    /// Runs until all processes have all results. Returns false if that takes too many events.
    pub fn run(&mut self) -> bool {
        let mut handled = 0;
        while self.processes.iter().any(|process| process.results.len() < process.inputs.len()) {
            let Some(Reverse((time, _, body))) = self.events.pop() else { return false };
            handled += 1;
            if handled > EVENTS_MAX {
                return false;
            }
            self.now = time;
            match self.bodies[body].take().expect("an event happens once") {
                Event::Frame(host, frame) => {
                    let (_, sent) = self.hosts[host].ingress(&frame);
                    self.send(host, sent);
                }
                Event::Tick(host) => {
                    let tick = self.ticks[host];
                    let sent = self.hosts[host].tick(&tick);
                    self.send(host, sent);
                    self.at(TICK, Event::Tick(host));
                }
                Event::Start(process) => self.start(process),
                Event::GiveBack(process, epoch, action) => self.give_back(process, epoch, action),
            }
            self.take_over();
            self.collect();
        }
        true
    }

    fn start(&mut self, number: usize) {
        let process = &mut self.processes[number];
        process.epoch += 1;
        let host = process.host;
        let input = &process.inputs[process.epoch as usize - 1];
        self.hosts[host].memory(&process.member).copy_from_slice(input);
        let frame = process.member.start(process.epoch);
        let (_, sent) = self.hosts[host].egress(&frame);
        self.send(host, sent);
    }

    /// Lets processes take over what was handed to them. They give it back later, in any order.
    fn take_over(&mut self) {
        for number in 0..self.processes.len() {
            loop {
                let process = &mut self.processes[number];
                let (first, actions) = process.ring();
                let slot = first + (process.taken % u64::from(actions.max(1))) as usize;
                let Some(&entry) = self.hosts[process.host].handed.get(slot) else { break };
                if actions == 0 || (entry >> 32) as u32 != (process.taken + 1) as u32 {
                    break;
                }
                process.taken += 1;
                let (epoch, action) = (process.epoch, entry as u32);
                let delay = match self.random.below(3) {
                    0 => 0,
                    1 => self.random.below(20),
                    _ => self.random.below(500),
                };
                self.at(delay, Event::GiveBack(number, epoch, action));
            }
        }
    }

    /// Does the operation of an action, and gives it back: sometimes twice, sometimes after wrong
    /// returns.
    fn give_back(&mut self, number: usize, epoch: u32, action: u32) {
        let process = &self.processes[number];
        let (host, member) = (process.host, process.member);
        let operands = process.image.operands(action, epoch).expect("the part has the action");
        let start = member.memory_at as usize;
        let [a, b, c] = operands.places.map(|at| start + at..start + at + operands.bytes);
        let memory = self.hosts[host].all_memory();
        match operands.op {
            // The time, or a computation.
            0 => memory[c].fill(0x77),
            op => {
                let op = Op::ALL.iter().find(|known| **known as u8 == op).expect("it is one");
                let datatype = Datatype::ALL.iter().find(|d| **d as u8 == operands.datatype);
                let datatype = *datatype.expect("it is one");
                let result = apply(*op, datatype, &memory[a], &memory[b]).expect("floats");
                memory[c].copy_from_slice(&result);
            }
        }
        self.handed += 1;
        let wrong = self.random.below(4);
        let mut forged = member.give_back(epoch, action);
        match wrong {
            // Another run, another action, another cookie.
            0 => forged[29] ^= 1,
            1 => forged[44] ^= 0x80,
            2 => forged[50] ^= 1,
            _ => {}
        }
        if wrong < 3 {
            let before = self.hosts[host].everything();
            assert!(self.hosts[host].egress(&forged).1.is_empty());
            assert!(before == self.hosts[host].everything(), "a wrong return changes something");
        }
        let frame = member.give_back(epoch, action);
        let (_, sent) = self.hosts[host].egress(&frame);
        self.send(host, sent);
        if self.random.chance(20) {
            let before = self.hosts[host].everything();
            assert!(self.hosts[host].egress(&frame).1.is_empty());
            assert!(before == self.hosts[host].everything(), "a second return changes something");
        }
    }

    /// Takes the results of runs that have ended, and lets their processes start the next run.
    fn collect(&mut self) {
        for number in 0..self.processes.len() {
            let process = &mut self.processes[number];
            let status = &self.hosts[process.host].status[process.member.part as usize];
            assert_eq!(status.error, 0, "action {} element {}", status.action, status.element);
            if status.done != process.epoch || process.results.len() == process.epoch as usize {
                continue;
            }
            let memory = self.hosts[process.host].memory(&process.member);
            process.results.push(memory.to_vec());
            // A process writes these words between runs; the engine does not.
            memory.fill(0xee);
            if process.results.len() < process.inputs.len() {
                let pause = match self.random.below(3) {
                    0 => 0,
                    1 => self.random.below(20),
                    _ => self.random.below(1000),
                };
                self.at(pause, Event::Start(number));
            }
        }
    }

    fn send(&mut self, from: usize, frames: Vec<Sent>) {
        for (mut frame, is_local) in frames {
            if is_local {
                self.at(1, Event::Frame(from, frame));
                continue;
            }
            let Some(to) = (0..self.hosts.len()).find(|&host| mac(host) == frame[..6]) else {
                panic!("a frame for nobody");
            };
            assert_ne!(to, from, "a frame to the own host leaves it");
            if self.recorded.len() < 2000 {
                self.recorded.push((to, frame.clone()));
            }
            if self.random.chance(self.faults.flooded) {
                // As a switch does that does not know where the receiver is.
                for other in (0..self.hosts.len()).filter(|&other| other != to && other != from) {
                    self.at(1, Event::Frame(other, frame.clone()));
                }
            }
            if self.random.chance(self.faults.lost) {
                continue;
            }
            if self.random.chance(self.faults.doubled) {
                let delay = 1 + self.random.below(LATE);
                self.at(delay, Event::Frame(to, frame.clone()));
            }
            if self.random.chance(self.faults.damaged) {
                let bit = self.random.below(8 * frame.len() as u64);
                frame[bit as usize / 8] ^= 1 << (bit % 8);
            }
            let delay = match self.random.chance(self.faults.late) {
                true => self.random.below(LATE),
                false => self.random.below(4),
            };
            self.at(1 + delay, Event::Frame(to, frame));
        }
    }

    /// The sum of a counter over all hosts.
    pub fn counter(&self, counter: Counter) -> u64 {
        self.hosts.iter().map(|host| host.counter(counter)).sum()
    }

    /// Delivers every recorded frame, as if those that were lost were only late.
    pub fn settle(&mut self) {
        for (host, frame) in &self.recorded {
            self.hosts[*host].ingress(frame);
        }
    }

    /// Sends every recorded frame again, and as many that are made up. Returns how many frames the
    /// hosts send because of that.
    pub fn replay(&mut self) -> usize {
        let mut answers = 0;
        for (host, frame) in self.recorded.clone() {
            answers += self.hosts[host].ingress(&frame).1.len();
            let mut forged = frame;
            // Not the addresses and the job: those would make it another host's or job's frame.
            let at = 26 + self.random.below(forged.len() as u64 - 26) as usize;
            forged[at] ^= 1 + self.random.below(255) as u8;
            answers += self.hosts[host].ingress(&forged).1.len();
        }
        answers
    }
}
