//! Compares random programs of several launchers with the interpreter.

use crate::tcp::bench::Bench;
use goal_asm::{EncodeOptions, encode};
use goal_smith::{Shape, program};

/// Runs a program of a shape by as many launchers as it has ranks for.
fn verify(bench: &Bench, seed: u64, launchers: usize) {
    let program = program(seed, &Shape::varied(seed));
    let launchers = launchers.min(program.num_ranks() as usize);
    let mut bytes = Vec::new();
    encode(&program, &EncodeOptions::default(), None, &mut bytes).unwrap();
    let path = bench.write("program.nisa", bytes);
    let eager_limit = ["0", "40", "16384"][seed as usize % 3];
    let ranks_as = ["processes", "threads"][seed as usize / 3 % 2];
    let progress = ["caller", "thread"][seed as usize / 6 % 2];
    let options = ["--eager-limit", eager_limit, "--ranks-as", ranks_as, "--progress", progress];
    let more = [&*path, "--verify", "--no-check", "--calc", "skip", "--repeat", "2"];
    let report = bench.report(launchers, &[&more[..], &options].concat());
    assert!(report["verified"].is_object(), "seed {seed}: {report}");
}

#[test]
fn random_programs_are_verified() {
    let bench = Bench::loopback();
    for seed in 0..goal_filetest::seeds(24) {
        verify(&bench, seed, 2 + seed as usize % 3);
    }
}

#[test]
fn random_programs_are_verified_over_ipv6() {
    let Some(bench) = Bench::ipv6_or_skip("random programs over IPv6") else { return };
    for seed in 100..100 + goal_filetest::seeds(8) {
        verify(&bench, seed, 3);
    }
}
