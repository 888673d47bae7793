//! Kills ranks and launchers: the job ends, and no process is left.

use crate::common::processes::{assert_gone, pid, ranks_of, wait_until_begun, wait_until_mapped};
use crate::common::{Ended, start_text};
use goal_filetest::timeout;
use rustix::process::{Pid, Signal, kill_process};

const LONG: &str = "num_ranks 3 rank * { c: calc 1000000000000 }";

#[test]
fn a_killed_rank_ends_the_job() {
    let launcher = start_text(LONG, &["--transport", "shm"]);
    let ranks = ranks_of(Pid::from_child(&launcher), 3);
    wait_until_mapped(&ranks);
    kill_process(ranks[1], Signal::KILL).unwrap();
    let ended = Ended::from_output(launcher.wait_with_output().unwrap());
    ended.assert_status(4);
    ended.assert_says(&["rank 1 was killed by signal 9 (SIGKILL)", "rank 1, calc `c` (line 1)"]);
    assert_gone(&ranks);
}

/// One rank is often asked for work that it does not do by itself, so others act for it. The ranks
/// are more than the processors.
#[test]
fn a_killed_rank_ends_a_job_whose_ranks_act_for_each_other() {
    let rank = |rank| {
        let [next, last, far] = [1, 5, 3].map(|ahead| (rank + ahead) % 6);
        format!(
            "rank {rank} {{ a: send 0,8 to {next} b: recv 8,8 from {last} c: send 8,8 to {far} tag 1 d: recv 16,8 from {far} tag 1 requ c -> b }}\n"
        )
    };
    let ring: String = (0..6).map(rank).collect();
    for mode in ["caller", "thread", "node"] {
        for victim in [0, 3, 5] {
            let limit = timeout(50);
            let arguments =
                ["--progress", mode, "--repeat", "100000000", "--no-check", "--timeout", &limit];
            let launcher = start_text(&ring, &arguments);
            let ranks = ranks_of(Pid::from_child(&launcher), 6);
            wait_until_mapped(&ranks);
            wait_until_begun(&ranks);
            kill_process(ranks[victim], Signal::KILL).unwrap();
            let ended = Ended::from_output(launcher.wait_with_output().unwrap());
            ended.assert_status(4);
            ended.assert_says(&[&format!("rank {victim} was killed by signal 9 (SIGKILL)")]);
            // The rank was within an instance. Or others finished its instance, and it never began
            // the next.
            assert!(!ended.err.contains("0 actions of"), "{ended:?}");
            let of_rank = |text: &str| ended.err.contains(text);
            assert!(
                of_rank("of 1 rank had not ended") || of_rank("all actions of instance "),
                "{ended:?}"
            );
            assert_gone(&ranks);
        }
    }
}

/// Rust's runtime handles these two signals, and ignores one that another process sends.
#[test]
fn a_fault_that_is_sent_ends_the_rank() {
    for (signal, name) in [(Signal::SEGV, "SIGSEGV"), (Signal::BUS, "SIGBUS")] {
        let launcher = start_text(LONG, &["--transport", "shm", "--timeout", &timeout(20)]);
        let ranks = ranks_of(Pid::from_child(&launcher), 3);
        wait_until_mapped(&ranks);
        kill_process(ranks[2], signal).unwrap();
        let ended = Ended::from_output(launcher.wait_with_output().unwrap());
        ended.assert_status(4);
        ended.assert_says(&["rank 2 was killed by signal", name]);
        assert_gone(&ranks);
    }
}

#[test]
fn a_rank_that_is_killed_while_it_sleeps() {
    let text =
        "rank 0 { recv 8b from 1 } rank 1 { a: calc 1000000000000  b: send 8b to 0  b requires a }";
    let launcher = start_text(text, &["--transport", "shm", "--format", "json"]);
    let ranks = ranks_of(Pid::from_child(&launcher), 2);
    wait_until_mapped(&ranks);
    kill_process(ranks[0], Signal::TERM).unwrap();
    let ended = Ended::from_output(launcher.wait_with_output().unwrap());
    ended.assert_status(4);
    assert_eq!(ended.json()["status"], "died");
    ended.assert_says(&["rank 0 was killed by signal 15 (SIGTERM)"]);
    assert_gone(&ranks);
}

#[test]
fn a_signal_to_the_launcher_ends_the_ranks() {
    for (signal, status) in [(Signal::TERM, 143), (Signal::INT, 130), (Signal::HUP, 129)] {
        let launcher = start_text(LONG, &["--transport", "shm"]);
        let ranks = ranks_of(Pid::from_child(&launcher), 3);
        kill_process(pid(launcher.id() as i32), signal).unwrap();
        let ended = Ended::from_output(launcher.wait_with_output().unwrap());
        ended.assert_status(status);
        ended.assert_says(&["ended by SIG"]);
        assert_gone(&ranks);
    }
}

#[test]
fn the_ranks_of_a_killed_launcher_end() {
    let mut launcher = start_text(LONG, &["--transport", "shm"]);
    let ranks = ranks_of(Pid::from_child(&launcher), 3);
    wait_until_mapped(&ranks);
    launcher.kill().unwrap();
    launcher.wait().unwrap();
    assert_gone(&ranks);
}

#[test]
fn threads_end_on_a_signal_too() {
    let launcher =
        start_text("num_ranks 3 rank * { calc 1000000000000 }", &["--transport", "threads"]);
    // The segment is made after signals are handled. Threads tell nothing: those that compile come
    // before.
    let process = pid(launcher.id() as i32);
    wait_until_mapped(&[process]);
    kill_process(process, Signal::INT).unwrap();
    Ended::from_output(launcher.wait_with_output().unwrap()).assert_status(130);
}
