//! Files of simulations, read back.

use super::Outputs;
use crate::Cli;
use crate::simulation::simulate_with;
use crate::source::Subject;
use clap::Parser;
use goal_loggops::model::{Job, Observer};
use serde_json::Value;
use std::collections::HashMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Simulates a text with these further arguments. Returns the folder of the files: `x.json`,
/// `x.svg` and `x.csv`.
pub(super) fn run(text: &str, arguments: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    run_in(folder.path(), text.as_bytes(), arguments);
    folder
}

/// Simulates the bytes of an input, with the files in a folder.
pub(super) fn run_in(folder: &Path, input: &[u8], arguments: &[&str]) {
    let at = |name: &str| folder.join(name).display().to_string();
    fs::write(at("x.goal"), input).unwrap();
    let files = [("--timeline", "x.json"), ("--timeline", "x.svg"), ("--matches", "x.csv")];
    let mut line = vec!["goal-sim".to_owned(), at("x.goal")];
    files.iter().for_each(|(option, name)| line.extend([option.to_string(), at(name)]));
    line.extend(arguments.iter().map(|&argument| argument.to_owned()));
    let arguments = Cli::parse_from(line).arguments;
    let parameters = arguments.parameters.parse(arguments.model).unwrap();
    let subject = Subject::read(&arguments.input, arguments.format.findings()).unwrap();
    let mut outputs = Outputs::create(&arguments, &parameters, &subject).unwrap();
    let times = simulate_with(&subject.workload, &parameters, &(), &mut outputs);
    let times = times.unwrap_or_else(|_| panic!("the program gets stuck:\n{}", text_of(input)));
    outputs.finish(&times.finish_ps, None).unwrap();
}

fn text_of(input: &[u8]) -> String {
    String::from_utf8_lossy(input).into_owned()
}

/// Returns a random program that ends: messages stand in one order of all.
pub(super) fn program(random: &mut fastrand::Rng, messages: usize) -> String {
    let ranks = random.usize(1..7);
    let (cpus, nics) = (random.usize(1..5), random.u32(1..3));
    let cpu = |random: &mut fastrand::Rng| [0, 1, 256, 65535][random.usize(0..cpus)];
    let mut bodies = vec![String::new(); ranks];
    for at in 0..messages {
        let (from, to) = (random.usize(0..ranks), random.usize(0..ranks));
        let size = [0, 1, 8, 3000][random.usize(0..4)];
        let mut place = || format!("cpu {} nic {}", cpu(random), random.u32(0..nics));
        let _ = writeln!(bodies[from], "s{at}: send {size}b to {to} tag {at} {}", place());
        let _ = writeln!(bodies[to], "r{at}: recv {size}b from {from} tag {at} {}", place());
        if random.bool() {
            let time = [0, 1, 700, 9000][random.usize(0..4)];
            let _ = writeln!(bodies[to], "c{at}: calc {time} cpu {}", cpu(random));
            // A late receive meets a message that was taken in before it was posted.
            let edge =
                if random.bool() { format!("r{at} requires c{at}\n") } else { String::new() };
            bodies[to] += &edge;
        }
    }
    let bodies = bodies.iter().enumerate();
    bodies.fold(format!("num_ranks {ranks}\n"), |mut text, (rank, body)| {
        let _ = writeln!(text, "rank {rank} {{\n{body}}}");
        text
    })
}

/// Returns a time of an event in picoseconds. It is exact, because the number has few digits here.
fn picos(event: &Value, key: &str) -> u64 {
    (event[key].as_f64().unwrap() * 1e6).round() as u64
}

#[test]
fn traces_have_both_ends_of_flows_and_no_overlaps() {
    let mut random = fastrand::Rng::with_seed(11);
    for _ in 0..40 {
        let text = program(&mut random, 30);
        let machine: &[&str] = match random.u8(0..3) {
            0 => &[],
            1 => &["-o", "0.007", "-g", "3.5", "-O", "0.25"],
            _ => &["-L", "1", "-o", "900", "-G", "0.04"],
        };
        let folder = run(&text, machine);
        let trace = fs::read(folder.path().join("x.json")).unwrap();
        let trace: Value = serde_json::from_slice(&trace).unwrap();
        assert_eq!(trace["displayTimeUnit"], "ns");
        let events = trace["traceEvents"].as_array().unwrap();
        let of = |phase: &str| -> Vec<&Value> {
            events.iter().filter(|event| event["ph"] == phase).collect()
        };
        let named = of("M").into_iter().filter(|event| event["name"] == "thread_name");
        let named: Vec<_> = named.map(|event| (&event["pid"], &event["tid"])).collect();
        let mut tracks: HashMap<_, Vec<(u64, u64)>> = HashMap::new();
        for event in of("X") {
            let track = (event["pid"].as_u64(), event["tid"].as_u64());
            let start = picos(event, "ts");
            assert!(named.contains(&(&event["pid"], &event["tid"])), "{event}");
            tracks.entry(track).or_default().push((start, start + picos(event, "dur")));
        }
        for slices in tracks.values_mut() {
            slices.sort_unstable();
            let overlap = slices.windows(2).find(|pair| pair[0].1 > pair[1].0);
            assert_eq!(overlap, None, "{text}");
        }
        // Each flow begins in a slice of its send, ends in one of its receive, and no earlier.
        let (starts, ends) = (of("s"), of("f"));
        assert_eq!((starts.len(), ends.len()), (30, 30));
        for start in starts {
            let end = ends.iter().find(|end| end["id"] == start["id"]).expect("the other end");
            assert!(picos(end, "ts") >= picos(start, "ts"));
            for (event, category) in [(start, "send"), (*end, "recv")] {
                let holds = |slice: &&&Value| {
                    ["pid", "tid", "ts"].iter().all(|&key| slice[key] == event[key])
                        && slice["cat"] == category
                };
                assert!(of("X").iter().any(|slice| holds(&slice)), "{event}");
            }
        }
    }
}

#[test]
fn matches_agree_with_the_rules() {
    let mut random = fastrand::Rng::with_seed(12);
    for _ in 0..20 {
        let text = program(&mut random, 30);
        let folder = run(&text, &["-G", "0.04"]);
        let table = fs::read_to_string(folder.path().join("x.csv")).unwrap();
        let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
        assert_eq!(rows.len(), 31);
        for row in &rows[1..] {
            assert_eq!(row.len(), rows[0].len());
            // Labels and tags of a message and its receive have one number.
            assert_eq!((&row[3][1..], &row[3][..1]), (row[8], "s"));
            assert_eq!((&row[7][1..], &row[7][..1]), (row[8], "r"));
            let lines: Vec<&str> = text.lines().collect();
            let line = |column: usize| lines[row[column].parse::<usize>().unwrap() - 1];
            assert!(line(2).starts_with(&format!("{}:", row[3])), "{row:?}");
            assert!(line(6).starts_with(&format!("{}:", row[7])), "{row:?}");
            let time =
                |column: usize| (row[column].parse::<f64>().unwrap() * 1000.0).round() as u64;
            let [start, arrival, posted, taken, end] = [10, 11, 12, 13, 14].map(time);
            assert_eq!(arrival, start + 4_000_000, "o + L");
            assert!(arrival <= taken);
            let bytes: u64 = row[9].parse().unwrap();
            assert_eq!(end, (taken + 1_500_000 + 40 * (bytes.max(1) - 1)).max(posted), "{row:?}");
        }
    }
}

#[test]
fn tracks_are_those_that_jobs_hold() {
    struct Check<'a>(&'a goal_loggops::Workload, Vec<goal_loggops::model::Track>, usize);
    impl Observer for Check<'_> {
        fn start(&mut self, job: Job) {
            for held in [job.cpu, job.side].into_iter().flatten() {
                assert_eq!(self.1[held.place as usize].rank, job.rank);
            }
            if let (false, Some(cpu)) = (job.is_message, job.cpu) {
                self.2 += 1;
                let number = self.1[cpu.place as usize].number;
                assert_eq!(number, self.0.record(job.action).cpu);
            }
        }
    }
    let mut random = fastrand::Rng::with_seed(13);
    for _ in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.goal");
        fs::write(&file, program(&mut random, 20)).unwrap();
        let arguments = Cli::parse_from(["goal-sim".into(), file.into_os_string()]).arguments;
        let parameters = arguments.parameters.parse(arguments.model).unwrap();
        let subject = Subject::read(&arguments.input, arguments.format.findings()).unwrap();
        let workload = &subject.workload;
        let mut check = Check(workload, goal_loggops::model::tracks(workload), 0);
        assert!(simulate_with(workload, &parameters, &(), &mut check).is_ok());
        assert!(check.2 >= 20, "jobs were seen");
    }
}

#[test]
fn decimals_keep_all_digits() {
    use super::decimal::{Decimal, Unit};
    let text = |ps, unit| Decimal(ps, unit).to_string();
    assert_eq!(text(5_542_001, Unit::Microseconds), "5.542001");
    assert_eq!(text(u64::MAX, Unit::Microseconds), "18446744073709.551615");
    assert_eq!(text(40, Unit::Nanoseconds), "0.04");
    assert_eq!(text(3_000, Unit::Nanoseconds), "3");
}
