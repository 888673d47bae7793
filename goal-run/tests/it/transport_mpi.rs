//! Tests schedules whose messages between nodes travel by MPI. The ranks are processes of the
//! `mpirun` whose library goal-run was built with. One machine plays several nodes by the variable
//! `GOAL_NODE`.

use goal_filetest::mpi::{Launcher, launchers};
use std::path::Path;
use std::process::Output;

/// The time after which a run counts as hanging, in seconds.
const RUN_MAX: u64 = 60;

/// Returns the launcher whose library was linked: that of the mpicc on the path.
fn launcher() -> Option<Launcher> {
    launchers().into_iter().find(|launcher| launcher.name == "mpirun")
}

/// Runs goal-run on `ranks` processes, with `per_node` processes on each node.
fn run(launcher: &Launcher, ranks: u32, per_node: u32, arguments: &[&str]) -> Output {
    let mut command = launcher.start_on_nodes(ranks, per_node, RUN_MAX);
    command.arg(env!("CARGO_BIN_EXE_goal-run")).args(arguments);
    command.args(["--transport", "mpi"]);
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

#[test]
fn examples_are_verified() {
    let Some(launcher) = launcher() else { return };
    for (name, ranks) in [("hello.goal", 2), ("allreduce-ring.goal", 4)] {
        for per_node in [ranks, ranks / 2, 1] {
            let output = run(&launcher, ranks, per_node, &[&example(name), "--verify"]);
            let text = text(&output);
            assert!(output.status.success(), "{per_node} a node: {text}");
            assert_eq!(text.matches("verified: ").count(), 1, "{text}");
        }
    }
}

#[test]
fn reports_name_the_transport() {
    let Some(launcher) = launcher() else { return };
    let output = run(&launcher, 2, 1, &[&example("hello.goal"), "--format", "json"]);
    let text = text(&output);
    assert!(text.contains("\"transports\":[\"local\",\"shm\",\"mpi\"]"), "{text}");
}

/// A message of 8 MiB, so that parts wait for MPI, thirty times.
#[test]
fn long_messages_arrive() {
    let Some(launcher) = launcher() else { return };
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("long.goal");
    let program = "rank 0 { send 8388608b to 1 recv 8388608b from 1 }
        rank 1 { recv 8388608b from 0 send 8388608b to 0 }";
    std::fs::write(&file, program).unwrap();
    let output = run(&launcher, 2, 1, &[file.to_str().unwrap(), "--repeat", "30"]);
    let text = text(&output);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("60 messages"), "{text}");
}

#[test]
fn failures_name_their_reason() {
    let Some(launcher) = launcher() else { return };
    let output = run(&launcher, 3, 1, &[&example("hello.goal")]);
    let told = text(&output);
    assert!(!output.status.success(), "{told}");
    assert!(told.contains("has started 3 processes, and the program has 2 ranks"), "{told}");
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("stuck.goal");
    std::fs::write(&file, "rank 0 { recv 0,4 from 1 } rank 1 { recv 0,4 from 0 }").unwrap();
    let output = run(&launcher, 2, 1, &[file.to_str().unwrap(), "--no-check"]);
    let told = text(&output);
    assert!(!output.status.success(), "{told}");
    assert!(told.contains("stuck"), "{told}");
}
