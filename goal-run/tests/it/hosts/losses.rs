//! Tests hosts that are lost while a job runs.

use crate::common::Ended;
use crate::common::processes::{assert_gone, wait_until_begun};
use crate::hosts::bench::{Bench, DISCOVER, LONG, ended, launcher, ranks_of, send};
use goal_cluster::{INTERFACE, Wiring};
use goal_filetest::patience;
use rustix::process::{Pid, Signal};
use std::process::Child;
use std::time::Instant;

/// The patience with the end of a job that loses a host, in seconds. A host is lost after a silence
/// of two seconds.
const LIMIT: u64 = 20;

/// Starts a long job on two hosts, does something to them while it runs, and waits for the end.
fn after(bench: &Bench, what: impl FnOnce(&[Child])) -> Vec<Ended> {
    let program = bench.write("long.goal", LONG);
    let children = bench.start_all(&program, &DISCOVER);
    let ranks: Vec<Pid> = children.iter().flat_map(|child| ranks_of(launcher(child), 2)).collect();
    // All have begun.
    wait_until_begun(&ranks);
    let since = Instant::now();
    what(&children);
    let all = children.into_iter().map(ended).collect();
    assert!(since.elapsed() < patience(LIMIT), "{:?}", since.elapsed());
    assert_gone(&ranks);
    all
}

#[test]
fn a_host_that_is_unplugged_is_named() {
    let Some(bench) = Bench::or_skip("unplugged", &Wiring::bridge(2)) else { return };
    let all = after(&bench, |_| bench.cluster.plug(1, false).unwrap());
    let names = [
        format!("host {} with ranks 2-3 is lost: not heard of for 2 s", bench.mac(1)),
        format!("host {} with ranks 0-1 is lost: not heard of for 2 s", bench.mac(0)),
    ];
    for (ended, name) in all.iter().zip(&names) {
        ended.assert_status(4);
        ended.assert_says(&[name]);
    }
}

#[test]
fn a_path_that_drops_long_frames_while_a_job_runs_is_named() {
    let Some(bench) = Bench::or_skip("narrow", &Wiring::bridge(3)) else { return };
    let rank = |rank: u32| {
        let (to, from) = ((rank + 1) % 3, (rank + 2) % 3);
        format!("rank {rank} {{ send 5000b to {to}; recv 5000b from {from}; }}\n")
    };
    let text = format!("num_ranks 3\n{}", (0..3).map(rank).collect::<String>());
    let program = bench.write("ring.goal", &text);
    let hosts = ["--discover", "--hosts", "3", "--repeat", "100000000", "--verify"];
    let children = bench.start_all(&program, &hosts);
    children.iter().for_each(|child| wait_until_begun(&ranks_of(launcher(child), 1)));
    bench.cluster.narrow(1, 1000).unwrap();
    let since = Instant::now();
    let all: Vec<Ended> = children.into_iter().map(ended).collect();
    assert!(since.elapsed() < patience(LIMIT), "{:?}", since.elapsed());
    for ended in &all {
        ended.assert_status(1);
        ended.assert_says(&[
            " is lost: frames of ",
            " bytes to it get lost, while shorter ones arrive from host",
        ]);
        assert!(ended.err.contains(&bench.mac(1)), "{ended:?}");
    }
}

#[test]
fn a_path_that_takes_no_long_frames_from_a_host_is_named() {
    let Some(bench) = Bench::or_skip("narrow-sender", &Wiring::bridge(2)) else { return };
    // Host 0 alone sends long frames, and the next device drops them. The host's system reports
    // that at once.
    let text = "num_ranks 2\nrank 0 { send 5000b to 1; r: recv 1b from 1; }\nrank 1 { r: recv 5000b from 0; \
                s: send 1b to 0; s requires r; }\n";
    let program = bench.write("narrow.goal", text);
    let hosts = ["--discover", "--hosts", "2", "--repeat", "100000000", "--verify"];
    for driver in ["packet", "xdp"] {
        bench.cluster.narrow(0, 1500).unwrap();
        let children = bench.start_all(&program, &[&hosts[..], &["--driver", driver]].concat());
        children.iter().for_each(|child| wait_until_begun(&ranks_of(launcher(child), 1)));
        bench.cluster.narrow(0, 1000).unwrap();
        let since = Instant::now();
        let all: Vec<Ended> = children.into_iter().map(ended).collect();
        assert!(since.elapsed() < patience(LIMIT), "{:?}", since.elapsed());
        for ended in &all {
            ended.assert_status(1);
            ended.assert_says(&[
                &format!("rank 1 on host {} is lost: frames of ", bench.mac(1)),
                &format!(
                    " bytes to it get lost, while shorter ones arrive from host {}",
                    bench.mac(0)
                ),
            ]);
        }
    }
}

#[test]
fn an_interface_that_goes_down_is_told() {
    let Some(bench) = Bench::or_skip("down", &Wiring::bridge(2)) else { return };
    let host = &bench.cluster.hosts()[1];
    let all = after(&bench, |_| {
        let status = host.command("ip").args(["link", "set", INTERFACE, "down"]).status().unwrap();
        assert!(status.success());
    });
    all.iter().for_each(|ended| ended.assert_status(4));
    all[0].assert_says(&[&format!(
        "host {} with ranks 2-3 is lost: not heard of for 2 s",
        bench.mac(1)
    )]);
    all[1].assert_says(&[
        "with ranks 0-1 is lost: not heard of for 2 s (interface v0 carries no more frames: ",
    ]);
}

#[test]
fn a_launcher_that_is_killed_is_named() {
    let Some(bench) = Bench::or_skip("killed", &Wiring::bridge(2)) else { return };
    for host in 0..2 {
        let all = after(&bench, |children| send(launcher(&children[host]), Signal::KILL));
        assert_eq!(all[host].status, None);
        let other = &all[1 - host];
        other.assert_status(4);
        let name =
            format!("host {} with ranks {}-{} is lost: ", bench.mac(host), 2 * host, 2 * host + 1);
        other.assert_says(&[&name]);
    }
}
