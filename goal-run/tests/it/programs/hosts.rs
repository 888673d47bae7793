//! Tests programs on several hosts of a test bench.

use crate::common::processes::assert_gone;
use crate::common::{Ended, GOAL_RUN, default_signals};
use crate::programs::bench::{PART, as_rank, told};
use goal_cluster::{Cluster, INTERFACE, Wiring};
use goal_filetest::timeout;
use rustix::process::{Pid, Signal, kill_process};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// Two hosts and a key.
struct Hosts {
    cluster: Cluster,
    folder: TempDir,
}

impl Hosts {
    fn or_skip(test: &str) -> Option<Self> {
        let cluster = Cluster::or_skip(test, &Wiring::bridge(2))?;
        let folder = tempfile::tempdir().unwrap();
        let key = folder.path().join("key");
        assert!(Command::new(GOAL_RUN).arg("key").arg(key).status().unwrap().success());
        Some(Self { cluster, folder })
    }

    /// Starts a command on both hosts.
    fn start(&self, part: &str, options: &[&str], program: &[String]) -> Vec<Child> {
        let start = |host: &goal_cluster::Host| {
            let mut command = host.command(GOAL_RUN);
            command.args(["--interface", INTERFACE, "--discover", "--hosts", "2", "--key"]);
            command.arg(self.folder.path().join("key")).args(options);
            if !options.contains(&"--timeout") {
                command.args(["--timeout", &timeout(60)]);
            }
            command.args(program).env(PART, part).current_dir(&self.folder).stdin(Stdio::null());
            default_signals(&mut command).stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().unwrap()
        };
        self.cluster.hosts().iter().map(start).collect()
    }

    /// Runs the ranks of a part on both hosts.
    fn run(&self, part: &str, options: &[&str]) -> Vec<Ended> {
        let children = self.start(part, options, &as_rank());
        children
            .into_iter()
            .map(|child| Ended::from_output(child.wait_with_output().unwrap()))
            .collect()
    }
}

#[test]
fn ranks_of_a_program_are_on_several_hosts() {
    let Some(hosts) = Hosts::or_skip("programs on hosts") else { return };
    for part in ["ring", "many"] {
        let what = if part == "ring" { "its rings" } else { "many" };
        for mode in ["caller", "thread"] {
            for ranks in [2, 5] {
                let ended = hosts.run(part, &["-n", &ranks.to_string(), "--progress", mode]);
                ended.iter().for_each(|ended| ended.assert_status(0));
                let all: Vec<String> =
                    (0..ranks).map(|rank| format!("rank {rank} of {ranks} has {what}")).collect();
                // Blocks of ranks, the larger ones first.
                let told: Vec<&str> = ended.iter().flat_map(told).collect();
                assert_eq!(told, all, "{ended:?}");
                ended.iter().for_each(|ended| assert_eq!(ended.err, ""));
            }
        }
    }
    let ended = hosts.run("ring", &["-n", "4", "--progress", "node"]);
    for ended in ended {
        ended.assert_status(2);
        ended.assert_says(&["ranks can't act for each other where some are on other hosts"]);
    }
}

/// A rank that computes makes no calls, so its messages must leave before.
#[test]
fn messages_leave_before_a_rank_computes() {
    for mode in ["caller", "thread"] {
        let Some(hosts) = Hosts::or_skip("messages of ranks that compute") else { return };
        let ended = hosts.run("leaves", &["-n", "2", "--progress", mode]);
        for (rank, ended) in ended.iter().enumerate() {
            ended.assert_status(0);
            assert_eq!(told(ended), [format!("rank {rank} is through")]);
        }
    }
}

#[test]
fn programs_may_be_there_without_attaching_and_after_their_end() {
    let Some(hosts) = Hosts::or_skip("programs that stay") else { return };
    let program = ["echo", "told: here"].map(str::to_owned);
    let children = hosts.start("", &["-n", "4"], &program);
    for child in children {
        let ended = Ended::from_output(child.wait_with_output().unwrap());
        ended.assert_status(0);
        assert_eq!(told(&ended), ["here"; 2]);
    }
    let ended = hosts.run("lingers", &["-n", "2"]);
    for (rank, ended) in ended.iter().enumerate() {
        ended.assert_status(0);
        assert_eq!(told(ended), [format!("rank {rank} was there")]);
    }
}

#[test]
fn all_hosts_learn_how_a_rank_ended() {
    let Some(hosts) = Hosts::or_skip("programs that die") else { return };
    for (part, status, says) in [
        ("status", 3, "exited with status 3 before its end"),
        ("killed", 137, "rank 1 ("),
        ("deserts", 4, "exited before its end: it has not called GOAL_Finalize"),
        ("status after", 5, "exited with status 5"),
        ("absent", 4, "exited and never attached to the job, and rank "),
        // No rank of one host attaches.
        ("absent host", 4, "rank 2 exited and never attached to the job, and rank "),
        ("fails", 1, "rank 1: its input is no matrix"),
        ("stuck", 3, "rank 2 waits in GOAL_Wait: recv number 1 from rank 1, tag 6"),
        ("stuck", 3, "rank 1 waits in GOAL_Wait: recv number 0 from rank 0, tag 5"),
    ] {
        // The test harness is a thread that may act, as far as launchers know.
        let options: &[&str] =
            if part == "stuck" { &["-n", "3", "--stuck", "end,0.2"] } else { &["-n", "4"] };
        let ended = hosts.run(part, options);
        for ended in ended {
            assert_eq!(ended.status, Some(status), "{part}: {ended:?}");
            ended.assert_says(&[says]);
        }
    }
    let ended = hosts.run("computes", &["-n", "3", "--timeout", &timeout(3)]);
    for ended in ended {
        ended.assert_status(5);
        let waits = "rank 1 waits in GOAL_Wait: recv number";
        ended.assert_says(&["the time is up; ", "rank 0 computes", waits]);
    }
}

#[test]
fn a_launcher_that_is_killed_ends_the_job_on_all_hosts() {
    let Some(hosts) = Hosts::or_skip("killed launchers of programs") else { return };
    for victim in [0, 1] {
        let mut children = hosts.start("waits", &["-n", "4"], &as_rank());
        let launchers: Vec<Pid> = children.iter().map(Pid::from_child).collect();
        let ranks: Vec<Pid> = launchers.iter().flat_map(|&one| ranks_of(one, 2)).collect();
        kill_process(launchers[victim], Signal::KILL).unwrap();
        let other = children.remove(1 - victim);
        let ended = Ended::from_output(other.wait_with_output().unwrap());
        ended.assert_status(4);
        ended.assert_says(&[" is lost: "]);
        assert_gone(&ranks);
        children.remove(0).wait().unwrap();
    }
}

/// The processes of this file that a launcher has started, once they have attached.
fn ranks_of(launcher: Pid, wanted: usize) -> Vec<Pid> {
    use crate::common::processes::{children_of, wait_for, wait_until_mapped};
    let ranks = wait_for(|| {
        let executes = |rank: &Pid| {
            let file = std::fs::read_link(format!("/proc/{}/exe", rank.as_raw_nonzero()));
            file.is_ok_and(|file| file == std::env::current_exe().unwrap())
        };
        let ranks: Vec<Pid> = children_of(launcher).into_iter().filter(executes).collect();
        (ranks.len() == wanted).then_some(ranks)
    });
    wait_until_mapped(&ranks);
    ranks
}
