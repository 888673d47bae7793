//! Tests `--trace`: the file is JSON that viewers open, and shows the events of the run.

use crate::common::processes::{ranks_of, wait_until_begun, wait_until_mapped};
use crate::common::{Ended, TRANSPORTS, run_file, run_text, start_text};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::collections::HashMap;
use std::path::Path;

/// An action of the trace; times in nanoseconds.
#[derive(Debug)]
struct Slice {
    rank: u64,
    lane: u64,
    name: String,
    kind: String,
    start: u64,
    end: u64,
    args: Value,
}

/// The contents of a trace.
#[derive(Debug)]
struct Trace {
    slices: Vec<Slice>,
    /// The ends of messages, by their names.
    leave: HashMap<String, (u64, u64, u64)>,
    taken: HashMap<String, (u64, u64, u64)>,
    /// Starts and ends of instances.
    starts: usize,
    ends: usize,
    lost: u64,
}

fn nanos(value: &Value) -> u64 {
    (value.as_f64().unwrap() * 1e3).round() as u64
}

impl Trace {
    fn read(path: &Path) -> Self {
        let file: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        let mut trace = Trace {
            slices: vec![],
            leave: HashMap::new(),
            taken: HashMap::new(),
            starts: 0,
            ends: 0,
            lost: file["otherData"]["lost_records"].as_u64().unwrap(),
        };
        for event in file["traceEvents"].as_array().unwrap() {
            let at = || {
                (
                    event["pid"].as_u64().unwrap(),
                    event["tid"].as_u64().unwrap(),
                    nanos(&event["ts"]),
                )
            };
            let id = || event["id"].as_str().unwrap().to_owned();
            match event["ph"].as_str().unwrap() {
                "M" => {}
                "X" => {
                    let (rank, lane, start) = at();
                    trace.slices.push(Slice {
                        rank,
                        lane,
                        name: event["name"].as_str().unwrap().to_owned(),
                        kind: event["cat"].as_str().unwrap().to_owned(),
                        start,
                        end: start + nanos(&event["dur"]),
                        args: event["args"].clone(),
                    });
                }
                "s" => assert!(trace.leave.insert(id(), at()).is_none(), "{event}"),
                "f" => assert!(trace.taken.insert(id(), at()).is_none(), "{event}"),
                "i" if event["name"] == "schedule start" => trace.starts += 1,
                "i" if event["name"] == "schedule end" => trace.ends += 1,
                other => panic!("{other}"),
            }
        }
        trace
    }

    /// The slice on which an end of an arrow lies, if there is exactly one.
    fn slice_at(&self, (rank, lane, time): (u64, u64, u64)) -> &Slice {
        let lies = |slice: &&Slice| {
            (slice.rank, slice.lane) == (rank, lane) && (slice.start..slice.end).contains(&time)
        };
        let on: Vec<&Slice> = self.slices.iter().filter(lies).collect();
        assert_eq!(on.len(), 1, "{rank} {lane} {time}: {on:?}");
        on[0]
    }

    /// Checks the properties of every trace.
    fn check(&self) {
        for (id, &taken) in &self.taken {
            let (send, recv) = (self.slice_at(self.leave[id]), self.slice_at(taken));
            assert_eq!((send.kind.as_str(), recv.kind.as_str()), ("send", "recv"));
            assert_eq!(
                (&send.args["peer"], &recv.args["peer"]),
                (&recv.rank.into(), &send.rank.into())
            );
            assert_eq!(send.args["bytes"], recv.args["bytes"]);
            assert!(self.leave[id].2 <= taken.2, "{send:?} {recv:?}");
        }
        for slice in &self.slices {
            let ready = nanos(&slice.args["ready"]);
            assert!(ready <= slice.start, "{slice:?}");
            let overlaps = |other: &&Slice| {
                (other.rank, other.lane) == (slice.rank, slice.lane)
                    && other.start < slice.end
                    && slice.start < other.end
            };
            assert_eq!(self.slices.iter().filter(overlaps).count(), 1, "{slice:?}");
        }
    }

    fn named(&self, name: &str) -> &Slice {
        let found: Vec<&Slice> = self.slices.iter().filter(|slice| slice.name == name).collect();
        assert_eq!(found.len(), 1, "{name}: {:?}", self.slices);
        found[0]
    }
}

/// Runs with a trace.
fn traced(run: impl FnOnce(&[&str]) -> Ended, arguments: &[&str]) -> (Ended, Trace) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.json");
    let ended = run(&[arguments, &["--trace", path.to_str().unwrap()]].concat());
    let trace = Trace::read(&path);
    (ended, trace)
}

#[test]
fn an_example_has_a_slice_an_action_and_an_arrow_a_message() {
    for name in
        ["allreduce-ring", "gather-linear", "broadcast-chain-pipelined", "stencil-irregular"]
    {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../examples/{name}.goal"));
        for transport in TRANSPORTS {
            for progress in ["caller", "thread", "node", "caller, in a window"] {
                let window = progress.ends_with("window");
                for eager in ["0", "16K"] {
                    let mut arguments =
                        vec!["--transport", transport, "--eager-limit", eager, "--format", "json"];
                    if window {
                        arguments.extend(["--window", "1000"]);
                    } else {
                        arguments.extend(["--repeat", "3", "--progress", progress]);
                    }
                    let (ended, trace) = traced(|arguments| run_file(&path, arguments), &arguments);
                    ended.assert_status(0);
                    let report = ended.json();
                    let (ranks, repeat) =
                        (report["ranks"].as_u64().unwrap(), report["repeat"].as_u64().unwrap());
                    let nisa =
                        goalc::driver::compile(std::slice::from_ref(&path), &Default::default())
                            .unwrap()
                            .nisa;
                    let actions: u64 = (0..nisa.num_ranks())
                        .map(|rank| nisa.num_actions(nisa.section_id(rank)) as u64)
                        .sum();
                    assert_eq!(trace.slices.len() as u64, actions * repeat, "{name}");
                    assert_eq!(
                        trace.taken.len() as u64,
                        report["messages"].as_u64().unwrap(),
                        "{name}"
                    );
                    assert_eq!(
                        (trace.starts as u64, trace.ends as u64),
                        (ranks * repeat, ranks * repeat)
                    );
                    if !window {
                        trace.check();
                    }
                }
            }
        }
    }
}

#[test]
fn slices_tell_what_the_program_says_and_when_it_could_start() {
    let text = "rank 0 {\n a: calc 50000000\n b: send 8b to 1 tag 7\n b requires a\n}\nrank 1 {\n c: recv 8b from any tag 7\n d: calc 1\n d requires c\n}";
    let (ended, trace) = traced(|arguments| run_text(text, arguments), &[]);
    ended.assert_status(0);
    trace.check();
    let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| trace.named(name));
    assert!(a.end - nanos(&a.args["ready"]) >= 50_000_000, "{a:?}");
    assert_eq!(nanos(&b.args["ready"]), a.end);
    assert_eq!(nanos(&d.args["ready"]), c.end);
    assert!(c.start < a.end && c.end > a.end, "{a:?} {c:?}");
    for (slice, line, peer) in [(b, 3, 1), (c, 7, 0)] {
        let told =
            ["line", "peer", "bytes", "tag", "instance"].map(|name| slice.args[name].as_u64());
        assert_eq!(told, [Some(line), Some(peer), Some(8), Some(7), Some(0)]);
    }
}

#[test]
fn what_was_done_before_a_job_got_stuck() {
    let text =
        "rank 0 { a: calc 1 b: recv 8b from 1 c: nop b requires a c requires b } rank 1 { x: nop }";
    for transport in TRANSPORTS {
        let (ended, trace) = traced(
            |arguments| run_text(text, arguments),
            &["--no-check", "--transport", transport],
        );
        ended.assert_status(3);
        assert_eq!(trace.slices.len(), 3, "{trace:?}");
        assert_eq!(trace.named("b").args["unfinished"], true);
        assert_eq!(trace.named("a").args["unfinished"], Value::Null);
        assert_eq!((trace.starts, trace.ends), (2, 1));
    }
}

#[test]
fn what_a_killed_rank_had_done() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.json");
    let text = "rank 0 { a: recv 8b from 1 b: calc 1000000000000 b requires a } rank 1 { s: send 8b to 0 w: calc 1000000000000 }";
    let launcher = start_text(text, &["--trace", path.to_str().unwrap()]);
    let ranks = ranks_of(Pid::from_child(&launcher), 2);
    wait_until_mapped(&ranks);
    // A rank that computes has received or sent before.
    wait_until_begun(&ranks);
    kill_process(ranks[0], Signal::KILL).unwrap();
    Ended::from_output(launcher.wait_with_output().unwrap()).assert_status(4);
    let trace = Trace::read(&path);
    assert_eq!(trace.starts, 2, "{trace:?}");
    assert_eq!(trace.named("w").args["unfinished"], true);
}

#[test]
fn the_last_records_are_kept_and_the_lost_ones_counted() {
    let text = "a: nop b: nop b requires a";
    // A run of this has six records, and the last record but one is the oldest that is surely
    // whole.
    let arguments = ["--repeat", "100", "--trace-max", "7"];
    let (ended, trace) = traced(|arguments| run_text(text, arguments), &arguments);
    ended.assert_status(0);
    assert_eq!(trace.lost, 594);
    ended.assert_says(&[
        "warning: the first 594 records of the trace did not fit (--trace-max raises it)",
    ]);
    assert_eq!((trace.slices.len(), trace.starts, trace.ends), (2, 1, 1));
    assert!(trace.slices.iter().all(|slice| slice.args["instance"] == 99), "{trace:?}");
}
