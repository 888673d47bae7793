//! Tests programs whose ranks end too early, or can't go on.

use crate::common::{Ended, GOAL_RUN};
use crate::programs::bench::{PART, Script, as_rank, command, run};
use crate::programs::growing::VICTIM;
use goal_filetest::timeout;
use std::io::Write;
use std::process::{Command, Stdio};

#[test]
fn a_rank_that_exits_with_a_status_ends_the_job_with_it() {
    for (part, text) in [
        ("status", "exited with status 3 before its end"),
        ("status before", "exited with status 3 before its end"),
    ] {
        let ended = run(part, &["-n", "3"]);
        ended.assert_status(3);
        ended.assert_says(&["rank 2 (", text]);
    }
    let ended = run("status after", &["-n", "3", "--format", "json"]);
    ended.assert_status(5);
    ended.assert_says(&["rank 1 (", "exited with status 5"]);
    let report = ended.out.split_once("{\"status\"").unwrap().1;
    let report = format!("{{\"status\"{report}");
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["status"], "died");
}

#[test]
fn a_rank_that_is_killed_ends_the_job() {
    for mode in ["caller", "thread", "node"] {
        let ended = run("killed", &["-n", "3", "--progress", mode]);
        ended.assert_status(137);
        ended.assert_says(&["rank 1 (", "was killed by signal 9 (SIGKILL)"]);
    }
}

/// The launcher's child goes on: only the process behind it has died.
#[test]
fn a_rank_that_dies_behind_a_script_ends_the_job() {
    let script = Script::new("\"$@\"; sleep 1000");
    for part in ["killed", "deserts"] {
        let mut command = Command::new(GOAL_RUN);
        command.args(["-n", "3", "--timeout", &timeout(60)]).arg(script.path()).args(as_rank());
        let ended = Ended::from_output(command.env(PART, part).output().unwrap());
        ended.assert_status(4);
        ended.assert_says(&[
            "rank 1 (process ",
            "has started) ended before its end: it has not called GOAL_Finalize",
        ]);
    }
}

/// The rank states the number of a process of its user that the launcher has not started.
#[test]
fn a_rank_that_lies_has_no_other_process_killed() {
    let mut victim = Command::new("cat");
    let mut victim = victim.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut job = command("grow lies", &["-n", "2"]);
    let ended = Ended::from_output(job.env(VICTIM, victim.id().to_string()).output().unwrap());
    ended.assert_status(3);
    // A process that was killed answers nothing.
    victim.stdin.take().unwrap().write_all(b"alive").unwrap();
    assert_eq!(victim.wait_with_output().unwrap().stdout, b"alive");
}

#[test]
fn a_rank_that_does_not_finalize_is_named() {
    let ended = run("deserts", &["-n", "3"]);
    ended.assert_status(4);
    ended.assert_says(&["rank 1 (", "exited before its end: it has not called GOAL_Finalize"]);
}

#[test]
fn a_rank_that_never_attaches_is_named() {
    let ended = run("absent", &["-n", "3"]);
    ended.assert_status(4);
    ended.assert_says(&[
        "rank 1 (",
        "exited and never attached to the job, and rank 0 waits for it",
    ]);
}

#[test]
fn a_failure_that_a_rank_records_is_told() {
    let ended = run("fails", &["-n", "3"]);
    ended.assert_status(1);
    ended.assert_says(&["rank 1: its input is no matrix"]);
}

#[test]
fn a_terminal_obeys_nothing_that_a_rank_says() {
    let ended = run("obeyed", &["-n", "3"]);
    ended.assert_status(1);
    ended.assert_says(&["rank 1: \\u{1b}]0;title\\u{7}\\r\\u{9b}2J"]);
}

#[test]
fn ranks_say_what_they_wait_for_if_none_can_go_on() {
    for mode in ["caller", "thread", "node"] {
        let ended = run("stuck", &["-n", "3", "--progress", mode, "--stuck", "end,0.2"]);
        ended.assert_status(3);
        ended.assert_says(&[
            "stuck: no rank can go on; ",
            "rank 0 waits in finalize",
            "rank 1 waits in GOAL_Wait: recv number 0 from rank 0, tag 5, waits for a message",
            "rank 2 waits in GOAL_Wait: recv number 1 from rank 1, tag 6, waits for a message; \
             recv number 2 from any rank, tag 7, waits for a message",
        ]);
    }
}

/// A rank that computes for an hour is not stuck.
#[test]
fn ranks_that_wait_for_one_that_computes_are_not_stuck() {
    for mode in ["caller", "thread", "node"] {
        let ended = run("computes", &["-n", "3", "--timeout", &timeout(2), "--progress", mode]);
        ended.assert_status(5);
        ended.assert_says(&[
            "the time is up; ",
            "rank 0 computes",
            "rank 1 waits in GOAL_Wait: recv number",
            "rank 2 computes",
        ]);
    }
}

#[test]
fn a_process_attaches_once() {
    let ended = run("twice", &["-n", "2"]);
    ended.assert_status(7);
    ended.assert_says(&["this process has attached to its job before"]);
}

#[test]
fn an_action_that_fails_is_named_as_its_schedule_has_it() {
    for mode in ["caller", "thread", "node"] {
        let ended = run("mismatch", &["-n", "2", "--progress", mode]);
        ended.assert_status(1);
        let says =
            "rank 1, recv `b`: receives 16 bytes, but the message from rank 0 with tag 5 has 8";
        ended.assert_says(&[says]);
        assert!(!ended.err.contains("was sent by"), "{ended:?}");
    }
}
