//! One job of goal-run on several hosts.

use crate::measure::sibling;
use goal_cluster::{Cluster, INTERFACE};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Where jobs on hosts are started.
pub(crate) struct Jobs {
    pub(crate) folder: TempDir,
    goal_run: String,
    key: PathBuf,
}

impl Jobs {
    /// With a key of their own.
    ///
    /// # Errors
    /// What the system says, or goal-run.
    pub(crate) fn new() -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let (goal_run, key) = (sibling("goal-run")?, folder.path().join("key"));
        let made = Command::new(&goal_run).arg("key").arg(&key).status()?;
        if !made.success() {
            return Err(io::Error::other("goal-run made no key"));
        }
        Ok(Self { folder, goal_run, key })
    }

    /// Runs a program on the first `hosts` hosts: the report.
    ///
    /// # Errors
    /// What a host says whose launcher failed.
    pub(crate) fn run(
        &self,
        cluster: &Cluster,
        hosts: usize,
        program: &Path,
        arguments: &[&str],
    ) -> io::Result<serde_json::Value> {
        let start = |host: &goal_cluster::Host| {
            let mut command = host.command(&self.goal_run);
            command
                .arg(program)
                .args(["--transport", "esp", "--interface", INTERFACE, "--key"])
                .arg(&self.key);
            command.args(["--discover", "--hosts", &hosts.to_string(), "--format", "json"]).args(arguments);
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
        };
        let children = cluster.hosts()[..hosts].iter().map(start).collect::<io::Result<Vec<_>>>()?;
        let mut report = None;
        for child in children {
            let output = child.wait_with_output()?;
            if !output.status.success() {
                let said = String::from_utf8_lossy(&output.stderr);
                return Err(io::Error::other(format!("{}: {said}", program.display())));
            }
            report.get_or_insert(output.stdout);
        }
        Ok(serde_json::from_slice(&report.expect("there are hosts"))?)
    }
}

/// Nanoseconds of a job.
pub(crate) fn elapsed_ns(report: &serde_json::Value) -> io::Result<f64> {
    report["elapsed_ns"].as_f64().ok_or_else(|| io::Error::other("goal-run's report has no elapsed_ns"))
}
