//! Tests jobs that end early: all hosts report the same end.

use crate::common::processes::{assert_gone, ranks_of, wait_until_begun, wait_until_mapped};
use crate::tcp::bench::{Bench, LONG, ended, pairs, ring};
use goal_filetest::{skipped, timeout};
use rustix::process::{Pid, Signal, kill_process};
use std::process::Command;

#[test]
fn a_failure_is_told_by_all() {
    let bench = Bench::loopback();
    let wrong = pairs().replace("expect 8 = Int64 101", "expect 8 = Int64 7");
    let divides = "num_ranks 4 rank 3 { init 0 = Int32 1; exec divInt32 with 0,4 4,4; }";
    for (text, says) in
        [(&*wrong, "rank 3: address 8 holds Int64 101, expected 7"), (divides, "rank 3")]
    {
        let program = bench.write("wrong.goal", text);
        for ended in bench.run(3, &[&program]) {
            ended.assert_status(1);
            ended.assert_says(&[says]);
        }
    }
}

#[test]
fn a_stuck_job_is_told_without_a_timeout() {
    let bench = Bench::loopback();
    let text = "num_ranks 4 rank 1 { a: recv 8b from 0 tag 5; } rank 2 { b: recv 8b from 3 tag 6; } \
                rank 3 { c: recv 8b from 2 tag 7; d: send 8b to 2 tag 6; requ d -> c; }";
    let program = bench.write("stuck.goal", text);
    for ended in bench.run(2, &[&program, "--no-check"]) {
        ended.assert_status(3);
        ended.assert_says(&[
            "stuck: no rank can go on; 4 actions of 3 ranks had not ended",
            "rank 3, recv `c` (line 1) waits for a message from rank 2 with tag 7",
        ]);
    }
}

#[test]
fn the_time_is_up_for_all() {
    let bench = Bench::loopback();
    let program = bench.write("long.goal", LONG);
    for ended in bench.run(2, &[&program, "--timeout", &timeout(1)]) {
        ended.assert_status(5);
        ended.assert_says(&["the time is up; 4 actions of 4 ranks had not ended"]);
    }
}

#[test]
fn a_rank_that_dies_is_named_with_its_end() {
    let bench = Bench::loopback();
    // Ranks that compute, and ranks whose connections tell others of the end as well.
    for (text, repeat) in [(LONG.to_owned(), "1"), (ring(1000), "100000000")] {
        let program = bench.write("program.goal", text);
        for victim in 0..2 {
            let children = bench.start(2, &[&program, "--repeat", repeat]);
            let ranks: Vec<Vec<Pid>> =
                children.iter().map(|child| ranks_of(Pid::from_child(child), 2)).collect();
            ranks.iter().for_each(|ranks| wait_until_mapped(ranks));
            wait_until_begun(&ranks.concat());
            kill_process(ranks[victim][1], Signal::KILL).unwrap();
            for ended in children.into_iter().map(ended) {
                ended.assert_status(4);
                let says = format!("rank {} was killed by signal 9 (SIGKILL)", 2 * victim + 1);
                ended.assert_says(&[&says]);
            }
            assert_gone(&ranks.concat());
        }
    }
}

#[test]
fn a_signal_to_one_launcher_ends_all() {
    let bench = Bench::loopback();
    let program = bench.write("long.goal", LONG);
    for victim in 0..2 {
        let children = bench.start(2, &[&program]);
        children.iter().for_each(|child| drop(ranks_of(Pid::from_child(child), 2)));
        kill_process(Pid::from_child(&children[victim]), Signal::INT).unwrap();
        for ended in children.into_iter().map(ended) {
            ended.assert_status(130);
            ended.assert_says(&["SIGINT"]);
        }
    }
}

#[test]
fn a_full_disk_is_told_by_all() {
    let bench = Bench::loopback();
    let program = bench.write("memory.goal", "num_ranks 4 rank * { init 2000000 = Int64 1; }");
    let folder = bench.path("full");
    std::fs::create_dir(&folder).unwrap();
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"])
        .arg(&folder)
        .status()
        .is_ok_and(|status| status.success());
    if !mounted {
        return skipped("no tmpfs can be mounted");
    }
    let all = bench.run(2, &[&program, "--dump", folder.join("out").to_str().unwrap()]);
    assert!(Command::new("umount").arg(&folder).status().unwrap().success());
    for ended in all {
        ended.assert_status(2);
        ended.assert_says(&["No space left on device"]);
    }
}
