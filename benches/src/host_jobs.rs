//! Jobs of goal-run on all hosts of a test bench.

use crate::measure::sibling;
use goal_cluster::{Cluster, Host, INTERFACE};
use serde_json::Value;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// The port of launcher 0. Nobody else has ports on a host of a test bench.
const PORT: u16 = 7777;

/// The transport between the hosts of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Between {
    Esp,
    Tcp,
}

/// The files with which jobs on hosts are started.
pub(crate) struct Jobs {
    pub(crate) folder: TempDir,
    goal_run: String,
    /// The file with the key.
    pub(crate) key: PathBuf,
}

impl Jobs {
    /// Creates the files, with a new key.
    ///
    /// # Errors
    /// The error of the system or of goal-run.
    pub(crate) fn new() -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let (goal_run, key) = (sibling("goal-run")?, folder.path().join("key"));
        let made = Command::new(&goal_run).arg("key").arg(&key).status()?;
        if !made.success() {
            return Err(io::Error::other("goal-run made no key"));
        }
        Ok(Self { folder, goal_run, key })
    }

    /// Returns a command of goal-run on one of `count` hosts, which are joined by ESP.
    pub(crate) fn command(&self, host: &Host, count: usize) -> Command {
        let mut command = self.bare(host);
        command.args(["--transport", "esp", "--interface", INTERFACE]);
        command.args(["--discover", "--hosts", &count.to_string()]);
        command
    }

    /// Returns a command of goal-run on one of the first `count` hosts of a test bench, which are
    /// joined by TCP.
    fn command_over_tcp(&self, cluster: &Cluster, number: usize, count: usize) -> Command {
        let mut command = self.bare(&cluster.hosts()[number]);
        let meeting = format!("{}:{PORT}", cluster.hosts()[0].ip());
        command.args(["--rendezvous", &meeting, "--rank", &number.to_string()]);
        command.args(["--size", &count.to_string()]);
        command
    }

    fn bare(&self, host: &Host) -> Command {
        let mut command = host.command(&self.goal_run);
        command.arg("--key").arg(&self.key);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs a program on the first `count` hosts of a bench. Each host has at least one rank.
    /// Returns the nanoseconds from the moment when all ranks were ready.
    ///
    /// # Errors
    /// The report of a host on which the job did not end as it should.
    pub(crate) fn run(
        &self,
        cluster: &Cluster,
        between: Between,
        count: usize,
        program: &Path,
        arguments: &[&str],
    ) -> io::Result<u64> {
        let start = |number: usize| {
            let mut command = match between {
                Between::Esp => self.command(&cluster.hosts()[number], count),
                Between::Tcp => self.command_over_tcp(cluster, number, count),
            };
            command.args(["--format", "json"]).args(arguments).arg(program).spawn()
        };
        let children = (0..count).map(start).collect::<io::Result<Vec<_>>>()?;
        let mut reports: Vec<Value> = Vec::new();
        for child in children {
            reports.push(
                serde_json::from_slice(&child.wait_with_output()?.stdout).unwrap_or_default(),
            );
        }
        let verifies = arguments.contains(&"--verify");
        let is_right = |report: &Value| {
            report["status"] == "ok" && (!verifies || report["verified"].is_object())
        };
        match reports[0]["elapsed_ns"].as_u64() {
            Some(ns) if reports.iter().all(is_right) => Ok(ns),
            _ => Err(io::Error::other(format!("{}: {reports:?}", program.display()))),
        }
    }
}
