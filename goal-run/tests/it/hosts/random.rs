//! Compares random programs on several hosts with the interpreter. The switch loses, doubles,
//! delays and damages frames.

use crate::hosts::bench::Bench;
use goal_asm::{EncodeOptions, encode};
use goal_cluster::{Faults, Switch, Wiring};
use goal_smith::{Shape, program};

#[test]
fn random_programs_are_verified() {
    let faults = Faults {
        lost: 20_000,
        doubled: 20_000,
        delayed: 50_000,
        delay_ns: 100_000,
        damaged: 5000,
        ..Faults::default()
    };
    let wiring = Wiring { switch: Switch::Faulty(faults, 11), ..Wiring::bridge(3) };
    let Some(bench) = Bench::or_skip("random", &wiring) else { return };
    for seed in 0..goal_filetest::seeds(36) {
        verify(&bench, seed, &Shape::varied(seed), &[]);
    }
}

#[test]
fn without_authentication_checksums_find_damage() {
    let faults = Faults { lost: 10_000, damaged: 20_000, ..Faults::default() };
    let wiring = Wiring { switch: Switch::Faulty(faults, 12), ..Wiring::bridge(3) };
    let Some(bench) = Bench::or_skip("unauthenticated", &wiring) else { return };
    for seed in 0..goal_filetest::seeds(12) {
        verify(&bench, seed, &Shape::varied(seed), &["--unauthenticated-data"]);
    }
}

#[test]
fn what_arrives_is_combined_in_whole_elements() {
    // An odd size cuts packets within elements of every type.
    let wiring = Wiring { mtu: 1499, ..Wiring::bridge(3) };
    let Some(bench) = Bench::or_skip("combined", &wiring) else { return };
    for seed in 0..goal_filetest::seeds(60) {
        verify(&bench, seed, &Shape::reductions(), &[]);
    }
}

#[test]
fn the_kernel_and_processes_run_random_programs_together() {
    if let Err(missing) = goal_job::Offload::probe() {
        return goal_filetest::skipped(&missing);
    }
    let faults = Faults { lost: 20_000, doubled: 20_000, damaged: 5000, ..Faults::default() };
    let wiring = Wiring { switch: Switch::Faulty(faults, 13), ..Wiring::bridge(3) };
    let Some(bench) = Bench::or_skip("random in the kernel", &wiring) else { return };
    let mut ran = 0;
    for seed in 0..goal_filetest::seeds(16) {
        let outcomes_may_differ = seed.is_multiple_of(2);
        let shape = Shape { wtime: true, outcomes_may_differ, ..Shape::varied(seed) };
        if program(seed, &shape).num_ranks() > 1 {
            verify(&bench, seed, &shape, &["--offload", "kernel"]);
            ran += 1;
        }
    }
    assert!(ran > 0);
}

/// Runs a program of a shape on as many hosts as it has ranks for.
fn verify(bench: &Bench, seed: u64, shape: &Shape, more: &[&str]) {
    {
        let program = program(seed, shape);
        let ranks = program.num_ranks();
        let mut bytes = Vec::new();
        encode(&program, &EncodeOptions::default(), None, &mut bytes).unwrap();
        let path = bench.path("program.nisa");
        std::fs::write(&path, bytes).unwrap();
        let hosts = ranks.min(3).to_string();
        let eager_limit = ["0", "40", "16384"][seed as usize % 3];
        let ranks_as = ["processes", "threads"][seed as usize / 3 % 2];
        let progress = ["caller", "thread"][seed as usize / 6 % 2];
        let arguments = [
            ["--hosts", &hosts],
            ["--eager-limit", eager_limit],
            ["--ranks-as", ranks_as],
            ["--progress", progress],
            ["--calc", "skip"],
            ["--repeat", "2"],
        ];
        let arguments =
            [&["--discover", "--verify", "--no-check"], more, arguments.as_flattened()].concat();
        let all = bench.run_on(ranks.min(3) as usize, path.to_str().unwrap(), &arguments);
        for ended in &all {
            assert_eq!(ended.status, Some(0), "seed {seed}: {ended:?}");
        }
        assert!(all.iter().any(|ended| ended.out.contains("verified: ")), "seed {seed}: {all:?}");
    }
}
