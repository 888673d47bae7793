//! Holds the lines of LogGOPSim's model to events that come back one by one, as the peer's do.

use super::loggopsim::simulate;
use super::{Meeting, Observer, Outcome, Parameters};
use crate::model::tests::workload;
use crate::workload::Workload;
use std::fmt::Write;

/// Keeps all that it sees. If it sees retries, each event comes back by itself.
#[derive(Debug, Default)]
struct Witness {
    sees_retries: bool,
    retries: usize,
    starts: Vec<(u32, u64)>,
    waits: Vec<(u32, u64)>,
    meetings: Vec<Meeting>,
}

impl Observer for Witness {
    fn sees_retries(&self) -> bool {
        self.sees_retries
    }

    fn calc(&mut self, action: u32, start: u64) {
        self.starts.push((action, start));
    }

    fn send(&mut self, send: u32, start: u64) {
        self.starts.push((send, start));
    }

    fn wait(&mut self, action: u32, time: u64) {
        self.waits.push((action, time));
    }

    fn meet(&mut self, meeting: Meeting) {
        self.meetings.push(meeting);
    }

    fn retry(&mut self, _: u32) {
        self.retries += 1;
    }
}

fn watch(workload: &Workload, parameters: &Parameters, sees_retries: bool) -> (Outcome, Witness) {
    let mut witness = Witness { sees_retries, ..Witness::default() };
    let outcome = simulate(workload, parameters, &mut witness);
    (outcome, witness)
}

/// Simulates a program in both ways. Returns how often events came back one by one.
fn compare(text: &str, parameters: &Parameters) -> usize {
    let workload = workload(text);
    let (in_lines, seen_in_lines) = watch(&workload, parameters, false);
    let (one_by_one, seen) = watch(&workload, parameters, true);
    assert_eq!(in_lines, one_by_one, "{text}");
    assert_eq!(seen_in_lines.starts, seen.starts, "{text}");
    assert_eq!(seen_in_lines.waits, seen.waits, "{text}");
    assert_eq!(seen_in_lines.meetings, seen.meetings, "{text}");
    seen.retries
}

/// Messages between random ranks with computations, on several processors and interfaces.
fn random_program(random: &mut fastrand::Rng) -> String {
    let ranks = random.usize(2..9);
    // Some ranks have numbers of processors for which there is no table.
    let cpus = *random.choice(&[1, 1, 2, 3, 65_536]).unwrap();
    let (nics, tags) = (random.usize(1..4), random.usize(1..4));
    let is_wide = random.bool();
    let mut actions = vec![Vec::new(); ranks];
    for _ in 0..random.usize(1..40) * ranks / 2 {
        let (from, to, tag) = (random.usize(..ranks), random.usize(..ranks), random.usize(..tags));
        let size = random.choice(&[0, 1, 8, 100, 70_000]).unwrap();
        actions[from].push(format!("send {size}b to {to} tag {tag}"));
        let from = if random.u8(..) < 4 { "any".to_owned() } else { from.to_string() };
        actions[to].push(format!("recv {size}b from {from} tag {tag}"));
        let nanos = random.choice(&[0, 1, 17, 100, 5000]).unwrap();
        actions[from.parse().unwrap_or(to)].push(format!("calc {nanos}"));
    }
    let mut text = String::new();
    for (rank, actions) in actions.iter_mut().enumerate() {
        random.shuffle(actions);
        writeln!(text, "rank {rank} {{").unwrap();
        for (place, action) in actions.iter().enumerate() {
            let cpu = random.usize(..cpus);
            let nic = match action.starts_with("calc") {
                true => String::new(),
                false => format!(" nic {}", random.usize(..nics)),
            };
            writeln!(text, "a{place}: {action} cpu {cpu}{nic}").unwrap();
            if place > 0 && random.bool() != is_wide {
                let (word, before) =
                    (random.choice(&["requires", "irequires"]).unwrap(), random.usize(..place));
                writeln!(text, "a{place} {word} a{before}").unwrap();
            }
        }
        text.push_str("}\n");
    }
    text
}

#[test]
fn lines_change_no_time() {
    let mut random = fastrand::Rng::with_seed(11);
    let mut retries = 0;
    for _ in 0..400 {
        let mut of = |values: &[u64]| *random.choice(values).unwrap();
        let parameters = Parameters {
            latency: of(&[0, 100, 2500]),
            overhead: of(&[0, 10, 1500]),
            gap: of(&[0, 7, 1000, 3000]),
            gap_per_byte: of(&[0, 1, 3, 6]),
            gap_per_byte_ns: 0.0,
            overhead_per_byte: of(&[0, 0, 1, 3]),
            eager_bytes_max: of(&[0, 1, 64, 65_535]),
        };
        retries += compare(&random_program(&mut random), &parameters);
    }
    assert!(retries > 10_000, "{retries}");
}
