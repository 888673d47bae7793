//! Tests contradictory options of hosts: they are reported before a rank runs.

use crate::common::processes::wait_until_it_waits_for_hosts;
use crate::common::{Ended, GOAL_RUN};
use crate::hosts::bench::{Bench, DISCOVER, ended, launcher, pairs, send};
use goal_cluster::Wiring;
use rustix::process::Signal;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

#[test]
fn who_is_missing_is_told() {
    let Some(bench) = Bench::or_skip("missing", &Wiring::bridge(2)) else { return };
    let program = bench.write("pairs.goal", &pairs());
    let peers = bench.write("peers", &format!("{}\n{}\n", bench.mac(0), bench.mac(1)));
    let alone = ended(bench.start(0, &program, &["--peers", &peers, "--timeout", "2.5"]));
    alone.assert_status(2);
    let missing = format!("not found: {} (ranks 2-3)", bench.mac(1));
    alone.assert_says(&[
        &format!("waiting: {missing}; is goal-run started there, with the same key and port"),
        &format!("the job does not start: after 2.5 s: {missing}"),
    ]);
    // A host behind a plug that was pulled is not there either.
    bench.cluster.plug(0, false).unwrap();
    let unplugged = [&DISCOVER[..], &["--timeout", "0.5"]].concat();
    ended(bench.start(0, &program, &unplugged)).assert_says(&["v0 has no carrier"]);
    bench.cluster.plug(0, true).unwrap();
    // A host with another key is not there either.
    let made = Command::new(GOAL_RUN).arg("key").arg(bench.path("other")).status().unwrap();
    assert!(made.success());
    let other = bench.path("other");
    let with_other =
        ["--discover", "--hosts", "2", "--timeout", "0.5", "--key", other.to_str().unwrap()];
    let with_key = ["--discover", "--hosts", "2", "--timeout", "0.5"];
    for ended in bench.run_each(&program, &[&with_key, &with_other]) {
        ended.assert_status(2);
        ended.assert_says(&["after 0.5 s: 1 of 2 hosts are there"]);
    }
    // Its frames are heard, though.
    for (host, ended) in bench.run_each(&program, &[&with_key, &with_other]).iter().enumerate() {
        let other = bench.mac(1 - host);
        ended.assert_says(&[&format!("; frames with another key were heard from {other}")]);
    }
}

#[test]
fn contradictions_are_told_on_both_sides() {
    let Some(bench) = Bench::or_skip("contradictions", &Wiring::bridge(2)) else { return };
    let program = bench.write("pairs.goal", &pairs());
    let eight = bench.write("eight.goal", "num_ranks 8");
    let other = bench.write("other.goal", &pairs().replace("102", "103"));
    let run = |programs: [&str; 2], arguments: [&[&str]; 2]| -> Vec<Ended> {
        let children: Vec<_> =
            (0..2).map(|host| bench.start(host, programs[host], arguments[host])).collect();
        children.into_iter().map(ended).collect()
    };
    let discover = &DISCOVER[..];
    type Case<'a> = ([&'a str; 2], [&'a [&'a str]; 2], [String; 2]);
    let skips = [discover, &["--calc", "skip"]].concat();
    let has_skip =
        format!("host {} has --calc skip, the leader {} has spin", bench.mac(1), bench.mac(0));
    let untagged = [discover, &["--unauthenticated-data"]].concat();
    let has_untagged = format!(
        "host {} has --unauthenticated-data given, the leader {} has not given",
        bench.mac(1),
        bench.mac(0)
    );
    let bursts = [discover, &["--burst", "8", "--initial-burst", "16"]].concat();
    let too_long = "an initial burst of 16 packets, of at most 8 in flight: give 2 to 8";
    let refused = ended(bench.start(0, &program, &bursts));
    refused.assert_status(2);
    refused.assert_says(&[too_long]);
    let bursts = [discover, &["--burst", "8"]].concat();
    let has_burst =
        format!("host {} has --initial-burst 8, the leader {} has 16", bench.mac(1), bench.mac(0));
    let cases: [Case<'_>; 6] = [
        ([&program; 2], [discover, &bursts], [has_burst.clone(), has_burst]),
        ([&program; 2], [discover, &skips], [has_skip.clone(), has_skip]),
        ([&program; 2], [discover, &untagged], [has_untagged.clone(), has_untagged]),
        (
            [&program, &eight],
            [discover; 2],
            [
                format!("host {} runs a program of 8 ranks, here it has 4", bench.mac(1)),
                format!("host {} runs a program of 4 ranks, here it has 8", bench.mac(0)),
            ],
        ),
        (
            [&program; 2],
            [&["--discover", "--here", "0-2"], &["--discover", "--here", "2-3"]],
            // A host that learns of the contradiction from the other repeats the other's text.
            [", and host 02:00:00:00:00:0".to_owned(), " have rank 2".to_owned()],
        ),
        (
            [&program, &other],
            [discover; 2],
            [
                format!("host {} has the program ", bench.mac(1)),
                format!("the leader {} has ", bench.mac(0)),
            ],
        ),
    ];
    for (programs, arguments, says) in cases {
        for (ended, says) in run(programs, arguments).iter().zip(&says) {
            ended.assert_status(2);
            ended.assert_says(&["the job does not start: ", says]);
        }
    }
}

/// The leader hears the host that differs before it has heard all others.
#[test]
fn all_hosts_learn_of_a_contradiction() {
    let Some(bench) = Bench::or_skip("contradictions for all", &Wiring::bridge(4)) else { return };
    let four = "num_ranks 4 rank * { calc 1 }";
    let programs = [bench.write("four.goal", four), bench.write("5.goal", "num_ranks 4")];
    let arguments = ["--discover", "--hosts", "4"];
    for round in 0..10 {
        let other = 1 + round % 3;
        let start = |host| bench.start(host, &programs[usize::from(host == other)], &arguments);
        let children: Vec<_> = (0..4).map(start).collect();
        for ended in children.into_iter().map(ended) {
            ended.assert_status(2);
            ended.assert_says(&[&format!("host {} has the program ", bench.mac(other))]);
        }
    }
}

#[test]
fn a_host_that_can_not_start_its_ranks_is_told_on_all() {
    let Some(bench) = Bench::or_skip("refuses", &Wiring::bridge(3)) else { return };
    let program = bench.write("six.goal", "num_ranks 6 rank * { calc 1 }");
    let three = ["--discover", "--hosts", "3"];
    let without_room = [&three[..], &["--max-segment", "100"]].concat();
    for refuses in 0..2 {
        let arguments =
            [0, 1, 2].map(|host| if host == refuses { &without_room[..] } else { &three[..] });
        for ended in bench.run_each(&program, &arguments) {
            ended.assert_status(2);
            ended.assert_says(&["the limit is 100 (--max-segment raises it)"]);
        }
    }
}

#[test]
fn a_network_that_drops_long_frames_is_told() {
    let Some(bench) = Bench::or_skip("long", &Wiring { mtu: 9000, ..Wiring::bridge(2) }) else {
        return;
    };
    bench.cluster.narrow(0, 1500).unwrap();
    let program = bench.write("pairs.goal", &pairs());
    for ended in bench.run(&program, &[&DISCOVER[..], &["--timeout", "2"]].concat()) {
        ended.assert_status(2);
        ended.assert_says(&[
            "the job does not start: after 2 s: ",
            "does the network between carry frames of 9000 bytes",
        ]);
    }
}

#[test]
fn a_port_has_one_launcher() {
    let Some(bench) = Bench::or_skip("port", &Wiring::bridge(1)) else { return };
    let program = bench.write("pairs.goal", &pairs());
    let first = bench.start(0, &program, &DISCOVER);
    wait_until_it_waits_for_hosts(launcher(&first));
    let second = ended(bench.start(0, &program, &DISCOVER));
    second.assert_status(2);
    second.assert_says(&["port 18255 of v0 is taken"]);
    send(launcher(&first), Signal::INT);
    ended(first).assert_status(130);
    // With another port it is another job.
    let other = ended(bench.start(0, &program, &["--discover", "--hosts", "1", "--port", "99"]));
    other.assert_status(0);
}

#[test]
fn what_can_not_be_is_refused() {
    let Some(bench) = Bench::or_skip("refused", &Wiring::bridge(1)) else { return };
    let program = bench.write("pairs.goal", &pairs());
    let open = bench.write("open", &fs::read_to_string(bench.path("key")).unwrap());
    fs::set_permissions(&open, fs::Permissions::from_mode(0o640)).unwrap();
    let short = bench.write("short", "12ab");
    fs::set_permissions(&short, fs::Permissions::from_mode(0o600)).unwrap();
    let peers = bench.write("peers", "02:00:00:00:00:09\n");
    let twice = bench.write("twice", "02:00:00:00:00:09\n02:00:00:00:00:09\n");
    let binary = bench.path("binary");
    fs::write(&binary, [0xff; 32]).unwrap();
    fs::set_permissions(&binary, fs::Permissions::from_mode(0o600)).unwrap();
    // One file is another user's, and one would have to be waited for.
    let theirs = bench.write("theirs", &fs::read_to_string(bench.path("key")).unwrap());
    fs::set_permissions(&theirs, fs::Permissions::from_mode(0o600)).unwrap();
    std::os::unix::fs::chown(&theirs, Some(65534), None).unwrap();
    let fifo = bench.path("fifo");
    assert!(Command::new("mkfifo").arg("-m").arg("600").arg(&fifo).status().unwrap().success());
    let fifo = fifo.to_str().unwrap();
    let cases: [(&[&str], &str); 12] = [
        (&["--discover", "--hosts", "1", "--key", &theirs], "it belongs to user 65534"),
        (&["--discover", "--hosts", "1", "--key", fifo], "this is no plain file"),
        (
            &["--discover", "--hosts", "1", "--key", &open],
            "others than its owner have rights to it",
        ),
        (&["--discover", "--hosts", "1", "--key", &short], "a key has 64 hexadecimal digits"),
        (
            &["--discover", "--hosts", "1", "--key", binary.to_str().unwrap()],
            "a key has 64 hexadecimal digits",
        ),
        (&["--discover", "--hosts", "1", "--key", "/nowhere"], "(goal-run key FILE makes one)"),
        (
            &["--peers", &peers],
            "this host's interface has the address 02:00:00:00:00:00, which is not among",
        ),
        (&["--peers", &twice], "line 2: 02:00:00:00:00:09 is in line 1 already"),
        (&["--discover", "--hosts", "5"], "there can't be 5 hosts: the program has 4 ranks"),
        (&["--discover", "--here", "4"], "there is no rank 4"),
        (&["--discover"], "the following required arguments were not provided"),
        (&["--discover", "--hosts", "1", "--progress", "node"], "take --progress thread"),
    ];
    for (arguments, says) in cases {
        let ended = ended(bench.start(0, &program, arguments));
        ended.assert_status(2);
        ended.assert_says(&[says]);
    }
    // A key that is there is not overwritten.
    let again = Ended::from_output(Command::new(GOAL_RUN).arg("key").arg(&open).output().unwrap());
    again.assert_status(2);
    again.assert_says(&["what is there stays"]);
    assert_eq!(fs::metadata(bench.path("key")).unwrap().permissions().mode() & 0o777, 0o600);
}
