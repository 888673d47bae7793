//! Several ranks with sockets of XDP at one interface share its program, and leave nothing behind.

mod common;

use common::{BOTH, lens, write};
use goal_cluster::{Cluster, Host, Wiring};
use goal_eth::{AnyDriver, Driver, DriverKind, probe_xdp};
use goal_filetest::{patience, skipped, until};
use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
use std::io::{BufRead, BufReader};
use std::process::Stdio;

/// The variable by which a test starts this file as a process that holds a socket.
const HOLDS: &str = "GOAL_TEST_HOLDS";

/// Creates a host with a wire of two queues between two interfaces of its own, v1 and v2. If that
/// is impossible, prints a line and returns `None`.
fn bench(test: &str) -> Option<Cluster> {
    let cluster = Cluster::or_skip(test, &Wiring::bridge(1))?;
    if let Err(why) = probe_xdp() {
        skipped(&format!("{test}: {why}"));
        return None;
    }
    let queues = "numtxqueues 2 numrxqueues 2";
    let host = &cluster.hosts()[0];
    let add = format!("link add v1 {queues} type veth peer v2 {queues}");
    for line in [&add, "link set v1 addrgenmode none up", "link set v2 addrgenmode none up"] {
        let status = host.command("ip").args(line.split(' ')).status().unwrap();
        assert!(status.success(), "{line}");
    }
    Some(cluster)
}

fn open(host: &Host, interface: &str, port: u16) -> (AnyDriver, Option<String>) {
    let opened = host.call(|| AnyDriver::open(DriverKind::Xdp, interface, &BOTH, Some(port)));
    let (driver, note) = opened.unwrap().unwrap();
    (driver, note.map(|note| note.to_string()))
}

/// Returns the line of `ip` about the program at an interface.
fn program(host: &Host, interface: &str) -> Option<String> {
    let output = host.command("ip").args(["-d", "link", "show", interface]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().find(|line| line.contains("prog/xdp")).map(str::to_owned)
}

fn send(from: &mut AnyDriver, to: &AnyDriver, len: usize) {
    let (mac, to, port) = (from.mac(), to.mac(), to.port());
    assert_eq!(from.send(|out| Some(write(out, mac, to, port, len))), Ok(true));
    from.flush().unwrap();
}

fn beside(driver: &mut AnyDriver) -> u64 {
    assert_eq!(driver.kind(), DriverKind::Xdp);
    driver.packet_stats().unwrap().arrived
}

#[test]
fn each_queue_has_its_rank() {
    let Some(cluster) = bench("queues") else { return };
    let host = &cluster.hosts()[0];
    let [(mut five, _), (mut six, _), (mut seven, note)] =
        [5, 6, 7].map(|port| open(host, "v1", port));
    let [(mut one, _), (mut two, _)] = [1, 2].map(|port| open(host, "v2", port));
    assert_eq!(seven.kind(), DriverKind::Packet);
    assert!(note.unwrap().starts_with("each receive queue of v1 has its socket of XDP"));
    // A frame arrives at the queue with the same number as the one that it left by; each rank gets
    // its frames from both.
    for (number, from) in [&mut one, &mut two].into_iter().enumerate() {
        for (to, len) in [(&five, 60), (&six, 70), (&seven, 80)] {
            send(from, to, len + number);
        }
    }
    for (driver, expected) in [(&mut five, [60, 61]), (&mut six, [70, 71]), (&mut seven, [80, 81])]
    {
        assert_eq!(lens(driver, 2), expected);
    }
    assert_eq!((beside(&mut five), beside(&mut six)), (1, 1));
}

#[test]
fn sharing_a_program_takes_a_right() {
    let Some(cluster) = bench("sharing") else { return };
    let host = &cluster.hosts()[0];
    let first = open(host, "v1", 5).0;
    let alone = |port| {
        let mut sets = capabilities(None).unwrap();
        for set in [&mut sets.effective, &mut sets.permitted, &mut sets.inheritable] {
            set.remove(CapabilitySet::SYS_ADMIN);
        }
        set_capabilities(None, sets).unwrap();
        let (driver, note) = AnyDriver::open(DriverKind::Xdp, "v1", &BOTH, Some(port)).unwrap();
        (driver.kind(), note.map(|note| note.to_string()))
    };
    let (kind, note) = host.call(|| alone(6)).unwrap();
    assert_eq!(kind, DriverKind::Packet);
    let note = note.unwrap();
    assert!(note.contains("is attached to v1") && note.contains("CAP_SYS_ADMIN"), "{note}");
    drop(first);
    assert_eq!(
        host.call(|| alone(6)).unwrap(),
        (DriverKind::Xdp, None),
        "the first one needs no such right"
    );
}

/// Holds a socket if the test below has started this process, which it kills. Passes as a test
/// otherwise.
#[test]
fn holds_a_socket_until_it_is_killed() {
    if std::env::var_os(HOLDS).is_none() {
        return;
    }
    let (driver, note) = AnyDriver::open(DriverKind::Xdp, "v1", &BOTH, Some(5)).unwrap();
    assert!(driver.kind() == DriverKind::Xdp && note.is_none(), "{note:?}");
    println!("ready");
    std::thread::sleep(patience(60));
}

#[test]
fn the_program_ends_with_the_last_rank() {
    let Some(cluster) = bench("the end of a program") else { return };
    let host = &cluster.hosts()[0];
    assert_eq!(program(host, "v1"), None);
    let arguments = ["holds_a_socket_until_it_is_killed", "--exact", "--nocapture"];
    let mut command = host.command(std::env::current_exe().unwrap().to_str().unwrap());
    command.args(arguments).env(HOLDS, "1").stdout(Stdio::piped());
    let mut first = command.spawn().unwrap();
    let mut lines = BufReader::new(first.stdout.take().unwrap()).lines();
    // The test harness prints the test's name before the first line.
    assert!(lines.any(|line| line.unwrap().ends_with("ready")));
    let made = program(host, "v1");
    assert!(made.is_some());
    let (mut second, note) = open(host, "v1", 6);
    assert_eq!((note, program(host, "v1")), (None, made.clone()));
    first.kill().unwrap();
    first.wait().unwrap();
    let mut opened = None;
    until("the place of the killed process is free again", || {
        let (driver, note) = open(host, "v1", 5);
        opened = note.is_none().then_some(driver);
        opened.is_some()
    });
    let mut third = opened.unwrap();
    assert_eq!(program(host, "v1"), made);
    let (mut one, _) = open(host, "v2", 1);
    send(&mut one, &second, 60);
    send(&mut one, &third, 61);
    assert_eq!((lens(&mut second, 1), lens(&mut third, 1)), (vec![60], vec![61]));
    assert_eq!((beside(&mut third), beside(&mut second)), (0, 1));
    drop((second, third));
    assert_eq!(program(host, "v1"), None);
    assert!(program(host, "v2").is_some());
}
