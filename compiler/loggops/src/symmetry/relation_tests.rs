//! Compares the times of programs with relative peers with those of all their ranks.

use super::tests::{EFFORT, machines};
use super::*;
use goal_lang::{ParseOptions, SourceMap, SymmetricProgram, parse, parse_symmetric};
use std::fmt::Write;
use std::sync::Arc;

fn sources(text: &str) -> SourceMap {
    let mut sources = SourceMap::default();
    sources.add("text".to_owned(), Arc::new(text.as_bytes().to_vec()));
    sources
}

fn symmetric(text: &str) -> SymmetricProgram {
    parse_symmetric(&sources(text), &ParseOptions::default()).expect("a symmetric program")
}

/// Compares one rank with all on several machines. Returns for each true if one rank was enough.
fn compare(text: &str) -> Vec<bool> {
    let one = symmetric(text);
    let program = parse(&sources(text), &ParseOptions::default()).program.expect("a program");
    let all = Workload::new(&program, |_, _| 0).expect("a workload");
    let check = |machine: Machine| {
        let Some(found) = simulate_symmetric(&one, &machine) else { return false };
        let times = model::simulate(&all, &machine).expect("the program ends");
        assert!(times.finish_ps.iter().all(|&ps| ps == found.finish_ps), "{machine:?}\n{text}");
        assert_eq!(times.events, found.events, "{machine:?}\n{text}");
        true
    };
    machines().into_iter().map(check).collect()
}

/// Returns a program in which each rank sends `bytes(round)` bytes by each distance, and waits for
/// what it gets before it goes on.
fn rounds(ranks: u32, sign: [&str; 2], distances: &[u32], bytes: impl Fn(usize) -> u64) -> String {
    let mut text = format!("num_ranks {ranks}\nrank * {{\n");
    for (round, by) in distances.iter().enumerate() {
        let (bytes, [to, from]) = (bytes(round), sign);
        writeln!(text, "s{round}: send {bytes}b to rank{to}{by}").unwrap();
        writeln!(text, "r{round}: recv {bytes}b from rank{from}{by}").unwrap();
        for before in 0..round {
            writeln!(text, "s{round} requires r{before}").unwrap();
        }
    }
    text + "}\n"
}

const ALL_BUT_WITHOUT_LATENCY: [bool; 7] = [true, true, true, true, true, true, false];

#[test]
fn rings_and_disseminations_need_one_rank() {
    for ranks in [1, 2, 3, 4, 5, 8, 13, 64, 100] {
        let ring = rounds(ranks, ["+", "-"], &[1, 1, 1, 1], |_| 70_000);
        assert_eq!(compare(&ring), ALL_BUT_WITHOUT_LATENCY, "{ranks} ranks");
        let distances: Vec<u32> = (0..7).map(|round| 1 << round).collect();
        let dissemination = rounds(ranks, ["+", "-"], &distances, |round| 8 << round);
        assert_eq!(compare(&dissemination), ALL_BUT_WITHOUT_LATENCY, "{ranks} ranks");
    }
}

#[test]
fn xors_need_one_rank() {
    for dimensions in 1..7 {
        let distances: Vec<u32> = (0..dimensions).map(|bit| 1 << bit).collect();
        let doubling = rounds(1 << dimensions, ["^", "^"], &distances, |round| 1 << (3 * round));
        assert_eq!(compare(&doubling), ALL_BUT_WITHOUT_LATENCY, "{dimensions} dimensions");
    }
    // Three parts of the group without messages between them.
    assert_eq!(compare(&rounds(12, ["^", "^"], &[1, 2, 3], |_| 9)), ALL_BUT_WITHOUT_LATENCY);
}

/// Two messages come at one moment from ranks on both sides, and need one interface.
#[test]
fn ties_of_sources_need_all_ranks() {
    let text = "num_ranks 16 rank * { send 8b to rank-1 send 8b to rank+1 cpu 1 nic 1
        r: recv 8b from rank-1 w: calc 7000 cpu 1 w requires r recv 8b from rank+1 }";
    assert!(!compare(text)[0]);
    let workload =
        Workload::new(&parse(&sources(text), &ParseOptions::default()).program.unwrap(), |_, _| 0);
    let (times, _) = simulate(&workload.unwrap(), &machines()[0], EFFORT, &|_| ()).unwrap();
    assert_ne!(times.finish_ps[0], times.finish_ps[1], "the number of the source decides");
    // Both messages come from one rank.
    assert!(compare(&text.replace("16", "2"))[0]);
}

/// Messages from two sides take no time and need nothing in common. But the receive of one leads to
/// work on a processor that the other one's needs too.
#[test]
fn ties_of_messages_without_time_need_all_ranks() {
    let text = "num_ranks 8 rank * {
        send 0b to rank-1 send 0b to rank-3
        a: recv 0b from rank+1 cpu 1 nic 1 b: calc 300 cpu 1 b requires a
        c: recv 0b from rank+3 cpu 2 nic 2 d: calc 7000 cpu 2 d requires c
        e: calc 100 cpu 2 e irequires b f: calc 9000 cpu 3 f requires e }";
    let enough = compare(text);
    assert_eq!((enough[0], enough[3]), (true, false));
    let program = parse(&sources(text), &ParseOptions::default()).program.unwrap();
    let workload = Workload::new(&program, |_, _| 0).unwrap();
    let (times, simulated) = simulate(&workload, &machines()[3], EFFORT, &|_| ()).unwrap();
    assert_eq!(simulated, 8);
    assert!(times.finish_ps.iter().any(|&ps| ps != times.finish_ps[0]), "{times:?}");
}

#[test]
fn what_is_in_doubt_needs_all_ranks() {
    let all = |body: &str| {
        let found = symmetric(&format!("num_ranks 8 rank * {{ {body} }}"));
        machines().iter().all(|machine| simulate_symmetric(&found, machine).is_none())
    };
    assert!(all("send 8b to rank+1 recv 8b from rank+1"), "nobody receives the message");
    assert!(all("send 8b to rank+1 recv 9b from rank-1"), "another size");
    assert!(all("send 8b to rank+1 recv 8b from rank-1 tag 1"), "another tag");
    assert!(all("send 8b to rank+1 recv 8b from rank-1 tag any"), "a wildcard");
    assert!(all("s: send 8b to rank^1 r: recv 8b from rank^1 s requires r"), "a circle");
    assert!(!all("send 8b to rank+1 recv 8b from rank-1"), "a ring");
}

/// Random programs with any distances, tags, processors and dependencies.
#[test]
fn times_of_random_programs_are_those_of_all_ranks() {
    let (mut random, mut found) = (fastrand::Rng::with_seed(11), [0, 0]);
    for _ in 0..600 {
        let ranks = [1_u32, 2, 3, 4, 8, 9, 12, 16][random.usize(0..8)];
        let block = 1 << ranks.trailing_zeros();
        let uses_xor = random.bool();
        let (cpus, mut lines) = (random.u32(1..4), Vec::new());
        for _ in 0..random.u32(1..10) {
            let tag = random.u32(0..3);
            let size = [0, 8, 100, 70_000][random.usize(0..4)];
            let by = random.u32(0..if uses_xor { block } else { ranks });
            let [to, from] = match (uses_xor, random.bool()) {
                (true, _) => ["^", "^"],
                (_, true) => ["+", "-"],
                _ => ["-", "+"],
            };
            lines.push(format!("send {size}b to rank{to}{by} tag {tag}"));
            lines.push(format!("recv {size}b from rank{from}{by} tag {tag}"));
        }
        let mut text = format!("num_ranks {ranks} rank * {{\n");
        for (at, line) in lines.iter().enumerate() {
            let (cpu, nic, calc) = (random.u32(0..cpus), random.u32(0..cpus), random.u32(0..9000));
            writeln!(text, "a{at}: {line} cpu {cpu} nic {nic} c{at}: calc {calc} cpu {cpu}")
                .unwrap();
            writeln!(text, "c{at} requires a{at}").unwrap();
            if let Some(before) = (at as u32).checked_sub(random.u32(1..5)) {
                let way = ["requires", "irequires"][random.usize(0..2)];
                writeln!(text, "a{at} {way} c{before}").unwrap();
            }
        }
        for is_enough in compare(&(text + "}")) {
            found[usize::from(is_enough)] += 1;
        }
    }
    assert!(found.iter().all(|&found| found > 500), "{found:?}");
}
