//! Programs whose schedules run in the kernels of hosts.

use super::{bench, bench_with, build, collectives, ended, run, start};
use aya::programs::{SchedClassifier, TcAttachType};
use goal_cluster::{Cluster, Faults, INTERFACE, Switch, Wiring};
use goal_filetest::{skipped, timeout, until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Rounds of a token, as `kernel.c` knows it.
const ROUNDS: u32 = 200;

/// Four hosts whose kernels run schedules, with a program that is built.
fn bench_of(program: &str, switch: Switch) -> Option<(Cluster, TempDir)> {
    let (cluster, folder) = bench_with(&Wiring { hosts: 4, mtu: 1500, switch })?;
    let offer = cluster.hosts()[0].call(goal_job::Offload::probe).unwrap();
    if let Err(missing) = offer {
        skipped(&missing);
        return None;
    }
    build(&crate::support::folder().join("tests/c").join(program), folder.path());
    Some((cluster, folder))
}

/// Waits until rank 0 says that the kernel has the schedule, which all ranks have prepared then.
/// Returns the rest of its launcher's output.
fn in_the_kernel(leader: &mut Child) -> BufReader<ChildStdout> {
    let mut output = BufReader::new(leader.stdout.take().expect("a pipe"));
    let mut told = String::new();
    output.read_line(&mut told).unwrap();
    assert_eq!(told, "in the kernel\n");
    output
}

/// Waits until no host has a program at its hooks.
fn assert_none_attached(cluster: &Cluster) {
    for host in cluster.hosts() {
        let of = |hook| SchedClassifier::query_tcx(INTERFACE, hook).map(|(_, all)| all.len());
        let count = || of(TcAttachType::Ingress).unwrap() + of(TcAttachType::Egress).unwrap();
        until("no program is attached", || host.call(count).unwrap() == 0);
    }
}

/// The process of the one rank of a launcher.
fn rank_of(launcher: &Child) -> Pid {
    let path = format!("/proc/{0}/task/{0}/children", launcher.id());
    let is_rank = |number: &i32| {
        let name = fs::read_to_string(format!("/proc/{number}/comm"));
        name.is_ok_and(|name| name == "kernel\n")
    };
    let mut rank = None;
    until("a rank runs", || {
        let children = fs::read_to_string(&path).unwrap_or_default();
        let mut numbers = children.split_whitespace().filter_map(|text| text.parse().ok());
        rank = numbers.find(is_rank).and_then(Pid::from_raw);
        rank.is_some()
    });
    rank.expect("it was found")
}

fn is_stopped(process: Pid) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero()));
    stat.is_ok_and(|stat| stat.contains(") T "))
}

fn is_gone(process: Pid) -> bool {
    fs::metadata(format!("/proc/{}", process.as_raw_nonzero())).is_err()
}

fn compile(folder: &Path, name: &str, text: &str) {
    let source = folder.join(format!("{name}.goal"));
    fs::write(&source, text).unwrap();
    let mut goalc = Command::new(crate::support::installed("goalc"));
    goalc.arg("build").arg("--no-check").arg(source).arg("-o").arg(folder.join(name));
    assert!(goalc.status().unwrap().success());
}

#[test]
fn kernels_run_schedules_of_programs() {
    let Some((cluster, folder)) = bench_of("offload.c", Switch::Bridge) else { return };
    let stats = ["--stats", "--format", "json", "--offload", "kernel", "./offload", "kernel"];
    // One rank on each host, and two.
    for (ranks, progress) in [(4, "caller"), (8, "thread")] {
        let arguments = [&["--progress", progress], &stats[..]].concat();
        let text = run(&cluster, folder.path(), ranks, &arguments);
        assert!(text.contains(&format!("{ranks} ranks: 0 of ")), "{text}");
        let report = text.lines().find(|line| line.starts_with('{')).expect("the report");
        let report: Value = serde_json::from_str(report).expect("the report is JSON");
        assert_eq!(report["offload"], "kernel");
        let ran = collectives(&report);
        let in_kernel = ran.iter().filter(|one| one.1.starts_with("bpf-") && one.3 >= 50);
        assert!(in_kernel.count() >= 8, "{report}");
    }
    let off = run(&cluster, folder.path(), 4, &["--offload", "off", "./offload"]);
    assert!(off.contains("4 ranks: 0 of "), "{off}");
    assert_none_attached(&cluster);
}

#[test]
fn schedules_of_programs_survive_lost_and_doubled_frames() {
    let faults = Faults { lost: 100_000, doubled: 100_000, ..Faults::default() };
    let switch = Switch::Faulty(faults, 1);
    let Some((cluster, folder)) = bench_of("offload.c", switch) else { return };
    let text = run(&cluster, folder.path(), 4, &["--offload", "kernel", "./offload", "kernel"]);
    assert!(text.contains("4 ranks: 0 of "), "{text}");
}

#[test]
fn a_schedule_ends_while_the_processes_of_its_program_are_stopped() {
    // Each frame takes a millisecond, and the token passes 800 times.
    let faults = Faults { delayed: 1_000_000, delay_ns: 1_000_000, ..Faults::default() };
    let Some((cluster, folder)) = bench_of("kernel.c", Switch::Faulty(faults, 1)) else { return };
    compile(folder.path(), "token", &token());
    let arguments = ["--offload", "kernel", "./kernel", "stop", "token"];
    let children = start(&cluster, folder.path(), 4, &arguments);
    let ranks: Vec<Pid> = children.iter().map(rank_of).collect();
    for _ in 0..2 {
        until("all ranks are stopped", || {
            ranks.iter().all(|&rank| is_stopped(rank) || is_gone(rank))
        });
        // Time has to pass: the program finds that the run has ended, at its first look.
        std::thread::sleep(Duration::from_secs(6));
        for &rank in &ranks {
            // It has gone if the run before had not ended: its launcher says so below.
            let _ = kill_process(rank, Signal::CONT);
        }
    }
    for output in ended(children) {
        assert!(output.status.success(), "{output:?}");
    }
}

#[test]
fn nothing_is_left_of_programs_that_are_killed() {
    let Some((cluster, folder)) = bench_of("kernel.c", Switch::Bridge) else { return };
    for host in [0, 2] {
        for kills_rank in [true, false] {
            let arguments = ["--offload", "kernel", "./kernel", "forever"];
            let mut children = start(&cluster, folder.path(), 4, &arguments);
            let ranks: Vec<Pid> = children.iter().map(rank_of).collect();
            let _output = in_the_kernel(&mut children[0]);
            let launcher = Pid::from_child(&children[host]);
            let victim = if kills_rank { ranks[host] } else { launcher };
            kill_process(victim, Signal::KILL).unwrap();
            assert!(ended(children).iter().all(|output| !output.status.success()));
            assert_none_attached(&cluster);
        }
    }
}

#[test]
fn mistakes_of_programs_have_their_reasons() {
    let Some((cluster, folder)) = bench_of("kernel.c", Switch::Bridge) else { return };
    let in_folder = |part: &[&str], offload: &str| {
        let arguments = [&["--offload", offload, "./kernel"], part].concat();
        ended(start(&cluster, folder.path(), 4, &arguments))
    };
    let all = in_folder(&["order"], "kernel");
    let text = all.iter().map(|output| String::from_utf8_lossy(&output.stdout)).collect::<String>();
    assert!(text.starts_with("rank 1 has prepared another schedule at this place"), "{all:?}");
    assert!(all.iter().all(|output| output.status.success()), "{all:?}");
    // A division by zero has the text that it has in the processes.
    let zero = "num_ranks 4\nrank 0 { send 8b to 1; } rank 2 { nop; } rank 3 { nop; }\n\
        rank 1 { init 0 = Int32 1; init 4 = Int32 0; init 8 = Int32 6; r: recv 8b from 0;\n\
        d: exec divInt32 with 0,8 8,8; requ d -> r; }\n";
    compile(folder.path(), "zero", zero);
    let told = ["off", "kernel"].map(|offload| {
        let all = in_folder(&["fail", "zero"], offload);
        assert!(all.iter().all(|output| output.status.code() == Some(1)), "{all:?}");
        String::from_utf8_lossy(&all[0].stderr).into_owned()
    });
    assert_eq!(told[0], told[1]);
    assert!(told[0].contains("rank 1: action number "), "{told:?}");
    assert!(told[0].contains("divided by zero"), "{told:?}");
    let all = in_folder(&["stuck"], "kernel");
    let text = String::from_utf8_lossy(&all[0].stderr);
    assert!(all.iter().all(|output| output.status.code() == Some(3)), "{all:?}");
    assert!(text.contains("rank 0 waits in GOAL_Wait: recv"), "{text}");
    // Rank 0 has not started its part, so a message of it is missing somewhere.
    let line = text.lines().find(|line| {
        line.contains("in the kernel waits for a message from rank 0")
            && line.contains("waits in GOAL_Wait: recv number ")
    });
    assert!(line.is_some(), "{text}");
}

/// Long frames get lost for longer than a rank waits for one that has not started, and then for
/// ever.
#[test]
fn a_program_survives_an_outage_and_learns_of_a_lasting_one() {
    let Some((cluster, folder)) = bench_of("kernel.c", Switch::Bridge) else { return };
    let arguments = ["--offload", "kernel", "./kernel", "lasts", "10"];
    // Time has to pass between a change of the network and the next.
    let pause = |seconds| std::thread::sleep(Duration::from_secs(seconds));
    for lasts in [false, true] {
        let mut children = start(&cluster, folder.path(), 4, &arguments);
        let _output = in_the_kernel(&mut children[0]);
        pause(1);
        cluster.narrow(2, 600).unwrap();
        if !lasts {
            pause(6);
            cluster.narrow(2, 1500).unwrap();
        }
        let all = ended(children);
        if lasts {
            assert!(all.iter().all(|output| output.status.code() == Some(1)), "{all:?}");
            let text = String::from_utf8_lossy(&all[0].stderr);
            assert!(text.contains("do not reach rank "), "{text}");
            assert!(text.contains("still carry frames of"), "{text}");
        } else {
            assert!(all.iter().all(|output| output.status.success()), "{all:?}");
        }
    }
    assert_none_attached(&cluster);
}

/// A rank that waits for runs in the kernel is not said to compute.
#[test]
fn the_end_of_the_time_names_the_call() {
    let Some((cluster, folder)) = bench_of("kernel.c", Switch::Bridge) else { return };
    let limit = timeout(12);
    let arguments = ["--timeout", &limit, "--offload", "kernel", "./kernel", "lasts", "6000"];
    let all = ended(start(&cluster, folder.path(), 4, &arguments));
    let text = String::from_utf8_lossy(&all[0].stderr);
    assert!(text.contains("is in GOAL_Wait, for schedules in the kernel"), "{text}");
}

/// The others hear nothing for longer than they would of a rank that has not started.
#[test]
fn a_long_computation_is_handed_over() {
    let Some((cluster, folder)) = bench_of("kernel.c", Switch::Bridge) else { return };
    let text = "num_ranks 4\nrank 0 { c: calc 6000000000; s: send 8b to 1; requ s -> c; }\n\
        rank 1 { recv 8b from 0; } rank 2 { calc 1000; } rank 3 { nop; }\n";
    compile(folder.path(), "calc", text);
    let began = Instant::now();
    let slow = ["--offload", "kernel", "./kernel", "slow", "calc"];
    let all = run(&cluster, folder.path(), 4, &slow);
    assert_eq!(all, "in the kernel\n");
    assert!(began.elapsed() >= Duration::from_secs(6), "{:?}", began.elapsed());
    // It would take much longer than the job may.
    compile(folder.path(), "long", &text.replace("6000000000", "6000000000000"));
    let skips = ["--offload", "kernel", "--calc", "skip", "./kernel", "slow", "long"];
    let all = run(&cluster, folder.path(), 4, &skips);
    assert_eq!(all, "in the kernel\n");
}

#[test]
fn forks_and_threads_do_no_harm() {
    let Some((cluster, folder)) = bench_of("kernel.c", Switch::Bridge) else { return };
    let forks = run(&cluster, folder.path(), 4, &["--offload", "kernel", "./kernel", "fork"]);
    assert_eq!(forks, "in the kernel\n");
    for progress in ["caller", "thread"] {
        let arguments = ["--progress", progress, "--offload", "kernel", "./kernel", "threads"];
        assert_eq!(run(&cluster, folder.path(), 4, &arguments), "");
    }
}

#[test]
fn ranks_that_wait_for_one_that_has_ended_are_told() {
    let Some((cluster, folder)) = bench_of("kernel.c", Switch::Bridge) else { return };
    let arguments = ["--offload", "kernel", "./kernel", "more"];
    let all = ended(start(&cluster, folder.path(), 4, &arguments));
    let text = String::from_utf8_lossy(&all[0].stderr);
    assert!(all.iter().all(|output| output.status.code() == Some(3)), "{all:?}");
    assert!(text.contains("in the kernel waits for a message from rank 0"), "{text}");
    assert!(text.contains("rank 0 waits in finalize"), "{text}");
}

#[test]
fn programs_on_one_host_have_no_kernel() {
    let Some((_, folder)) = bench(1) else { return };
    build(&crate::support::folder().join("tests/c/kernel.c"), folder.path());
    let run = |offload: &str| {
        let mut command = Command::new(crate::support::installed("goal-run"));
        command.args(["-n", "2", "--offload", offload, "./kernel", "order"]);
        command.current_dir(folder.path()).output().unwrap()
    };
    let refused = run("kernel");
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("all ranks are on this one"));
    let told = run("auto");
    assert!(told.status.success(), "{told:?}");
    assert!(
        String::from_utf8_lossy(&told.stdout).contains("all ranks are on this one"),
        "{told:?}"
    );
}

/// Four ranks pass a token around. Each adds its number to it.
fn token() -> String {
    let mut text = "num_ranks 4\n".to_owned();
    for rank in 0..4 {
        let (before, next) = ((rank + 3) % 4, (rank + 1) % 4);
        text.push_str(&format!("rank {rank} {{\n  init 16 = Int64 0;\n"));
        for round in 0..ROUNDS {
            let send = format!("  s{round}: send 0,8 to {next} tag {round};\n");
            let add = format!("  a{round}: exec sumInt64 with 16,8 0,8;\n");
            let receive = format!("  r{round}: recv 0,8 from {before} tag {round};\n");
            text.push_str(&format!("{send}{add}{receive}"));
            // Rank 0 begins.
            text.push_str(&match rank {
                0 => format!("  requ s{round} -> a{round};\n  requ r{round} -> s{round};\n"),
                _ => format!("  requ a{round} -> r{round};\n  requ s{round} -> a{round};\n"),
            });
            if let Some(last) = round.checked_sub(1) {
                text.push_str(&match rank {
                    0 => format!("  requ a{round} -> r{last};\n"),
                    _ => format!("  requ r{round} -> s{last};\n"),
                });
            }
        }
        text.push_str("}\n");
    }
    text
}
