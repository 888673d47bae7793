//! Tests schedules that run in the kernels of hosts.

use crate::common::processes::wait_for;
use crate::common::rights::{FILES, Rights};
use crate::common::{Ended, GOAL_RUN, default_signals, examples, run_text};
use crate::hosts::bench::{Bench, ended, launcher, ranks_of, send};
use aya::maps::{Array, Map, MapData};
use aya::programs::{SchedClassifier, TcAttachType};
use goal_cluster::{Faults, INTERFACE, Switch, Wiring};
use goal_filetest::{skipped, timeout};
use goal_kernel::layout::StatusEntry;
use goal_kernel::{Plan, limits};
use goal_lang::limits::Limits;
use rustix::process::{Pid, Signal};
use std::fs;
use std::mem::offset_of;
use std::path::Path;
use std::process::{Child, Command, Stdio};

const FOUR: [&str; 3] = ["--discover", "--hosts", "4"];
const TWO: [&str; 3] = ["--discover", "--hosts", "2"];

/// A sum of two floating-point numbers of two ranks.
const FLOAT: &str = "num_ranks 2
rank 0 { init 0 = Float64 1.5; send 0,8 to 1; }
rank 1 { init 0 = Float64 2.0; init 8 = Float64 0;
  expect 0 = Float64 3.5;
  r: recv 8,8 from 0;
  s: exec sumFloat64 with 8,8 0,8; requ s -> r; }
";

/// A sum of 4097 numbers, a computation and a look at the clock between messages: the kernel leaves
/// them to the process as fallback operations.
const HANDED: &str = "num_ranks 2
rank 0 { init 0 = Float64 1.5; init 32776 = Float64 1; expect 32776 = Float64 4; expect 65544 = Float64 0;
  r: recv 0,8 from 1;
  s: exec sumFloat64 with 0,32776 32776,32776; requ s -> r;
  t: send 32776,8 to 1; requ t -> s; }
rank 1 { init 0 = Float64 3; init 8 = Float64 0; expect 8 = Float64 4;
  c: calc 1000;
  w: exec wtime with 16,8; requ w -> c;
  s: send 0,8 to 0; requ s -> w;
  r: recv 8,8 from 0; }
";
/// Four ranks pass a token around so often that it takes long.
fn token(rounds: u32) -> String {
    let mut text = "num_ranks 4\n".to_owned();
    for rank in 0..4 {
        let (before, next) = ((rank + 3) % 4, (rank + 1) % 4);
        text.push_str(&format!(
            "rank {rank} {{\n  init 0 = Int64 0; init 16 = Int64 {};\n",
            rank + 1
        ));
        // Rank 0 begins; each adds its number when the token comes.
        for round in 0..rounds {
            let send = format!("  s{round}: send 0,8 to {next} tag {round};\n");
            let add = format!("  a{round}: exec sumInt64 with 16,8 0,8;\n");
            let receive = format!("  r{round}: recv 0,8 from {before} tag {round};\n");
            text.push_str(&format!("{send}{add}{receive}"));
            text.push_str(&match rank {
                0 => format!("  requ s{round} -> a{round};\n  requ r{round} -> s{round};\n"),
                _ => format!("  requ a{round} -> r{round};\n  requ s{round} -> a{round};\n"),
            });
            if round > 0 {
                let last = round - 1;
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

fn plan(path: &Path) -> Option<Plan> {
    let options =
        goalc::driver::Options { check: false, limits: Limits::default(), ..Default::default() };
    let nisa = goalc::driver::compile(&[path.to_owned()], &options).unwrap().nisa;
    Plan::of(&nisa, limits::fragment_of(1500).unwrap()).ok()
}

/// The programs at the hooks of a host's interface.
fn attached(bench: &Bench, host: usize) -> usize {
    let of = |hook| SchedClassifier::query_tcx(INTERFACE, hook).map(|(_, all)| all.len());
    let count = || of(TcAttachType::Ingress).unwrap() + of(TcAttachType::Egress).unwrap();
    bench.cluster.hosts()[host].call(count).unwrap()
}

/// Waits until no host has a program at its hooks: descriptors of a killed process close late.
fn assert_none_attached(bench: &Bench) {
    for host in 0..bench.cluster.hosts().len() {
        wait_for(|| (attached(bench, host) == 0).then_some(()));
    }
}

fn assert_all(all: &[Ended], status: i32, says: &[&str]) {
    for ended in all {
        ended.assert_status(status);
        ended.assert_says(says);
    }
}

/// Other tests install classifiers of their own, and programs are counted here. So each test has
/// hosts of its own, and queries only these.
fn bench(test: &str, hosts: usize, switch: Switch) -> Option<Bench> {
    let bench = Bench::or_skip(test, &Wiring { hosts, mtu: 1500, switch })?;
    let offer = bench.cluster.hosts()[0].call(goal_kernel::probe).unwrap();
    match offer {
        Ok(offer) if offer.hook == goal_kernel::Hook::Tcx => Some(bench),
        offer => {
            skipped(&format!("{test}: {offer:?}"));
            None
        }
    }
}

#[test]
fn integer_examples_run_in_the_kernel() {
    let Some(bench) = bench("integer examples", 4, Switch::Bridge) else { return };
    let mut ran = 0;
    for path in examples() {
        let Some(plan) = plan(&path) else { continue };
        let hosts = plan.ranks().min(4) as usize;
        if hosts < 2 {
            continue;
        }
        ran += 1;
        let count = hosts.to_string();
        let arguments = ["--discover", "--hosts", &count, "--offload", "kernel", "--verify"];
        let more = ["--repeat", "50", "--format", "json"];
        let program = path.to_str().unwrap();
        let all = bench.run_on(hosts, program, &[&arguments[..], &more].concat());
        assert_all(&all, 0, &[]);
        let report = all[0].json();
        assert_eq!(report["offload"], "kernel", "{path:?}");
        let receives = plan.messages().count() as u64;
        assert_eq!(report["verified"]["receives"], receives, "{path:?}");
        assert_eq!(report["messages"], 50 * receives, "{path:?}");
        assert_eq!(report["unreceived"], 0, "{path:?}");
        // Processes send as many bytes.
        let off = bench.run_on(
            hosts,
            program,
            &["--discover", "--hosts", &count, "--repeat", "50", "--format", "json"],
        );
        assert_eq!(off[0].json()["bytes"], report["bytes"], "{path:?}");
        assert_eq!(off[0].json()["offload"], serde_json::Value::Null);
    }
    assert!(ran >= 8, "only {ran} examples ran");
    assert_none_attached(&bench);
}

/// Each kind of faults has a few examples; with four seeds, each has all of them.
#[test]
fn integer_examples_run_in_the_kernel_in_spite_of_faults() {
    let (none, all) = (Faults::default(), goal_filetest::seeds(1) >= 4);
    let kinds = [
        Faults { lost: 10_000, ..none },
        Faults { lost: 100_000, ..none },
        Faults { doubled: 100_000, ..none },
        Faults { delayed: 100_000, delay_ns: 300_000, ..none },
    ];
    for (kind, faults) in kinds.into_iter().enumerate() {
        let Some(bench) = bench("examples with faults", 4, Switch::Faulty(faults, 1)) else {
            return;
        };
        let mut ran = 0;
        let few = |number: &usize| all || number % 8 == 2 * kind;
        for path in examples().into_iter().enumerate().filter(|(at, _)| few(at)).map(|(_, p)| p) {
            let Some(plan) = plan(&path) else { continue };
            let hosts = plan.ranks().min(4);
            if hosts > 1 {
                let arguments = ["--discover", "--hosts", &hosts.to_string()];
                let options = ["--offload", "kernel", "--verify", "--repeat", "50"];
                let arguments = [&arguments[..], &options].concat();
                let all = bench.run_on(hosts as usize, path.to_str().unwrap(), &arguments);
                assert_all(&all, 0, &[]);
                ran += 1;
            }
        }
        println!("{ran} examples with {faults:?}");
        assert!(ran > 0);
    }
}

/// The engine's maps take descriptors.
#[test]
fn an_error_of_the_system_names_the_host_and_the_limit() {
    let Some(bench) = bench("few descriptors", 2, Switch::Bridge) else { return };
    let text = "num_ranks 2\nrank 0 { send 8b to 1; }\nrank 1 { recv 8b from 0; }";
    let program = bench.write("pair.goal", text);
    let options = ["--discover", "--hosts", "2", "--offload", "kernel"];
    let other = bench.start(0, &program, &options);
    let launcher = bench.command(1, &program, &options);
    let mut shell = bench.cluster.hosts()[1].command("sh");
    shell
        .args(["-c", "ulimit -n 22; exec \"$@\"", "sh"])
        .args(launcher.get_args().skip_while(|argument| *argument != GOAL_RUN));
    shell.stdout(Stdio::piped()).stderr(Stdio::piped());
    let refused = ended(shell.spawn().unwrap());
    let host = format!("host {}: ", bench.mac(1));
    let says = [&*host, "needs about 45 open files", "ulimit -n allows 22: raise it"];
    assert_all(&[refused, ended(other)], 2, &says);
    assert_none_attached(&bench);
}

#[test]
fn lost_frames_are_repaired_in_the_kernel() {
    let faults = Faults { lost: 100_000, doubled: 100_000, ..Faults::default() };
    let Some(bench) = bench("losses in the kernel", 4, Switch::Faulty(faults, 1)) else { return };
    let program =
        examples().into_iter().find(|path| path.ends_with("allreduce-ring.goal")).unwrap();
    let options = ["--offload", "kernel", "--verify", "--repeat", "200"];
    for kind in ["processes", "threads"] {
        let all = bench
            .run(program.to_str().unwrap(), &[&FOUR[..], &options, &["--ranks-as", kind]].concat());
        assert_all(&all, 0, &[]);
    }
}

#[test]
fn ranks_share_hosts_in_any_order() {
    let Some(bench) = bench("shared hosts", 2, Switch::Bridge) else { return };
    let program =
        examples().into_iter().find(|path| path.ends_with("allreduce-ring.goal")).unwrap();
    let here = |ranks| ["--discover", "--here", ranks, "--offload", "kernel", "--verify"];
    let more = ["--repeat", "20", "--format", "json"];
    let each = ["1-2", "0,3"].map(|ranks| [&here(ranks)[..], &more].concat());
    let all = bench.run_each(program.to_str().unwrap(), &[&each[0], &each[1]]);
    assert_all(&all, 0, &[]);
    assert_eq!(all[1].json()["offload"], "kernel");
}

#[test]
fn floats_are_the_kernels() {
    let Some(bench) = bench("floats", 2, Switch::Bridge) else { return };
    let program = bench.write("float.goal", FLOAT);
    let options = ["--verify", "--format", "json", "--offload", "kernel"];
    let all = bench.run(&program, &[&TWO[..], &options].concat());
    assert_all(&all, 0, &[]);
    assert_eq!(all[0].json()["offload"], "kernel");
}

#[test]
fn what_the_kernel_cannot_do_is_handed_over() {
    let Some(bench) = bench("handed over", 2, Switch::Bridge) else { return };
    let program = bench.write("handed.goal", HANDED);
    let options = ["--verify", "--format", "json", "--offload", "kernel", "--repeat", "100"];
    for wait in ["spin", "block", "adaptive"] {
        for calc in ["spin", "skip"] {
            let more = ["--wait", wait, "--calc", calc];
            let all = bench.run(&program, &[&TWO[..], &options, &more].concat());
            assert_all(&all, 0, &[]);
            assert_eq!(all[0].json()["offload"], "kernel");
        }
    }
}

/// The verification replays the matching of the plan, so it would find other ones.
#[test]
fn long_messages_from_any_source_run_in_the_kernel() {
    let Some(bench) = bench("any source", 4, Switch::Bridge) else { return };
    let text = "num_ranks 4
rank 0 { recv 0,70000 from any tag 5; recv 70000,70000 from any tag 5;
  recv 140000,70000 from any tag 5; recv 90000b from any tag 9; }
rank 1, 2, 3 { init 0 = UInt8 7; send 0,70000 to 0 tag 5; }
rank 1 { send 90000b to 0 tag 9; }";
    let program = bench.write("any.goal", text);
    let options = ["--verify", "--format", "json", "--repeat", "20", "--offload", "kernel"];
    let all = bench.run(&program, &[&FOUR[..], &options].concat());
    assert_all(&all, 0, &[]);
    let report = all[0].json();
    assert_eq!(report["offload"], "kernel");
    assert_eq!((&report["messages"], &report["unreceived"]), (&80.into(), &0.into()));
    assert_eq!(report["verified"]["receives"], 4);
}

#[test]
fn all_hosts_decide_together() {
    let Some(bench) = bench("together", 2, Switch::Bridge) else { return };
    let program = bench.write("pair.goal", "rank 0 { send 8b to 1; } rank 1 { recv 8b from 0; }");
    // One host alone can't: it writes a trace.
    let trace = bench.path("trace");
    let auto = [&TWO[..], &["--offload", "auto"]].concat();
    let traced = [&auto[..], &["--trace", trace.to_str().unwrap()]].concat();
    let all = bench.run_each(&program, &[&traced, &auto]);
    let why =
        format!("processes run the schedule: host {}: its actions leave no trace", bench.mac(0));
    assert_all(&all, 0, &[&why]);
    let off = [&TWO[..], &["--offload", "off"]].concat();
    let all = bench.run_each(&program, &[&auto, &off]);
    assert_all(&all, 2, &["--offload off", "--offload auto"].map(|_| "--offload"));
    let windowed = [&TWO[..], &["--offload", "kernel", "--window", "64"]].concat();
    assert_all(&bench.run(&program, &windowed), 2, &["through a window", "--offload auto"]);
}

#[test]
fn a_division_by_zero_has_its_place() {
    let Some(bench) = bench("division", 2, Switch::Bridge) else { return };
    let text = "num_ranks 2 rank 0 { send 8b to 1; }\n\
                rank 1 { init 0 = Int32 1; init 4 = Int32 1;\n\
                init 8 = Int32 6; r: recv 8b from 0;\n\
                d: exec divInt32 with 0,8 8,8; requ d -> r; }\n";
    // The first element is divided by 1, the second by 0 in the processes' form.
    let text = text.replace("init 4 = Int32 1", "init 4 = Int32 0");
    let program = bench.write("division.goal", &text);
    let mut told = Vec::new();
    for offload in ["off", "kernel"] {
        let all =
            bench.run(&program, &[&TWO[..], &["--offload", offload, "--repeat", "3"]].concat());
        assert_all(&all, 1, &["rank 1, exec `d` (line 4)", "divided by zero"]);
        told.push(all[0].err.clone());
    }
    assert_eq!(told[0], told[1]);
}

/// Rank 1 computes while an action of it fails in the kernel, which then takes nothing back.
#[test]
fn a_division_by_zero_beside_a_computation_has_its_place() {
    let Some(bench) = bench("division beside calc", 2, Switch::Bridge) else { return };
    let text = "num_ranks 2 rank 0 { c: calc 100000000; s: send 8b to 1; requ s -> c; }\n\
                rank 1 { init 0 = Int32 1; init 8 = Int32 6; c: calc 300000000;\n\
                r: recv 8b from 0; d: exec divInt32 with 0,8 8,8; requ d -> r; }\n";
    let program = bench.write("beside.goal", text);
    for offload in ["off", "kernel"] {
        let all = bench.run(&program, &[&TWO[..], &["--offload", offload]].concat());
        assert_all(&all, 1, &["rank 1, exec `d` (line 3): element 1 is divided by zero"]);
    }
}

/// Both ranks compute for a second at once, on two processors each, if fallback operations beside a
/// computation do not wait for it.
#[test]
fn computations_hold_up_nothing_else() {
    let Some(bench) = bench("calc", 2, Switch::Bridge) else { return };
    let text = "num_ranks 2
rank 0 { init 0 = Float64 0; c: calc 1000000000; d: calc 1000000000 cpu 1;
  w: exec wtime with 0,8; s: send 8b to 1; requ s -> w; r: recv 8b from 1; }
rank 1 { r: recv 8b from 0; c: calc 1000000000; requ c -> r; s: send 8b to 0; requ s -> c; }";
    let program = bench.write("calc.goal", text);
    for wait in ["adaptive", "block", "spin"] {
        let options = ["--format", "json", "--offload", "kernel", "--wait", wait];
        let is_quick = |_| {
            let all = bench.run(&program, &[&TWO[..], &options].concat());
            assert_all(&all, 0, &[]);
            let elapsed_ns = all[0].json()["elapsed_ns"].as_u64().unwrap();
            println!("{wait}: {elapsed_ns} ns");
            assert!(elapsed_ns >= 1_000_000_000, "{wait}: {elapsed_ns} ns");
            elapsed_ns < 1_900_000_000
        };
        // A busy machine takes longer, but not each time.
        assert!((0..10).any(is_quick), "{wait}: one computation waits for the other");
    }
}

/// Starts a job that takes seconds in the kernels of four hosts.
fn long_job(bench: &Bench, more: &[&str]) -> (Vec<Child>, Vec<Pid>) {
    let program = bench.write("token.goal", &token(500));
    let options = ["--offload", "kernel", "--verify", "--no-check"];
    let children = bench.start_all(&program, &[&FOUR[..], &options, more].concat());
    let ranks = children.iter().map(|child| ranks_of(launcher(child), 1)[0]).collect();
    (children, ranks)
}

/// A switch that keeps each frame for a millisecond.
fn slow() -> Switch {
    let faults = Faults { delayed: 1_000_000, delay_ns: 1_000_000, ..Faults::default() };
    Switch::Faulty(faults, 1)
}

/// The words `started` and `done` of the first part of each host, from the map that its launcher
/// has a descriptor of.
fn states(launchers: &[Child]) -> Vec<(u32, u32)> {
    let state = |child: &Child| {
        let folder = format!("/proc/{}/fdinfo", launcher(child).as_raw_nonzero());
        let infos = fs::read_dir(folder).unwrap().flatten();
        let infos = infos.filter_map(|entry| fs::read_to_string(entry.path()).ok());
        let id = |info: String| -> Option<u32> {
            info.lines().find_map(|line| line.strip_prefix("map_id:")?.trim().parse().ok())
        };
        let data = |id| {
            let data = MapData::from_id(id).ok()?;
            (data.info().ok()?.name_as_str() == Some("goal_status")).then_some(data)
        };
        let array = Map::Array(infos.filter_map(id).find_map(data)?);
        let array: Array<_, [u8; size_of::<StatusEntry>()]> = array.try_into().unwrap();
        let entry = array.get(&0, 0).unwrap();
        let word = |at: usize| u32::from_ne_bytes(entry[at..at + 4].try_into().unwrap());
        let (started, done) = (offset_of!(StatusEntry, started), offset_of!(StatusEntry, done));
        Some((word(started), word(done)))
    };
    launchers.iter().filter_map(state).collect()
}

fn is_stopped(process: Pid) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero())).unwrap();
    stat.contains(") T ")
}

#[test]
fn a_collective_completes_while_all_processes_are_stopped() {
    let Some(bench) = bench("stopped", 4, slow()) else { return };
    let (children, ranks) = long_job(&bench, &["--format", "json"]);
    wait_for(|| (states(&children) == [(1, 0); 4]).then_some(()));
    ranks.iter().for_each(|&rank| send(rank, Signal::STOP));
    wait_for(|| ranks.iter().all(|&rank| is_stopped(rank)).then_some(()));
    assert_eq!(states(&children), [(1, 0); 4], "it is too short");
    wait_for(|| (states(&children) == [(1, 1); 4]).then_some(()));
    assert!(ranks.iter().all(|&rank| is_stopped(rank)));
    ranks.iter().for_each(|&rank| send(rank, Signal::CONT));
    let all: Vec<Ended> = children.into_iter().map(ended).collect();
    assert_all(&all, 0, &[]);
    let report = all[0].json();
    assert_eq!(
        (&report["offload"], &report["verified"]["receives"]),
        (&"kernel".into(), &2000.into())
    );
}

#[test]
fn nothing_is_left_of_killed_ranks_and_launchers() {
    let Some(bench) = bench("killed", 4, slow()) else { return };
    for host in [0, 2] {
        let (children, ranks) = long_job(&bench, &[]);
        assert_eq!(attached(&bench, host), 2);
        send(ranks[host], Signal::KILL);
        let says = format!("rank {host} was killed by signal 9 (SIGKILL)");
        assert_all(&children.into_iter().map(ended).collect::<Vec<_>>(), 4, &[&says]);
        assert_none_attached(&bench);
        let (mut children, _) = long_job(&bench, &[]);
        send(launcher(&children[host]), Signal::KILL);
        children.remove(host).wait().unwrap();
        let says = format!("host {} ", bench.mac(host));
        assert_all(&children.into_iter().map(ended).collect::<Vec<_>>(), 4, &[&says, "lost"]);
        assert_none_attached(&bench);
    }
}

#[test]
fn a_signal_and_the_time_end_a_job_in_the_kernel() {
    let Some(bench) = bench("signal in the kernel", 4, slow()) else { return };
    let (children, _) = long_job(&bench, &[]);
    send(launcher(&children[1]), Signal::INT);
    assert_all(&children.into_iter().map(ended).collect::<Vec<_>>(), 130, &[]);
    let (children, ranks) = long_job(&bench, &["--timeout", &timeout(15), "--repeat", "1000"]);
    // A rank that is stopped before all are ready would hold up their start instead.
    let have_started = |states: Vec<(u32, u32)>| {
        (states.len() == 4 && states.iter().all(|&(started, _)| started > 0)).then_some(())
    };
    wait_for(|| have_started(states(&children)));
    send(ranks[3], Signal::STOP);
    let all: Vec<Ended> = children.into_iter().map(ended).collect();
    assert_all(&all, 5, &["the time is up", "waited for its schedule in the kernel in instance"]);
    assert_none_attached(&bench);
}

/// Long frames get lost from some time on, and the engine asks for them for ever.
#[test]
fn messages_that_do_not_arrive_end_the_job() {
    let Some(bench) = bench("long frames", 2, Switch::Bridge) else { return };
    let text = "num_ranks 2\nrank 0 { send 50000b to 1; }\nrank 1 { recv 50000b from 0; }";
    let program = bench.write("long.goal", text);
    let options = ["--discover", "--hosts", "2", "--offload", "kernel", "--repeat", "10000000"];
    let children = bench.start_all(&program, &options);
    wait_for(|| {
        let states = states(&children);
        (states.len() == 2 && states.iter().all(|&(started, _)| started > 10)).then_some(())
    });
    (0..2).for_each(|host| bench.cluster.narrow(host, 1000).unwrap());
    let all: Vec<Ended> = children.into_iter().map(ended).collect();
    assert_all(&all, 1, &["do not reach rank 1 on host", "still carry frames of"]);
    assert_none_attached(&bench);
}

#[test]
fn a_report_names_the_actions_that_wait_in_the_kernel() {
    let Some(bench) = bench("waiting in the kernel", 4, Switch::Bridge) else { return };
    let text = "num_ranks 4
rank 0 { init 0 = UInt64 7; pause: calc 9000000000000; s: send 0,8 to 1; requ s -> pause; }
rank 1 { got: recv 8b from 0; pass: send 8b to 2; requ pass -> got; }
rank 2 { all: recv 8b from 1; other: recv 100000b from 3 tag 4; }
rank 3 { send 100000b to 2 tag 4; }";
    let program = bench.write("waits.goal", text);
    let options = ["--offload", "kernel", "--timeout", &timeout(8)];
    let all = bench.run(&program, &[&FOUR[..], &options].concat());
    let waited = |rank: u32, what: &str| {
        format!("rank {rank} waited for its schedule in the kernel: {what}")
    };
    let says = [
        waited(0, "calc `pause` (line 2) was the process's"),
        waited(1, "recv `got` (line 3) waits for a message from rank 0"),
        waited(2, "recv `all` (line 4) waits for a message from rank 1"),
        "rank 3 had ended".to_owned(),
    ];
    let says: Vec<&str> = says.iter().map(String::as_str).collect();
    assert_all(&all[..1], 5, &says);
    assert_none_attached(&bench);
}

#[test]
fn no_process_has_rights_once_the_kernel_runs_the_schedule() {
    let Some(bench) = bench("rights in the kernel", 4, slow()) else { return };
    for kind in ["processes", "threads"] {
        let program = bench.write("token.goal", &token(500));
        let options = ["--offload", "kernel", "--no-check", "--ranks-as", kind];
        let children = bench.start_all(&program, &[&FOUR[..], &options].concat());
        if kind == "processes" {
            for child in &children {
                Rights::assert_none(ranks_of(launcher(child), 1)[0], 0);
            }
        }
        // The engine took the starts, so all rights were given up before.
        wait_for(|| (states(&children) == [(1, 0); 4]).then_some(()));
        children.iter().for_each(|child| Rights::assert_none(launcher(child), FILES));
        send(launcher(&children[0]), Signal::INT);
        children.into_iter().map(ended).for_each(|ended| ended.assert_status(130));
    }
    assert_none_attached(&bench);
}

#[test]
fn a_host_without_the_right_leaves_the_schedule_to_processes() {
    let Some(bench) = bench("no right", 2, Switch::Bridge) else { return };
    let program = bench.write("pair.goal", "rank 0 { send 8b to 1; } rank 1 { recv 8b from 0; }");
    // Host 1 is root without some capabilities.
    let start = |host: usize, offload: &str| {
        let full = bench.command(host, &program, &[&TWO[..], &["--offload", offload]].concat());
        let mut command = match host {
            0 => full,
            _ => {
                let mut less = bench.cluster.hosts()[host].command("setpriv");
                let taken = "-bpf,-perfmon,-sys_admin";
                less.arg(format!("--bounding-set={taken}")).arg("--").arg(GOAL_RUN);
                less.args(full.get_args().skip_while(|&argument| *argument != *program));
                default_signals(&mut less);
                less.stdout(Stdio::piped()).stderr(Stdio::piped());
                less
            }
        };
        command.spawn().unwrap()
    };
    let run = |offload| -> Vec<Ended> {
        let children = [0, 1].map(|host| start(host, offload));
        children.into_iter().map(ended).collect()
    };
    let says = [
        &*format!("host {}: ", bench.mac(1)),
        "the rights CAP_BPF and CAP_PERFMON",
        "goal-run info",
    ];
    let all = run("auto");
    assert_all(&all, 0, &says);
    assert!(all.iter().all(|ended| ended.err.len() < 600), "{all:?}");
    let all = run("kernel");
    assert_all(&all, 2, &["the rights CAP_BPF and CAP_PERFMON", "--offload auto"]);
    let mut info = Command::new("setpriv");
    info.args(["--bounding-set=-bpf,-perfmon,-sys_admin", "--", GOAL_RUN, "info"]);
    let told = Ended::from_output(info.output().unwrap());
    told.assert_status(0);
    assert!(told.out.contains("schedules in the kernel (--offload): no, it lacks "), "{told:?}");
    assert!(told.out.contains("the rights CAP_BPF and CAP_PERFMON"), "{told:?}");
    let told = Ended::from_output(Command::new(GOAL_RUN).arg("info").output().unwrap());
    assert!(told.out.contains("in the kernel (--offload): yes, at TCX"), "{told:?}");
}

#[test]
fn jobs_on_one_host_are_refused() {
    let pair = "rank 0 { send 8b to 1; } rank 1 { recv 8b from 0; }";
    let ended = run_text(pair, &["--offload", "kernel"]);
    ended.assert_status(2);
    ended.assert_says(&["all ranks are on this one", "--offload auto or off"]);
    let ended = run_text(pair, &["--offload", "auto"]);
    ended.assert_status(0);
    ended.assert_says(&["processes run the schedule: "]);
}
