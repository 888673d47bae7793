//! One rank of `growth`.

use super::memory;
use crate::measure::median;
use clap::Args as ClapArgs;
use goal::growth::Spawn;
use goal::{Arguments, Buffer, CollectiveKind, Communicator, Graph, Group, Op, Schedule};
use goal_eth::now_ns;
use std::io::{self, Write};
use std::os::unix::process::parent_id;

/// `growth-rank`'s arguments: a measurement and its numbers.
#[derive(ClapArgs)]
pub(crate) struct RankArgs {
    what: String,
    numbers: Vec<u32>,
}

/// The words that the first rank sends to the second in each message.
const GO_ON: u64 = 0;
const ACCEPT: u64 = 1;
const STOP: u64 = 2;

/// Round trips before the first one that counts.
const WARM: u32 = 20_000;

pub(crate) fn run_rank(args: &RankArgs) -> io::Result<()> {
    let begun = now_ns();
    let group = Group::init().map_err(io::Error::other)?;
    let told = now_ns();
    let measured = match (args.what.as_str(), &args.numbers[..]) {
        (_, _) if group.has_joined() => join(group, [begun, told]),
        ("latency", &[rounds]) => latency(group, rounds),
        ("grow", &[rounds, most]) => grow(group, rounds, most),
        ("spawn", &[ranks]) => spawn(group, ranks),
        _ => return Err(io::Error::other("there is no such measurement")),
    };
    measured.and_then(|()| group.finalize()).map_err(io::Error::other)
}

/// The exchange of 8 bytes between the first two ranks: one schedule of a round trip, started again
/// and again.
struct Pair {
    group: Group,
    schedule: Schedule,
    given: Buffer<u64>,
    got: Buffer<u64>,
    /// The time of the last end.
    last: u64,
}

impl Pair {
    fn new(group: Group) -> goal::Result<Self> {
        let (given, got) = (group.zeros::<u64>(1)?, group.zeros::<u64>(1)?);
        let mut graph = Graph::new(group.world());
        match group.rank() {
            0 => {
                graph.send(&given, 1, 0)?;
                graph.recv(&got, 1, 0)?;
            }
            _ => {
                let taken = graph.recv(&got, 0, 0)?;
                let answer = graph.send(&given, 0, 0)?;
                graph.requires(taken, answer)?;
            }
        }
        let schedule = graph.compile()?;
        Ok(Self { group, schedule, given, got, last: now_ns() })
    }

    /// Makes a round trip with a word of the first rank. Returns the word and the nanoseconds since
    /// the last end.
    fn exchange(&mut self, word: u64) -> goal::Result<(u64, u64)> {
        if self.group.rank() == 0 {
            self.given.write()?[0] = word;
        }
        self.schedule.run()?.wait()?;
        let now = now_ns();
        let took = now - std::mem::replace(&mut self.last, now);
        let word = if self.group.rank() == 0 { word } else { self.got.read()?[0] };
        Ok((word, took))
    }

    /// Makes round trips, and returns the half of each in nanoseconds.
    fn exchange_often(&mut self, rounds: u32) -> goal::Result<Vec<f64>> {
        self.last = now_ns();
        (0..rounds).map(|_| Ok(self.exchange(GO_ON)?.1 as f64 / 2.0)).collect()
    }
}

fn latency(group: Group, rounds: u32) -> goal::Result<()> {
    let mut pair = Pair::new(group)?;
    pair.exchange_often(WARM)?;
    let halves = pair.exchange_often(rounds)?;
    if group.rank() == 0 {
        say!("latency {}", median(halves));
    }
    Ok(())
}

/// Prints a line of the first rank.
fn print(group: Group, name: &str, number: f64) {
    if group.rank() == 0 {
        say!("{name} {number}");
    }
}

/// Prints the memory of the job now.
fn print_memory(group: Group, when: &str) {
    if group.rank() > 0 {
        return;
    }
    let launcher = parent_id();
    let all = [("pss", memory::of_processes(launcher)), ("segment", memory::of_segment(launcher))];
    for (what, bytes) in all {
        match bytes {
            Ok(bytes) => say!("{what}-{when} {bytes}"),
            Err(error) => eprintln!("no {what}: {error}"),
        }
    }
}

fn grow(group: Group, rounds: u32, most: u32) -> goal::Result<()> {
    let mut pair = Pair::new(group)?;
    pair.exchange_often(WARM)?;
    let before = pair.exchange_often(rounds)?;
    if group.rank() == 0 {
        say!("ready");
        io::stdout().flush().expect("a pipe");
    }
    print_memory(group, "before");
    let (mut during, mut gap) = (Vec::new(), 0);
    let (mut grown, mut attached) = (Vec::new(), Vec::new());
    pair.last = now_ns();
    loop {
        let word = match (grown.len() as u32 + 2 >= most, group.rank() == 0 && group.joining() > 0)
        {
            (true, _) => STOP,
            (false, true) => {
                attached.push(now_ns());
                ACCEPT
            }
            (false, false) => GO_ON,
        };
        let (word, took) = pair.exchange(word)?;
        match word {
            STOP => break,
            ACCEPT => {
                grown.push(group.accept(group.world())?);
                pair.last = now_ns();
            }
            _ => {
                gap = gap.max(took);
                during.push(took as f64 / 2.0);
            }
        }
    }
    let after = pair.exchange_often(rounds)?;
    print_memory(group, "after");
    print(group, "before", median(before));
    print(group, "during", median(during));
    print(group, "gap", gap as f64);
    print(group, "after", median(after));
    for (larger, attached) in grown.iter().zip(attached.into_iter().chain(std::iter::repeat(0))) {
        let [begun, told] = stamps(group, larger, [0, 0])?;
        print(group, "at-begun", begun as f64);
        print(group, "at-attached", attached as f64);
        print(group, "at-told", told as f64);
    }
    Ok(())
}

/// A new rank: tells when it has begun and when it was told of its communicator.
fn join(group: Group, own: [u64; 2]) -> goal::Result<()> {
    stamps(group, group.world(), own).map(drop)
}

/// Returns the latest of the times of new ranks; old ones have zeros.
fn stamps(group: Group, communicator: &Communicator, own: [u64; 2]) -> goal::Result<[u64; 2]> {
    let (input, output) = (group.buffer(&own)?, group.zeros::<u64>(2)?);
    let arguments = Arguments {
        kind: CollectiveKind::Allreduce,
        count: 2,
        op: Op::Max,
        root: 0,
        input: Some(&input),
        output: Some(&output),
    };
    group.collective(communicator, &arguments)?.run()?.wait()?;
    let latest = output.read()?;
    Ok([latest[0], latest[1]])
}

fn spawn(group: Group, ranks: u32) -> goal::Result<()> {
    let mut pair = Pair::new(group)?;
    pair.exchange_often(WARM)?;
    let began = now_ns();
    let larger = group.spawn(group.world(), &Spawn { ranks, command: None, root: 0 })?;
    let called = now_ns();
    let [begun, told] = stamps(group, &larger, [0, 0])?;
    let all = now_ns();
    print(group, "begin", begun.saturating_sub(began) as f64);
    print(group, "attach", told.saturating_sub(begun) as f64);
    print(group, "call", (called - began) as f64);
    print(group, "all", (all - began) as f64);
    Ok(())
}
