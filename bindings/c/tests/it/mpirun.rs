//! Programs of the library whose processes `mpirun` started: without MPI, and MPI programs that use
//! `goal_mpi.h`. One machine plays two nodes by the variable `GOAL_NODE`.

use goal_filetest::mpi::{Launcher, launchers};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The time after which a run counts as hanging, in seconds.
const RUN_MAX: u64 = 60;

/// Compiles a program. Returns its path.
fn build(compiler: &str, name: &str, into: &Path) -> PathBuf {
    let bin = crate::support::installed("goal-run");
    let prefix = bin.ancestors().nth(2).expect("bin lies in the prefix");
    let program = into.join(name);
    let mut command = Command::new(compiler);
    command.arg("-O1").arg("-o").arg(&program);
    command.arg(crate::support::folder().join("tests/mpi").join(format!("{name}.c")));
    command.arg("-I").arg(prefix.join("include")).arg("-L").arg(prefix.join("lib"));
    command
        .args(["-lgoal", "-pthread"])
        .arg(format!("-Wl,-rpath,{}", prefix.join("lib").display()));
    let output = command.output().expect("the compiler is there");
    assert!(output.status.success(), "{name}.c: {}", String::from_utf8_lossy(&output.stderr));
    program
}

/// Runs a program on several processes. Each node has `per_node` of them.
fn run(
    launcher: &Launcher,
    program: &Path,
    ranks: u32,
    per_node: u32,
    arguments: &[&str],
) -> Output {
    let mut command = launcher.start_on_nodes(ranks, per_node, RUN_MAX);
    command.arg(program).args(arguments);
    command.output().expect("there is `timeout`")
}

fn text(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    format!("{}{}", String::from_utf8_lossy(out), String::from_utf8_lossy(err))
}

/// Runs a program that is to succeed, on one node and on two.
fn succeeds(launcher: &Launcher, program: &Path, told: &str) {
    for (ranks, per_node) in [(2, 2), (2, 1), (4, 4), (4, 2)] {
        let output = run(launcher, program, ranks, per_node, &[]);
        let text = text(&output);
        assert!(output.status.success(), "{}, {per_node} a node: {text}", launcher.name);
        assert_eq!(text.matches(told).count(), ranks as usize, "{}: {text}", launcher.name);
    }
}

/// Runs a program whose rank 1 ends early, on one node and on two.
fn fails(launcher: &Launcher, program: &Path, how: &str) {
    for per_node in [4, 2] {
        let output = run(launcher, program, 4, per_node, &[how]);
        let text = text(&output);
        // 124 and 137 are of a run that hung.
        let status = output.status.code();
        assert!(!matches!(status, None | Some(0 | 124)), "{}: {status:?} {text}", launcher.name);
        // The launcher of MPI may be faster to end all processes than ours to say why. That of
        // MPICH says nothing then if the rank has ended by itself, but ends with its status.
        let names = |word| text.to_lowercase().contains(word);
        let says = names("rank") || names("process") || how == "fail" && status == Some(3);
        assert!(says, "{}: {status:?} {text}", launcher.name);
    }
}

#[test]
fn processes_that_mpirun_started_are_ranks() {
    if crate::support::lacks(&["gcc"]) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let all = launchers();
    if all.is_empty() {
        return;
    }
    let program = build("gcc", "alone", dir.path());
    for launcher in &all {
        succeeds(launcher, &program, ": right");
        fails(launcher, &program, "fail");
        fails(launcher, &program, "kill");
        threads(launcher, &program);
    }
}

/// A rank is not stuck while another thread of it may act, on one node and on two.
fn threads(launcher: &Launcher, program: &Path) {
    for per_node in [2, 1] {
        let output = run(launcher, program, 2, per_node, &["late"]);
        assert!(output.status.success(), "{}: {}", launcher.name, text(&output));
        for (part, variable) in [("stuck", ""), ("joins", "GOAL_STUCK=end,0.3")] {
            let mut command = launcher.start_on_nodes(2, per_node, RUN_MAX);
            if !variable.is_empty() {
                command.args(["env", variable]);
            }
            let output = command.arg(program).arg(part).output().expect("there is `timeout`");
            let text = text(&output);
            let (status, says) = (output.status.code(), text.contains("no rank can go on"));
            assert!(!matches!(status, Some(0 | 124)) && says, "{} {part}: {text}", launcher.name);
        }
    }
}

#[test]
fn mpi_programs_use_the_groups_of_mpi() {
    if crate::support::lacks(&["mpicc"]) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    // The library of the mpicc on the path is that of the mpirun there.
    let Some(launcher) = launchers().into_iter().find(|launcher| launcher.name == "mpirun") else {
        return;
    };
    let program = build("mpicc", "among", dir.path());
    succeeds(&launcher, &program, "as MPI has it");
    fails(&launcher, &program, "fail");
}
