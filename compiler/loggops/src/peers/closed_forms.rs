//! Holds the model of ATLAHS to closed forms: those of the study `loggopsim_ideal_v1` in
//! openfabric-systems/simllm (pull request 156), which the peer's program reproduces.

use super::{Parameters, atlahs};
use crate::model::tests::workload;
use crate::workload::Workload;
use std::fmt::Write;

/// Simulates a program, with `G` as decimal text. Returns the end of each rank.
fn finish(text: &str, [l, o, g]: [u64; 3], byte: &str, big_o: u64, s: u64) -> Vec<u64> {
    let parameters = Parameters {
        latency: l,
        overhead: o,
        gap: g,
        gap_per_byte: 0,
        gap_per_byte_ns: byte.parse().unwrap(),
        overhead_per_byte: big_o,
        eager_bytes_max: s,
    };
    let workload: Workload = workload(text);
    let outcome = atlahs::simulate(&workload, &parameters, &mut ()).unwrap();
    assert_eq!((outcome.left, outcome.waiting), (0, 0));
    outcome.finish_ns
}

fn last(text: &str, lengths: [u64; 3], byte: &str, big_o: u64, s: u64) -> u64 {
    finish(text, lengths, byte, big_o, s).into_iter().max().unwrap()
}

/// The time of a byte times the bytes of a message but one, rounded down once.
fn bytes(size: u64, byte: &str) -> u64 {
    ((size - 1) as f64 * byte.parse::<f64>().unwrap()) as u64
}

fn pair(size: u64) -> String {
    format!("rank 0 {{ send {size}b to 1 }} rank 1 {{ recv {size}b from 0 }}")
}

/// `rounds` steps around each of `rings` rings of `ranks` ranks. Each rank sends to the next one
/// once the message of the step before has come.
fn rings(rings: u64, ranks: u64, rounds: u64, size: u64) -> String {
    let mut text = String::new();
    for rank in 0..rings * ranks {
        let first = rank / ranks * ranks;
        let (next, previous) = (first + (rank + 1) % ranks, first + (rank + ranks - 1) % ranks);
        writeln!(text, "rank {rank} {{").unwrap();
        for round in 0..rounds {
            writeln!(text, "s{round}: send {size}b to {next} tag {round}").unwrap();
            writeln!(text, "r{round}: recv {size}b from {previous} tag {round}").unwrap();
            if round > 0 {
                let before = round - 1;
                writeln!(text, "s{round} requires r{before} r{round} requires r{before}").unwrap();
            }
        }
        text.push_str("}\n");
    }
    text
}

/// One message that goes around four ranks.
fn chain(size: u64) -> String {
    let mut text = format!("rank 0 {{ send {size}b to 1 recv {size}b from 3 }}\n");
    for rank in 1..4 {
        let (previous, next) = (rank - 1, (rank + 1) % 4);
        writeln!(
            text,
            "rank {rank} {{ r: recv {size}b from {previous} s: send {size}b to {next} s requires r }}"
        )
        .unwrap();
    }
    text
}

/// Each rank sends to each other one. The pairs are visited by source, then by destination.
fn alltoall(ranks: usize, size: u64) -> String {
    let mut blocks = vec![String::new(); ranks];
    for source in 0..ranks {
        for to in (0..ranks).filter(|&to| to != source) {
            writeln!(blocks[source], "send {size}b to {to}").unwrap();
            writeln!(blocks[to], "recv {size}b from {source}").unwrap();
        }
    }
    let blocks = blocks.iter().enumerate();
    blocks.map(|(rank, block)| format!("rank {rank} {{\n{block}}}\n")).collect()
}

#[test]
fn one_message_takes_each_parameter_once() {
    let at = |l, o, g, byte, big_o| last(&pair(17), [l, o, g], byte, big_o, 50);
    assert_eq!(at(100, 10, 7, "3", 0), 175);
    assert_eq!(at(130, 10, 7, "3", 0), 205);
    assert_eq!(at(100, 13, 7, "3", 0), 181);
    assert_eq!(at(100, 10, 11, "3", 0), 179);
    assert_eq!(at(100, 10, 7, "5", 0), 207);
    assert_eq!(at(100, 10, 7, "3", 2), 239);
    assert_eq!(last(&pair(64), [137, 19, 11], "0.25", 3, 64), 579);
}

#[test]
fn a_large_message_holds_its_sender() {
    assert_eq!(finish(&pair(51), [100, 10, 7], "3", 0, 50), [277, 277]);
    assert_eq!(finish(&pair(51), [100, 10, 7], "3", 0, 51), [10, 277]);
}

#[test]
fn bytes_are_rounded_down_once_for_a_message() {
    let expected =
        [(50, 0), (51, 1), (64, 1), (101, 2), (4096, 81), (65_536, 1310), (1_048_576, 20_971)];
    for (size, ns) in expected {
        assert_eq!(bytes(size, "0.02"), ns);
        assert_eq!(last(&pair(size), [0, 0, 0], "0.02", 0, 10_000_000), ns);
    }
}

#[test]
fn dependencies_cost_nothing() {
    let calcs = |word| format!("rank 0 {{ a: calc 123 cpu 0 b: calc 17 cpu 1 b {word} a }}");
    assert_eq!(last(&calcs("requires"), [101, 999, 13], "0.02", 7, 5), 140);
    assert_eq!(last(&calcs("irequires"), [101, 999, 13], "0.02", 7, 5), 123);
}

#[test]
fn steps_around_a_ring_add_up() {
    let settings =
        [([100, 10, 7], "3", 17, 50, 175), ([2500, 1500, 1000], "0.02", 4096, 65_535, 6581)];
    for ([l, o, g], byte, size, s, step) in settings {
        assert_eq!(l + 2 * o + g + bytes(size, byte), step);
        let at = |text: &str| last(text, [l, o, g], byte, 0, s);
        assert_eq!(at(&rings(1, 4, 1, size)), step);
        assert_eq!(at(&chain(size)), 4 * step);
        assert_eq!(at(&rings(1, 4, 6, size)), 6 * step);
    }
    // 24 layers with two reductions each: 14 steps of 8 ranks.
    let layers = rings(8, 8, 24 * 2 * 14, 4096);
    assert_eq!(last(&layers, [2500, 1500, 1000], "0.02", 0, 65_535), 24 * 2 * 14 * 6581);
}

#[test]
fn messages_of_all_to_all_queue() {
    let settings =
        [([1000, 80, 7], "3", 17, 50, 1462), ([10_000, 100, 50], "0.25", 4096, 65_535, 13_569)];
    for ([l, o, g], byte, size, s, expected) in settings {
        let d = bytes(size, byte);
        let (p, r) = (o.max(g + d), o + g);
        assert_eq!(l + o + d + (2 * p).max(r) + 2 * r, expected);
        assert_eq!(last(&alltoall(4, size), [l, o, g], byte, 0, s), expected);
    }
    let many = alltoall(64, 1_048_576);
    // The form's size is above S: all sends are large.
    assert_eq!(last(&many, [2500, 1500, 1000], "0.02", 0, 65_535), 1_408_731);
}
