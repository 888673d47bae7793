//! Checks Wireshark's dissector on real frames, captured on a host of the test bench while others
//! ping it and send to it.

use crate::common::{Ended, GOAL_RUN, default_signals};
use goal_cluster::{Cluster, Host, INTERFACE, Wiring};
use goal_engine::transport::{Header, Kind, Transport};
use goal_esp::auth::{Address, JobKey};
use goal_esp::endpoint::Config;
use goal_esp::wire::{ETHERTYPE_EDP, ETHERTYPE_ESP};
use goal_eth::{Driver, EspTransport, Packet, now_ns};
use goal_filetest::{patience, skipped, timeout, until};
use std::fs;
use std::io::{BufRead, BufReader};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

/// The patience with the messages of the stream, in seconds.
const LIMIT: u64 = 20;
/// Bytes of the messages of the stream: one in a packet with others, one over many.
const MESSAGES: [usize; 2] = [8, 100_000];
/// Bytes of an echo, and of the last one, which count from 0 on.
const ECHO: usize = 56;
const LAST_ECHO: usize = 250;

/// Returns true if this machine lacks a program of Wireshark, and prints a line that says so.
fn is_missing() -> bool {
    let is_there = |program: &&str| Command::new(program).arg("--version").output().is_ok();
    let missing: Vec<_> =
        ["dumpcap", "tshark"].into_iter().filter(|program| !is_there(program)).collect();
    if !missing.is_empty() {
        skipped(&format!("there is no {}", missing.join(" and no ")));
    }
    !missing.is_empty()
}

/// Begins to capture frames of EDP and ESP.
fn capture(host: &Host, path: &Path) -> Child {
    let filter = format!("ether proto {ETHERTYPE_EDP} or ether proto {ETHERTYPE_ESP}");
    let mut command = host.command("dumpcap");
    command.args(["-q", "-i", INTERFACE, "-f", &filter, "-w"]).arg(path);
    let mut child = default_signals(&mut command).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.as_mut().unwrap()).lines();
    // The file is named when the interface is open.
    assert!(lines.any(|line| line.unwrap().starts_with("File: ")), "dumpcap does not capture");
    child
}

fn ping(host: &Host, to: &Host, count: usize, size: usize) {
    let (mac, count, size) = (to.mac().to_string(), count.to_string(), size.to_string());
    let mut command = host.command(GOAL_RUN);
    command.args(["ping", &mac, "--interface", INTERFACE, "--interval", "0"]);
    command.args(["--timeout", &timeout(10), "--count", &count, "--size", &size]);
    Ended::from_output(command.output().unwrap()).assert_status(0);
}

/// Sends the messages from one host to the other.
fn stream(hosts: [&Host; 2]) {
    let drivers = hosts.map(|host| {
        host.call(|| Packet::open(INTERFACE, &[ETHERTYPE_EDP, ETHERTYPE_ESP], None))
            .unwrap()
            .unwrap()
    });
    let addresses =
        drivers.each_ref().map(|driver| Address { mac: driver.mac(), port: driver.port() });
    let mut rank = 0;
    let [mut one, mut other] = drivers.map(|driver| {
        let payload_max = Config::payload_max_of(driver.mtu()).unwrap();
        let config = Config::new(addresses[rank as usize], JobKey::new(&[7; 32]), payload_max);
        let seed = [rank as u8 + 1; 32];
        rank += 1;
        let mut esp = EspTransport::new(rank - 1, addresses.to_vec(), config, seed, driver, now_ns);
        esp.announce_room(1 << 20, 1 << 20);
        esp
    });
    let (start, mut sent, mut got) = (Instant::now(), 0, Vec::new());
    while got.len() < MESSAGES.len() {
        assert!(start.elapsed() < patience(LIMIT), "{got:?} of {MESSAGES:?}");
        if let Some(&len) = MESSAGES.get(sent) {
            let header = Header {
                kind: Kind::Eager as u8,
                tag: 40 + sent as u32,
                size: len as u64,
                ..Header::default()
            };
            sent += usize::from(one.try_send(1, &header, |out| out.fill(len as u8)).is_ok());
        }
        one.poll(16, |_, _| ControlFlow::Continue(()));
        other.poll(16, |header, payload| {
            assert!(payload.iter().all(|&byte| byte == header.size as u8));
            got.push(payload.len());
            ControlFlow::Continue(())
        });
    }
    assert_eq!(got, MESSAGES);
}

/// Returns some fields of each frame as `tshark` shows them.
fn shown<const FIELDS: usize>(path: &Path, fields: [&str; FIELDS]) -> Vec<[String; FIELDS]> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tools/wireshark/goal.lua");
    let home = path.parent().unwrap();
    let mut command = Command::new("tshark");
    command.arg("-X").arg(format!("lua_script:{}", script.display()));
    command.args(["-2", "-n", "-T", "fields", "-r"]).arg(path);
    command.args(fields.iter().flat_map(|field| ["-e", field]));
    // Without the profile and the plugins of the user, which may have the dissector too.
    command.env("HOME", home).env("XDG_CONFIG_HOME", home).env("WIRESHARK_CONFIG_DIR", home);
    let ended = Ended::from_output(command.output().unwrap());
    ended.assert_status(0);
    assert!(!ended.err.contains("Lua"), "{ended:?}");
    let row = |line: &str| {
        let values: Vec<String> = line.split('\t').map(str::to_owned).collect();
        values.try_into().expect("as many values as fields")
    };
    ended.out.lines().map(row).collect()
}

#[test]
fn the_dissector_knows_what_is_on_the_wire() {
    if is_missing() {
        return;
    }
    let Some(cluster) = Cluster::or_skip("capture", &Wiring::bridge(2)) else { return };
    let [a, b] = cluster.hosts() else { panic!("two hosts") };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("frames.pcap");
    let mut capturing = capture(b, &path);
    let mut answer = b.command(GOAL_RUN);
    answer.args(["answer", "--interface", INTERFACE, "--timeout", &timeout(60)]);
    let mut answering = answer.stdout(Stdio::piped()).spawn().unwrap();
    BufReader::new(answering.stdout.as_mut().unwrap()).read_line(&mut String::new()).unwrap();
    ping(a, b, 3, ECHO);
    stream([a, b]);
    ping(a, b, 1, LAST_ECHO);
    answering.kill().unwrap();
    answering.wait().unwrap();
    // The capture is written with a delay: the last frames are an echo and its answer.
    let last: Vec<u8> = (ECHO as u8..LAST_ECHO as u8).collect();
    let count = |bytes: Vec<u8>| bytes.windows(last.len()).filter(|window| *window == last).count();
    until("the last frames are captured", || count(fs::read(&path).unwrap()) >= 2);
    let process = rustix::process::Pid::from_child(&capturing);
    rustix::process::kill_process(process, rustix::process::Signal::INT).unwrap();
    assert!(capturing.wait().unwrap().success());

    let fields = [
        "goal_edp.kind",
        "goal_esp.flags",
        "goal.kind",
        "goal.size",
        "goal.tag",
        "_ws.expert.severity",
    ];
    let rows = shown(&path, fields);
    let column = |field: usize| -> Vec<&str> {
        rows.iter()
            .flat_map(|row| row[field].split(','))
            .filter(|value| !value.is_empty())
            .collect()
    };
    assert_eq!(column(0), ["1", "2"].repeat(4), "echoes and their answers");
    let flags = column(1);
    // Parts of a handshake may come twice.
    let first = |flag| flags.iter().position(|&other| other == flag);
    let handshake = ["0x01", "0x03", "0x02"].map(first);
    assert!(handshake[0] == Some(0) && handshake.is_sorted(), "SYN, SYN+ACK and ACK of {flags:?}");
    let (kinds, sizes, tags) = (column(2), column(3), column(4));
    assert_eq!(kinds.first(), Some(&"8"), "the communicator: {kinds:?}");
    assert_eq!(kinds.iter().filter(|&&kind| kind == "1").count(), MESSAGES.len(), "{kinds:?}");
    assert_eq!(
        (sizes, tags),
        (
            MESSAGES.map(|len| len.to_string()).iter().map(String::as_str).collect(),
            vec!["40", "41"]
        )
    );
    // Notes only: a packet that was sent again is no fault.
    const NOTE: u32 = 0x0040_0000;
    let worst = column(5).iter().map(|severity| severity.parse::<u32>().unwrap()).max();
    assert!(worst <= Some(NOTE), "{rows:?}");
}
