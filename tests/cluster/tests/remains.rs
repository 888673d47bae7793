//! Nothing is left behind, however a test bench ends.

use goal_cluster::{Cluster, Host, Wiring};
use goal_filetest::{patience, skipped, timeout, until};
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// The variable by which a test starts this file as a process that holds hosts.
const HOLDS: &str = "GOAL_TEST_HOLDS";
const HOSTS: usize = 3;

/// Returns true if a process is in a network namespace, or holds it.
fn is_held(namespace: u64) -> bool {
    let is_it = |path: &Path| {
        fs::metadata(path).is_ok_and(|file| file.ino() == namespace && is_namespace(path))
    };
    fs::read_dir("/proc").unwrap().flatten().any(|process| {
        let path = process.path();
        let fds = fs::read_dir(path.join("fd")).into_iter().flatten().flatten();
        is_it(&path.join("ns/net")) || fds.into_iter().any(|fd| is_it(&fd.path()))
    })
}

fn is_namespace(path: &Path) -> bool {
    fs::read_link(path).is_ok_and(|target| target.to_string_lossy().starts_with("net:["))
}

/// Holds hosts if the test below has started this process, which it kills. Passes as a test
/// otherwise.
#[test]
fn holds_until_it_is_killed() {
    if std::env::var_os(HOLDS).is_none() {
        return;
    }
    let cluster = match Cluster::new(&Wiring::bridge(HOSTS)) {
        Ok(cluster) => cluster,
        Err(missing) => return println!("missing {missing}"),
    };
    let sleep = |host: &Host| host.command("sleep").arg(timeout(60)).spawn();
    let children: Vec<_> = cluster.hosts().iter().map(sleep).collect();
    for (host, child) in cluster.hosts().iter().zip(&children) {
        let namespace =
            host.call(|| fs::metadata("/proc/thread-self/ns/net").unwrap().ino()).unwrap();
        println!("host {namespace} {}", child.as_ref().unwrap().id());
    }
    println!("ready");
    std::thread::sleep(patience(60));
}

#[test]
fn a_killed_process_leaves_nothing() {
    let arguments = ["holds_until_it_is_killed", "--exact", "--nocapture"];
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(arguments).env(HOLDS, "1").stdout(Stdio::piped());
    let mut process = command.spawn().unwrap();
    let mut hosts = Vec::new();
    for line in BufReader::new(process.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        // The test harness prints the test's name before the first line.
        if let Some((_, missing)) = line.split_once("missing ") {
            process.wait().unwrap();
            return skipped(missing);
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [.., "host", namespace, child] => {
                hosts.push((namespace.parse::<u64>().unwrap(), child.parse::<u32>().unwrap()));
            }
            [.., "ready"] => break,
            _ => {}
        }
    }
    assert_eq!(hosts.len(), HOSTS);
    assert!(hosts.iter().all(|&(namespace, _)| is_held(namespace)));
    process.kill().unwrap();
    process.wait().unwrap();
    until("the hosts are gone", || !hosts.iter().any(|&(namespace, _)| is_held(namespace)));
}

#[test]
fn a_panic_leaves_nothing() {
    let mut hosts = Vec::new();
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let Some(cluster) = Cluster::or_skip("remains", &Wiring::bridge(HOSTS)) else { return };
        for host in cluster.hosts() {
            hosts.push(
                host.call(|| fs::metadata("/proc/thread-self/ns/net").unwrap().ino()).unwrap(),
            );
        }
        assert!(hosts.iter().all(|&host| is_held(host)));
        panic!("as a test that fails");
    }));
    assert_eq!(result.is_err(), !hosts.is_empty());
    assert!(!hosts.iter().any(|&host| is_held(host)));
}
