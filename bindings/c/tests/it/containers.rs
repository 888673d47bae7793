//! Programs in C in containers: their ranks, or their launcher, have namespaces of processes and
//! clocks of their own. Numbers of processes mean others there.

use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

/// A command that runs another one in a namespace of processes. `/proc` there still shows the
/// processes of the namespace outside.
const PROCESSES: [&str; 3] = ["unshare", "--pid", "--fork"];
/// A command that runs another one in a namespace of clocks, which are ahead.
const CLOCKS: [&str; 6] =
    ["unshare", "--time", "--boottime=10000000", "--monotonic=10000000", "--fork", "--"];

fn run(command: &[&str], folder: &Path) -> Output {
    let mut all = Command::new(command[0]);
    all.args(&command[1..]).current_dir(folder).output().unwrap()
}

/// Compiles the program in a new folder. Returns `None` if tools or rights are missing.
fn folder() -> Option<TempDir> {
    if crate::support::lacks(&["gcc", "g++", "pkg-config", "unshare"]) {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    for namespace in [&PROCESSES[..], &CLOCKS] {
        let tried = run(&[namespace, &["true"]].concat(), folder.path());
        if !tried.status.success() {
            goal_filetest::skipped(String::from_utf8_lossy(&tried.stderr).trim_end());
            return None;
        }
    }
    let path = [
        crate::support::installed("goal-run").parent().expect("it lies in a folder").as_os_str(),
        &std::env::var_os("PATH").unwrap_or_default(),
    ]
    .join(":".as_ref());
    let source = crate::support::folder().join("tests/c/containers.c");
    std::fs::copy(source, folder.path().join("containers.c")).unwrap();
    let mut build = Command::new(crate::support::folder().join("tests/bin/build"));
    build.arg("containers.c").current_dir(folder.path()).env("PATH", path);
    assert!(build.status().unwrap().success(), "the program can't be compiled");
    Some(folder)
}

fn text(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    format!("{}{}", String::from_utf8_lossy(out), String::from_utf8_lossy(err))
}

/// Starts a job of three ranks by `launcher`, with `options`, and each rank by `rank`.
fn job(folder: &Path, launcher: &[&str], options: &[&str], rank: &[&str]) -> Output {
    let (goal_run, limit) = (crate::support::installed("goal-run"), goal_filetest::timeout(60));
    let goal_run = [goal_run.to_str().unwrap(), "-n", "3", "--timeout", &limit];
    run(&[launcher, &goal_run, options, rank].concat(), folder)
}

/// A script around the rank, so that the launcher's child is another process.
fn script(of: &str) -> [String; 3] {
    ["sh".into(), "-c".into(), format!("./containers {of}; exit $?")]
}

fn succeeds(folder: &Path, launcher: &[&str], namespace: &[&str], how: &str) {
    let script = script(how);
    let script = script.each_ref().map(String::as_str);
    let output = job(folder, launcher, &[], &[namespace, &script].concat());
    let text = text(&output);
    assert!(output.status.success(), "{launcher:?} {namespace:?} {how}: {text}");
    assert_eq!(text.matches("0 wrong").count(), 3, "{text}");
}

#[test]
fn ranks_in_namespaces_read_their_peers_or_nobody() {
    let Some(folder) = folder() else { return };
    let unreadable = |namespace: &[&str]| {
        let options = ["--stats", "--format", "json"];
        let output = job(folder.path(), &[], &options, &[namespace, &["./containers"]].concat());
        let text = text(&output);
        assert!(output.status.success() && text.matches("0 wrong").count() == 3, "{text}");
        let (_, counts) = text.split_once("\"unreadable\":").expect("the counts of all ranks");
        counts.split([',', '}']).next().unwrap().trim().parse::<u64>().unwrap()
    };
    assert_eq!(unreadable(&[]), 0);
    assert_eq!(unreadable(&CLOCKS), 0);
    assert!(unreadable(&PROCESSES) > 0);
    let nested = [&PROCESSES[..], &PROCESSES].concat();
    assert!(unreadable(&nested) > 0);
}

#[test]
fn a_launcher_sees_ranks_in_namespaces() {
    let Some(folder) = folder() else { return };
    // For longer than the launcher waits for the parent of a process that it takes for ended.
    for namespace in [&PROCESSES[..], &CLOCKS] {
        succeeds(folder.path(), &[], namespace, "long");
        succeeds(folder.path(), namespace, &[], "long");
    }
    // Another thread of a rank computes while the others wait.
    succeeds(folder.path(), &[], &CLOCKS, "thread");
    succeeds(folder.path(), &CLOCKS, &[], "thread");
}

#[test]
fn a_job_in_namespaces_is_found_stuck() {
    let Some(folder) = folder() else { return };
    for (launcher, namespace) in [(&[][..], &PROCESSES[..]), (&PROCESSES, &[])] {
        let rank = [namespace, &["./containers", "stuck"]].concat();
        let output = job(folder.path(), launcher, &[], &rank);
        assert!(text(&output).contains("stuck: no rank can go on"), "{}", text(&output));
        assert!(!output.status.success());
    }
}
