//! Runs every example on hosts of its own, behind a switch with the faults of real switches.

use crate::common::examples;
use crate::hosts::bench::Bench;
use goal_cluster::{Faults, Switch, Wiring};
use goal_lang::limits::Limits;
use std::path::Path;

/// Ranks of a program.
fn num_ranks(path: &Path) -> usize {
    let options =
        goalc::driver::Options { check: false, limits: Limits::default(), ..Default::default() };
    goalc::driver::compile(&[path.to_owned()], &options).unwrap().nisa.num_ranks() as usize
}

/// Runs every example on at most `hosts` hosts, each with at least one rank.
fn every_example_is_verified(name: &str, hosts: usize, switch: Switch) {
    let Some(bench) = Bench::or_skip(name, &Wiring { hosts, mtu: 1500, switch }) else { return };
    for path in examples() {
        let hosts = hosts.min(num_ranks(&path));
        if hosts < 2 {
            continue;
        }
        let (program, hosts) = (path.to_str().unwrap(), hosts.to_string());
        let arguments = ["--discover", "--hosts", &hosts, "--verify", "--format", "json"];
        let ended = bench.run_on(hosts.parse().unwrap(), program, &arguments);
        for ended in &ended {
            assert_eq!(ended.status, Some(0), "{name}, {path:?}: {ended:?}");
        }
        let report = ended[0].json();
        assert_eq!(
            (&report["status"], &report["unreceived"]),
            (&"ok".into(), &0.into()),
            "{path:?}"
        );
        assert!(report["verified"]["receives"].as_u64().unwrap() > 0, "{path:?}");
    }
}

#[test]
fn on_a_bridge() {
    every_example_is_verified("examples on a bridge", 4, Switch::Bridge);
}

#[test]
fn where_frames_are_lost() {
    let faults = Faults { lost: 100_000, ..Faults::default() };
    every_example_is_verified("examples with loss", 4, Switch::Faulty(faults, 1));
}

#[test]
fn where_frames_are_doubled_delayed_and_damaged() {
    let faults = Faults {
        lost: 10_000,
        doubled: 50_000,
        delayed: 50_000,
        delay_ns: 300_000,
        damaged: 20_000,
        ..Faults::default()
    };
    every_example_is_verified("examples with all faults", 8, Switch::Faulty(faults, 2));
}
