//! Tests jobs that end early: all hosts report the same end.

use crate::common::processes::{wait_until_begun, wait_until_it_waits_for_hosts};
use crate::hosts::bench::{Bench, DISCOVER, LONG, ended, launcher, pairs, ranks_of, send};
use goal_cluster::Wiring;
use goal_filetest::timeout;
use rustix::process::Signal;

#[test]
fn a_failure_is_told_on_all_hosts() {
    let Some(bench) = Bench::or_skip("failure", &Wiring::bridge(2)) else { return };
    let wrong = pairs().replace("expect 8 = Int64 102", "expect 8 = Int64 7");
    let divides = "num_ranks 4 rank 3 { init 0 = Int32 1; exec divInt32 with 0,4 4,4; }";
    for (text, says) in
        [(&*wrong, "rank 3: address 8 holds Int64 102, expected 7"), (divides, "rank 3")]
    {
        let program = bench.write("wrong.goal", text);
        for ended in bench.run(&program, &DISCOVER) {
            ended.assert_status(1);
            ended.assert_says(&[says]);
        }
    }
}

#[test]
fn a_stuck_job_is_told_without_a_timeout() {
    let Some(bench) = Bench::or_skip("stuck", &Wiring::bridge(2)) else { return };
    // Rank 0 is done, rank 1 and those on the other host wait in vain.
    let text = "num_ranks 4 rank 1 { a: recv 8b from 0 tag 5; } rank 2 { b: recv 8b from 3 tag 6; } \
                rank 3 { c: recv 8b from 2 tag 7; d: send 8b to 2 tag 6; requ d -> c; }";
    let program = bench.write("stuck.goal", text);
    let says = [
        "stuck: no rank can go on; 4 actions of 3 ranks had not ended",
        "rank 1, recv `a` (line 1) waits for a message from rank 0 with tag 5",
        "rank 3, recv `c` (line 1) waits for a message from rank 2 with tag 7",
        "rank 3, send `d` (line 1) waits for the end of recv `c`",
    ];
    for ended in bench.run(&program, &[&DISCOVER[..], &["--no-check"]].concat()) {
        ended.assert_status(3);
        ended.assert_says(&says);
    }
}

#[test]
fn the_time_is_up_on_all_hosts() {
    let Some(bench) = Bench::or_skip("timeout", &Wiring::bridge(2)) else { return };
    let program = bench.write("long.goal", LONG);
    for ended in bench.run(&program, &[&DISCOVER[..], &["--timeout", &timeout(1)]].concat()) {
        ended.assert_status(5);
        ended.assert_says(&[
            "the time is up; 4 actions of 4 ranks had not ended",
            "rank 3, calc `c`",
        ]);
    }
}

#[test]
fn the_death_of_a_rank_ends_all_hosts() {
    let Some(bench) = Bench::or_skip("death", &Wiring::bridge(2)) else { return };
    let program = bench.write("long.goal", LONG);
    for host in 0..2 {
        let children = bench.start_all(&program, &DISCOVER);
        let ranks: Vec<_> = children.iter().map(|child| ranks_of(launcher(child), 2)).collect();
        send(ranks[host][1], Signal::KILL);
        for ended in children.into_iter().map(ended) {
            ended.assert_status(4);
            ended
                .assert_says(&[&format!("rank {} was killed by signal 9 (SIGKILL)", 2 * host + 1)]);
        }
    }
}

#[test]
fn a_signal_to_one_launcher_ends_all() {
    let Some(bench) = Bench::or_skip("signal", &Wiring::bridge(2)) else { return };
    let program = bench.write("long.goal", LONG);
    for host in 0..2 {
        let children = bench.start_all(&program, &DISCOVER);
        children.iter().for_each(|child| drop(ranks_of(launcher(child), 2)));
        send(launcher(&children[host]), Signal::INT);
        for ended in children.into_iter().map(ended) {
            ended.assert_status(130);
            ended.assert_says(&["ended by SIGINT"]);
        }
    }
    // A launcher that waits for others ends too.
    let child = bench.start(0, &program, &DISCOVER);
    wait_until_it_waits_for_hosts(launcher(&child));
    send(launcher(&child), Signal::TERM);
    let ended = ended(child);
    ended.assert_status(143);
    ended.assert_says(&["ended by SIGTERM"]);
}

#[test]
fn ranks_that_have_finished_are_watched_until_all_have() {
    let Some(bench) = Bench::or_skip("finished", &Wiring::bridge(2)) else { return };
    for (busy, idle) in [(0, 1), (1, 0)] {
        let text = format!("num_ranks 4 rank {} {{ c: calc 1000000000000 }}", 2 * busy);
        let program = bench.write("half.goal", &text);
        // The launcher whose ranks have finished gets a signal.
        let children = bench.start_all(&program, &DISCOVER);
        let ranks: Vec<_> = children.iter().map(|child| ranks_of(launcher(child), 2)).collect();
        // The others finish at once, while this one computes.
        wait_until_begun(&ranks[busy][..1]);
        send(launcher(&children[idle]), Signal::INT);
        children.into_iter().map(ended).for_each(|ended| ended.assert_status(130));
        // A launcher whose ranks have finished dies.
        let children = bench.start_all(&program, &DISCOVER);
        let ranks: Vec<_> = children.iter().map(|child| ranks_of(launcher(child), 2)).collect();
        wait_until_begun(&ranks[busy][..1]);
        send(ranks[idle][0], Signal::KILL);
        for ended in children.into_iter().map(ended) {
            ended.assert_status(4);
            ended.assert_says(&[&format!("rank {} was killed by signal 9", 2 * idle)]);
        }
    }
}

#[test]
fn ranks_of_several_hosts_that_wait_for_each_other_are_told() {
    let Some(bench) = Bench::or_skip("circle", &Wiring::bridge(2)) else { return };
    // Messages have travelled before.
    let rank = |rank: u32| {
        let (to, from) = ((rank + 1) % 4, (rank + 3) % 4);
        format!(
            "rank {rank} {{ x: send 5000b to {to} tag 1; y: recv 5000b from {from} tag 1; r: recv 8b from {from} tag 2; \
             s: send 8b to {to} tag 2; requ r -> y; requ s -> r; }}\n"
        )
    };
    let text = format!("num_ranks 4\n{}", (0..4).map(rank).collect::<String>());
    let program = bench.write("circle.goal", &text);
    for more in
        [&[][..], &["--eager-limit", "0"], &["--ranks-as", "threads"], &["--progress", "thread"]]
    {
        for ended in bench.run(&program, &[&DISCOVER[..], &["--no-check"], more].concat()) {
            ended.assert_status(3);
            ended.assert_says(&["8 actions of 4 ranks had not ended", "cycle: "]);
        }
    }
}

#[test]
fn a_message_of_another_size_is_told_with_both_ends() {
    let Some(bench) = Bench::or_skip("size", &Wiring::bridge(2)) else { return };
    let text = "num_ranks 4 rank 0 { a: send 8b to 3 tag 1; } rank 3 { b: recv 9b from 0 tag 1; }";
    let program = bench.write("size.goal", text);
    for ended in bench.run(&program, &[&DISCOVER[..], &["--no-check"]].concat()) {
        ended.assert_status(1);
        ended.assert_says(&["rank 3, recv `b`", "it was sent by rank 0, send `a`"]);
    }
}

#[test]
fn a_file_that_can_not_be_written_is_told_on_all_hosts() {
    let Some(bench) = Bench::or_skip("written", &Wiring::bridge(2)) else { return };
    let program = bench.write("pairs.goal", &pairs());
    for arguments in [["--trace", "/nowhere/trace"], ["--dump", "/proc/nowhere"]] {
        for ended in bench.run(&program, &[&DISCOVER[..], &arguments].concat()) {
            ended.assert_status(2);
            ended.assert_says(&[arguments[1], "No such file or directory"]);
        }
    }
}

#[test]
fn a_rank_that_somebody_stops_on_any_host_is_named() {
    let Some(bench) = Bench::or_skip("stopped", &Wiring::bridge(2)) else { return };
    let program = bench.write("long.goal", LONG);
    for host in 0..2 {
        let children =
            bench.start_all(&program, &[&DISCOVER[..], &["--timeout", &timeout(3)]].concat());
        let ranks: Vec<_> = children.iter().map(|child| ranks_of(launcher(child), 2)).collect();
        send(ranks[host][1], Signal::STOP);
        let process = ranks[host][1].as_raw_nonzero();
        let name = format!("rank {} (process {process}) is stopped: SIGSTOP; ", 2 * host + 1);
        let all: Vec<_> = children.into_iter().map(ended).collect();
        for ended in &all {
            ended.assert_status(5);
            ended.assert_says(&[&format!("the time is up; {name}4 actions of 4 ranks")]);
        }
        all[host].assert_says(&[&format!("{name}kill -CONT {process} lets it go on")]);
    }
}

#[test]
fn a_terminal_does_not_stop_a_job_on_several_hosts() {
    let Some(bench) = Bench::or_skip("not stopped", &Wiring::bridge(2)) else { return };
    let program = bench.write("long.goal", LONG);
    let children =
        bench.start_all(&program, &[&DISCOVER[..], &["--timeout", &timeout(3)]].concat());
    children.iter().for_each(|child| drop(ranks_of(launcher(child), 2)));
    children.iter().for_each(|child| send(launcher(child), Signal::TSTP));
    for ended in children.into_iter().map(ended) {
        ended.assert_status(5);
        ended.assert_says(&[
            "not stopped: this job runs on several hosts",
            "the time is up; 4 actions",
        ]);
    }
}
