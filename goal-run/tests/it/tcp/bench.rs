//! Sets up launchers of a job on this host, over loopback, or on hosts of a test bench.

use crate::common::{Ended, GOAL_RUN, default_signals};
use goal_cluster::{Cluster, Wiring};
use goal_filetest::{skipped, timeout};
use std::fs;
use std::net::{Ipv6Addr, TcpListener};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// Launchers, and the addresses and files that their job needs.
pub(crate) struct Bench {
    pub(crate) folder: TempDir,
    /// The address of launcher 0.
    pub(crate) address: String,
    cluster: Option<Cluster>,
}

impl Bench {
    /// Returns launchers of this host, which meet at a loopback address.
    pub(crate) fn at(address: &str) -> Self {
        Self::new(address.to_owned(), None)
    }

    /// Returns launchers that meet at 127.0.0.1.
    pub(crate) fn loopback() -> Self {
        Self::at("127.0.0.1")
    }

    /// Returns launchers that meet at ::1, or prints a line that says why there are none.
    pub(crate) fn ipv6_or_skip(test: &str) -> Option<Self> {
        match TcpListener::bind((Ipv6Addr::LOCALHOST, 0)) {
            Ok(_) => Some(Self::at("[::1]")),
            Err(error) => {
                skipped(&format!("{test}: no address ::1: {error}"));
                None
            }
        }
    }

    /// Returns launchers on `hosts` hosts behind a bridge, each with an address of its own, or
    /// prints a line that says why there are none.
    pub(crate) fn hosts_or_skip(test: &str, hosts: usize) -> Option<Self> {
        let cluster = Cluster::or_skip(test, &Wiring::bridge(hosts))?;
        let address = cluster.hosts()[0].ip().to_string();
        Some(Self::new(address, Some(cluster)))
    }

    fn new(address: String, cluster: Option<Cluster>) -> Self {
        let bench = Self { folder: tempfile::tempdir().unwrap(), address, cluster };
        bench.make_key("key");
        bench
    }

    /// Makes a key. Returns the name of its file.
    pub(crate) fn make_key(&self, name: &str) -> String {
        let path = self.path(name);
        assert!(Command::new(GOAL_RUN).arg("key").arg(&path).status().unwrap().success());
        path.to_str().unwrap().to_owned()
    }

    pub(crate) fn cluster(&self) -> &Cluster {
        self.cluster.as_ref().expect("its launchers are on hosts")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file with this text. Returns its name.
    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Returns a place to meet: the address of launcher 0, and a port that is free there now.
    pub(crate) fn place(&self) -> String {
        let address = self.address.trim_matches(['[', ']']).to_owned();
        let free = || TcpListener::bind((&*address, 0)).unwrap().local_addr().unwrap().port();
        let port = match &self.cluster {
            Some(cluster) => cluster.hosts()[0].call(free).unwrap(),
            None => free(),
        };
        format!("{}:{port}", self.address)
    }

    /// Returns a command that runs on the host of a launcher.
    pub(crate) fn on_host(&self, number: usize, program: &str) -> Command {
        match &self.cluster {
            Some(cluster) => cluster.hosts()[number].command(program),
            None => Command::new(program),
        }
    }

    /// Returns the command of a launcher.
    pub(crate) fn command(
        &self,
        (number, size): (usize, usize),
        at: &str,
        arguments: &[&str],
    ) -> Command {
        let mut command = self.on_host(number, GOAL_RUN);
        let has = |name: &str| arguments.contains(&name);
        if !has("--rank") {
            command.args(["--rank", &number.to_string()]);
        }
        if !has("--size") {
            command.args(["--size", &size.to_string()]);
        }
        if !has("--key") {
            command.arg("--key").arg(self.path("key"));
        }
        if !has("--timeout") {
            command.args(["--timeout", &timeout(60)]);
        }
        command.args(["--rendezvous", at]).args(arguments).stdin(Stdio::null());
        default_signals(&mut command).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Starts launchers, each with its own arguments.
    pub(crate) fn start_each(&self, arguments: &[&[&str]]) -> Vec<Child> {
        let (at, size) = (self.place(), arguments.len());
        let start = |(number, own): (usize, &&[&str])| {
            self.command((number, size), &at, own).spawn().unwrap()
        };
        // The leader comes last, as often as it comes first.
        let mut children: Vec<Child> = arguments.iter().enumerate().rev().map(start).collect();
        children.reverse();
        children
    }

    /// Runs launchers, each with its own arguments.
    pub(crate) fn run_each(&self, arguments: &[&[&str]]) -> Vec<Ended> {
        self.start_each(arguments).into_iter().map(ended).collect()
    }

    /// Starts `size` launchers with the same arguments.
    pub(crate) fn start(&self, size: usize, arguments: &[&str]) -> Vec<Child> {
        self.start_each(&vec![arguments; size])
    }

    /// Runs `size` launchers with the same arguments.
    pub(crate) fn run(&self, size: usize, arguments: &[&str]) -> Vec<Ended> {
        self.start(size, arguments).into_iter().map(ended).collect()
    }

    /// Runs a program by `size` launchers, which must all end well. Returns the leader's report.
    pub(crate) fn report(&self, size: usize, arguments: &[&str]) -> serde_json::Value {
        let all = self.run(size, &[arguments, &["--format", "json"]].concat());
        for ended in &all {
            assert_eq!(ended.status, Some(0), "{arguments:?}: {all:?}");
        }
        all[0].json()
    }
}

/// Waits for a launcher.
pub(crate) fn ended(child: Child) -> Ended {
    Ended::from_output(child.wait_with_output().unwrap())
}

/// Four ranks that send to themselves and to one other.
pub(crate) fn pairs() -> String {
    let rank = |rank: u32| {
        let other = (rank + 2) % 4;
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

/// Four ranks that send around a ring. With many instances they are connected and busy for longer
/// than any test.
pub(crate) fn ring(bytes: u64) -> String {
    let rank = |rank: u32| {
        let (to, from) = ((rank + 1) % 4, (rank + 3) % 4);
        format!("rank {rank} {{ send {bytes}b to {to}; recv {bytes}b from {from}; }}\n")
    };
    format!("num_ranks 4\n{}", (0..4).map(rank).collect::<String>())
}
