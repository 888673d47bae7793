//! Sets up hosts of a test bench, with the files that a job on them needs.

use crate::common::{Ended, GOAL_RUN, default_signals, processes};
use goal_cluster::{Cluster, INTERFACE, Wiring};
use goal_filetest::timeout;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// Two hosts that look for each other.
pub(crate) const DISCOVER: [&str; 3] = ["--discover", "--hosts", "2"];

/// Returns a program of four ranks. Each sends to itself and to one other, which is on the same
/// host if two hosts have blocks of ranks.
pub(crate) fn pairs() -> String {
    let rank = |rank: u32| {
        let other = rank ^ 1;
        format!(
            "rank {rank} {{\n  init 0 = Int64 {};\n  expect 8 = Int64 {};\n  send 0,8 to {other} tag 1;\n  \
             recv 8,8 from {other} tag 1;\n  send 100b to {rank} tag 2;\n  recv 100b from {rank} tag 2;\n}}\n",
            rank + 100,
            other + 100,
        )
    };
    format!("num_ranks 4\n{}", (0..4).map(rank).collect::<String>())
}

/// Four ranks that are busy for longer than any test.
pub(crate) const LONG: &str = "num_ranks 4 rank * { c: calc 1000000000000 }";

/// Hosts of a test bench, with the files that a job on them needs.
pub(crate) struct Bench {
    pub(crate) cluster: Cluster,
    folder: TempDir,
}

impl Bench {
    /// Returns hosts of this wiring, or prints a line that says why there are none.
    pub(crate) fn or_skip(test: &str, wiring: &Wiring) -> Option<Self> {
        let cluster = Cluster::or_skip(test, wiring)?;
        let bench = Self { cluster, folder: tempfile::tempdir().unwrap() };
        let made = Command::new(GOAL_RUN).arg("key").arg(bench.path("key")).status().unwrap();
        assert!(made.success());
        Some(bench)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A file with this text: its name.
    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    pub(crate) fn mac(&self, host: usize) -> String {
        self.cluster.hosts()[host].mac().to_string()
    }

    /// Starts the command on a host.
    pub(crate) fn start(&self, host: usize, program: &str, arguments: &[&str]) -> Child {
        self.command(host, program, arguments).spawn().unwrap()
    }

    /// The command of a host: the program, its interface, the key and more arguments.
    pub(crate) fn command(&self, host: usize, program: &str, arguments: &[&str]) -> Command {
        let mut command = self.cluster.hosts()[host].command(GOAL_RUN);
        command.args([program, "--interface", INTERFACE]).args(arguments);
        if !arguments.contains(&"--key") {
            command.arg("--key").arg(self.path("key"));
        }
        if !arguments.contains(&"--timeout") {
            command.args(["--timeout", &timeout(60)]);
        }
        default_signals(&mut command).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs the same on the first hosts.
    pub(crate) fn run_on(&self, hosts: usize, program: &str, arguments: &[&str]) -> Vec<Ended> {
        let children: Vec<Child> =
            (0..hosts).map(|host| self.start(host, program, arguments)).collect();
        children.into_iter().map(ended).collect()
    }

    /// Starts the same on all hosts.
    pub(crate) fn start_all(&self, program: &str, arguments: &[&str]) -> Vec<Child> {
        (0..self.cluster.hosts().len()).map(|host| self.start(host, program, arguments)).collect()
    }

    /// Runs the same on all hosts.
    pub(crate) fn run(&self, program: &str, arguments: &[&str]) -> Vec<Ended> {
        self.start_all(program, arguments).into_iter().map(ended).collect()
    }

    /// Runs a program on all hosts, each with its own arguments.
    pub(crate) fn run_each(&self, program: &str, arguments: &[&[&str]]) -> Vec<Ended> {
        let each = arguments.iter().enumerate();
        let children: Vec<Child> = each.map(|(host, all)| self.start(host, program, all)).collect();
        children.into_iter().map(ended).collect()
    }
}

pub(crate) fn ended(child: Child) -> Ended {
    Ended::from_output(child.wait_with_output().unwrap())
}

pub(crate) fn send(process: Pid, signal: Signal) {
    kill_process(process, signal).unwrap();
}

/// The launcher behind what starts programs on hosts, which is the same process or its child.
pub(crate) fn launcher(child: &Child) -> Pid {
    Pid::from_child(child)
}

/// The rank processes of a launcher, once all of `wanted` run.
pub(crate) fn ranks_of(launcher: Pid, wanted: usize) -> Vec<Pid> {
    let ranks = processes::ranks_of(launcher, wanted);
    processes::wait_until_mapped(&ranks);
    ranks
}
