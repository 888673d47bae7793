//! Tests the standard output of ranks if its reader is slow or gone, or if open files are few.

use crate::common::processes::{children_of, wait_for};
use crate::common::{Ended, GOAL_RUN, default_signals};
use crate::programs::bench::command;
use crate::programs::rank::LINES;
use goal_filetest::{skipped, timeout};
use rustix::io::ioctl_fionread;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

/// The rank would write for ever into a pipe that nobody reads.
#[test]
fn a_new_rank_learns_that_standard_output_is_closed() {
    let mut child = command("grow unread", &["-n", "2"]).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.contains("told: ready")));
    drop(lines);
    let ended = Ended::from_output(child.wait_with_output().unwrap());
    ended.assert_status(7);
    ended.assert_says(&["rank 2 (sh) exited with status 7"]);
}

/// With many lines the job does not come to its end by itself. With few its ranks may.
#[test]
fn the_time_limit_holds_if_nobody_reads_the_output() {
    for (lines, statuses) in [("1000", &[5][..]), ("50", &[0, 5])] {
        let mut job = command("prints", &["-n", "4", "--timeout", &timeout(2)]);
        let mut child = job.env(LINES, lines).spawn().unwrap();
        let unread = child.stdout.take();
        let status = wait_for(|| child.try_wait().unwrap());
        drop(unread);
        assert!(status.code().is_some_and(|code| statuses.contains(&code)), "{status:?}");
    }
}

#[test]
fn lines_that_nobody_reads_are_told_of() {
    let mut child = command("prints", &["-n", "2"]).env(LINES, "1000").spawn().unwrap();
    let unread = child.stdout.take().unwrap();
    // The pipe is full.
    wait_for(|| (ioctl_fionread(&unread).unwrap() > 40_000).then_some(()));
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let status = wait_for(|| child.try_wait().unwrap());
    drop(unread);
    let ended = Ended::from_output(child.wait_with_output().unwrap());
    assert_eq!(status.code(), Some(143), "{ended:?}");
    ended.assert_says(&["nobody reads standard output: the last lines of ranks are lost"]);
}

/// More lines than the pipe of the reader holds.
#[test]
fn a_late_reader_gets_all_lines_of_a_job_that_came_to_its_end() {
    let mut child = command("prints", &["-n", "4"]).env(LINES, "50").spawn().unwrap();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    reader.read_line(&mut first).unwrap();
    wait_for(|| children_of(Pid::from_child(&child)).is_empty().then_some(()));
    // Time has to pass: longer than it waits if the job was ended.
    std::thread::sleep(Duration::from_millis(1300));
    let count = reader.lines().filter(|line| line.as_ref().unwrap().ends_with("xxx")).count();
    assert_eq!((count, child.wait().unwrap().code()), (200, Some(0)));
}

#[test]
fn ranks_need_no_files_of_their_launcher() {
    let mut command = Command::new("prlimit");
    command.args(["--nofile=60:60", GOAL_RUN, "-n", "70", "--timeout", &timeout(60)]);
    command.args(["sh", "-c", "echo here; sleep 1000"]).stdout(Stdio::piped());
    let Ok(mut child) = default_signals(&mut command).spawn() else {
        return skipped("there is no prlimit");
    };
    // All are there at once.
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert_eq!(lines.take_while(|line| line == "here").take(70).count(), 70);
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(143));
}

/// A small file system stands for a disk that is full.
#[test]
fn a_full_disk_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let script = "mount -t tmpfs -o size=4k none \"$1\" || exit 99
        \"$0\" -n 2 --timeout \"$2\" sh -c 'trap \"\" PIPE; seq 1000; true' > \"$1/out\"";
    let mut command = Command::new("unshare");
    command.args(["-rm", "sh", "-c", script, GOAL_RUN]).arg(folder.path()).arg(timeout(60));
    let ended = Ended::from_output(default_signals(&mut command).output().unwrap());
    if [Some(1), Some(99)].contains(&ended.status) {
        return skipped("unshare or mount is refused");
    }
    ended.assert_status(2);
    ended.assert_says(&["<stdout>: No space left on device", "lines of ranks are lost"]);
}

/// All ranks have come to their end, and nobody reads what they have printed.
#[test]
fn a_signal_while_a_job_waits_for_its_reader_is_told() {
    let mut child = command("prints", &["-n", "2"]).env(LINES, "50").spawn().unwrap();
    let mut unread = BufReader::new(child.stdout.take().unwrap());
    unread.read_line(&mut String::new()).unwrap();
    wait_for(|| children_of(Pid::from_child(&child)).is_empty().then_some(()));
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let status = wait_for(|| child.try_wait().unwrap());
    drop(unread);
    let ended = Ended::from_output(child.wait_with_output().unwrap());
    assert_eq!(status.code(), Some(143), "{ended:?}");
    ended.assert_says(&["ended by SIGTERM: the last lines of ranks are lost"]);
}
