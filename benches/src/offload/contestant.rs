//! The contestants, and how each one's ranks are started on the hosts of a bench.

use super::rounds::{self, Case};
use super::{Operation, Sample, name};
use crate::host_jobs::Jobs;
use crate::host_peer::HostPeer;
use clap::ValueEnum;
use goal_cluster::{Cluster, Host};
use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Stdio};

/// The runner of the operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Contestant {
    /// The kernels; the processes start the runs and sleep
    Kernel,
    /// Processes over ESP, by the library's own choice of algorithms
    Esp,
    /// Processes that block in receives of UDP, by the kernel's algorithms
    Udp,
    /// Open MPI's blocking call over TCP
    Mpi,
}

impl Contestant {
    pub(super) const ALL: [Self; 4] = [Self::Kernel, Self::Esp, Self::Udp, Self::Mpi];
}

/// The hosts, and what starts ranks there.
pub(super) struct Bench<'a> {
    pub(super) cluster: &'a Cluster,
    pub(super) jobs: &'a Jobs,
    pub(super) peer: Option<&'a HostPeer<'a>>,
    pub(super) mtu: usize,
}

impl Bench<'_> {
    /// Runs a case's rounds. Returns their times.
    ///
    /// # Errors
    /// A rank fails, with what it printed.
    pub(super) fn rounds(&self, by: Contestant, case: &Case) -> io::Result<Vec<Sample>> {
        let ranks = self.cluster.hosts().len() as u32;
        let folder = tempfile::tempdir()?;
        let folder = folder.path();
        match by {
            Contestant::Mpi => self.mpi(case, ranks, folder)?,
            _ => self.processes(by, case, ranks, folder)?,
        }
        let times = rounds::read(folder, ranks, case)?;
        let of_round = |round: usize| {
            let times: Vec<_> = times.iter().map(|times| times[round]).collect();
            let (ended_ns, returned_ns) = rounds::span(&times)?;
            Ok(Sample { ended_ns, returned_ns })
        };
        (0..case.rounds as usize).map(of_round).collect()
    }

    fn processes(&self, by: Contestant, case: &Case, ranks: u32, folder: &Path) -> io::Result<()> {
        let own = std::env::current_exe()?;
        let own = own.to_str().ok_or_else(|| io::Error::other("a name of other bytes"))?;
        let hosts = self.cluster.hosts();
        let macs: Vec<String> = hosts.iter().map(|host| host.mac().to_string()).collect();
        let ips: Vec<String> = hosts.iter().map(|host| host.ip().to_string()).collect();
        let start = |(rank, host): (usize, &Host)| {
            let mut command = match by {
                Contestant::Esp => {
                    let mut command = self.jobs.command(host, hosts.len());
                    command.args(["-n", &hosts.len().to_string(), "--bind", "none"]);
                    command.args(["--wait", "block", "--timeout", "240"]);
                    command.arg("--").arg(own);
                    command
                }
                _ => host.command(own),
            };
            command.args(["offload-rank", "--by", &name(by), "--operation"]);
            command.arg(name(case.operation)).args(["--rank", &rank.to_string()]);
            command.args(["--bytes", &case.bytes.to_string(), "--mtu", &self.mtu.to_string()]);
            command.args(["--rounds", &case.rounds.to_string()]);
            command.args(["--period", &case.period_us.to_string()]);
            command.args(["--macs", &macs.join(","), "--ips", &ips.join(",")]);
            command.arg("--folder").arg(folder);
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()
        };
        let children = hosts.iter().enumerate().map(start).collect::<io::Result<Vec<_>>>()?;
        let mut children = Children(children);
        rounds::go(folder, ranks, || children.check())?;
        children.wait()
    }

    fn mpi(&self, case: &Case, ranks: u32, folder: &Path) -> io::Result<()> {
        let Some(peer) = self.peer else { return Ok(()) };
        let operation = match case.operation {
            Operation::Barrier => "barrier",
            Operation::Allreduce => "allreduce",
        };
        let folder_text = folder.to_str().ok_or_else(|| io::Error::other("other bytes"))?;
        let arguments = [
            operation.to_owned(),
            (case.bytes / 8).to_string(),
            case.rounds.to_string(),
            case.period_us.to_string(),
            folder_text.to_owned(),
        ];
        // The launcher's output comes when all have ended, so it is waited for by a thread.
        std::thread::scope(|scope| {
            let run = scope.spawn(|| peer.run(&arguments));
            let check = || match run.is_finished() {
                true => Err(io::Error::other("mpirun ended before its ranks were ready")),
                false => Ok(()),
            };
            let went = rounds::go(folder, ranks, check);
            let ended = run.join().map_err(|_| io::Error::other("a thread panicked"))?;
            ended.map(drop).and(went)
        })
    }
}

/// The processes of a run. They are killed if they are dropped before they have ended.
struct Children(Vec<Child>);

impl Children {
    /// # Errors
    /// One has ended.
    fn check(&mut self) -> io::Result<()> {
        for child in &mut self.0 {
            if child.try_wait()?.is_some() {
                return Err(io::Error::other(format!("a rank ended early: {}", said(child))));
            }
        }
        Ok(())
    }

    /// # Errors
    /// One has failed.
    fn wait(&mut self) -> io::Result<()> {
        for child in &mut self.0 {
            let status = child.wait()?;
            if !status.success() {
                return Err(io::Error::other(format!("a rank ended: {status}: {}", said(child))));
            }
        }
        Ok(())
    }
}

fn said(child: &mut Child) -> String {
    let mut text = String::new();
    if let Some(errors) = &mut child.stderr {
        let _ = errors.read_to_string(&mut text);
    }
    text
}

impl Drop for Children {
    fn drop(&mut self) {
        for child in &mut self.0 {
            if matches!(child.try_wait(), Ok(None)) {
                let _ = child.kill();
                let _ = child.wait();
            }
        }
    }
}
