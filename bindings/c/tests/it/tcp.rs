//! Programs in C whose ranks belong to several launchers, which meet at an address of TCP.

use goal_filetest::timeout;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use tempfile::TempDir;

/// Compiles programs of `tests/c/` in a new folder with a key; `None` if a tool is missing.
fn folder(sources: &[&str]) -> Option<TempDir> {
    if crate::support::lacks(&["gcc", "g++", "pkg-config"]) {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let goal_run = crate::support::installed("goal-run");
    let mut path = goal_run.parent().expect("it lies in a folder").as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    for source in sources {
        let file = crate::support::folder().join("tests/c").join(source);
        std::fs::copy(file, folder.path().join(source)).unwrap();
        let mut build = Command::new(crate::support::folder().join("tests/bin/build"));
        let status = build.arg(source).current_dir(folder.path()).env("PATH", &path).status();
        assert!(status.unwrap().success(), "{source} can't be compiled");
    }
    let key = Command::new(goal_run).arg("key").arg(folder.path().join("key")).status();
    assert!(key.unwrap().success());
    Some(folder)
}

/// Starts `launchers` launchers of a program on this host.
fn start(folder: &Path, launchers: usize, arguments: &[&str]) -> Vec<Child> {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let start = |rank: usize| {
        let mut command = Command::new(crate::support::installed("goal-run"));
        command.args(["--rendezvous", &format!("127.0.0.1:{port}"), "--rank", &rank.to_string()]);
        command.args(["--size", &launchers.to_string(), "--key", "key"]);
        command.args(["--timeout", &timeout(60)]);
        command.args(arguments).current_dir(folder);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    (0..launchers).map(start).collect()
}

fn ended(launchers: Vec<Child>) -> Vec<Output> {
    launchers.into_iter().map(|launcher| launcher.wait_with_output().unwrap()).collect()
}

/// Runs a program. Returns the lines of all ranks, sorted.
fn run(folder: &Path, launchers: usize, arguments: &[&str]) -> Vec<String> {
    let outputs = ended(start(folder, launchers, arguments));
    assert!(outputs.iter().all(|output| output.status.success()), "{arguments:?}: {outputs:?}");
    let text: String =
        outputs.iter().map(|output| String::from_utf8_lossy(&output.stdout)).collect();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort_unstable();
    lines
}

#[test]
fn programs_run_over_tcp() {
    let Some(folder) = folder(&["ring.c", "collectives.c", "random.c", "tested.c"]) else {
        return;
    };
    let expected = |launchers: usize, arguments: &[&str]| {
        let alone = run(folder.path(), 1, arguments);
        assert_eq!(run(folder.path(), launchers, arguments), alone, "{arguments:?}");
    };
    expected(2, &["-n", "4", "./ring"]);
    expected(3, &["-n", "3", "./collectives"]);
    expected(2, &["-n", "4", "--tls", "./collectives"]);
    expected(2, &["-n", "4", "--progress", "thread", "./random"]);
    expected(2, &["-n", "4", "./tested"]);
}

#[test]
fn ranks_that_do_not_finalize_end_the_job_on_all_hosts() {
    let Some(folder) = folder(&["unfinalized.c"]) else { return };
    for way in ["return", "_exit", "return", "exec"] {
        for output in ended(start(folder.path(), 2, &["-n", "4", "./unfinalized", way])) {
            assert_eq!(output.status.code(), Some(4), "{way}: {output:?}");
        }
    }
}

#[test]
fn a_rank_that_computes_keeps_nothing_back() {
    let Some(folder) = folder(&["away.c"]) else { return };
    for options in [&["-n", "2"][..], &["-n", "2", "--tls"], &["-n", "2", "--wait", "block"]] {
        assert_eq!(run(folder.path(), 2, &[options, &["./away"]].concat()), [""; 0], "{options:?}");
    }
}

#[test]
fn a_rank_that_reads_slowly_holds_up_nothing_else() {
    let Some(folder) = folder(&["apart.c"]) else { return };
    let modes = [&["-n", "3"][..], &["-n", "3", "--tls"], &["-n", "3", "--wait", "block"]];
    for options in modes.into_iter().chain([&["-n", "3", "--progress", "thread"][..]]) {
        assert_eq!(
            run(folder.path(), 3, &[options, &["./apart"]].concat()),
            [""; 0],
            "{options:?}"
        );
    }
}

#[test]
fn memory_that_is_not_there_is_the_fault_of_its_rank() {
    let Some(folder) = folder(&["unmapped.c"]) else { return };
    for (how, rank) in [("send", 0), ("receive", 1)] {
        let outputs = ended(start(folder.path(), 2, &["-n", "2", "./unmapped", how]));
        let text = String::from_utf8_lossy(&outputs[rank].stderr);
        assert!(!outputs[rank].status.success(), "{how}: {outputs:?}");
        let named = text.contains(&format!("rank {rank} ")) && text.contains("signal 11");
        assert!(named, "{how}: {text}");
        let all: String = outputs.iter().map(|one| String::from_utf8_lossy(&one.stderr)).collect();
        assert!(!all.contains("Bad address") && !all.contains("went on"), "{how}: {all}");
    }
}

#[test]
fn ranks_go_on_after_losses() {
    let Some(folder) = folder(&["loss.c", "killed.c"]) else { return };
    for (launchers, program) in [(2, &["./loss"][..]), (3, &["./loss"]), (3, &["./loss", "slow"])] {
        let arguments = [&["-n", "5", "--survive"], program].concat();
        let lines = run(folder.path(), launchers, &arguments);
        let left = [(0, 0), (3, 1), (4, 2)];
        let line = |(rank, new)| format!("rank {rank} of 5 goes on as {new} of 3");
        assert_eq!(lines, left.map(line));
    }
    for seed in ["1", "2", "3", "4", "5", "6"] {
        let arguments = ["-n", "6", "--survive", "--tls", "./killed", seed];
        assert_eq!(run(folder.path(), 3, &arguments), [""; 0], "seed {seed}");
    }
}

#[test]
fn ranks_go_on_after_the_loss_of_a_host() {
    let Some(folder) = folder(&["hostloss.c"]) else { return };
    let arguments = ["-n", "6", "--survive", "--fault-timeout", "2", "./hostloss", "until"];
    let mut launchers = start(folder.path(), 3, &arguments);
    let mut lost = launchers.remove(2);
    // Its ranks say so once all ranks have taken part in a call.
    let mut lines = BufReader::new(lost.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line == "running"), "its ranks do not run");
    lost.kill().unwrap();
    lost.wait().unwrap();
    for (at, output) in ended(launchers).iter().enumerate() {
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.ends_with("4 left\n"), "launcher {at}: {output:?}");
        assert!(text.contains("rank 4") && text.contains("its launcher"), "{output:?}");
    }
}

#[test]
fn a_rank_that_is_lost_at_its_end_is_lost_on_all_hosts() {
    let Some(folder) = folder(&["finalized.c"]) else { return };
    for (victim, second) in [("0", "3"), ("3", "1"), ("5", "4"), ("2", "0")] {
        let arguments = ["-n", "6", "--survive", "./finalized", victim, second];
        let left = (0..6).map(|rank: u32| rank.to_string());
        let left = left.filter(|rank| rank != victim && rank != second);
        let expected: Vec<String> = left.map(|rank| format!("rank {rank} is one of 4")).collect();
        assert_eq!(run(folder.path(), 3, &arguments), expected, "{victim} {second}");
    }
}

#[test]
fn a_broken_connection_costs_one_rank() {
    let Some(folder) = folder(&["cut.c"]) else { return };
    let run = |launchers, ranks, arguments: &[&str]| {
        let options = ["-n", ranks, "--survive", "./cut"];
        run(folder.path(), launchers, &[&options, arguments].concat())
    };
    // Both ranks have lost the other one, whoever is to blame.
    assert_eq!(run(2, "2", &["0"]), ["rank 0 is one of 1"]);
    assert_eq!(run(2, "2", &["1"]), ["rank 0 is one of 1"]);
    assert_eq!(run(3, "3", &["0"]), ["rank 1 is one of 2", "rank 2 is one of 2"]);
    // A rank comes to its end before the launchers have decided.
    assert_eq!(run(3, "3", &["2", "0"]), ["rank 0 leaves: 0", "rank 1 is one of 1"]);
}

#[test]
fn ranks_that_are_left_may_be_stuck() {
    let Some(folder) = folder(&["lossstuck.c"]) else { return };
    // The last two lose all ranks of a host.
    for who in [&["1", "0"][..], &["2", "5"], &["1", "4", "5"], &["5", "0", "1"]] {
        let arguments = [&["-n", "6", "--survive", "./lossstuck"], who].concat();
        let outputs = ended(start(folder.path(), 3, &arguments));
        let are_stuck = outputs.iter().all(|output| output.status.code() == Some(3));
        assert!(are_stuck, "{who:?}: {outputs:?}");
    }
}

/// A rank whose other thread may act is not stuck, and the leader says so for all hosts.
#[test]
fn threads_that_may_act_are_told_of() {
    let Some(folder) = folder(&["others.c"]) else { return };
    let options = |stuck, part| ["-n", "2", "--stuck", stuck, "./others", part];
    let mut launchers = start(folder.path(), 2, &options("tell,0.2", "awaits"));
    let [leader, other] = &mut launchers[..] else { panic!("two launchers") };
    let mut lines = BufReader::new(leader.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("nothing moves")), "the leader says nothing");
    let told: Vec<String> = lines.by_ref().take(2).collect();
    let of = |rank: u32, line: &str| {
        line.contains(&format!("rank {rank} waits in GOAL_Barrier: recv"))
            && line.ends_with("1 other thread of it may act")
    };
    assert!(told.iter().any(|line| of(0, line)) && told.iter().any(|line| of(1, line)), "{told:?}");
    std::fs::write(folder.path().join("go"), "").unwrap();
    assert!(leader.wait().unwrap().success() && other.wait().unwrap().success());
    for part in ["joins", "ended"] {
        let outputs = ended(start(folder.path(), 2, &options("end,0.2", part)));
        let are_stuck = outputs.iter().all(|output| output.status.code() == Some(3));
        assert!(are_stuck, "{part}: {outputs:?}");
    }
}

#[test]
fn launchers_agree_on_what_happens_after_a_loss() {
    let Some(folder) = folder(&["ring.c"]) else { return };
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let start = |rank: &str, options: &[&str]| {
        let mut command = Command::new(crate::support::installed("goal-run"));
        command.args(["--rendezvous", &format!("127.0.0.1:{port}"), "--rank", rank, "--size", "2"]);
        command.args(["--key", "key", "-n", "2"]).args(options).arg("./ring");
        command.current_dir(folder.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let outputs = ended(vec![start("0", &[]), start("1", &["--survive"])]);
    assert!(outputs.iter().all(|output| output.status.code() == Some(2)), "{outputs:?}");
    let text = String::from_utf8_lossy(&outputs[0].stderr);
    assert!(text.contains("--survive"), "{text}");
}
