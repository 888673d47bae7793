//! Programs in C on two hosts of a test bench: `auto` knows which ranks share a host, and the
//! launcher tells which algorithms ran.

mod support;

use goal_cluster::{Cluster, Host, INTERFACE, Wiring};
use serde_json::Value;
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Compiles a program of `tests/c` in a folder.
fn build(program: &str, folder: &Path) {
    let binaries = support::installed("goal-run");
    let binaries = binaries.parent().expect("it lies in a folder");
    let source = format!("{program}.c");
    std::fs::copy(support::folder().join("tests/c").join(&source), folder.join(&source)).unwrap();
    let mut path = binaries.as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let mut command = Command::new(support::folder().join("tests/bin/build"));
    let status = command.arg(source).current_dir(folder).env("PATH", path).status();
    assert!(status.unwrap().success(), "{program} can't be compiled");
}

/// Runs a program on two hosts with two ranks each. Returns the report of the leader.
fn run(cluster: &Cluster, folder: &Path, program: &str) -> Value {
    let goal_run = support::installed("goal-run");
    let start = |host: &Host| {
        let mut command = host.command(goal_run.to_str().expect("a name in UTF-8"));
        command.args(["-n", "4", "--interface", INTERFACE, "--discover", "--hosts", "2"]);
        command.args(["--timeout", "60", "--stats", "--format", "json", "--key"]);
        command.arg(folder.join("key")).arg(folder.join(program)).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let children: Vec<_> = cluster.hosts().iter().map(start).collect();
    let outputs: Vec<Output> =
        children.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
    for output in &outputs {
        assert!(output.status.success(), "{program}: {outputs:?}");
    }
    let text = String::from_utf8_lossy(&outputs[0].stdout).into_owned();
    assert!(text.contains("4 ranks: 0 of "), "{program}: {outputs:?}");
    let report = text.lines().find(|line| line.starts_with('{')).expect("the report");
    serde_json::from_str(report).expect("the report is JSON")
}

/// The collectives that ran: their algorithms, the numbers of ranks and of starts.
fn collectives(report: &Value) -> Vec<(&str, &str, u64, u64)> {
    let all = report["stats"]["collectives"].as_array().expect("there are collectives");
    let entry = |one| {
        let one: &Value = one;
        let (collective, algorithm) = (one["collective"].as_str(), one["algorithm"].as_str());
        let (ranks, starts) = (one["ranks"].as_u64(), one["starts"].as_u64());
        Some((collective?, algorithm?, ranks?, starts?))
    };
    all.iter().map(|one| entry(one).expect("an entry has all keys")).collect()
}

#[test]
fn ranks_on_two_hosts_take_algorithms_of_two_levels() {
    if support::lacks(&["gcc", "g++", "pkg-config"]) {
        return;
    }
    let Some(cluster) = Cluster::or_skip("programs in C on hosts", &Wiring::bridge(2)) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let goal_run = support::installed("goal-run");
    let key = [OsStr::new("key"), folder.path().join("key").as_os_str()].map(OsStr::to_owned);
    assert!(Command::new(goal_run).args(key).status().unwrap().success());
    for program in ["collectives", "lists", "neighbors"] {
        build(program, folder.path());
        let report = run(&cluster, folder.path(), program);
        let ran = collectives(&report);
        let by = |collective: &str, algorithm: &str| {
            let mut found = ran.iter().filter(|one| (one.0, one.1) == (collective, algorithm));
            found.any(|one| one.2 > 0 && one.3 >= one.2)
        };
        match program {
            "collectives" => {
                for collective in ["barrier", "bcast", "allreduce", "allgather", "alltoall", "scan"]
                {
                    assert!(by(collective, "two-level"), "{collective}: {report}");
                }
            }
            // Blocks differ, and no algorithm of two levels takes such.
            "lists" => assert!(by("alltoall", "linear"), "{report}"),
            _ => assert!(by("neighbor-alltoall", "linear"), "{report}"),
        }
    }
}
