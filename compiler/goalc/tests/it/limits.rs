//! Limits of the system. A user who may start no further process or thread: `goalc` does its work
//! alone. Little address space: it takes memory in small steps. Little stack: it works on another.
//! Little memory: the checks keep to it.

use goal_filetest::skipped;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Output};

/// A user whom nobody else is, so that its processes are those of this test.
const USER: u32 = 61_220;

#[test]
fn one_process_and_no_threads_are_enough() {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    // The binary's folder may be closed to others.
    let (copy, text) = (folder.path().join("goalc"), folder.path().join("pair.goal"));
    fs::copy(env!("CARGO_BIN_EXE_goalc"), &copy).unwrap();
    fs::write(&text, "num_ranks 2 rank 0 { send 8b to 1 tag 1 } rank 1 { recv 8b from 0 tag 1 }")
        .unwrap();
    let run = |user: u32, arguments: &[&str]| -> Option<Output> {
        let mut command = Command::new("prlimit");
        command.arg("--nproc=1").arg(&copy).args(arguments).arg(&text).env("RUST_BACKTRACE", "0");
        command.uid(user).gid(user).output().ok()
    };
    for (user, arguments) in
        (USER..).zip([&["check"][..], &["build", "--emit", "schedgen", "-o", "-"], &["stats"]])
    {
        let Some(output) = run(user, arguments) else {
            return skipped("it takes root and prlimit");
        };
        assert!(output.status.success(), "{arguments:?}: {output:?}");
    }
}

#[test]
fn little_address_space_is_enough_for_a_small_program() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("pair.goal");
    fs::write(&text, "num_ranks 2 rank 0 { send 8b to 1 tag 1 } rank 1 { recv 8b from 0 tag 1 }")
        .unwrap();
    let mut command = Command::new("prlimit");
    command.arg("--as=60000000").arg(env!("CARGO_BIN_EXE_goalc"));
    command.args(["check", "--threads", "1"]).arg(&text);
    let Ok(output) = command.output() else {
        return skipped("it takes prlimit");
    };
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn many_orders_of_events_need_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("self.goal");
    // Each receive may take the message of each send.
    fs::write(&text, "rank 0 { send 0,8 to 0 recv 64,8 from 0 }\n".repeat(300)).unwrap();
    let mut command = Command::new("prlimit");
    command.arg("--as=500000000").arg(env!("CARGO_BIN_EXE_goalc"));
    command.args(["check", "--threads", "1"]).arg(&text);
    let Ok(output) = command.output() else {
        return skipped("it takes prlimit");
    };
    assert!(output.status.code().is_some_and(|code| code < 2), "{output:?}");
}

#[test]
fn little_stack_is_enough() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("pair.goal");
    fs::write(&text, "num_ranks 2 rank 0 { send 8b to 1 tag 1 } rank 1 { recv 8b from 0 tag 1 }")
        .unwrap();
    for arguments in [
        &["check"][..],
        &["build", "-o", "/dev/null"],
        &["stats"],
        &["fmt", "--check"],
        &["--help"],
    ] {
        let mut command = Command::new("prlimit");
        command.arg("--stack=65536").arg(env!("CARGO_BIN_EXE_goalc")).args(arguments).arg(&text);
        // The environment counts towards the stack.
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        let Ok(output) = command.output() else {
            return skipped("it takes prlimit");
        };
        assert!(output.status.code().is_some_and(|code| code < 2), "{arguments:?}: {output:?}");
    }
}

#[test]
fn a_result_does_not_replace_standard_input() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("a.goal");
    let text = "rank 0 { calc 1 }";
    fs::write(&program, text).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_goalc"));
    command.args(["build", "-", "-o"]).arg(&program);
    let output = command.stdin(fs::File::open(&program).unwrap()).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("the result would replace the input"), "{said}");
    assert_eq!(fs::read_to_string(&program).unwrap(), text);
}
