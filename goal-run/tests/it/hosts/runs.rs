//! Tests jobs on several hosts that complete.

use crate::common::processes::wait_until_it_waits_for_hosts;
use crate::hosts::bench::{Bench, DISCOVER, ended, launcher, pairs};
use goal_cluster::{Faults, Switch, Wiring};
use goal_filetest::patience;
use std::fs;

#[test]
fn hosts_find_each_other_and_run_a_job() {
    let Some(bench) = Bench::or_skip("together", &Wiring::bridge(2)) else { return };
    let program = bench.write("pairs.goal", &pairs());
    for ranks_as in ["processes", "threads"] {
        let ended =
            bench.run(&program, &[&DISCOVER[..], &["--ranks-as", ranks_as, "--verify"]].concat());
        ended.iter().for_each(|ended| ended.assert_status(0));
        assert!(
            ended[0].out.starts_with(
                "4 ranks: 8 messages, 432 bytes, 400 bytes of them checked against their pattern, "
            ),
            "{:?}",
            ended[0]
        );
        assert!(
            ended[0].out.contains("\nverified: 64 bytes of memory and the messages of 8 receives")
        );
        assert_eq!(ended[1].out, "ranks 2-3 of 4 were here\n");
    }
}

#[test]
fn bursts_of_any_length_carry_a_job() {
    let Some(bench) = Bench::or_skip("bursts", &Wiring::bridge(2)) else { return };
    let rank = |rank: u32| {
        let other = 1 - rank;
        let messages = format!("send 300000b to {other} tag 1; recv 300000b from {other} tag 1");
        format!("rank {rank} {{ {messages} }}\n")
    };
    let text = format!("num_ranks 2\n{}{}", rank(0), rank(1));
    let program = bench.write("exchange.goal", &text);
    let table = r#"{"transports": {"several_hosts": {"burst": 32, "source": ""}}}"#;
    let table = bench.write("table.json", table);
    for bursts in [&["--initial-burst", "2", "--burst", "2"][..], &["--initial-burst", "256"], &[]]
    {
        for eager_limit in ["0", "1M"] {
            let arguments = [&DISCOVER[..], bursts, &["--eager-limit", eager_limit]].concat();
            let ended = bench.run(&program, &arguments);
            ended.iter().for_each(|ended| ended.assert_status(0));
        }
    }
    // Only one host has the table.
    let start = |host| {
        let mut command = bench.command(host, &program, &DISCOVER);
        if host == 1 {
            command.env("GOAL_TABLE", &table);
        }
        command.spawn().unwrap()
    };
    let children = [start(0), start(1)];
    for ended in children.map(ended) {
        ended.assert_status(2);
        ended.assert_says(&["has --burst 32, the leader"]);
    }
}

#[test]
fn a_program_is_the_same_under_any_name() {
    let Some(bench) = Bench::or_skip("names", &Wiring::bridge(2)) else { return };
    for window in [&[][..], &["--window", "4", "--no-check"]] {
        let start = |(host, name)| {
            bench.start(host, &bench.write(name, &pairs()), &[&DISCOVER[..], window].concat())
        };
        let children: Vec<_> =
            [(0, "pairs.goal"), (1, "the-same.goal")].into_iter().map(start).collect();
        children.into_iter().map(ended).for_each(|ended| ended.assert_status(0));
    }
}

#[test]
fn a_peers_file_says_who_has_which_rank() {
    let Some(bench) = Bench::or_skip("peers", &Wiring::bridge(2)) else { return };
    let program = bench.write("pairs.goal", &pairs());
    let dump = bench.path("out");
    // The leader is the host of rank 0: the second one.
    let text = format!("# hosts\n{} 2-3\n{} 0-1 # leads\n", bench.mac(0), bench.mac(1));
    let peers = bench.write("peers", &text);
    let dump = dump.to_str().unwrap();
    let arguments =
        ["--peers", &peers, "--dump", dump, "--repeat", "3", "--stats", "--format", "json"];
    let ended = bench.run(&program, &arguments);
    ended.iter().for_each(|ended| ended.assert_status(0));
    // The leader writes and counts; the other says so.
    let note = format!(
        "--dump, --stats: only host {} does this, which has rank 0 and leads",
        bench.mac(1)
    );
    ended[0].assert_says(&[&note]);
    let told: serde_json::Value = serde_json::from_str(ended[0].err.trim()).unwrap();
    assert_eq!(told["severity"], "warning", "{told}");
    assert!(!ended[1].err.contains("only host"), "{:?}", ended[1]);
    let report = ended[1].json();
    assert_eq!(ended[0].json(), report);
    assert_eq!((&report["status"], &report["ranks"]), (&"ok".into(), &4.into()));
    assert_eq!((&report["messages"], &report["verified_bytes"]), (&24.into(), &1200.into()));
    let counted: Vec<u64> =
        (0..4).map(|rank| report["stats"]["ranks"][rank]["messages"].as_u64().unwrap()).collect();
    assert_eq!(counted, [6; 4]);
    assert!(report["elapsed_ns"].as_u64().unwrap() > 0);
    for rank in 0..4u64 {
        let bytes = fs::read(format!("{dump}/rank-{rank}.bin")).unwrap();
        let words = [100 + rank, 100 + (rank ^ 1)].map(u64::to_le_bytes).concat();
        assert_eq!(bytes, words);
    }
}

#[test]
fn hosts_say_their_ranks_and_may_come_late() {
    let Some(bench) = Bench::or_skip("late", &Wiring::bridge(2)) else { return };
    let program = bench.write("pairs.goal", &pairs());
    let first = bench.start(0, &program, &["--discover", "--here", "3,2"]);
    wait_until_it_waits_for_hosts(launcher(&first));
    let second = bench.start(1, &program, &["--discover", "--here", "0-1", "--window", "2"]);
    let (first, second) = (ended(first), ended(second));
    // They differ in an option. The leader starts late and finds that; the other gets its text.
    for ended in [&first, &second] {
        ended.assert_status(2);
        let says =
            format!("host {} has --window none, the leader {} has 2", bench.mac(0), bench.mac(1));
        ended.assert_says(&["the job does not start: ", &says]);
    }
    let here: [&[&str]; 2] = [&["--discover", "--here", "3,2"], &["--discover", "--here", "0-1"]];
    let ended = bench.run_each(&program, &here);
    ended.iter().for_each(|ended| ended.assert_status(0));
    assert_eq!(ended[0].out, "ranks 2-3 of 4 were here\n");
}

#[test]
fn a_switch_with_faults_changes_nothing() {
    let faults = Faults {
        lost: 100_000,
        doubled: 50_000,
        delayed: 50_000,
        delay_ns: 100_000,
        ..Faults::default()
    };
    let wiring = Wiring { switch: Switch::Faulty(faults, 7), ..Wiring::bridge(4) };
    let Some(bench) = Bench::or_skip("faults", &wiring) else { return };
    let own: String = (0..8)
        .map(|rank| {
            format!("rank {rank} {{ send 5000b to {rank} tag 1; recv 5000b from {rank} tag 1; }}\n")
        })
        .collect();
    let program = bench.write("own.goal", &format!("num_ranks 8\n{own}"));
    let ended = bench.run(&program, &["--discover", "--hosts", "4", "--verify"]);
    ended.iter().for_each(|ended| ended.assert_status(0));
    assert!(
        ended[0].out.starts_with(
            "8 ranks: 8 messages, 39.06 KiB, 39.06 KiB of them checked against their pattern, "
        ),
        "{:?}",
        ended[0]
    );
    for (host, ended) in ended.iter().enumerate().skip(1) {
        assert_eq!(ended.out, format!("ranks {}-{} of 8 were here\n", 2 * host, 2 * host + 1));
    }
}

#[test]
fn a_window_is_read_on_every_host() {
    let Some(bench) = Bench::or_skip("window", &Wiring::bridge(2)) else { return };
    let program = bench.write("pairs.goal", &pairs());
    let ended = bench.run(&program, &[&DISCOVER[..], &["--window", "2"]].concat());
    ended.iter().for_each(|ended| ended.assert_status(0));
    assert!(ended[0].out.contains("window: at most "), "{:?}", ended[0]);
}

/// The examples.
fn examples() -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples");
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_program =
        |path: &std::path::PathBuf| path.extension().is_some_and(|extension| extension == "goal");
    let mut names: Vec<String> =
        paths.filter(is_program).map(|path| path.to_str().unwrap().to_owned()).collect();
    names.sort();
    assert!(names.len() > 10, "{names:?}");
    names
}

#[test]
fn every_example_is_verified_over_two_hosts() {
    let Some(bench) = Bench::or_skip("examples", &Wiring::bridge(2)) else { return };
    for example in examples() {
        let all =
            bench.run(&example, &[&DISCOVER[..], &["--verify", "--transport", "esp"]].concat());
        for ended in &all {
            assert_eq!(ended.status, Some(0), "{example}: {ended:?}");
        }
        assert!(all[0].out.contains("\nverified: "), "{example}: {:?}", all[0]);
    }
}

#[test]
fn ranks_that_alternate_between_hosts_exchange_messages_of_all_sizes() {
    let Some(bench) = Bench::or_skip("sizes", &Wiring::bridge(2)) else { return };
    let sizes = [1, 64, 1500, 8192, 100_000, 1 << 20];
    let rank = |rank: u32| {
        let actions = sizes.iter().enumerate().map(|(tag, size)| {
            let (to, from) = ((rank + 1) % 4, (rank + 3) % 4);
            format!("send {size}b to {to} tag {tag}; recv {size}b from {from} tag {tag};\n")
        });
        format!("rank {rank} {{\n{}}}\n", actions.collect::<String>())
    };
    let text = format!("num_ranks 4\n{}", (0..4).map(rank).collect::<String>());
    let program = bench.write("sizes.goal", &text);
    let here: [&[&str]; 2] = [
        &["--discover", "--here", "0,2", "--verify", "--repeat", "3", "--format", "json"],
        &["--discover", "--here", "1,3", "--verify", "--repeat", "3", "--format", "json"],
    ];
    let ended = bench.run_each(&program, &here);
    ended.iter().for_each(|ended| ended.assert_status(0));
    let bytes: usize = sizes.iter().sum::<usize>() * 12;
    let report = ended[0].json();
    assert_eq!(report["messages"], 72, "{report}");
    assert_eq!(
        (&report["bytes"], &report["verified_bytes"]),
        (&bytes.into(), &bytes.into()),
        "{report}"
    );
}

#[test]
fn a_trace_has_the_ranks_of_all_hosts() {
    let Some(bench) = Bench::or_skip("trace", &Wiring::bridge(2)) else { return };
    let text = "num_ranks 4 rank 0 { a: send 8b to 3 tag 1; } rank 3 { b: recv 8b from 0 tag 1; }";
    let program = bench.write("trace.goal", text);
    let path = bench.path("trace.json");
    let ended =
        bench.run(&program, &[&DISCOVER[..], &["--trace", path.to_str().unwrap()]].concat());
    ended.iter().for_each(|ended| ended.assert_status(0));
    let trace: serde_json::Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let of_rank = |rank: u64, name: &str| {
        let is_it = |event: &&serde_json::Value| event["pid"] == rank && event["name"] == name;
        events.iter().find(is_it).unwrap_or_else(|| panic!("{name} of {rank} in {events:?}"))
    };
    of_rank(0, "a");
    let received = of_rank(3, "b");
    // Since all were ready, by whichever clock.
    let possible = 0.0..patience(60).as_micros() as f64;
    assert!(possible.contains(&received["ts"].as_f64().unwrap()), "{received}");
    let arrows = events.iter().filter(|event| event["ph"] == "s" || event["ph"] == "f").count();
    assert_eq!(arrows, 2, "{events:?}");
}

#[test]
fn a_switch_that_loses_a_tenth_changes_no_result() {
    let faults = Faults { lost: 100_000, ..Faults::default() };
    let wiring = Wiring { switch: Switch::Faulty(faults, 3), ..Wiring::bridge(4) };
    let Some(bench) = Bench::or_skip("loss", &wiring) else { return };
    for name in [
        "allreduce-ring.goal",
        "broadcast-chain-pipelined.goal",
        "allreduce-dissemination-2way.goal",
    ] {
        let example = format!("{}/../examples/{name}", env!("CARGO_MANIFEST_DIR"));
        let all = bench.run(&example, &["--discover", "--hosts", "4", "--verify"]);
        for ended in &all {
            assert_eq!(ended.status, Some(0), "{name}: {ended:?}");
        }
        assert!(all[0].out.contains("\nverified: "), "{name}: {:?}", all[0]);
    }
}

#[test]
fn ranks_use_the_driver_that_is_asked_for() {
    let Some(bench) = Bench::or_skip("drivers", &Wiring::bridge(2)) else { return };
    let text = "num_ranks 2 rank 0 { send 100000b to 1; recv 9b from 1; } rank 1 { recv 100000b from 0; send 9b to 0; }";
    let program = bench.write("program.goal", text);
    for driver in ["packet", "xdp"] {
        for wait in ["spin", "adaptive", "block"] {
            for progress in ["caller", "thread"] {
                let how =
                    ["--driver", driver, "--wait", wait, "--progress", progress, "--repeat", "50"];
                for ended in bench.run(&program, &[&DISCOVER[..], &how].concat()) {
                    assert_eq!(ended.status, Some(0), "{how:?}: {ended:?}");
                }
            }
        }
    }
}
