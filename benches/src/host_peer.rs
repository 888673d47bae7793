//! Open MPI between the hosts of a test bench, over TCP.

use crate::job::crowded;
use crate::library::{Peer, SECONDS_MAX, lines_of};
use goal_cluster::{Cluster, INTERFACE};
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// The peer's program, and the command that starts its daemons in the hosts' namespaces.
pub(crate) struct HostPeer<'a> {
    cluster: &'a Cluster,
    peer: &'a Peer,
    agent: PathBuf,
    hosts: PathBuf,
}

impl<'a> HostPeer<'a> {
    /// Creates the files. Each daemon has its own, as on separate hosts.
    ///
    /// # Errors
    /// The system's error.
    pub(crate) fn new(cluster: &'a Cluster, peer: &'a Peer, folder: &Path) -> io::Result<Self> {
        let (agent, hosts) = (folder.join("agent"), folder.join("hosts"));
        let cases = cluster
            .hosts()
            .iter()
            .map(|host| format!("{}) net={};;\n", host.ip(), host.namespace().display()));
        let script = format!(
            "#!/bin/sh\ncase $1 in\n{}esac\nexport TMPDIR={}/$1\nmkdir -p $TMPDIR\nshift\nexec nsenter --net=$net sh -c \"$*\"\n",
            cases.collect::<String>(),
            folder.display()
        );
        fs::write(&agent, script)?;
        fs::set_permissions(&agent, Permissions::from_mode(0o700))?;
        let lines = cluster.hosts().iter().map(|host| format!("{} slots=1\n", host.ip()));
        fs::write(&hosts, lines.collect::<String>())?;
        Ok(Self { cluster, peer, agent, hosts })
    }

    /// The name of the library.
    pub(crate) fn name(&self) -> &str {
        &self.peer.library.name
    }

    /// Runs the program on all hosts, a rank each. The program binds its ranks itself, if at all.
    /// Returns the lines that it prints.
    ///
    /// # Errors
    /// The error of mpirun.
    pub(crate) fn run(&self, arguments: &[String]) -> io::Result<Vec<String>> {
        let mpirun = self.peer.library.mpirun();
        let mut command = self.cluster.hosts()[0].command("timeout");
        command.args(["--kill-after=10", SECONDS_MAX]).arg(mpirun);
        command.args(["--allow-run-as-root", "--mca", "plm_rsh_agent"]).arg(&self.agent);
        command.arg("--hostfile").arg(&self.hosts).args(["--map-by", "node", "--bind-to", "none"]);
        // TCP over the hosts' wires, as ranks on one machine would not; and ranks that wait let
        // others run where they share processors.
        let hosts = self.cluster.hosts().len() as u32;
        let yields = if crowded(hosts) { "1" } else { "0" };
        for (name, value) in [
            ("pml", "ob1"),
            ("btl", "tcp,self"),
            ("btl_tcp_if_include", INTERFACE),
            ("oob_tcp_if_include", INTERFACE),
            ("mpi_yield_when_idle", yields),
        ] {
            command.args(["--mca", name, value]);
        }
        command.args(["-n", &hosts.to_string()]).arg(&self.peer.program);
        lines_of(self.name(), &command.args(arguments).stdin(Stdio::null()).output()?)
    }
}
