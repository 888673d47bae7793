//! Tests the rights of programs, which are those of their user.

use crate::common::{Ended, GOAL_RUN, copy_command};
use crate::programs::bench::{PART, as_rank, this_file};
use goal_cluster::{Cluster, INTERFACE, Wiring};
use goal_filetest::{skipped, timeout};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// User and group of nobody.
const NOBODY: u32 = 65534;

/// The lines of /proc/self/status on rights.
fn rights(status: &str) -> Vec<String> {
    let is_one = |line: &&str| line.starts_with("Cap") || line.starts_with("NoNewPrivs");
    let lines: Vec<String> = status.lines().filter(is_one).map(str::to_owned).collect();
    assert_eq!(lines.len(), 6, "{status}");
    lines
}

/// A command of the user nobody.
fn as_nobody(program: &Path) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]).arg(program);
    command
}

/// A folder that all users may read.
fn open_folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    folder
}

/// Gives a file a capability. Returns false if this process can't.
fn give(file: &Path, capability: &str) -> bool {
    let made = Command::new("setcap").arg(capability).arg(file).output();
    made.is_ok_and(|made| made.status.success())
}

#[test]
fn a_program_has_the_rights_of_its_user() {
    let status = ["/proc/self/status"];
    let direct = Command::new("cat").args(status).output().unwrap();
    let mut command = Command::new(GOAL_RUN);
    let started =
        Ended::from_output(command.args(["-n", "1", "cat"]).args(status).output().unwrap());
    started.assert_status(0);
    assert_eq!(rights(&started.out), rights(&Ended::from_output(direct).out));
    let files = |output: &str| {
        let line = output.lines().find(|line| line.starts_with("Max open files")).unwrap();
        line.to_owned()
    };
    let limits = ["/proc/self/limits"];
    let mut low = Command::new("prlimit");
    let low = low.args(["--nofile=100:200", GOAL_RUN, "-n", "1", "cat"]).args(limits);
    let low = Ended::from_output(low.output().unwrap());
    low.assert_status(0);
    let limit = files(&low.out);
    let numbers: Vec<&str> = limit.split_whitespace().skip(3).take(2).collect();
    assert_eq!(numbers, ["100", "200"]);
}

#[test]
fn a_program_gets_none_of_the_rights_of_the_file_that_starts_it() {
    let folder = open_folder();
    let file = folder.path().join("goal-run");
    copy_command(&file);
    if !give(&file, "cap_net_raw=ep") {
        return skipped("it takes root and setcap to give a file a capability");
    }
    let direct = as_nobody(Path::new("cat")).arg("/proc/self/status").output().unwrap();
    let mut command = as_nobody(&file);
    let started = command.args(["-n", "1", "cat", "/proc/self/status"]).output().unwrap();
    let started = Ended::from_output(started);
    started.assert_status(0);
    assert_eq!(rights(&started.out), rights(&Ended::from_output(direct).out));
    assert!(started.out.contains("CapEff:\t0000000000000000"), "{started:?}");
    // On several hosts it would get a socket.
    let Some(cluster) = Cluster::or_skip("rights of programs", &Wiring::bridge(2)) else { return };
    let key = folder.path().join("key");
    assert!(Command::new(GOAL_RUN).arg("key").arg(&key).status().unwrap().success());
    chown(&key, Some(NOBODY), None).unwrap();
    for mode in [0o755, 0o711] {
        fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
        let mut command = cluster.hosts()[0].command("setpriv");
        command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups", "env"]).arg(&file);
        command.args(["-n", "2", "--interface", INTERFACE, "--discover", "--hosts", "2", "--key"]);
        let ended = Ended::from_output(command.arg(&key).arg("true").output().unwrap());
        ended.assert_status(2);
        ended.assert_says(&["a program would get the sockets", "--ambient-caps +net_raw"]);
    }
}

/// Whoever starts a file with capabilities chooses its environment.
#[test]
fn a_program_with_rights_of_its_file_is_no_rank() {
    let folder = open_folder();
    let file: PathBuf = folder.path().join("program");
    assert!(Command::new("cp").arg(this_file()).arg(&file).status().unwrap().success());
    if !give(&file, "cap_net_raw=ep") {
        return skipped("it takes root and setcap to give a file a capability");
    }
    // The user can reach the copy.
    let copy = folder.path().join("goal-run");
    copy_command(&copy);
    let mut command = as_nobody(&copy);
    command.args(["-n", "1", "--timeout", &timeout(60)]).arg(&file).args(&as_rank()[1..]);
    let ended = Ended::from_output(command.env(PART, "ring").output().unwrap());
    ended.assert_status(7);
    ended.assert_says(&["a rank has no rights that its starter lacks"]);
    // Without the capability the file attaches.
    assert!(give(&file, "-r"));
    let mut command = as_nobody(&copy);
    command.args(["-n", "1", "--timeout", &timeout(60)]).arg(&file).args(&as_rank()[1..]);
    Ended::from_output(command.env(PART, "ring").output().unwrap()).assert_status(0);
}
