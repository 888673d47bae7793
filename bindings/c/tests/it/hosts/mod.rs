//! Programs in C and C++ on hosts of a test bench. The examples run on four hosts. On two hosts
//! with two ranks each, `auto` knows which ranks share a host, and the launcher tells which
//! algorithms ran.

mod offload;
use goal_cluster::{Cluster, Host, INTERFACE, Wiring};
use goal_filetest::timeout;
use serde_json::Value;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use tempfile::TempDir;

/// Compiles a source file in a folder, as C too if it is C, and as C++.
fn build(file: &Path, folder: &Path) {
    let binaries = crate::support::installed("goal-run");
    let binaries = binaries.parent().expect("it lies in a folder");
    let source = file.file_name().expect("a file");
    std::fs::copy(file, folder.join(source)).unwrap();
    let mut path = binaries.as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let mut command = Command::new(crate::support::folder().join("tests/bin/build"));
    let status = command.arg(source).current_dir(folder).env("PATH", path).status();
    assert!(status.unwrap().success(), "{} can't be compiled", file.display());
}

/// Starts a program on all hosts.
fn start(cluster: &Cluster, folder: &Path, ranks: u32, arguments: &[&str]) -> Vec<Child> {
    let goal_run = crate::support::installed("goal-run");
    let (ranks, hosts) = (ranks.to_string(), cluster.hosts().len().to_string());
    let start = |host: &Host| {
        let mut command = host.command(goal_run.to_str().expect("a name in UTF-8"));
        command.args(["-n", &ranks, "--interface", INTERFACE, "--discover", "--hosts", &hosts]);
        if !arguments.contains(&"--timeout") {
            command.args(["--timeout", &timeout(60)]);
        }
        command.args(["--key", "key"]).args(arguments).current_dir(folder);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    cluster.hosts().iter().map(start).collect()
}

fn ended(children: Vec<Child>) -> Vec<Output> {
    children.into_iter().map(|child| child.wait_with_output().unwrap()).collect()
}

/// Runs a program on all hosts, and returns the standard output of the leader.
fn run(cluster: &Cluster, folder: &Path, ranks: u32, arguments: &[&str]) -> String {
    let outputs = ended(start(cluster, folder, ranks, arguments));
    for output in &outputs {
        assert!(output.status.success(), "{arguments:?}: {outputs:?}");
    }
    outputs.iter().map(|output| String::from_utf8_lossy(&output.stdout)).collect()
}

/// Returns a folder with a key, and a cluster of `hosts` hosts, if the tools and rights are there.
fn bench(hosts: usize) -> Option<(Cluster, TempDir)> {
    bench_with(&Wiring::bridge(hosts))
}

fn bench_with(wiring: &Wiring) -> Option<(Cluster, TempDir)> {
    if crate::support::lacks(&["gcc", "g++", "pkg-config"]) {
        return None;
    }
    let cluster = Cluster::or_skip("programs in C on hosts", wiring)?;
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(crate::support::installed("goal-run"));
    assert!(command.args(["key", "key"]).current_dir(&folder).status().unwrap().success());
    Some((cluster, folder))
}

/// An example, the number of its ranks, its arguments, and what it prints.
const EXAMPLES: [(&str, u32, &[&str], &str); 6] = [
    ("barrier.c", 4, &[], "4 ranks: 2 of 2 barriers hold"),
    ("broadcast.c", 4, &[], "4 ranks: 0 wrong numbers"),
    ("dissemination.c", 4, &[], "4 ranks: 0 wrong numbers"),
    ("gather.cpp", 4, &[], "4 ranks: 0 wrong bytes"),
    ("overlap.c", 4, &[], "4 ranks: 3"),
    ("pingpong.c", 4, &[], " rounds of 8 bytes: "),
];

#[test]
fn the_examples_run_on_four_hosts() {
    let Some((cluster, folder)) = bench(4) else { return };
    let examples = crate::support::folder().join("../../examples/c");
    for (source, ranks, arguments, prints) in EXAMPLES {
        build(&examples.join(source), folder.path());
        let (name, kind) = source.split_once('.').expect("a kind");
        let as_cpp = format!("./{name}-cpp");
        let as_c = (kind == "c").then(|| format!("./{name}"));
        for program in as_c.iter().chain([&as_cpp]) {
            let command = [&[program.as_str()], arguments].concat();
            let text = run(&cluster, folder.path(), ranks, &command);
            assert!(text.contains(prints), "{program}: {text}");
        }
    }
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
    let Some((cluster, folder)) = bench(2) else { return };
    for program in ["collectives", "lists", "neighbors"] {
        build(&crate::support::folder().join(format!("tests/c/{program}.c")), folder.path());
        let arguments = ["--stats", "--format", "json", &format!("./{program}")];
        let text = run(&cluster, folder.path(), 4, &arguments);
        assert!(text.contains("4 ranks: 0 of "), "{program}: {text}");
        let report = text.lines().find(|line| line.starts_with('{')).expect("the report");
        let report = serde_json::from_str(report).expect("the report is JSON");
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
