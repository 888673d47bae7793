//! Tests `--bind`, which binds ranks to processors.

use crate::common::processes::{ranks_of, wait_for};
use crate::common::{GOAL_RUN, run_text, start_text};
use goal_filetest::skipped;
use rustix::process::{Pid, Signal, kill_process};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use serde_json::Value;
use std::process::Command;

const PAIR: &str = "rank 0 { send 8b to 1 } rank 1 { recv 8b from 0 }";
const LONG: &str = "num_ranks 2 rank * { c: calc 1000000000000 }";

/// Returns the processors that this process may use, ascending.
fn allowed() -> Vec<u32> {
    mask(None)
}

fn mask(process: Option<Pid>) -> Vec<u32> {
    let mask = sched_getaffinity(process).unwrap();
    (0..CpuSet::MAX_CPU as u32).filter(|&number| mask.is_set(number as usize)).collect()
}

/// Returns the processor of each rank of a run of [`PAIR`], and the reason if there is none.
fn bound(arguments: &[&str]) -> ([Value; 2], Value) {
    let ended = run_text(PAIR, &[arguments, &["--stats", "--format", "json"]].concat());
    ended.assert_status(0);
    let stats = &ended.json()["stats"];
    ([0, 1].map(|rank| stats["ranks"][rank]["processor"].clone()), stats["unbound"].clone())
}

/// The system says the same as the report.
#[test]
fn ranks_stay_on_the_processors_of_a_list() {
    let allowed = allowed();
    let (first, last) = (allowed[0], allowed[allowed.len() - 1]);
    let list = format!("{last},{first}");
    for kind in ["processes", "threads"] {
        let (processors, unbound) = bound(&["--bind", &list, "--ranks-as", kind]);
        assert_eq!(processors, [Value::from(last), Value::from(first)]);
        assert!(unbound.is_null());
    }
    let mut launcher = start_text(LONG, &["--bind", &list]);
    let pid = Pid::from_child(&launcher);
    // Children in the order of their start, which is that of ranks.
    let ranks = ranks_of(pid, 2);
    for (rank, processor) in ranks.iter().zip([last, first]) {
        wait_for(|| (mask(Some(*rank)) == [processor]).then_some(()));
    }
    assert_eq!(mask(Some(pid)), allowed, "the launcher is not bound");
    kill_process(pid, Signal::TERM).unwrap();
    launcher.wait().unwrap();
}

#[test]
fn ranks_have_cores_of_their_own_if_there_are_enough() {
    assert_eq!(bound(&["--bind", "none"]), ([Value::Null, Value::Null], "as requested".into()));
    let (processors, unbound) = bound(&[]);
    match &processors {
        // Other jobs, such as those of other tests, may hold processors.
        [Value::Null, Value::Null] => println!("not bound: {unbound}"),
        [one, other] => assert!(one != other && unbound.is_null(), "{processors:?}"),
    }
    let many = format!("num_ranks {} rank * {{ nop }}", allowed().len() + 1);
    let ended = run_text(&many, &["--stats"]);
    ended.assert_status(0);
    let last = ended.out.lines().last().unwrap();
    assert_eq!(last, "ranks were not bound to processors: they share processors");
}

/// Two jobs at the same time do not bind ranks to the same processor.
#[test]
fn jobs_pass_over_processors_of_other_jobs() {
    let launcher = || start_text("rank 0 { calc 1000000000000 }", &[]);
    let mut launchers = [launcher(), launcher(), launcher()];
    let of_rank = |launcher: &std::process::Child| ranks_of(Pid::from_child(launcher), 1)[0];
    let ranks: Vec<Pid> = launchers.iter().map(of_rank).collect();
    // The mappings are there after the rank was bound.
    crate::common::processes::wait_until_mapped(&ranks);
    let masks = ranks.iter().map(|&rank| mask(Some(rank)));
    let mut bound: Vec<Vec<u32>> = masks.filter(|mask| mask.len() == 1).collect();
    bound.sort();
    let number = bound.len();
    bound.dedup();
    assert!(bound.len() == number || allowed().len() == 1, "{bound:?}");
    for launcher in &mut launchers {
        launcher.kill().unwrap();
        launcher.wait().unwrap();
    }
}

/// `ip netns exec` mounts a sysfs of the network namespace, whose locks are others.
#[test]
fn jobs_with_a_sysfs_of_their_own_pass_over_processors_too() {
    if !rustix::process::geteuid().is_root() {
        return skipped("only root can mount a sysfs");
    }
    let mut launcher = start_text("rank 0 { calc 1000000000000 }", &[]);
    let rank = ranks_of(Pid::from_child(&launcher), 1)[0];
    crate::common::processes::wait_until_mapped(&[rank]);
    let held = mask(Some(rank));
    let mut file = tempfile::Builder::new().suffix(".goal").tempfile().unwrap();
    std::io::Write::write_all(&mut file, b"rank 0 { nop }").unwrap();
    let script = "mount -t sysfs goal /sys && exec \"$0\" \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["--net", "--mount", "sh", "-c", script, GOAL_RUN]).arg(file.path());
    let output = command.args(["--stats", "--format", "json"]).output();
    launcher.kill().unwrap();
    launcher.wait().unwrap();
    let Some(output) = output.ok().filter(|output| output.status.success()) else {
        return skipped("a sysfs can't be mounted here");
    };
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let processor = &report["stats"]["ranks"][0]["processor"];
    assert!(held.len() > 1 || *processor != held[0], "{held:?} {report}");
}

#[test]
fn lists_that_can_not_be_followed_are_refused() {
    let refused = |list: &str, parts: &[&str]| {
        let ended = run_text(PAIR, &["--bind", list]);
        ended.assert_status(2);
        ended.assert_says(parts);
    };
    refused("0", &["2 ranks are on this host", "processors for 1", "--bind none"]);
    refused("0-x", &["'0-x' for '--bind", "give core, none, or the processors", "0,2-5"]);
    refused("0,5000", &["5000 is no processor"]);
    refused("0-4294967295", &["4294967295 is no processor"]);
    if allowed().contains(&1023) {
        skipped("this machine has 1024 processors");
    } else {
        refused("1023,1023", &["there is no processor 1023", "this machine has", "--bind core"]);
    }
    let [one, other, ..] = allowed()[..] else { return skipped("one processor") };
    // This mask leaves one processor.
    let run = std::thread::spawn(move || {
        let mut set = CpuSet::new();
        set.set(one as usize);
        sched_setaffinity(None, &set).unwrap();
        run_text(PAIR, &["--bind", &format!("{one},{other}")])
    });
    let ended = run.join().unwrap();
    ended.assert_status(2);
    let text = format!("may not use processor {other}, only {one} ");
    ended.assert_says(&[&text, "taskset", "--bind core"]);
}

#[test]
fn info_tells_the_processors() {
    let mut file = tempfile::Builder::new().suffix(".goal").tempfile().unwrap();
    std::io::Write::write_all(&mut file, PAIR.as_bytes()).unwrap();
    let info = |bind: &str| {
        let mut command = Command::new(GOAL_RUN);
        let output = command.arg("info").arg(file.path()).args(["--bind", bind, "--format=json"]);
        serde_json::from_slice::<Value>(&output.output().unwrap().stdout).unwrap()
    };
    let first = allowed()[0];
    let list = info(&format!("{first},{first}"));
    assert_eq!(list["bound_to"], Value::from(vec![first, first]));
    assert_eq!((&list["crowded"], &list["unbound"]), (&true.into(), &Value::Null));
    assert_eq!(info("none")["unbound"], "as requested");
}

/// Memory is resident before ranks start, up to the limit.
#[test]
fn memory_is_made_resident_up_to_a_limit() {
    let text = "num_ranks 2 rank * { exec copyInt8 with 0,8 8388600,8 }";
    let prefaulted = |arguments: &[&str]| {
        let ended = run_text(text, &[arguments, &["--stats", "--format", "json"]].concat());
        ended.assert_status(0);
        ended.json()["stats"]["ranks"][1]["prefaulted_bytes"].as_u64().unwrap()
    };
    for kind in ["processes", "threads"] {
        let all = prefaulted(&["--ranks-as", kind]);
        assert!(all >= 8 << 20, "{all}");
        assert_eq!(prefaulted(&["--ranks-as", kind, "--max-prefault", "0"]), 0);
        let part = prefaulted(&["--ranks-as", kind, "--max-prefault", "1M"]);
        assert_eq!(part, 1 << 20);
    }
}

/// A schedule that touches little of a large memory needs little memory.
#[test]
fn a_large_memory_of_which_little_is_touched_is_no_obstacle() {
    let text = "num_ranks 2 rank * { exec copyInt8 with 0,8 100000000000,8 }";
    let ended = run_text(text, &["--bind", "none", "--max-memory", "200G", "--no-check"]);
    ended.assert_status(0);
}

#[test]
fn the_first_instances_are_timed() {
    let run = |repeat: &str| {
        let ended = run_text(PAIR, &["--repeat", repeat, "--format", "json"]);
        ended.assert_status(0);
        ended.json()
    };
    assert_eq!(run("1")["instances_ns"], Value::Null);
    let report = run("5");
    let times = report["instances_ns"].as_array().unwrap();
    assert_eq!(times.len(), 5);
    let sum: u64 = times.iter().map(|time| time.as_u64().unwrap()).sum();
    let elapsed = report["elapsed_ns"].as_u64().unwrap();
    // The end of the last instance is read from the clock twice.
    assert!(sum <= elapsed && sum > 0, "{report}");
    assert_eq!(run("50")["instances_ns"].as_array().unwrap().len(), 32);
    let text = run_text(PAIR, &["--repeat", "5"]).out;
    assert!(text.contains(" (the first ") && text.contains(", then "), "{text}");
}
