//! Compares the times of classes with those of all ranks.

use super::*;
use crate::Workload;
use crate::machine::PerByte;
use goal_lang::{ParseOptions, SourceMap};
use std::fmt::Write;
use std::sync::Arc;

const MACHINE: Machine = Machine {
    latency_ps: 2_500_000,
    overhead_ps: 1_500_000,
    gap_ps: 1_000_000,
    gap_per_byte: PerByte::from_nano_ns(6_000_000_000),
    overhead_per_byte: PerByte::from_nano_ns(0),
    eager_bytes_max: 65_535,
};

fn workload(text: &str) -> Workload {
    let mut sources = SourceMap::default();
    sources.add("test".to_owned(), Arc::new(text.as_bytes().to_vec()));
    let parsed = goal_lang::parse(&sources, &ParseOptions::default());
    Workload::new(&parsed.program.expect("a program"), |_, _| 0).expect("a workload")
}

pub(super) const EFFORT: Effort = Effort { memory: model::Memory::Fast, threads: 1 };

pub(super) fn machines() -> Vec<Machine> {
    let slow_bytes = PerByte::from_nano_ns(1_000_000_001);
    vec![
        MACHINE,
        Machine { eager_bytes_max: 0, ..MACHINE },
        Machine { overhead_ps: 0, ..MACHINE },
        Machine { overhead_ps: 0, gap_ps: 0, eager_bytes_max: 0, ..MACHINE },
        Machine { gap_ps: 7_000_000, overhead_per_byte: slow_bytes, ..MACHINE },
        Machine { latency_ps: 1, eager_bytes_max: 8, ..MACHINE },
        Machine { latency_ps: 0, ..MACHINE },
    ]
}

/// Compares both ways on several machines. Returns for each the number of simulated ranks.
fn compare(text: &str) -> Vec<usize> {
    let workload = workload(text);
    let check = |machine: Machine| {
        let found = simulate(&workload, &machine, EFFORT, &|_| ());
        let all = model::simulate(&workload, &machine);
        assert_eq!(found.as_ref().map(|(times, _)| times), all.as_ref(), "{machine:?}\n{text}");
        found.map_or(workload.num_ranks(), |(_, simulated)| simulated)
    };
    machines().into_iter().map(check).collect()
}

/// Returns a program in which each rank passes messages of `size(round)` bytes in rounds: it sends
/// one to each rank of `to`, and waits for one of each rank of `from`.
fn rounds(
    ranks: u32,
    rounds: u32,
    size: impl Fn(u32) -> u32,
    to: impl Fn(u32, u32) -> Vec<u32>,
    from: impl Fn(u32, u32) -> Vec<u32>,
) -> String {
    let mut text = format!("num_ranks {ranks}\n");
    for rank in 0..ranks {
        writeln!(text, "rank {rank} {{").unwrap();
        for round in 0..rounds {
            let size = size(round);
            writeln!(text, "e{round}: nop").unwrap();
            for (at, peer) in to(rank, round).into_iter().enumerate() {
                writeln!(text, "s{round}_{at}: send {size}b to {peer} tag {at}").unwrap();
                writeln!(text, "e{round} requires s{round}_{at}").unwrap();
                if round > 0 {
                    writeln!(text, "s{round}_{at} requires e{}", round - 1).unwrap();
                }
            }
            for (at, peer) in from(rank, round).into_iter().enumerate() {
                writeln!(text, "r{round}_{at}: recv {size}b from {peer} tag {at}").unwrap();
                writeln!(text, "e{round} requires r{round}_{at}").unwrap();
            }
        }
        text += "}\n";
    }
    text
}

fn dissemination(ranks: u32) -> String {
    let num_rounds = ranks.next_power_of_two().ilog2();
    rounds(
        ranks,
        num_rounds,
        |round| 8 << round,
        |rank, round| vec![(rank + (1 << round)) % ranks],
        |rank, round| vec![(rank + ranks - (1 << round)) % ranks],
    )
}

fn torus(width: u32, height: u32) -> String {
    let at = move |rank: u32, dx: u32, dy: u32| {
        (rank % width + dx) % width + (rank / width + dy) % height * width
    };
    rounds(
        width * height,
        3,
        |round| 1000 * round,
        |rank, _| {
            vec![at(rank, 1, 0), at(rank, width - 1, 0), at(rank, 0, 1), at(rank, 0, height - 1)]
        },
        |rank, _| {
            vec![at(rank, width - 1, 0), at(rank, 1, 0), at(rank, 0, height - 1), at(rank, 0, 1)]
        },
    )
}

#[test]
fn rings_and_shifts_are_one_class() {
    for ranks in [4, 5, 8, 13, 64, 100] {
        let ring = rounds(
            ranks,
            4,
            |_| 70_000,
            |rank, _| vec![(rank + 1) % ranks],
            |rank, _| vec![(rank + ranks - 1) % ranks],
        );
        assert_eq!(compare(&ring), [1, 1, 1, 1, 1, 1, ranks as usize], "{ranks} ranks");
        let found = compare(&dissemination(ranks));
        assert_eq!(found, [1, 1, 1, 1, 1, 1, ranks as usize], "{ranks} ranks");
        let alltoall = rounds(
            ranks,
            ranks - 1,
            |_| 100,
            |rank, round| vec![(rank + round + 1) % ranks],
            |rank, round| vec![(rank + ranks - round - 1) % ranks],
        );
        assert_eq!(compare(&alltoall)[0], 1, "{ranks} ranks");
    }
}

#[test]
fn xors_are_one_class() {
    for dimensions in [2, 3, 5, 7] {
        let xor = |rank: u32, round: u32| vec![rank ^ 1 << round];
        let doubling = rounds(1 << dimensions, dimensions, |round| 1 << (3 * round), xor, xor);
        assert_eq!(compare(&doubling)[..6], [1; 6], "{dimensions} dimensions");
    }
}

#[test]
fn tori_are_one_class_without_ties() {
    for (width, height) in [(3, 3), (4, 4), (5, 7), (2, 6), (2, 2)] {
        assert_eq!(compare(&torus(width, height))[0], 1, "{width} x {height}");
    }
}

/// Loads that differ by rank make as many classes as there are loads.
#[test]
fn loads_make_classes() {
    let ranks = 60;
    let mut text = rounds(
        ranks,
        5,
        |_| 8,
        |rank, _| vec![(rank + 1) % ranks],
        |rank, _| vec![(rank + ranks - 1) % ranks],
    );
    for rank in 0..ranks {
        let time = rank % 3 * 5000;
        writeln!(text, "rank {rank} {{ w: calc {time}\n s0_0 requires w }}").unwrap();
    }
    assert_eq!(compare(&text)[..2], [3, 3]);
    writeln!(text, "rank 7 {{ calc 12345 }}").unwrap();
    assert_eq!(compare(&text)[0], ranks as usize);
}

/// Equal ranks of rings of other lengths are one class. In a ring of two ranks both neighbours are
/// one rank, which makes one channel of two.
#[test]
fn rings_of_two_differ_from_longer_ones() {
    let ring = |text: &mut String, first: u32, len: u32| {
        for at in 0..len {
            let (left, right) = (first + (at + len - 1) % len, first + (at + 1) % len);
            writeln!(
                text,
                "rank {} {{ a: send 8b to {left} b: send 8b to {right} c: recv 8b from {right} \
                 d: recv 8b from {left} e: calc 70000 a requires e }}",
                first + at
            )
            .unwrap();
        }
    };
    let mut text = "num_ranks 20\n".to_owned();
    ring(&mut text, 0, 3);
    ring(&mut text, 3, 4);
    ring(&mut text, 7, 13);
    assert_eq!(compare(&text)[0], 1);
    let mut text = "num_ranks 20\n".to_owned();
    ring(&mut text, 0, 9);
    ring(&mut text, 9, 9);
    ring(&mut text, 18, 2);
    assert_eq!(compare(&text)[0], 20);
}

/// Each rank gets two messages at one moment from ranks on its two sides. The number of the source
/// decides which goes first, and that is another side at the ends of the ring.
#[test]
fn ties_of_sources_need_all_ranks() {
    let (ranks, mut text) = (16, "num_ranks 16\n".to_owned());
    for rank in 0..ranks {
        let (left, right) = ((rank + ranks - 1) % ranks, (rank + 1) % ranks);
        writeln!(
            text,
            "rank {rank} {{ send 8b to {left} cpu 0 nic 0 send 8b to {right} cpu 1 nic 1\n\
             r: recv 8b from {left} w: calc 7000 cpu 1 w requires r recv 8b from {right} }}"
        )
        .unwrap();
    }
    let workload = workload(&text);
    let (times, simulated) = simulate(&workload, &MACHINE, EFFORT, &|_| ()).unwrap();
    let finish = times.finish_ps;
    assert_eq!((simulated, finish[1] == finish[2]), (16, true));
    assert_ne!((finish[0], finish[15]), (finish[1], finish[1]), "the ends of the ring differ");
    compare(&text);
    // Other processors and interfaces for the messages of each side: nothing decides.
    let apart = text.replace("w: calc", "cpu 1 nic 1 w: calc");
    assert_eq!(compare(&apart)[0], 1);
}

// The messages of each side have a processor and an interface of their own: nothing decides.
#[test]
fn receives_at_other_positions_make_ranks_differ() {
    let text = |swapped: u32| {
        let mut text = "num_ranks 16\n".to_owned();
        for rank in 0..16 {
            let below = |by| (rank + 16 - by) % 16;
            let [first, second] = if rank == swapped { [2, 1] } else { [1, 2] }.map(below);
            writeln!(
                text,
                "rank {rank} {{ send 8b to {} send 8b to {}\n\
                 r: recv 8b from {first} recv 8b from {second} w: calc 7000 w requires r }}",
                (rank + 1) % 16,
                (rank + 2) % 16
            )
            .unwrap();
        }
        text
    };
    assert_eq!(compare(&text(16))[0], 1);
    assert_eq!(compare(&text(5))[0], 16);
}

/// Messages of one channel meet their receives in the order in which they start.
#[test]
fn channels_of_many_messages_meet_in_order() {
    let (ranks, mut text) = (12, "num_ranks 12\n".to_owned());
    for rank in 0..ranks {
        let (left, right) = ((rank + ranks - 1) % ranks, (rank + 1) % ranks);
        writeln!(
            text,
            "rank {rank} {{ w: calc 90000 a: send 8b to {right} a requires w\n\
             b: send 8b to {right} c: send 8b to {right} cpu 1\n\
             x: recv 8b from {left} y: recv 8b from {left} cpu 2 z: recv 8b from {left}\n\
             v: calc 500 v requires x u: calc 900 cpu 3 u requires y }}"
        )
        .unwrap();
    }
    assert_eq!(compare(&text)[..2], [1, 1]);
}

#[test]
fn trees_of_equal_ranks_are_classes() {
    // Many stars: a root and two leaves each.
    let mut text = "num_ranks 30\n".to_owned();
    for root in 0..10 {
        let (a, b) = (10 + 2 * root, 11 + 2 * root);
        writeln!(text, "rank {root} {{ send 64b to {a} send 64b to {b} }}").unwrap();
        writeln!(text, "rank {a} {{ recv 64b from {root} }}").unwrap();
        writeln!(text, "rank {b} {{ w: calc 5 r: recv 64b from {root} r requires w }}").unwrap();
    }
    assert_eq!(compare(&text)[..2], [3, 3]);
}

#[test]
fn binomial_trees_need_all_ranks() {
    for ranks in [2, 8, 21, 64] {
        let mut text = format!("num_ranks {ranks}\n");
        for rank in 0_u32..ranks {
            writeln!(text, "rank {rank} {{").unwrap();
            let low = if rank == 0 { 31 } else { rank.trailing_zeros() };
            if rank > 0 {
                writeln!(text, "r: recv 8b from {}", rank & (rank - 1)).unwrap();
            }
            for bit in (0..low.min(6)).rev().filter(|bit| rank + (1 << bit) < ranks) {
                writeln!(text, "s{bit}: send 8b to {}", rank + (1 << bit)).unwrap();
                if rank > 0 {
                    writeln!(text, "s{bit} requires r").unwrap();
                }
            }
            text += "}\n";
        }
        assert_eq!(compare(&text)[0], ranks as usize, "{ranks} ranks");
    }
}

#[test]
fn programs_without_times_are_refused_as_by_the_model() {
    let ring = |size: u32, circle: &str, from: u32| {
        let mut text = "num_ranks 8\n".to_owned();
        for rank in 0..8 {
            let (to, from) = ((rank + 1) % 8, (rank + from) % 8);
            writeln!(
                text,
                "rank {rank} {{ s: send 8b to {to} r: recv {size}b from {from} {circle} }}"
            )
            .unwrap();
        }
        text
    };
    for text in [ring(9, "", 7), ring(8, "s requires r", 7), ring(8, "", 6)] {
        let workload = workload(&text);
        assert!(simulate(&workload, &MACHINE, EFFORT, &|_| ()).is_err(), "{text}");
        compare(&text);
    }
}

#[test]
fn wildcards_need_all_ranks() {
    let mut text = "num_ranks 8\nrank * { recv 8b from any }\n".to_owned();
    for rank in 0..8 {
        writeln!(text, "rank {rank} {{ send 8b to {} }}", (rank + 1) % 8).unwrap();
    }
    assert_eq!(compare(&text)[0], 8);
}

/// Random programs of groups of ranks that differ by a shift or an xor, with any numbers.
#[test]
fn times_of_random_groups_are_those_of_all_ranks() {
    let (mut random, mut reduced) = (fastrand::Rng::with_seed(7), 0);
    for _ in 0..400 {
        let kinds = random.u32(1..4);
        let len = [4, 6, 8, 16, 9][random.usize(0..5)];
        let ranks = kinds * len;
        let mut number: Vec<u32> = (0..ranks).collect();
        if random.bool() {
            random.shuffle(&mut number);
        }
        let uses_xor = len.is_power_of_two() && random.bool();
        let mut bodies = vec![Vec::new(); ranks as usize];
        let cpus = random.u32(1..3);
        for message in 0..random.u32(1..14) {
            let (from, to) = (random.u32(0..kinds), random.u32(0..kinds));
            let (by, tag) = (random.u32(0..len), random.u32(0..3));
            let (cpu, other) = (random.u32(0..cpus), random.u32(0..cpus));
            let (wait_send, wait_recv) = (random.u32(0..4), random.u32(0..4));
            let calc = [0, 17, 5000][random.usize(0..3)];
            let pairs = (0..len).map(|at| {
                let peer = if uses_xor { at ^ by } else { (at + by) % len };
                (number[(from * len + at) as usize], number[(to * len + peer) as usize])
            });
            for (source, target) in pairs.clone() {
                let action = format!("send 8b to {target} tag {tag} cpu {cpu}");
                bodies[source as usize].push((action, wait_send, calc + message));
            }
            for (source, target) in pairs {
                let action = format!("recv 8b from {source} tag {tag} cpu {other}");
                bodies[target as usize].push((action, wait_recv, calc));
            }
        }
        let mut text = format!("num_ranks {ranks}\n");
        for (rank, body) in bodies.iter().enumerate() {
            writeln!(text, "rank {rank} {{").unwrap();
            for (at, (action, wait, calc)) in body.iter().enumerate() {
                writeln!(text, "a{at}: {action} c{at}: calc {calc} c{at} requires a{at}").unwrap();
                if let Some(before) = at.checked_sub(*wait as usize + 1) {
                    writeln!(text, "a{at} requires c{before}").unwrap();
                }
            }
            text += "}\n";
        }
        let found = compare(&text);
        reduced += usize::from(found[0] < ranks as usize);
    }
    assert!(reduced > 100, "{reduced} programs were reduced");
}
