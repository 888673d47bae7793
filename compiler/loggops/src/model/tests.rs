//! Compares the model with a slow one that looks at all jobs of all ranks for each step.

use super::*;
use crate::Kind;
use crate::machine::PerByte;
use goal_lang::{ParseOptions, SourceMap};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

pub(crate) fn workload(text: &str) -> Workload {
    let mut sources = SourceMap::default();
    sources.add("test".to_owned(), Arc::new(text.as_bytes().to_vec()));
    let parsed = goal_lang::parse(&sources, &ParseOptions::default());
    Workload::new(&parsed.program.expect("a program"), |_, _| 0).expect("a workload")
}

/// A job that is ready: its time, if it is a message, its number, its processor, and the side of
/// its interface.
type Job = (u64, bool, u32, Option<u16>, Option<(bool, u8)>);

/// Noise that depends on all arguments.
struct Uneven;

impl Noise for Uneven {
    fn latency_min(&self, latency: u64) -> u64 {
        latency / 2
    }

    fn latency(&self, Message { send, from, to }: Message, latency: u64) -> u64 {
        latency / 2 + u64::from(send * 7 + from * 5 + to * 3) % 11 * (latency / 8 + 1)
    }

    fn overhead(&self, rank: u32, send: u32, overhead: u64) -> u64 {
        overhead + u64::from(rank * 3 + send * 5) % 7
    }

    fn computation(&self, rank: u32, action: u32, time: u64) -> u64 {
        time * u64::from(rank + action % 3)
    }

    fn end_of_work(&self, rank: u32, start: u64, work: u64) -> u64 {
        start + work + (start / 1000 + u64::from(rank)) % 5 * (work / 4)
    }
}

/// The slow model: a direct reading of `docs/goal-sim.md`, for programs without wildcards.
struct Slow<'w> {
    workload: &'w Workload,
    machine: Machine,
    noise: &'w dyn Noise,
    missing: Vec<u32>,
    ready: Vec<u64>,
    jobs: Vec<Vec<Job>>,
    cpus: BTreeMap<(u32, u16), u64>,
    sides: BTreeMap<(u32, bool, u8), u64>,
    /// By receiver, sender and tag: the messages in the order of their starts, those taken with
    /// their time, and the receives in the order in which they were posted.
    sent: BTreeMap<(u32, u32, u32), Vec<u32>>,
    posted: BTreeMap<(u32, u32, u32), Vec<u32>>,
    taken: BTreeMap<u32, u64>,
    finish: Vec<u64>,
    ended: usize,
}

impl Slow<'_> {
    fn rank(&self, action: u32) -> u32 {
        self.workload.rank_of(action)
    }

    fn meet(&mut self, waiter: u32, time: u64) {
        self.ready[waiter as usize] = self.ready[waiter as usize].max(time);
        self.missing[waiter as usize] -= 1;
        if self.missing[waiter as usize] == 0 {
            self.add(waiter);
        }
    }

    fn add(&mut self, action: u32) {
        let (record, rank) = (*self.workload.record(action), self.rank(action));
        let (cpu, side) = match record.kind {
            Kind::Calc | Kind::Local => (Some(record.cpu), None),
            Kind::Send => (Some(record.cpu), Some((true, record.nic))),
            Kind::Recv | Kind::Dummy => (None, None),
        };
        self.jobs[rank as usize].push((self.ready[action as usize], false, action, cpu, side));
    }

    fn begin(&mut self, action: u32, time: u64) {
        for &waiter in self.workload.start_waiters(action) {
            self.meet(waiter, time);
        }
    }

    fn end(&mut self, action: u32, time: u64) {
        self.ended += 1;
        let rank = self.rank(action) as usize;
        self.finish[rank] = self.finish[rank].max(time);
        for &waiter in self.workload.waiters(action) {
            self.meet(waiter, time);
        }
    }

    fn start_of(&self, rank: u32, job: &Job) -> u64 {
        let cpu = job.3.and_then(|cpu| self.cpus.get(&(rank, cpu)).copied());
        let side = job.4.and_then(|(sends, nic)| self.sides.get(&(rank, sends, nic)).copied());
        job.0.max(cpu.unwrap_or(0)).max(side.unwrap_or(0))
    }

    /// The receives of a channel in the order of the text.
    fn in_text(&self, (to, from, tag): (u32, u32, u32)) -> Vec<u32> {
        let is_of = |&action: &u32| {
            let record = self.workload.record(action);
            (record.kind, record.peer, record.tag) == (Kind::Recv, from, tag)
        };
        self.workload.actions(to).filter(is_of).collect()
    }

    fn complete(&mut self, channel: (u32, u32, u32), at: usize) {
        let sent = self.sent.get(&channel).and_then(|sent| sent.get(at).copied());
        let posted = self.posted.get(&channel).and_then(|posted| posted.get(at).copied());
        let (Some(send), Some(receive)) = (sent, posted) else { return };
        let Some(&taken) = self.taken.get(&send) else { return };
        let rest = self.workload.record(send).size.max(1) - 1;
        let bytes = self.machine.gap_per_byte.of(rest).max(self.machine.overhead_per_byte.of(rest));
        let posted = self.ready[receive as usize];
        let (to, from, _) = channel;
        self.end(receive, posted.max(self.end_of_message(to, send, taken, bytes)));
        if self.workload.record(send).size > self.machine.eager_bytes_max {
            let latency = self.noise.latency(Message { send, from, to }, self.machine.latency_ps);
            self.end(send, posted.max(taken) + latency);
        }
    }

    /// The end of the work for a message at one of its ends. `bytes` is the work for its bytes.
    fn end_of_message(&self, rank: u32, send: u32, start: u64, bytes: u64) -> u64 {
        let overhead = self.noise.overhead(rank, send, self.machine.overhead_ps);
        self.noise.end_of_work(rank, start, overhead + bytes)
    }

    fn step(&mut self) -> bool {
        let all = (0..self.jobs.len() as u32).flat_map(|rank| {
            self.jobs[rank as usize].iter().enumerate().map(move |(at, job)| (rank, at, job))
        });
        let first = all
            .map(|(rank, at, job)| (self.start_of(rank, job), job.0, job.1, job.2, rank, at))
            .min();
        let Some((now, _, is_message, action, rank, at)) = first else { return false };
        let (_, _, _, cpu, side) = self.jobs[rank as usize].swap_remove(at);
        let record = *self.workload.record(action);
        let rest = record.size.max(1) - 1;
        let m = self.machine;
        let (wire, bytes) = (m.gap_per_byte.of(rest), m.overhead_per_byte.of(rest));
        let side = side.map(|(sends, nic)| (rank, sends, nic));
        if is_message {
            let end = self.end_of_message(rank, action, now, wire.max(bytes));
            self.cpus.insert((rank, cpu.unwrap()), end);
            self.sides.insert(side.unwrap(), now + m.gap_ps + wire);
            self.taken.insert(action, now);
            let channel = (rank, self.rank(action), record.tag);
            let at = self.sent[&channel].iter().position(|&sent| sent == action).unwrap();
            self.complete(channel, at);
            return true;
        }
        self.begin(action, now);
        match record.kind {
            Kind::Dummy => self.end(action, now),
            Kind::Calc | Kind::Local => {
                let work = self.noise.computation(rank, action, record.picos());
                let end = self.noise.end_of_work(rank, now, work);
                self.cpus.insert((rank, cpu.unwrap()), end);
                self.end(action, end);
            }
            Kind::Recv => {
                let channel = (rank, record.peer, record.tag);
                let posted = self.posted.entry(channel).or_default();
                posted.push(action);
                let at = posted.len() - 1;
                self.complete(channel, at);
            }
            Kind::Send => {
                let end = self.end_of_message(rank, action, now, bytes);
                self.cpus.insert((rank, cpu.unwrap()), end);
                self.sides.insert(side.unwrap(), now + m.gap_ps + wire);
                let channel = (record.peer, rank, record.tag);
                let sent = self.sent.entry(channel).or_default();
                sent.push(action);
                let at = sent.len() - 1;
                let receive = *self.workload.record(self.in_text(channel)[at]);
                let message = Message { send: action, from: rank, to: record.peer };
                let latency = self.noise.latency(message, m.latency_ps);
                let job = (
                    self.end_of_message(rank, action, now, 0) + latency,
                    true,
                    action,
                    Some(receive.cpu),
                    Some((false, receive.nic)),
                );
                self.jobs[record.peer as usize].push(job);
                if record.size <= m.eager_bytes_max {
                    self.end(action, end);
                }
            }
        }
        true
    }
}

/// Returns the ends of all ranks; `None` if some actions never end.
fn slowly(workload: &Workload, machine: Machine, noise: &dyn Noise) -> Option<Vec<u64>> {
    let ranks = workload.num_ranks();
    let mut slow = Slow {
        workload,
        machine,
        noise,
        missing: (0..workload.len() as u32).map(|action| workload.record(action).missing).collect(),
        ready: vec![0; workload.len()],
        jobs: vec![Vec::new(); ranks],
        cpus: BTreeMap::new(),
        sides: BTreeMap::new(),
        sent: BTreeMap::new(),
        posted: BTreeMap::new(),
        taken: BTreeMap::new(),
        finish: vec![0; ranks],
        ended: 0,
    };
    for rank in 0..ranks as u32 {
        for &root in workload.roots(rank) {
            slow.add(root);
        }
    }
    while slow.step() {}
    (slow.ended == workload.len()).then_some(slow.finish)
}

/// Returns a program of messages in one order of all, so that only large sends may get stuck. With
/// wildcards, all messages have one size.
pub(crate) fn program(random: &mut fastrand::Rng, has_wildcards: bool) -> String {
    let ranks = random.u32(2..8);
    let (cpus, nics, tags) = (random.u32(1..4), random.u32(1..3), random.u32(1..20));
    let mut sizes = BTreeMap::new();
    let of_any = |random: &mut fastrand::Rng| has_wildcards && random.u8(0..3) == 0;
    let mut bodies = vec![Vec::new(); ranks as usize];
    for _ in 0..random.u32(1..60) {
        let (from, to, tag) = (random.u32(0..ranks), random.u32(0..ranks), random.u32(0..tags));
        let size = *sizes
            .entry(if has_wildcards { (0, 0, 0) } else { (from, to, tag) })
            .or_insert_with(|| [0, 1, 8, 1000, 70_000][random.usize(0..5)]);
        bodies[from as usize].push(format!("send {size}b to {to} tag {tag}"));
        let from = if of_any(random) { "any".to_owned() } else { from.to_string() };
        let tag = if of_any(random) { "any".to_owned() } else { tag.to_string() };
        bodies[to as usize].push(format!("recv {size}b from {from} tag {tag}"));
        if random.u8(0..3) == 0 {
            bodies[to as usize].push(format!("calc {}", [0, 1, 17, 5000][random.usize(0..4)]));
        }
    }
    let mut text = format!("num_ranks {ranks}\n");
    for (rank, body) in bodies.iter().enumerate() {
        writeln!(text, "rank {rank} {{").unwrap();
        for (at, action) in body.iter().enumerate() {
            let cpu = random.u32(0..cpus);
            let nic = if action.starts_with("calc") { None } else { Some(random.u32(0..nics)) };
            let nic = nic.map_or(String::new(), |nic| format!(" nic {nic}"));
            writeln!(text, "a{at}: {action} cpu {cpu}{nic}").unwrap();
            for before in 0..at {
                if random.usize(0..at + 1) < 1 {
                    let how = if random.u8(0..4) == 0 { "irequires" } else { "requires" };
                    writeln!(text, "a{at} {how} a{before}").unwrap();
                }
            }
        }
        text += "}\n";
    }
    text
}

/// Returns a machine. Some of its parameters may be 0.
pub(crate) fn machine(random: &mut fastrand::Rng) -> Machine {
    let mut any = |of: &[u64]| of[random.usize(0..of.len())];
    Machine {
        latency_ps: any(&[1, 100, 2_500_000]),
        overhead_ps: any(&[0, 10, 1_500_000]),
        gap_ps: any(&[0, 7, 1_000_000]),
        gap_per_byte: PerByte::from_nano_ns(any(&[0, 40_000_000, 6_000_000_000])),
        overhead_per_byte: PerByte::from_nano_ns(any(&[0, 0, 1_000_000_001])),
        eager_bytes_max: any(&[0, 8, 65535]),
    }
}

#[test]
fn times_are_those_of_the_slow_model() {
    let (mut ends, mut random) = (0, fastrand::Rng::with_seed(1));
    for _ in 0..600 {
        let text = program(&mut random, false);
        let workload = workload(&text);
        let machine = machine(&mut random);
        let noises: [&dyn Noise; 2] = [&(), &Uneven];
        let found =
            [simulate(&workload, &machine), simulate_with(&workload, &machine, &Uneven, &mut ())];
        for (found, noise) in found.into_iter().zip(noises) {
            let wanted = slowly(&workload, machine, noise);
            match found {
                Ok(times) => {
                    ends += 1;
                    assert_eq!(Some(times.finish_ps), wanted, "{machine:?}\n{text}");
                }
                Err(ModelError::Stuck { .. }) => assert_eq!(wanted, None, "{machine:?}\n{text}"),
                Err(error) => panic!("{error}"),
            }
        }
    }
    assert!(ends > 400, "{ends} programs ended");
}

/// Programs get stuck alike, but the lean store does not know which messages nobody takes.
fn compare(workload: &Workload, machine: &Machine, text: &str) -> bool {
    let known = simulate(workload, machine);
    for memory in [Memory::Fast, Memory::Lean] {
        for threads in [1, 2, 3] {
            let found = simulate_shares(workload, machine, memory, |_| threads, &|_| ());
            let about = || format!("{memory:?}, {threads} threads, {machine:?}\n{text}");
            match (&known, found) {
                (
                    Err(ModelError::Stuck { left, .. }),
                    Err(ModelError::Stuck { left: found, .. }),
                ) => assert_eq!(*left, found, "{}", about()),
                (known, found) => assert_eq!(*known, found, "{}", about()),
            }
        }
    }
    known.is_ok()
}

#[test]
fn times_depend_neither_on_threads_nor_on_memory() {
    let (mut ends, mut random) = (0, fastrand::Rng::with_seed(3));
    for round in 0..150 {
        let text = program(&mut random, round % 3 == 0);
        let workload = workload(&text);
        let machine = machine(&mut random);
        ends += usize::from(compare(&workload, &machine, &text));
    }
    assert!(ends > 80, "{ends} programs ended");
}
