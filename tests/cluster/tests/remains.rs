//! Nothing is left behind, however a test bench ends.

use goal_cluster::{Cluster, Wiring};
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(20);
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

/// The test below runs this in a process of its own, and kills that.
#[test]
#[ignore = "part of another test"]
fn holds_until_it_is_killed() {
    let Some(cluster) = Cluster::or_skip("remains", &Wiring::bridge(HOSTS)) else {
        println!("missing");
        return;
    };
    let children: Vec<_> =
        cluster.hosts().iter().map(|host| host.command("sleep").arg("60").spawn()).collect();
    for (host, child) in cluster.hosts().iter().zip(&children) {
        let namespace =
            host.call(|| fs::metadata("/proc/thread-self/ns/net").unwrap().ino()).unwrap();
        println!("host {namespace} {}", child.as_ref().unwrap().id());
    }
    println!("ready");
    std::thread::sleep(Duration::from_secs(60));
}

#[test]
fn a_killed_process_leaves_nothing() {
    let arguments = ["holds_until_it_is_killed", "--exact", "--ignored", "--nocapture"];
    let mut command = Command::new(std::env::current_exe().unwrap());
    let mut process = command.args(arguments).stdout(Stdio::piped()).spawn().unwrap();
    let mut hosts = Vec::new();
    for line in BufReader::new(process.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        // The test harness prints the test's name before the first line.
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [.., "missing"] => {
                process.wait().unwrap();
                return;
            }
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
    let start = Instant::now();
    while hosts.iter().any(|&(namespace, _)| is_held(namespace)) {
        assert!(start.elapsed() < LIMIT, "{hosts:?} are still there");
        std::thread::sleep(Duration::from_millis(10));
    }
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
