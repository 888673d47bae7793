//! The Wireshark dissector in `tools/wireshark/` shows the engine's frames as docs/kernel.md lays
//! them out. Needs `tshark`, and is skipped visibly without.

use crate::native::{Engine, Host};
use goal_filetest::skipped;
use goal_kernel::layout::Counter;
use goal_kernel::{Installation, Job, Member, Peer, Plan};
use goal_lang::{ParseOptions, SourceMap};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

const MACS: [[u8; 6]; 2] = [[2, 0, 0, 0, 0, 0], [2, 0, 0, 0, 0, 1]];
const FIELDS: [&str; 18] = [
    "version", "form", "kind", "length", "srcport", "dstport", "schedule", "job", "epoch",
    "receive", "send", "mask", "fragment", "request", "action", "number", "payload", "short",
];

fn host(engine: Engine, plan: &Plan, number: usize) -> (Host, Member, Vec<u8>) {
    let peers = MACS.map(|mac| Peer { mac, port: 0 }).to_vec();
    let job = Job {
        number: 0xabcd_1234,
        key: [1, 2],
        secrets: [3, 4],
        ethertype: 0x88b6,
        ifindex: 1,
        mac: MACS[number],
        peers,
    };
    let mut installation = Installation::new(job).unwrap();
    let member = installation.add(plan, &[0, 1]).unwrap()[0].1;
    (Host::new(engine, &installation), member, installation.tick().to_vec())
}

/// Returns frames of kinds 1 to 4, 6 and 7. They are starts, a message of two fragments, a tick
/// with its request, a completion event, and an action that is given back.
fn frames(engine: Engine) -> Vec<Vec<u8>> {
    let mut sources = SourceMap::default();
    let text = "rank 0 { send 0,100 to 1 } rank 1 { recv 0,100 from 0 }";
    sources.add("two.goal", Arc::new(text.as_bytes().to_vec()));
    let program = goal_lang::parse(&sources, &ParseOptions::default()).program.expect("valid");
    let plan = Plan::of(&crate::nisa(&program), 64).unwrap();
    let (mut sender, from, _) = host(engine, &plan, 0);
    let (mut receiver, to, tick) = host(engine, &plan, 1);
    let mut frames = vec![from.start(1).to_vec(), to.start(1).to_vec()];
    let data: Vec<Vec<u8>> =
        sender.egress(&from.start(1)).1.into_iter().map(|sent| sent.0).collect();
    assert_eq!(data.len(), 2);
    receiver.status[to.part as usize].waiting = 1;
    receiver.egress(&to.start(1));
    // The second fragment is lost.
    receiver.ingress(&data[0]);
    frames.extend(data.clone());
    for _ in 0..3 {
        frames.push(tick.clone());
        frames.extend(receiver.tick(&tick).into_iter().map(|sent| sent.0));
    }
    assert!(receiver.counter(Counter::Asked) > 0);
    frames.extend(receiver.ingress(&data[1]).1.into_iter().map(|sent| sent.0));
    frames.push(to.give_back(1, 5).to_vec());
    frames
}

/// The fields of a frame, as docs/kernel.md lays them out.
fn expected(frame: &[u8]) -> Vec<String> {
    let word = |at: usize, bytes: usize| {
        frame[14 + at..][..bytes].iter().fold(0u64, |word, &byte| word << 8 | u64::from(byte))
    };
    let length = word(2, 2) as usize;
    let payload: String = frame[56..56 + length].iter().map(|byte| format!("{byte:02x}")).collect();
    let mut all = vec![word(0, 1) >> 4, word(0, 1) & 15, word(1, 1)];
    all.extend([(2, 2), (4, 2), (6, 2), (8, 2)].map(|(at, bytes)| word(at, bytes)));
    let mut all: Vec<String> = all.iter().map(u64::to_string).collect();
    all.push(format!("0x{:08x}", word(10, 4)));
    all.extend([14, 18, 22].map(|at| word(at, 4).to_string()));
    all.push(format!("0x{:08x}", word(26, 4)));
    // The number counts something else in each kind.
    for kinds in [&[1][..], &[2], &[7], &[3, 4, 5, 6]] {
        let is_shown = kinds.contains(&word(1, 1));
        all.push(if is_shown { word(30, 4).to_string() } else { String::new() });
    }
    all.extend([payload, String::new()]);
    all
}

#[test]
fn wireshark_shows_schedule_frames() {
    let test = "wireshark_shows_schedule_frames";
    let Some(engine) = Engine::or_skip(test) else { return };
    if Command::new("tshark").arg("--version").output().is_err() {
        return skipped("no tshark");
    }
    let mut frames = frames(engine);
    let kinds = |kind: u8| frames.iter().filter(|frame| frame[15] == kind).count();
    assert!([1, 2, 3, 4, 6, 7].into_iter().all(|kind| kinds(kind) > 0), "kinds are missing");
    // The last one ends too early.
    let mut cut = frames[2].clone();
    cut.truncate(90);
    frames.push(cut);
    let mut capture = Vec::new();
    for word in [0xa1b2_c3d4u32, 0x0004_0002, 0, 0, 65535, 1] {
        capture.extend(word.to_le_bytes());
    }
    for frame in &frames {
        for word in [0, 0, frame.len() as u32, frame.len() as u32] {
            capture.extend(word.to_le_bytes());
        }
        capture.extend(frame);
    }
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let path = folder.join("schedule.pcap");
    std::fs::write(&path, capture).unwrap();
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tools/wireshark/goal.lua");
    let mut command = Command::new("tshark");
    command.arg("-r").arg(&path).arg("-X").arg(format!("lua_script:{}", script.display()));
    command.args(["-T", "fields", "-E", "separator=/t"]);
    for field in FIELDS {
        command.arg("-e").arg(format!("goal_schedule.{field}"));
    }
    // Without the profile and the plugins of the user, which may have the dissector too.
    command.env("HOME", &folder).env("XDG_CONFIG_HOME", &folder);
    let output = command.env("WIRESHARK_CONFIG_DIR", &folder).output().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines.len(), frames.len(), "{}", String::from_utf8_lossy(&output.stderr));
    let (last, whole) = lines.split_last().unwrap();
    for (line, frame) in whole.iter().zip(&frames) {
        let found: Vec<&str> = line.split('\t').collect();
        assert_eq!(found, expected(frame), "{frame:02x?}");
    }
    assert!(!last.ends_with('\t'), "a frame that is cut off is not told: {last}");
}
