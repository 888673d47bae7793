//! Tests jobs of several launchers that complete.

use crate::common::examples;
use crate::tcp::bench::{Bench, pairs, ring};
use goal_lang::limits::Limits;
use std::fs;
use std::path::Path;

/// Ranks of a program.
fn num_ranks(path: &Path) -> usize {
    let options =
        goalc::driver::Options { check: false, limits: Limits::default(), ..Default::default() };
    goalc::driver::compile(&[path.to_owned()], &options).unwrap().nisa.num_ranks() as usize
}

/// Runs every example by as many launchers as there are ranks, at most `launchers`.
fn every_example_is_verified(bench: &Bench, launchers: usize) {
    for path in examples() {
        let launchers = launchers.min(num_ranks(&path));
        let report = bench.report(launchers, &[path.to_str().unwrap(), "--verify"]);
        assert_eq!(
            (&report["status"], &report["unreceived"]),
            (&"ok".into(), &0.into()),
            "{path:?}"
        );
        assert!(report["verified"]["receives"].as_u64().unwrap() > 0, "{path:?}: {report}");
    }
}

#[test]
fn every_example_by_two_launchers_over_ipv6() {
    let Some(bench) = Bench::ipv6_or_skip("examples over IPv6") else { return };
    every_example_is_verified(&bench, 2);
}

#[test]
fn every_example_by_three_launchers() {
    every_example_is_verified(&Bench::loopback(), 3);
}

#[test]
fn every_example_on_four_hosts() {
    let Some(bench) = Bench::hosts_or_skip("examples on hosts over TCP", 4) else { return };
    every_example_is_verified(&bench, 4);
}

#[test]
fn launchers_tell_what_they_did() {
    let bench = Bench::at("localhost");
    let program = bench.write("pairs.goal", pairs());
    for ranks_as in ["processes", "threads"] {
        let ended = bench.run(2, &[&program, "--ranks-as", ranks_as, "--verify"]);
        ended.iter().for_each(|ended| ended.assert_status(0));
        assert!(
            ended[0].out.starts_with("4 ranks: 8 messages, 432 bytes, 400 bytes of them checked"),
            "{:?}",
            ended[0]
        );
        assert!(ended[0].out.contains("\nverified: "), "{:?}", ended[0]);
        assert_eq!(ended[1].out, "ranks 2-3 of 4 were here\n");
        assert!(ended.iter().all(|ended| ended.err.is_empty()), "{ended:?}");
    }
}

#[test]
fn a_launcher_may_be_alone() {
    let bench = Bench::loopback();
    let program = bench.write("pairs.goal", pairs());
    let report = bench.report(1, &[&program, "--verify"]);
    assert_eq!(report["ranks"], 4);
}

#[test]
fn ranks_go_where_here_puts_them() {
    let bench = Bench::loopback();
    let program = bench.write("pairs.goal", pairs());
    let ended =
        bench.run_each(&[&[&program, "--here", "3,0"], &[&program, "--here", "1-2", "--verify"]]);
    // The launchers differ in an option, so the job does not start.
    ended.iter().for_each(|ended| ended.assert_status(2));
    let ended = bench.run_each(&[&[&program, "--here", "3,0"], &[&program, "--here", "1-2"]]);
    ended.iter().for_each(|ended| ended.assert_status(0));
    assert_eq!(ended[1].out, "ranks 1-2 of 4 were here\n");
}

#[test]
fn instances_in_a_window_of_any_kind_of_rank() {
    let bench = Bench::loopback();
    // Messages of every way: at once, in parts, and behind their receive.
    for bytes in [100, 40_000, 3_000_000] {
        let program = bench.write("ring.goal", ring(bytes));
        for more in [
            &["--window", "2", "--no-check"][..],
            &["--ranks-as", "threads", "--window", "3", "--no-check"],
            &["--progress", "thread", "--wait", "block"],
            &["--eager-limit", "0", "--wait", "spin"],
        ] {
            let report = bench.report(4, &[&[&*program, "--repeat", "5"], more].concat());
            assert_eq!(report["messages"], 20, "{more:?}");
            assert_eq!(report["verified_bytes"], 20 * bytes, "{more:?}");
        }
    }
}

#[test]
fn the_leader_alone_writes_memory_and_traces() {
    let bench = Bench::loopback();
    let program = bench.write("pairs.goal", pairs());
    let (dump, trace) = (bench.path("out"), bench.path("trace.json"));
    let (dump, trace) = (dump.to_str().unwrap(), trace.to_str().unwrap());
    let ended = bench.run(3, &[&program, "--dump", dump, "--trace", trace, "--stats"]);
    ended.iter().for_each(|ended| ended.assert_status(0));
    for ended in &ended[1..] {
        let says = "--dump, --trace, --stats: only host 0 at ";
        ended.assert_says(&[says, " does this, which has rank 0 and leads"]);
    }
    for rank in 0..4u64 {
        let bytes = fs::read(format!("{dump}/rank-{rank}.bin")).unwrap();
        assert_eq!(bytes, [100 + rank, 100 + (rank + 2) % 4].map(u64::to_le_bytes).concat());
    }
    let text = fs::read_to_string(trace).unwrap();
    let trace: serde_json::Value = serde_json::from_str(&text).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    for rank in 0..4 {
        let is_send = |event: &&serde_json::Value| {
            event["pid"] == rank && event["name"].as_str().is_some_and(|name| name.contains("send"))
        };
        assert!(events.iter().any(|event| is_send(&event)), "rank {rank}: {text}");
    }
}

#[test]
fn ports_are_those_that_were_given() {
    let Some(bench) = Bench::hosts_or_skip("ports", 2) else { return };
    let program = bench.write("ring.goal", ring(1000));
    let [first, second] = [0, 1].map(|host: usize| bench.cluster().hosts()[host].ip().to_string());
    // Two ranks a host fit into two ports.
    let ended = bench.run_each(&[
        &[&program, "--ports", "20000-20001", "--address", &first],
        &[&program, "--ports", "20000-20001", "--address", &second],
    ]);
    ended.iter().for_each(|ended| ended.assert_status(0));
    let ended = bench
        .run_each(&[&[&program, "--ports", "20000-20001"], &[&program, "--ports", "20000-20000"]]);
    for ended in &ended {
        ended.assert_status(2);
        ended.assert_says(&["port 20000 of ", " is in use: "]);
    }
    // An address that is not this host's.
    let ended = bench.run_each(&[&[&program], &[&program, "--address", "192.0.2.1"]]);
    for ended in &ended {
        ended.assert_status(2);
        ended.assert_says(&[
            "192.0.2.1 is no address of this host: give one that `ip address` lists",
        ]);
    }
}
