//! Tests callers without the key, at the ports of launchers and ranks. They have no effect on a job
//! that starts and runs. They take few descriptors and little memory.

use crate::common::Ended;
use crate::common::processes::{ranks_of, wait_for};
use crate::tcp::bench::{Bench, ended, ring};
use goal_filetest::timeout;
use rustix::process::Pid;
use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::process::Child;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// The most descriptors of a process of a small job with the maximum of pending connections.
const DESCRIPTORS_MAX: usize = 400;
/// The most that such callers may add to the memory of a process, in KiB.
const GROWTH_MAX_KIB: u64 = 32 << 10;

/// Returns messages that a scanner of ports sends.
fn greetings() -> Vec<Vec<u8>> {
    let mut random = fastrand::Rng::with_seed(7);
    let noise: Vec<u8> = (0..5000).map(|_| random.u8(..)).collect();
    // The beginning of a TLS hello, and of this protocol.
    let tls = [&[22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3][..], &noise[..200]].concat();
    let magic = [&b"GOALTCP\x01"[..], &noise[..60]].concat();
    vec![b"GET / HTTP/1.1\r\nHost: x\r\n\r\n".to_vec(), tls, noise, magic, vec![], vec![0; 64]]
}

/// Connects with a port again and again, keeping the last few thousand connections. Returns their
/// number at the end.
fn pester(port: u16, stop: &AtomicBool, made: &AtomicU64) {
    let (greetings, mut kept) = (greetings(), std::collections::VecDeque::new());
    while !stop.load(Ordering::Relaxed) {
        for greeting in &greetings {
            let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else {
                std::thread::sleep(Duration::from_millis(2));
                continue;
            };
            let _ = stream.set_nonblocking(true);
            let _ = stream.write(greeting);
            made.fetch_add(1, Ordering::Relaxed);
            kept.push_back(stream);
        }
        while kept.len() > 600 {
            kept.pop_front();
        }
    }
}

/// The number of descriptors and the memory in KiB of a process.
fn needs(process: Pid) -> (usize, u64) {
    let number = process.as_raw_nonzero();
    let descriptors = fs::read_dir(format!("/proc/{number}/fd")).map_or(0, |all| all.count());
    let status = fs::read_to_string(format!("/proc/{number}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    (descriptors, kib.unwrap_or(0))
}

/// Looks at processes while a job runs: their descriptors and memory must stay bounded.
fn watch(processes: &[Pid]) {
    let first: Vec<_> = processes.iter().map(|&process| needs(process)).collect();
    for _ in 0..20 {
        std::thread::sleep(Duration::from_millis(100));
        for (&process, &(_, kib_before)) in processes.iter().zip(&first) {
            let (descriptors, kib) = needs(process);
            assert!(descriptors < DESCRIPTORS_MAX, "{process:?}: {descriptors}");
            assert!(kib < kib_before + GROWTH_MAX_KIB, "{process:?}: {kib_before} then {kib}");
        }
    }
}

#[test]
fn callers_without_the_key_have_no_effect() {
    let bench = Bench::loopback();
    let program = bench.write("ring.goal", ring(1000));
    let at = bench.place();
    let meeting = at.rsplit_once(':').unwrap().1.parse().unwrap();
    let arguments = [&*program, "--ports", "21000-21007", "--repeat", "3000", "--verify"];
    let (stop, made) = (AtomicBool::new(false), AtomicU64::new(0));
    let all: Vec<Ended> = std::thread::scope(|scope| {
        let start = |number| bench.command((number, 2), &at, &arguments).spawn().unwrap();
        let mut children: Vec<Child> = vec![start(0)];
        for port in [meeting, 21000, 21001, 21002, 21003] {
            scope.spawn({
                let (stop, made) = (&stop, &made);
                move || pester(port, stop, made)
            });
        }
        wait_for(|| (made.load(Ordering::Relaxed) > 1000).then_some(()));
        watch(&[Pid::from_child(&children[0])]);
        children.push(start(1));
        let all = children.into_iter().map(ended).collect();
        stop.store(true, Ordering::Relaxed);
        all
    });
    all.iter().for_each(|ended| ended.assert_status(0));
    assert!(all[0].out.contains("\nverified: "), "{all:?}");
    println!("{} connections without the key", made.load(Ordering::Relaxed));
}

#[test]
fn callers_at_ranks_take_little() {
    let bench = Bench::loopback();
    let program = bench.write("ring.goal", ring(1000));
    let limit = timeout(8);
    let arguments =
        [&*program, "--ports", "21010-21013", "--repeat", "100000000", "--timeout", &limit];
    let (stop, made) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        let children = bench.start(2, &arguments);
        let ranks: Vec<Pid> =
            children.iter().flat_map(|child| ranks_of(Pid::from_child(child), 2)).collect();
        for port in [21010, 21011, 21012, 21013] {
            scope.spawn({
                let (stop, made) = (&stop, &made);
                move || pester(port, stop, made)
            });
        }
        wait_for(|| (made.load(Ordering::Relaxed) > 2000).then_some(()));
        watch(&ranks);
        for ended in children.into_iter().map(ended) {
            // Nothing but the time ends it.
            ended.assert_status(5);
        }
        stop.store(true, Ordering::Relaxed);
    });
    println!("{} connections without the key", made.load(Ordering::Relaxed));
}
