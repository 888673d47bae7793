//! Tests schedules whose ranks are processes of `mpirun`: on one node, and on several. The variable
//! `GOAL_NODE` makes several nodes of one machine.

use goal_filetest::mpi::{Launcher, RANK, launchers};
use goal_filetest::{patience, until};
use std::path::Path;
use std::process::Output;
use std::time::Instant;

/// The time after which a run counts as hanging, in seconds.
const RUN_MAX: u64 = 60;

/// Runs goal-run on `ranks` processes, with `per_node` processes on each node.
fn run(launcher: &Launcher, ranks: u32, per_node: u32, arguments: &[&str]) -> Output {
    let mut command = launcher.start_on_nodes(ranks, per_node, RUN_MAX);
    command.arg(env!("CARGO_BIN_EXE_goal-run")).args(arguments);
    command.output().expect("there is `timeout`")
}

fn text(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    format!("{}{}", String::from_utf8_lossy(out), String::from_utf8_lossy(err))
}

fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(name);
    path.to_str().expect("a name in UTF-8").to_owned()
}

/// Returns true if a process of goal-run has this mark among its arguments.
fn is_running(mark: &str) -> bool {
    let all = std::fs::read_dir("/proc").expect("there is /proc").flatten();
    let command = |entry: std::fs::DirEntry| std::fs::read(entry.path().join("cmdline")).ok();
    all.filter_map(command).any(|line| {
        let line = String::from_utf8_lossy(&line).into_owned();
        line.contains("goal-run") && line.contains(mark)
    })
}

#[test]
fn examples_are_verified_on_one_node_and_on_two() {
    for launcher in launchers() {
        for (name, ranks) in [("hello.goal", 2), ("allreduce-ring.goal", 4)] {
            for per_node in [ranks, ranks / 2, 1] {
                let output = run(&launcher, ranks, per_node, &[&example(name), "--verify"]);
                let text = text(&output);
                let nodes = ranks / per_node;
                assert!(output.status.success(), "{}, {nodes} nodes: {text}", launcher.name);
                // The launcher of rank 0 alone reports.
                assert_eq!(text.matches("verified: ").count(), 1, "{}: {text}", launcher.name);
            }
        }
    }
}

#[test]
fn another_number_of_processes_is_an_error() {
    for launcher in launchers() {
        let output = run(&launcher, 3, 3, &[&example("hello.goal")]);
        let text = text(&output);
        assert!(!output.status.success(), "{}: {text}", launcher.name);
        let why = "has started 3 processes, and the program has 2 ranks";
        assert!(text.contains(why), "{}: {text}", launcher.name);
    }
}

#[test]
fn a_job_in_each_process_is_told() {
    for launcher in launchers() {
        let output = run(&launcher, 2, 2, &["-n", "1", "true"]);
        let text = text(&output);
        let told = "has started 2 processes of goal-run, and each starts a job of 1 ranks";
        assert!(text.contains(told), "{}: {text}", launcher.name);
    }
}

/// The launchers of two nodes that were started with different settings. Each has its own rank as a
/// thread, which waits to be admitted.
#[test]
fn nodes_that_do_not_agree_end_with_the_reason() {
    for launcher in launchers() {
        let mut command = launcher.start_on_nodes(4, 2, RUN_MAX);
        let script = format!("exec \"$0\" \"$1\" --repeat $(({RANK} / 2 + 1))");
        command.args(["sh", "-c", &script, env!("CARGO_BIN_EXE_goal-run")]);
        let output = command.arg(example("allreduce-ring.goal")).output().unwrap();
        let text = text(&output);
        assert!(!output.status.success(), "{}: {text}", launcher.name);
        assert!(text.contains("the job does not start"), "{}: {text}", launcher.name);
    }
}

/// The program ends with other memory than it states.
#[test]
fn a_schedule_that_fails_ends_the_job_with_its_reason() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("wrong.goal");
    let program = "rank 0 { init 0 = Int32 1 send 0,4 to 1 }
        rank 1 { recv 0,4 from 0 expect 0 = Int32 2 }";
    std::fs::write(&file, program).unwrap();
    for launcher in launchers() {
        for per_node in [2, 1] {
            let output = run(&launcher, 2, per_node, &[file.to_str().unwrap()]);
            let text = text(&output);
            assert!(!output.status.success(), "{}: {text}", launcher.name);
            assert!(text.contains("rank 1"), "{}: {text}", launcher.name);
        }
    }
}

/// One rank ends itself while all others wait for it.
#[test]
fn a_rank_that_is_killed_ends_the_job() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("waits.goal");
    // Rank 0 and rank 2 wait for ranks that compute for longer than the test takes.
    let program =
        "rank 0 { recv 0,4 from 1 } rank 1 { c: calc 100000000000 s: send 0,4 to 0 s requires c }
        rank 2 { recv 0,4 from 3 } rank 3 { c: calc 100000000000 s: send 0,4 to 2 s requires c }";
    std::fs::write(&file, program).unwrap();
    let file = file.to_str().unwrap();
    for launcher in launchers() {
        for per_node in [4, 2] {
            let since = Instant::now();
            let mut command = launcher.start(4, RUN_MAX);
            let line = format!(
                "if [ \"{RANK}\" = 3 ]; then (sleep 2; kill -9 $$) & fi; \
                 GOAL_NODE=n$(({RANK}/{per_node})) exec \"$0\" \"$@\""
            );
            command.args(["sh", "-c", &line, env!("CARGO_BIN_EXE_goal-run"), file]);
            let output = command.output().expect("there is `timeout`");
            let text = text(&output);
            assert!(!output.status.success(), "{}: {text}", launcher.name);
            // MPI's launcher or goal-run's names the rank, or its signal.
            let told = ["rank 3", "signal 9", "Killed", "KILLED BY SIGNAL: 9"];
            assert!(told.iter().any(|told| text.contains(told)), "{}: {text}", launcher.name);
            assert!(since.elapsed() < patience(18), "{}: {text}", launcher.name);
            until("no process is left", || !is_running(file));
        }
    }
}
