//! Signals that end a reduction end the user's command too.

use goal_filetest::until;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

#[test]
fn a_reduction_that_is_ended_leaves_nothing() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let folder = tempfile::tempdir().unwrap();
        let [program, pid, temporary] =
            ["a.goal", "pid", "temporary"].map(|name| folder.path().join(name));
        fs::write(&program, "rank 0 { calc 1 calc 2 }").unwrap();
        fs::create_dir(&temporary).unwrap();
        let check = format!("echo $$ > {0}.new; mv {0}.new {0}; sleep 1000; :", pid.display());
        let mut command = Command::new("env");
        command.args(["--default-signal", env!("CARGO_BIN_EXE_goalc"), "reduce"]).arg(&program);
        command.args(["--check", &check, "-o"]).arg(folder.path().join("small.goal"));
        let mut goalc = command.env("TMPDIR", &temporary).spawn().unwrap();
        until("the command runs", || pid.exists());
        let shell: i32 = fs::read_to_string(&pid).unwrap().trim().parse().unwrap();
        kill_process(Pid::from_child(&goalc), signal).unwrap();
        assert_eq!(goalc.wait().unwrap().signal(), Some(signal.as_raw()));
        assert!(test_kill_process(Pid::from_raw(shell).unwrap()).is_err(), "the command goes on");
        assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
    }
}
