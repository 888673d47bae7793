//! Tests limits of the system that are too low for a job. One message names the limit, the exit
//! status is 2, and nothing is left behind.

use crate::common::{Ended, GOAL_RUN, copy_command};
use goal_filetest::{skipped, timeout};
use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;
use tempfile::NamedTempFile;

const FOUR: &str = "num_ranks 4\n\
    rank 0 { send 8b to 1 tag 1 } rank 1 { recv 8b from 0 tag 1 }\n\
    rank 2 { send 8b to 3 tag 1 } rank 3 { recv 8b from 2 tag 1 }";

/// A user without other processes, so that all its processes are those of one test.
const USERS: u32 = 61_230;

fn program() -> NamedTempFile {
    let mut file = tempfile::Builder::new().suffix(".goal").tempfile().unwrap();
    file.write_all(FOUR.as_bytes()).unwrap();
    fs::set_permissions(file.path(), Permissions::from_mode(0o644)).unwrap();
    file
}

/// The command after another one that sets a limit; `None` where that one is missing.
fn run(before: &[&str], arguments: &[&str]) -> Option<Ended> {
    let file = program();
    let mut command = Command::new(before[0]);
    command
        .args(&before[1..])
        .arg(GOAL_RUN)
        .arg(file.path())
        .args(["--timeout", &timeout(60)])
        .args(arguments);
    match command.env("RUST_BACKTRACE", "1").output() {
        Ok(output) => Some(Ended::from_output(output)),
        Err(error) => {
            skipped(&format!("{}: {error}", before[0]));
            None
        }
    }
}

/// One line, and the status of a job that did not start.
#[track_caller]
fn assert_refused(ended: &Ended, says: &[&str]) {
    ended.assert_status(2);
    ended.assert_says(says);
    assert_eq!(ended.err.lines().count(), 1, "{ended:?}");
    assert_eq!(ended.out, "");
}

#[test]
fn address_space() {
    for arguments in
        [&["--ranks-as", "processes"][..], &["--ranks-as", "threads"], &["--progress", "node"]]
    {
        let Some(ended) = run(&["prlimit", "--as=1000000000"], arguments) else { return };
        assert_refused(&ended, &["KiB of address space", "and ulimit -v allows 976562 KiB"]);
    }
    // Enough for a rank and what it shares, not for threads.
    let Some(ended) = run(&["prlimit", "--as=2000000000"], &["--ranks-as", "processes"]) else {
        return;
    };
    ended.assert_status(0);
    let Some(ended) = run(&["prlimit", "--as=2000000000"], &["--ranks-as", "threads"]) else {
        return;
    };
    assert_refused(&ended, &["the ranks need", "ulimit -v allows"]);
}

#[test]
fn open_files() {
    let Some(ended) = run(&["prlimit", "--nofile=8:8"], &[]) else { return };
    assert_refused(&ended, &["Too many open files", "ulimit -n allows 8 open files"]);
    // A soft limit is raised as far as it may be.
    let Some(ended) = run(&["prlimit", "--nofile=8:64"], &[]) else { return };
    ended.assert_status(0);
}

#[test]
fn size_of_files() {
    for arguments in [&["--ranks-as", "processes"][..], &["--ranks-as", "threads"]] {
        let Some(ended) = run(&["prlimit", "--fsize=4096"], arguments) else { return };
        assert_refused(&ended, &["File too large", "ulimit -f allows files of 4 KiB"]);
    }
}

#[test]
fn processes_and_threads() {
    if !rustix::process::getuid().is_root() {
        return skipped("it takes root to be another user, whose processes alone count");
    }
    // The binary's folder may be closed to others.
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    let copy = folder.path().join("goal-run");
    copy_command(&copy);
    let file = program();
    let as_user = |number: u32, tasks: u32, arguments: &[&str]| {
        let mut command = Command::new("prlimit");
        command
            .arg(format!("--nproc={tasks}"))
            .arg(&copy)
            .arg(file.path())
            .args(["--timeout", &timeout(60)]);
        command.args(arguments).uid(USERS + number).gid(USERS + number).env("RUST_BACKTRACE", "1");
        command.output().map(Ended::from_output)
    };
    let Ok(ended) = as_user(0, 1, &[]) else { return skipped("there is no prlimit") };
    assert_refused(
        &ended,
        &["4 ranks need 4 processes and threads", "ulimit -u allows this user 1"],
    );
    let ended = as_user(1, 1, &["--ranks-as", "threads"]).unwrap();
    assert_refused(
        &ended,
        &["4 ranks need 4 processes and threads", "ulimit -u allows this user 1"],
    );
    // The limit allows one process for each rank and one for the launcher. The launcher's other
    // processes are missing now.
    let ended = as_user(2, 5, &[]).unwrap();
    if ended.status != Some(0) {
        assert_refused(
            &ended,
            &["the system refuses process", "of 4", "ulimit -u allows this user 5"],
        );
    }
    let ended = as_user(3, 8, &["--progress", "thread"]).unwrap();
    assert_refused(&ended, &["4 ranks need 8 processes and threads"]);
    as_user(4, 64, &[]).unwrap().assert_status(0);
}

/// Lets a program make no process and no thread: clone3 and clone fail with this error.
fn without_clone(command: &mut Command, errno: u16) {
    // Loads the number of the call, compares, and returns an error or goes on.
    const LOAD: u16 = 0x20;
    const EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;
    let line = |code, k, jt, jf| libc::sock_filter { code, jt, jf, k };
    let program = [
        line(LOAD, 0, 0, 0),
        line(EQUAL, libc::SYS_clone3 as u32, 2, 0),
        line(EQUAL, libc::SYS_clone as u32, 1, 0),
        line(RETURN, libc::SECCOMP_RET_ALLOW, 0, 0),
        line(RETURN, libc::SECCOMP_RET_ERRNO | u32::from(errno), 0, 0),
    ];
    let filter = move || {
        rustix::thread::set_no_new_privs(true)?;
        let program =
            libc::sock_fprog { len: program.len() as u16, filter: program.as_ptr().cast_mut() };
        // SAFETY: the kernel copies a program that lives for the call.
        #[expect(unsafe_code, reason = "no crate here sets such a filter")]
        let set = unsafe {
            libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program)
        };
        if set == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
    };
    // SAFETY: two system calls.
    #[expect(unsafe_code, reason = "a child has to ask for it before it executes")]
    unsafe {
        command.pre_exec(filter)
    };
}

#[test]
fn a_filter_that_forbids_processes() {
    let file = program();
    for ranks_as in ["processes", "threads"] {
        let mut command = Command::new(GOAL_RUN);
        command.arg(file.path()).args(["--ranks-as", ranks_as]).env("RUST_BACKTRACE", "1");
        without_clone(&mut command, libc::EPERM as u16);
        let ended = Ended::from_output(command.output().unwrap());
        assert_refused(&ended, &["the system refuses", "1 of 4", "a seccomp filter"]);
    }
}

#[test]
fn no_proc() {
    let script = r#"mount -t tmpfs none /proc && exec "$@""#;
    let before = ["unshare", "--mount", "sh", "-c", script, "sh"];
    let Some(ended) = run(&before, &[]) else { return };
    if ended.err.contains("unshare") || ended.err.contains("mount:") {
        return skipped("it takes the right to unmount /proc");
    }
    assert_refused(&ended, &["/proc is not mounted", "take --ranks-as threads"]);
    run(&before, &["--ranks-as", "threads"]).unwrap().assert_status(0);
}

#[test]
fn a_stack_that_is_too_small_is_refused() {
    let Some(ended) = run(&["prlimit", "--stack=65536"], &[]) else { return };
    ended.assert_status(2);
    ended.assert_says(&["the stack may have only 64 KiB: raise `ulimit -s` to 256 or more"]);
    if let Some(ended) = run(&["prlimit", "--stack=262144"], &[]) {
        ended.assert_status(0);
    }
}
