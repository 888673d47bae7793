//! Tests signals to a launcher: ignored ones, and those that stop, continue or end it.

use crate::common::processes::{
    assert_gone, ranks_of, wait_for, wait_until_begun, wait_until_it_sleeps_in, wait_until_mapped,
};
use crate::common::{Ended, GOAL_RUN, default_signals, start_text};
use goal_filetest::{patience, timeout};
use nix::libc::{SYS_openat, SYS_write};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::io::ioctl_fionbio;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const LONG: &str = "num_ranks 3 rank * { c: calc 1000000000000 }";

/// Starts a text below a shell that does something first, in a process group of its own.
fn start_below(shell: &str, text: &str, arguments: &[&str]) -> Child {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{shell} exec \"$@\""), "sh", GOAL_RUN, "-"]).args(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = default_signals(&mut command).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    child
}

/// The state of a process, as a letter.
fn state(process: Pid) -> String {
    let stat =
        fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero())).unwrap_or_default();
    stat.rsplit(") ").next().unwrap_or_default().chars().take(1).collect()
}

#[test]
fn signals_that_were_ignored_stay_ignored() {
    for (name, signal) in [("HUP", Signal::HUP), ("INT", Signal::INT), ("TERM", Signal::TERM)] {
        let launcher = start_below(&format!("trap '' {name};"), LONG, &["--timeout", &timeout(2)]);
        let pid = Pid::from_child(&launcher);
        let ranks = ranks_of(pid, 3);
        kill_process(pid, signal).unwrap();
        // It goes on until its time is up.
        let ended = Ended::from_output(launcher.wait_with_output().unwrap());
        ended.assert_status(5);
        ended.assert_says(&["the time is up"]);
        assert_gone(&ranks);
    }
    // And one of them where others are ignored.
    let launcher = start_below("trap '' HUP;", LONG, &[]);
    let pid = Pid::from_child(&launcher);
    ranks_of(pid, 3);
    kill_process(pid, Signal::TERM).unwrap();
    Ended::from_output(launcher.wait_with_output().unwrap()).assert_status(143);
}

#[test]
fn a_signal_ends_a_process_that_waits_for_others_of_its_launcher() {
    let (mut server, socket) = UnixStream::pair().unwrap();
    let mut command = Command::new(GOAL_RUN);
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/allreduce-ring.goal"));
    command.envs([("PMI_FD", "0"), ("PMI_RANK", "1"), ("PMI_SIZE", "4")]);
    command.stdin(OwnedFd::from(socket)).stderr(Stdio::piped());
    let process = default_signals(&mut command).spawn().unwrap();
    drop(command);
    // The launcher gets a request and does not answer it.
    assert_ne!(server.read(&mut [0; 64]).unwrap(), 0);
    kill_process(Pid::from_child(&process), Signal::TERM).unwrap();
    let output = process.wait_with_output().unwrap();
    assert_eq!(output.status.signal(), Some(15), "{:?}", Ended::from_output(output));
}

#[test]
fn ranks_stop_with_their_launcher_and_go_on_with_it() {
    let (since, limit) = (Instant::now(), patience(2));
    let launcher = start_below("", LONG, &["--timeout", &timeout(2)]);
    let pid = Pid::from_child(&launcher);
    let ranks = ranks_of(pid, 3);
    wait_until_mapped(&ranks);
    kill_process(pid, Signal::TSTP).unwrap();
    for &process in ranks.iter().chain([&pid]) {
        wait_for(|| (state(process) == "T").then_some(()));
    }
    // Time has to pass: longer than the time limit, which does not count it.
    let pause = limit + Duration::from_millis(500);
    std::thread::sleep(pause);
    kill_process(pid, Signal::CONT).unwrap();
    for &process in &ranks {
        wait_for(|| (state(process) != "T").then_some(()));
    }
    let ended = Ended::from_output(launcher.wait_with_output().unwrap());
    ended.assert_status(5);
    assert!(!ended.err.contains("is stopped"), "{ended:?}");
    assert!(since.elapsed() >= pause + limit, "{:?}", since.elapsed());
    assert_gone(&ranks);
}

#[test]
fn a_job_that_was_stopped_can_be_ended() {
    let launcher = start_below("", LONG, &[]);
    let pid = Pid::from_child(&launcher);
    let ranks = ranks_of(pid, 3);
    kill_process(pid, Signal::TSTP).unwrap();
    wait_for(|| (state(pid) == "T").then_some(()));
    // As a shell does that ends a stopped job.
    kill_process(pid, Signal::TERM).unwrap();
    kill_process(pid, Signal::CONT).unwrap();
    Ended::from_output(launcher.wait_with_output().unwrap()).assert_status(143);
    assert_gone(&ranks);
    // The system ends the ranks of a stopped launcher that is killed.
    let mut launcher = start_below("", LONG, &[]);
    let pid = Pid::from_child(&launcher);
    let ranks = ranks_of(pid, 3);
    wait_until_mapped(&ranks);
    kill_process(pid, Signal::TSTP).unwrap();
    wait_for(|| (state(pid) == "T").then_some(()));
    launcher.kill().unwrap();
    launcher.wait().unwrap();
    assert_gone(&ranks);
}

#[test]
fn a_terminal_may_stop_a_job_that_starts_its_ranks() {
    let text = LONG.replace("num_ranks 3", "num_ranks 64");
    for moment in 0..30 {
        let launcher = start_below("", &text, &[]);
        let pid = Pid::from_child(&launcher);
        // Children that have not executed their program are in the launcher's group for a moment.
        // Time passes: the signal comes at other moments of the start.
        std::thread::sleep(Duration::from_millis(moment * 2));
        kill_process_group(pid, Signal::TSTP).unwrap();
        wait_for(|| (state(pid) == "T").then_some(()));
        kill_process_group(pid, Signal::TERM).unwrap();
        kill_process_group(pid, Signal::CONT).unwrap();
        // A signal that comes before the launcher handles it ends it as well.
        let output = launcher.wait_with_output().unwrap();
        assert!(
            output.status.code() == Some(143) || output.status.signal() == Some(15),
            "{output:?}"
        );
    }
}

#[test]
fn a_terminal_may_stop_a_launcher_that_reads() {
    let mut command = Command::new(GOAL_RUN);
    command.arg("-").process_group(0).stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut launcher = default_signals(&mut command).spawn().unwrap();
    let pid = Pid::from_child(&launcher);
    // Half a program: it waits for the rest, on another thread than its first.
    let mut text = launcher.stdin.take().unwrap();
    text.write_all(b"num_ranks 3 rank * {").unwrap();
    let folder = format!("/proc/{}/task", pid.as_raw_nonzero());
    wait_for(|| (fs::read_dir(&folder).unwrap().count() > 1).then_some(()));
    for _ in 0..3 {
        kill_process_group(pid, Signal::TSTP).unwrap();
        wait_for(|| (state(pid) == "T").then_some(()));
        kill_process_group(pid, Signal::CONT).unwrap();
        wait_for(|| (state(pid) != "T").then_some(()));
    }
    text.write_all(b" c: calc 1 }").unwrap();
    drop(text);
    Ended::from_output(launcher.wait_with_output().unwrap()).assert_status(0);
}

#[test]
fn a_rank_stops_on_a_signal_of_its_own() {
    let launcher = start_text(LONG, &[]);
    let pid = Pid::from_child(&launcher);
    let ranks = ranks_of(pid, 3);
    wait_until_mapped(&ranks);
    kill_process(ranks[1], Signal::TSTP).unwrap();
    wait_for(|| (state(ranks[1]) == "T").then_some(()));
    kill_process(pid, Signal::TERM).unwrap();
    Ended::from_output(launcher.wait_with_output().unwrap()).assert_status(143);
    assert_gone(&ranks);
}

#[test]
fn a_rank_that_somebody_stops_is_named() {
    let launcher = start_text(LONG, &["--timeout", &timeout(2)]);
    let ranks = ranks_of(Pid::from_child(&launcher), 3);
    wait_until_mapped(&ranks);
    kill_process(ranks[1], Signal::STOP).unwrap();
    let ended = Ended::from_output(launcher.wait_with_output().unwrap());
    ended.assert_status(5);
    let process = ranks[1].as_raw_nonzero();
    ended.assert_says(&[
        &format!(
            "rank 1 (process {process}) is stopped: SIGSTOP; kill -CONT {process} lets it go on\n"
        ),
        &format!(
            "the time is up; rank 1 (process {process}) is stopped: SIGSTOP; 3 actions of 3 ranks"
        ),
    ]);
    assert_gone(&ranks);
}

#[test]
fn a_rank_that_goes_on_is_not_named_at_the_end() {
    let mut launcher = start_text(LONG, &["--timeout", &timeout(3)]);
    let ranks = ranks_of(Pid::from_child(&launcher), 3);
    wait_until_mapped(&ranks);
    kill_process(ranks[1], Signal::STOP).unwrap();
    let mut lines = BufReader::new(launcher.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.contains("is stopped")), "the launcher does not tell it");
    kill_process(ranks[1], Signal::CONT).unwrap();
    assert!(!lines.any(|line| line.contains("the time is up; rank")));
    assert_eq!(launcher.wait().unwrap().code(), Some(5));
}

/// The ranks have ended, and a file of the dump is a pipe without a reader.
#[test]
fn a_signal_ends_a_launcher_that_writes_results() {
    let folder = tempfile::tempdir().unwrap();
    mknodat(CWD, folder.path().join("rank-0.bin"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)
        .unwrap();
    for (signal, status) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let dump = folder.path().to_str().unwrap();
        let launcher = start_text("rank 0 { calc 1 }", &["--dump", dump, "--format", "json"]);
        let pid = Pid::from_child(&launcher);
        // It has handlers as soon as it has ranks; these come and go too fast to be seen.
        wait_for(|| (caught(pid) & (1 << (signal.as_raw() - 1)) != 0).then_some(()));
        wait_until_it_sleeps_in(pid, &[SYS_openat]);
        kill_process(pid, signal).unwrap();
        let ended = Ended::from_output(launcher.wait_with_output().unwrap());
        ended.assert_status(status);
        assert_eq!(ended.json()["status"], "interrupted");
    }
}

/// The interpreter works on what ranks left to it for long after they have ended.
#[test]
fn a_signal_ends_a_launcher_that_compares() {
    let mut text = "rank 0 { t: exec wtime with 0,8;".to_owned();
    for i in 0..200 {
        let after = if i == 0 { String::new() } else { format!(" requ x{i} -> x{};", i - 1) };
        text += &format!(" x{i}: exec sumInt8 with 1024,10000000 10001024,10000000;{after}");
    }
    let launcher = start_text(&(text + " }"), &["--no-check"]);
    let pid = Pid::from_child(&launcher);
    assert_gone(&ranks_of(pid, 1));
    kill_process(pid, Signal::INT).unwrap();
    Ended::from_output(launcher.wait_with_output().unwrap()).assert_status(130);
}

#[test]
fn a_signal_ends_a_launcher_whose_ranks_do_not_exit() {
    // A busy machine may get to the first rank only when the second has ended. A longer computation
    // is tried then.
    let was_stopped = [1_500_000_000u64, 6_000_000_000, 24_000_000_000].into_iter().any(|calc| {
        let text = format!("num_ranks 2 rank 0 {{ calc 1 }} rank 1 {{ calc {calc} }}");
        let launcher = start_text(&text, &[]);
        let pid = Pid::from_child(&launcher);
        let ranks = ranks_of(pid, 2);
        wait_until_mapped(&ranks);
        // The first has finished while the second computes, and lives on for it.
        wait_until_begun(&ranks);
        let was_stopped = kill_process(ranks[0], Signal::STOP).is_ok()
            && wait_for(|| Some(state(ranks[0])).filter(|state| state != "R" && state != "S"))
                == "T";
        if was_stopped {
            wait_for(|| (state(ranks[1]) == "Z").then_some(()));
            kill_process(pid, Signal::INT).unwrap();
        }
        let ended = Ended::from_output(launcher.wait_with_output().unwrap());
        ended.assert_status(if was_stopped { 130 } else { 0 });
        assert_gone(&ranks);
        was_stopped
    });
    assert!(was_stopped, "no rank was stopped in time");
}

/// A report goes to a pipe that is full, and a trace to one that no process opens.
#[test]
fn a_signal_ends_a_launcher_whose_output_nobody_takes() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("fifo");
    mknodat(CWD, &fifo, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    for arguments in [vec![], vec!["--trace", fifo.to_str().unwrap()]] {
        let (_unread, full) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK).unwrap();
        while rustix::io::write(&full, &[0; 4096]).is_ok() {}
        ioctl_fionbio(&full, false).unwrap();
        let mut command = Command::new(GOAL_RUN);
        command.arg("-").args(arguments).stdin(Stdio::piped()).stdout(full);
        let mut launcher = default_signals(&mut command).spawn().unwrap();
        launcher.stdin.take().unwrap().write_all(b"rank 0 { calc 1 }").unwrap();
        let pid = Pid::from_child(&launcher);
        wait_until_it_sleeps_in(pid, &[SYS_openat, SYS_write]);
        kill_process(pid, Signal::INT).unwrap();
        let status = wait_for(|| launcher.try_wait().unwrap());
        assert!(status.code() == Some(130) || status.signal() == Some(2), "{status:?}");
    }
}

#[test]
fn a_rank_that_dies_is_noticed_where_children_are_ignored() {
    let ignores = "exec env --ignore-signal=CHLD \"$@\";";
    let launcher = start_below(ignores, LONG, &["--timeout", &timeout(20)]);
    let ranks = ranks_of(Pid::from_child(&launcher), 3);
    kill_process(ranks[1], Signal::KILL).unwrap();
    let ended = Ended::from_output(launcher.wait_with_output().unwrap());
    ended.assert_status(4);
    ended.assert_says(&["rank 1 was killed by signal 9 (SIGKILL)"]);
    assert_gone(&ranks);
}

/// The signals that a process handles, as a set of bits.
fn caught(process: Pid) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", process.as_raw_nonzero()))
        .unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    line.map_or(0, |text| u64::from_str_radix(text.trim(), 16).unwrap())
}
