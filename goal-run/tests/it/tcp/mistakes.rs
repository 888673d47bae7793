//! Tests contradictory options of launchers: all of them report these, before a rank runs.

use crate::common::Ended;
use crate::tcp::bench::{Bench, ended, pairs};
use goal_filetest::patience;
use std::net::TcpListener;
use std::process::Child;
use std::time::Instant;

/// Runs launchers with these arguments, which must all end with status 2 within seconds. Returns
/// them.
fn refused(bench: &Bench, arguments: &[&[&str]]) -> Vec<Ended> {
    let since = Instant::now();
    let all = bench.run_each(arguments);
    assert!(since.elapsed() < patience(9), "{:?}: {all:?}", since.elapsed());
    all.iter().for_each(|ended| ended.assert_status(2));
    all
}

#[test]
fn contradictions_are_told_by_all() {
    let bench = Bench::loopback();
    let program = &*bench.write("pairs.goal", pairs());
    let other = &*bench.write("other.goal", pairs().replace("102", "103"));
    let eight = &*bench.write("eight.goal", "num_ranks 8");
    let cases: [(&[&[&str]], &str); 10] = [
        (&[&[program], &[other]], "has the program "),
        (&[&[program], &[eight]], "runs a program of 8 ranks, here it has 4"),
        (&[&[program], &[program, "--calc", "skip"]], "has --calc skip, the leader"),
        (&[&[program, "--repeat", "2"], &[program]], "has --repeat 1, the leader"),
        (&[&[program, "--fault-timeout", "3"], &[program]], "has --fault-timeout 10 s, the leader"),
        (&[&[program], &[program, "--size", "3"]], "was started for 3 launchers, the leader for 2"),
        (
            &[&[program], &[program, "--rank", "1"], &[program, "--rank", "1"]],
            "two launchers have the number 1: each needs one of its own",
        ),
        (&[&[program, "--here", "0-2"], &[program, "--here", "2-3"]], "have rank 2"),
        (&[&[program, "--here", "0"], &[program, "--here", "2-3"]], "no host has rank 1"),
        (&[&[program], &[program, "--ring", "4096"]], "has --ring 4096, the leader"),
    ];
    for (arguments, says) in cases {
        let all = refused(&bench, arguments);
        // A launcher may find a mistake by itself. Others may see only that it has ended.
        assert!(
            all.iter().filter(|ended| ended.err.contains(says)).count() >= 2,
            "{says}: {all:?}"
        );
        for ended in &all {
            ended.assert_says(&["the job does not start: "]);
        }
    }
}

#[test]
fn a_launcher_tells_its_own_mistakes_at_once() {
    let bench = Bench::loopback();
    let program = &*bench.write("pairs.goal", pairs());
    let alone = |arguments: &[&str], says: &str| {
        let since = Instant::now();
        let ended = ended(bench.start_each(&[&[&[program], arguments].concat()]).remove(0));
        assert!(since.elapsed() < patience(9), "{ended:?}");
        ended.assert_status(2);
        ended.assert_says(&[says]);
    };
    alone(&["--rank", "2", "--size", "2"], "there is no launcher 2: the 2 launchers are numbered");
    alone(&["--size", "5"], "there can't be 5 hosts: the program has 4 ranks");
    alone(&["--size", "2", "--here", "1-3"], "rank 0 must be on launcher 0, which leads");
    alone(&["--size", "2", "--rank", "1", "--here", "0"], "rank 0 must be on launcher 0");
    alone(
        &["--size", "2", "--here", "0-4"],
        "the program has 4 ranks, from 0 on: there is no rank 4",
    );
    alone(&["--fault-timeout", "0"], "0 is not in 1..=86400");
    alone(&["--ports", "9-3"], "give ports such as 20000-20100");
}

#[test]
fn a_place_of_no_use_is_told() {
    let bench = Bench::loopback();
    let program = &*bench.write("pairs.goal", pairs());
    let at = |number, at: &str, says: &str| {
        let mut command = bench.command((number, 2), at, &[program, "--timeout", "1"]);
        let ended = ended(command.spawn().unwrap());
        ended.assert_status(2);
        ended.assert_says(&[says]);
    };
    at(0, "127.0.0.1", "127.0.0.1 is no place to meet: ");
    at(0, "127.0.0.1:0", "names no port, which all launchers must know");
    at(1, "no-such-host.invalid:7777", "is no place to meet: ");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = taken.local_addr().unwrap().to_string();
    at(0, &place, " is in use: end the program that has it, or choose another one");
    drop(taken);
    // Nobody listens.
    at(1, &place, "after 1 s: no connection with launcher 0 at ");
    at(1, &place, "Connection refused");
    // The others don't come.
    at(0, &place, "after 1 s: 1 of 2 launchers are there; not yet 1; is goal-run started there");
}

#[test]
fn another_key_is_told_by_both() {
    let bench = Bench::loopback();
    let program = &*bench.write("pairs.goal", pairs());
    let other = &*bench.make_key("other");
    let since = Instant::now();
    let mut children: Vec<Child> =
        bench.start_each(&[&[program, "--timeout", "6"], &[program, "--key", other]]);
    let second = ended(children.remove(1));
    assert!(since.elapsed() < patience(9), "{:?}", since.elapsed());
    second.assert_status(2);
    second.assert_says(&[
        "it closed the connection before it proved the key: do both have the same key",
    ]);
    let first = ended(children.remove(0));
    first.assert_status(2);
    first.assert_says(&[
        "waiting: 1 of 2 launchers are there; not yet 1; a launcher with another key came from 127.0.0.1",
        "after 6 s: ",
    ]);
}
