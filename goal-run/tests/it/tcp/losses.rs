//! Tests hosts and connections that are lost while a job runs.

use crate::common::Ended;
use crate::common::processes::{
    assert_gone, children_of, is_mapped, is_rank, parent_of, ranks_of, state_of, wait_for,
    wait_until_begun, wait_until_mapped,
};
use crate::tcp::bench::{Bench, LONG, ended, ring};
use goal_cluster::INTERFACE;
use goal_filetest::{patience, skipped};
use rustix::process::{Pid, Signal, kill_process};
use std::process::Child;
use std::time::{Duration, Instant};

/// The silence after which hosts are lost in these tests, and the patience with the end of a job
/// then, in seconds.
const SILENCE: [&str; 2] = ["--fault-timeout", "2"];
const LIMIT: u64 = 20;

/// The programs: ranks that compute only, small messages, and messages that fill all buffers.
fn programs(bench: &Bench) -> Vec<String> {
    let texts = [LONG.to_owned(), ring(1000), ring(4_000_000)];
    let write = |(number, text): (usize, String)| bench.write(&format!("{number}.goal"), text);
    texts.into_iter().enumerate().map(write).collect()
}

/// Starts a long job of two launchers, does something to it while it runs, and waits for its end.
fn after(bench: &Bench, program: &str, what: impl FnOnce(&[Child], &[Vec<Pid>])) -> Vec<Ended> {
    let repeat = if program.ends_with("0.goal") { "1" } else { "100000000" };
    let arguments = [&[program, "--repeat", repeat][..], &SILENCE].concat();
    let children = bench.start(2, &arguments);
    let ranks: Vec<Vec<Pid>> =
        children.iter().map(|child| ranks_of(Pid::from_child(child), 2)).collect();
    ranks.iter().for_each(|ranks| wait_until_mapped(ranks));
    // All have begun.
    wait_until_begun(&ranks.concat());
    let since = Instant::now();
    what(&children, &ranks);
    let all = children.into_iter().map(ended).collect();
    assert!(since.elapsed() < patience(LIMIT), "{:?}: {all:?}", since.elapsed());
    println!("{program}: after {:?}: {all:?}", since.elapsed());
    assert_gone(&ranks.concat());
    all
}

/// Checks that both launchers name the other's host, with its ranks.
fn assert_both_lost(bench: &Bench, all: &[Ended]) {
    for (host, ended) in all.iter().enumerate() {
        assert!(matches!(ended.status, Some(1 | 4)), "{ended:?}");
        let other = bench.cluster().hosts()[1 - host].ip();
        ended.assert_says(&[&format!("host {} at {other}", 1 - host), " is lost: "]);
    }
}

#[test]
fn a_launcher_that_is_killed_is_named() {
    let bench = Bench::loopback();
    for program in programs(&bench) {
        for victim in 0..2 {
            let kill = |children: &[Child], _: &[Vec<Pid>]| {
                kill_process(Pid::from_child(&children[victim]), Signal::KILL).unwrap();
            };
            let all = after(&bench, &program, kill);
            assert_eq!(all[victim].status, None);
            let other = &all[1 - victim];
            other.assert_status(4);
            let (first, last) = (2 * victim, 2 * victim + 1);
            let ranks = format!("host {victim} at 127.0.0.1 with ranks {first}-{last} is lost: ");
            other.assert_says(&[&ranks]);
        }
    }
}

#[test]
fn a_host_that_is_unplugged_is_named() {
    let Some(bench) = Bench::hosts_or_skip("unplugged over TCP", 2) else { return };
    for program in programs(&bench) {
        bench.cluster().plug(1, true).unwrap();
        let unplug = |_: &[Child], _: &[Vec<Pid>]| bench.cluster().plug(1, false).unwrap();
        let all = after(&bench, &program, unplug);
        assert_both_lost(&bench, &all);
    }
}

#[test]
fn a_host_whose_address_is_taken_away_is_named() {
    let Some(bench) = Bench::hosts_or_skip("half-open over TCP", 2) else { return };
    let host = &bench.cluster().hosts()[1];
    let address = |what: &str| {
        let net = format!("{}/16", host.ip());
        let status =
            host.command("ip").args(["address", what, &net, "dev", INTERFACE]).status().unwrap();
        assert!(status.success());
    };
    for program in programs(&bench) {
        let all = after(&bench, &program, |_, _| address("del"));
        assert_both_lost(&bench, &all);
        address("add");
    }
}

#[test]
fn connections_between_ranks_are_lost_by_themselves() {
    let Some(bench) = Bench::hosts_or_skip("half-open between ranks", 2) else { return };
    let host = &bench.cluster().hosts()[1];
    let table = "table inet t { chain in { type filter hook input priority 0; \
                 tcp dport 20000-20003 drop; tcp sport 20000-20003 drop; }; }";
    let filter = |arguments: &[&str]| {
        host.command("nft").args(arguments).status().is_ok_and(|status| status.success())
    };
    if !filter(&[table]) {
        return skipped("no nft");
    }
    assert!(filter(&["flush ruleset"]));
    for bytes in [1000, 4_000_000] {
        let program = bench.write("ring.goal", ring(bytes));
        let arguments = [&program, "--repeat", "100000000", "--ports", "20000-20003"];
        let children = bench.start(2, &[&arguments[..], &SILENCE].concat());
        let ranks = children.iter().flat_map(|child| ranks_of(Pid::from_child(child), 2));
        let ranks: Vec<Pid> = ranks.collect();
        wait_until_mapped(&ranks);
        wait_until_begun(&ranks);
        assert!(filter(&[table]));
        let since = Instant::now();
        let all: Vec<Ended> = children.into_iter().map(ended).collect();
        println!("{bytes} bytes: after {:?}: {all:?}", since.elapsed());
        assert!(filter(&["flush ruleset"]));
        assert!(since.elapsed() < patience(LIMIT), "{:?}", since.elapsed());
        for ended in all {
            ended.assert_status(1);
            ended.assert_says(&[" on host ", " is lost: "]);
        }
    }
}

#[test]
fn a_launcher_that_is_stopped_counts_as_lost() {
    let bench = Bench::loopback();
    let program = &programs(&bench)[1];
    for victim in 0..2 {
        let mut stopped = None;
        let arguments = [&[&**program, "--repeat", "100000000"][..], &SILENCE].concat();
        let children = bench.start(2, &arguments);
        let ranks: Vec<Vec<Pid>> =
            children.iter().map(|child| ranks_of(Pid::from_child(child), 2)).collect();
        ranks.iter().for_each(|ranks| wait_until_mapped(ranks));
        wait_until_begun(&ranks.concat());
        let since = Instant::now();
        for (number, child) in children.into_iter().enumerate() {
            let process = Pid::from_child(&child);
            if number == victim {
                kill_process(process, Signal::STOP).unwrap();
                stopped = Some(child);
            } else {
                // The victim is stopped already, or comes next.
                let victim = ranks[victim][0];
                kill_process(parent_of(victim), Signal::STOP).unwrap();
                let ended = ended(child);
                assert!(since.elapsed() < patience(LIMIT), "{:?}", since.elapsed());
                ended.assert_status(4);
                ended.assert_says(&["is lost: not heard of for 2 s"]);
            }
        }
        let stopped = stopped.expect("one is stopped");
        kill_process(Pid::from_child(&stopped), Signal::CONT).unwrap();
        // It learns of the end from the other launcher, or from its own ranks.
        let stopped = ended(stopped);
        assert!(matches!(stopped.status, Some(1 | 4)), "{stopped:?}");
        stopped.assert_says(&[" is lost: "]);
        assert_gone(&ranks.concat());
    }
}

/// Stops a rank of a launcher as soon as it executes. Returns none if the job has ended before.
fn stop_one(launcher: Pid) -> Option<Pid> {
    let rank = wait_for(|| {
        let has_ended = state_of(launcher) == Some('Z');
        let rank = || children_of(launcher).into_iter().find(|&it| is_rank(it) && is_mapped(it));
        if has_ended { Some(None) } else { rank().map(Some) }
    })?;
    kill_process(rank, Signal::STOP).ok()?;
    Some(rank)
}

#[test]
fn a_rank_that_is_stopped_delays_the_job_and_no_more() {
    let bench = Bench::loopback();
    for bytes in [1000, 4_000_000] {
        let program = bench.write("ring.goal", ring(bytes));
        // A busy machine may get to the rank only after a short job. A longer one is tried then.
        let mut repeat = if bytes == 1000 { 20_000 } else { 50 };
        let is_stopped = |repeat: u32| {
            let repeat = repeat.to_string();
            let children = bench.start(2, &[&program, "--repeat", &repeat, "--fault-timeout", "1"]);
            let stopped = stop_one(Pid::from_child(&children[1]));
            // Time has to pass: longer than silence is allowed, with as much under way as buffers
            // take.
            std::thread::sleep(Duration::from_secs(4));
            // One that had ended already is not in this state.
            let is_stopped = stopped.is_some_and(|rank| state_of(rank) == Some('T'));
            stopped.map(|rank| kill_process(rank, Signal::CONT));
            for ended in children.into_iter().map(ended) {
                ended.assert_status(0);
            }
            is_stopped
        };
        while !is_stopped(repeat) {
            repeat *= 10;
            assert!(repeat < 100_000_000, "no rank was stopped in time");
        }
    }
}
