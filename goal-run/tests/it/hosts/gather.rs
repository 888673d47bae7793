//! Tests a leader that gathers much memory: signals and the time limit still count.

use crate::common::Ended;
use crate::common::processes::{children_of, wait_until_it_sleeps_in};
use crate::hosts::bench::{Bench, DISCOVER, ended, launcher, ranks_of, send};
use goal_cluster::Wiring;
use goal_filetest::{patience, timeout, until};
use nix::libc::SYS_openat;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::{Pid, Signal};
use std::fs;
use std::path::Path;
use std::process::Child;
use std::time::Instant;

/// The patience with the end of a job after a signal, in seconds.
const LIMIT: u64 = 8;

/// Returns a program. Ranks 2 and 3, on the other host, each leave `bytes` bytes of a pattern. Rank
/// 0 ends after `calc` nanoseconds.
fn program(bytes: u64, calc: u64) -> String {
    let rank =
        |rank| format!("rank {rank} {{ send {bytes}b to {rank}; recv 0,{bytes} from {rank}; }}\n");
    format!("num_ranks 4\nrank 0 {{ calc {calc}; }}\n{}{}", rank(2), rank(3))
}

/// Starts a job whose leader, the first host, writes the memory of all ranks into `dump`; returns
/// when the leader gathers.
fn gathering(bench: &Bench, text: &str, dump: &Path, more: &[&str]) -> Vec<Child> {
    let program = bench.write("much.goal", text);
    let dump = ["--dump", dump.to_str().unwrap()];
    let children = bench.start_all(&program, &[&DISCOVER[..], &dump, more].concat());
    let leader = launcher(leader(&children, bench));
    ranks_of(leader, 2);
    until("the ranks of the leader have ended", || children_of(leader).is_empty());
    children
}

/// The host with the least MAC has rank 0.
fn leader<'a>(children: &'a [Child], bench: &Bench) -> &'a Child {
    let host = (0..children.len()).min_by_key(|&host| bench.mac(host)).unwrap();
    &children[host]
}

/// Returns the shared memory that a process has touched, in KiB. The leader gathers in such memory.
fn shared_kib(process: Pid) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", process.as_raw_nonzero()));
    let status = status.unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssShmem:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

fn end_within(children: Vec<Child>, seconds: u64) -> Vec<Ended> {
    let since = Instant::now();
    let all = children.into_iter().map(ended).collect();
    assert!(since.elapsed() < patience(seconds), "{:?}", since.elapsed());
    all
}

#[test]
fn a_signal_while_the_leader_gathers_ends_all() {
    let Some(bench) = Bench::or_skip("gather", &Wiring::bridge(2)) else { return };
    for signalled in 0..2 {
        let dump = bench.path("out");
        let children = gathering(&bench, &program(200 << 20, 1), &dump, &[]);
        let pids: Vec<Pid> = children.iter().map(launcher).collect();
        let leader = launcher(leader(&children, &bench));
        until("the leader gathers", || shared_kib(leader) > 10 << 10);
        send(pids[signalled], Signal::INT);
        for ended in end_within(children, LIMIT) {
            ended.assert_status(130);
            ended.assert_says(&["ended by SIGINT"]);
        }
        assert!(!dump.exists(), "a part of the memory was written");
    }
}

#[test]
fn the_time_is_up_while_the_leader_gathers() {
    let Some(bench) = Bench::or_skip("gather late", &Wiring::bridge(2)) else { return };
    let dump = bench.path("out");
    // Less than the gathering takes. A busy machine may not have begun it by then: a longer time is
    // tried.
    let missing = "ranks 2-3: what was left there had not arrived";
    let was_gathering = [3, 6, 12, 24].into_iter().any(|limit| {
        let arguments = ["--timeout", &timeout(limit)];
        let children = gathering(&bench, &program(512 << 20, 1), &dump, &arguments);
        let all = end_within(children, LIMIT + limit);
        for ended in &all {
            ended.assert_status(5);
            ended.assert_says(&["the time is up"]);
        }
        let was_gathering = all.iter().all(|ended| ended.err.contains(missing));
        assert!(!(was_gathering && dump.exists()), "a part of the memory was written");
        // A longer time may have been enough for all.
        let _ = fs::remove_dir_all(&dump);
        was_gathering
    });
    assert!(was_gathering, "no run ended while the leader gathered");
}

/// A file of the dump is a pipe without a reader: the leader waits for one until a signal comes.
#[test]
fn a_signal_while_the_leader_writes_ends_all() {
    let Some(bench) = Bench::or_skip("writes", &Wiring::bridge(2)) else { return };
    let dump = bench.path("pipes");
    fs::create_dir(&dump).unwrap();
    mknodat(CWD, dump.join("rank-0.bin"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    for signalled in 0..2 {
        let children = gathering(&bench, &program(8, 1), &dump, &[]);
        let pids: Vec<Pid> = children.iter().map(launcher).collect();
        wait_until_it_sleeps_in(launcher(leader(&children, &bench)), &[SYS_openat]);
        send(pids[signalled], Signal::TERM);
        for ended in end_within(children, LIMIT) {
            ended.assert_status(143);
            ended.assert_says(&["ended by SIGTERM"]);
        }
    }
}
