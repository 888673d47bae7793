//! Tests launchers that another one starts by a command in the place of ssh.

use crate::common::processes::{
    assert_gone, children_of, is_mapped, is_rank, pid, wait_for, wait_until_begun,
};
use crate::common::{Ended, GOAL_RUN, default_signals};
use crate::tcp::bench::{Bench, LONG, ended, pairs, ring};
use goal_filetest::{patience, skipped, timeout};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

/// Writes a command that runs what ssh would run on another host: here, or on a host of the bench.
fn fake_ssh(bench: &Bench, on_hosts: bool) -> String {
    let go = match on_hosts {
        false => "exec sh -c \"$2\"\n".to_owned(),
        true => {
            let hosts = bench.cluster().hosts().iter();
            let line = |host: &goal_cluster::Host| {
                let (ip, net) = (host.ip(), host.namespace());
                format!("{ip}) exec nsenter --net={} sh -c \"$2\" ;;\n", net.display())
            };
            format!("case $1 in\n{}esac\nexit 255\n", hosts.map(line).collect::<String>())
        }
    };
    let path = bench.path("ssh");
    // Written by another process: a file that a child has open for writing can't be executed.
    let text = format!("#!/bin/sh\necho \"$*\" >> {}\n{go}", bench.path("log").display());
    let mut command = Command::new("sh");
    command.args(["-c", "printf %s \"$1\" > \"$2\" && chmod 755 \"$2\"", "sh", &text]);
    assert!(command.arg(&path).status().unwrap().success());
    path.to_str().unwrap().to_owned()
}

/// Starts a job whose first launcher starts the others.
fn start(bench: &Bench, ssh: &str, hosts: &str, arguments: &[&str]) -> Child {
    let mut command = match hosts.starts_with("localhost") {
        true => Command::new(GOAL_RUN),
        false => bench.on_host(0, GOAL_RUN),
    };
    command.args(["--hosts", hosts, "--ssh", ssh, "--timeout", &timeout(60)]).args(arguments);
    command.current_dir(&bench.folder).stdin(Stdio::null());
    default_signals(&mut command).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn run(bench: &Bench, ssh: &str, hosts: &str, arguments: &[&str]) -> Ended {
    ended(start(bench, ssh, hosts, arguments))
}

/// The launchers, and ranks, whose command line or environment names this folder or port.
fn others(marker: &str) -> Vec<Pid> {
    let of = |entry: fs::DirEntry| {
        let number = entry.file_name().to_str()?.parse::<i32>().ok()?;
        let line = fs::read_to_string(entry.path().join("cmdline")).ok()?;
        (line.contains("--started-as") && line.contains(marker)).then(|| pid(number))
    };
    fs::read_dir("/proc").unwrap().filter_map(|entry| of(entry.unwrap())).collect()
}

/// Waits until each of these launchers has a rank that has begun.
fn wait_until_ranks_run(launchers: &[Pid]) {
    for &launcher in launchers {
        let begins = |&it: &Pid| is_rank(it) && is_mapped(it);
        let rank = wait_for(|| children_of(launcher).into_iter().find(begins));
        wait_until_begun(&[rank]);
    }
}

#[test]
fn a_schedule_goes_to_the_other_hosts() {
    let bench = Bench::loopback();
    let ssh = fake_ssh(&bench, false);
    let program = bench.write("pairs.goal", pairs());
    let (dump, trace) = (bench.path("out"), bench.path("trace.json"));
    let ended = run(
        &bench,
        &ssh,
        "localhost,localhost:1,localhost:2",
        &[
            &program,
            "--verify",
            "--dump",
            dump.to_str().unwrap(),
            "--trace",
            trace.to_str().unwrap(),
        ],
    );
    ended.assert_status(0);
    assert!(ended.out.contains("\nverified: "), "{ended:?}");
    assert_eq!(ended.err, "");
    assert_eq!(fs::read_dir(dump).unwrap().count(), 4);
    // The key is on no command line.
    let log = fs::read_to_string(bench.path("log")).unwrap();
    assert_eq!(log.lines().count(), 2, "{log}");
    assert!(log.lines().all(|line| line.ends_with(" launcher")), "{log}");
    let report = run(&bench, &ssh, "localhost,127.0.0.1", &[&program, "--format", "json"]);
    assert_eq!(report.json()["status"], "ok");
    // Each host reads the files itself.
    let window = ["--window", "2", "--no-check", "--ranks-as", "threads", &*program];
    run(&bench, &ssh, "localhost,localhost", &window).assert_status(0);
}

#[test]
fn launchers_are_started_on_hosts() {
    let Some(bench) = Bench::hosts_or_skip("ssh", 3) else { return };
    let ssh = fake_ssh(&bench, true);
    let program = bench.write("ring.goal", ring(100_000));
    let hosts: Vec<String> =
        bench.cluster().hosts().iter().map(|host| host.ip().to_string()).collect();
    let ended =
        run(&bench, &ssh, &hosts.join(","), &[&program, "--verify", "--ports", "20000-20010"]);
    ended.assert_status(0);
    assert!(ended.out.contains("\nverified: "), "{ended:?}");
    // The first must be this one.
    let wrong = run(&bench, &ssh, &hosts[1..].join(","), &[&program]);
    wrong.assert_status(2);
    wrong.assert_says(&["the first of the hosts must be this one", "put localhost first"]);
    // One that ssh does not know.
    let since = Instant::now();
    let missing = run(&bench, &ssh, &format!("{},10.77.9.9", hosts[0]), &[&program]);
    missing.assert_status(2);
    missing.assert_says(&[
        "host 10.77.9.9: its launcher ended before the job began (exit status: 255)",
    ]);
    assert!(since.elapsed() < patience(10), "{:?}", since.elapsed());
}

#[test]
fn programs_are_started_on_other_hosts() {
    let bench = Bench::loopback();
    let ssh = fake_ssh(&bench, false);
    let options = ["-n", "4", "--", "sh", "-c", "echo told: $1 $(pwd)", "sh", "a b"];
    let ended = run(&bench, &ssh, "localhost,localhost", &options);
    ended.assert_status(0);
    let folder = fs::canonicalize(bench.folder.path()).unwrap();
    let line = format!("told: a b {}", folder.display());
    assert_eq!(ended.out.lines().filter(|told| *told == line).count(), 4, "{ended:?}");
    // An error of the launcher there names its host.
    let options = ["-n", "2", "--", "./only-here"];
    let mut command = Command::new("sh");
    command.args(["-c", "printf '#!/bin/sh\nexit 0\n' > only-here && chmod 755 only-here"]);
    assert!(command.current_dir(&bench.folder).status().unwrap().success());
    run(&bench, &ssh, "localhost,localhost", &options).assert_status(0);
    let ended = run(&bench, &ssh, "localhost,localhost", &["-n", "2", "--", "sh", "-c", "exit 7"]);
    ended.assert_status(7);
}

#[test]
fn all_end_with_the_first_launcher() {
    let bench = Bench::loopback();
    let ssh = fake_ssh(&bench, false);
    let program = bench.write("long.goal", LONG);
    for signal in [Signal::INT, Signal::TERM, Signal::KILL] {
        let child = start(
            &bench,
            &ssh,
            "localhost,localhost,localhost",
            &[&program, "--fault-timeout", "71"],
        );
        let all = wait_for(|| Some(others("--fault-timeout=71")).filter(|all| all.len() == 2));
        wait_until_ranks_run(&all);
        let since = Instant::now();
        kill_process(Pid::from_child(&child), signal).unwrap();
        let ended = ended(child);
        assert_gone(&all);
        assert!(since.elapsed() < patience(10), "{:?}", since.elapsed());
        match signal {
            Signal::KILL => assert_eq!(ended.status, None, "{ended:?}"),
            signal => ended.assert_status(128 + signal.as_raw()),
        }
    }
}

#[test]
fn a_connection_of_ssh_that_breaks_ends_the_job() {
    let bench = Bench::loopback();
    let ssh = fake_ssh(&bench, false);
    let program = bench.write("long.goal", LONG);
    let child = start(&bench, &ssh, "localhost,localhost", &[&program, "--fault-timeout", "72"]);
    let all = wait_for(|| Some(others("--fault-timeout=72")).filter(|all| all.len() == 1));
    wait_until_ranks_run(&all);
    // The process that ssh has started is the parent of the other launcher.
    let stat = fs::read_to_string(format!("/proc/{}/stat", all[0].as_raw_nonzero())).unwrap();
    let parent = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(1).unwrap().to_owned();
    kill_process(pid(parent.parse().unwrap()), Signal::KILL).unwrap();
    let ended = ended(child);
    assert_eq!(ended.status, Some(143), "{ended:?}");
    assert_gone(&all);
}

#[test]
fn wrong_lists_are_refused() {
    let bench = Bench::loopback();
    let ssh = fake_ssh(&bench, false);
    let program = &*bench.write("pairs.goal", pairs());
    for (hosts, more, says) in [
        ("2", &[][..], "a number in --hosts is for --discover"),
        ("localhost,a:0", &[], "is no host: give NAME"),
        ("localhost,-oProxyCommand=x", &[], "is no host: give NAME"),
        ("localhost,localhost,localhost,localhost,localhost", &[], "there can't be 5 hosts"),
        ("localhost:1,localhost:2", &[], "the hosts have slots for 3 ranks, and the job has 4"),
    ] {
        let ended = run(&bench, &ssh, hosts, &[&[program], more].concat());
        ended.assert_status(2);
        ended.assert_says(&[says]);
    }
    let ended = Ended::from_output(
        Command::new(GOAL_RUN).arg("launcher").stdin(Stdio::null()).output().unwrap(),
    );
    ended.assert_status(2);
    ended.assert_says(&["standard input has no order", "goal-run --hosts on another host"]);
}

/// Ranks of a schedule that another host got inherit what their launcher passes on, and no more.
#[test]
fn ranks_do_not_get_the_file_of_the_schedule() {
    let bench = Bench::loopback();
    let ssh = fake_ssh(&bench, false);
    let program = bench.write("long.goal", LONG);
    let limit = "13579";
    let mut child = start(&bench, &ssh, "localhost,localhost", &[&program, "--eager-limit", limit]);
    let of_launcher = || {
        let ranks: Vec<Pid> = others(limit).into_iter().flat_map(children_of).collect();
        // It has its files once it has another name.
        let is_rank = |&rank: &Pid| {
            let name = format!("/proc/{}/comm", rank.as_raw_nonzero());
            fs::read_to_string(name).is_ok_and(|name| name.starts_with("rank"))
        };
        ranks.into_iter().find(is_rank)
    };
    let rank = wait_for(of_launcher);
    let Ok(files) = fs::read_dir(format!("/proc/{}/fd", rank.as_raw_nonzero())) else {
        child.kill().unwrap();
        child.wait().unwrap();
        return skipped("ranks of a job with a key hide their files from this user");
    };
    let files: Vec<String> = files
        .filter_map(|file| fs::read_link(file.unwrap().path()).ok())
        .map(|file| file.display().to_string())
        .collect();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(
        !files.is_empty() && !files.iter().any(|file| file.contains("goal-run received")),
        "{files:?}"
    );
}

/// A rank of a program starts a job of its own, whose helpers have nothing of the outer one.
#[test]
fn an_inner_job_does_not_pass_on_the_order_of_the_outer_one() {
    let bench = Bench::loopback();
    let (seen, program) = (bench.path("seen"), bench.write("ring.goal", ring(10)));
    let script = format!("#!/bin/sh\nenv > {}\nexit 255\n", seen.display());
    let mut made = Command::new("sh");
    made.args(["-c", "printf %s \"$1\" > \"$2\" && chmod 755 \"$2\"", "sh", &script]);
    assert!(made.arg(bench.path("env")).status().unwrap().success());
    let ssh = bench.path("env").display().to_string();
    let mut outer = Command::new(GOAL_RUN);
    outer.args(["--timeout", &timeout(60), "-n", "1", "--", GOAL_RUN]);
    outer.args(["--hosts", "localhost,localhost"]);
    let ended = Ended::from_output(outer.args(["--ssh", &ssh, &program]).output().unwrap());
    ended.assert_status(2);
    let seen = fs::read_to_string(seen).unwrap();
    assert!(seen.contains("PATH=") && !seen.contains("GOAL_RUN_"), "{seen}");
}
