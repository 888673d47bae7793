//! Open MPI between the same hosts.

use goal_cluster::{Cluster, INTERFACE};
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// The peer's program, and the command that starts its daemons in the hosts' namespaces.
pub(crate) struct Peer<'a> {
    cluster: &'a Cluster,
    program: &'a Path,
    agent: PathBuf,
    hosts: PathBuf,
}

impl<'a> Peer<'a> {
    /// Creates the files. Each daemon has its own, as on separate hosts.
    ///
    /// # Errors
    /// The system's error.
    pub(crate) fn new(cluster: &'a Cluster, program: &'a Path, folder: &Path) -> io::Result<Self> {
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
        Ok(Self { cluster, program, agent, hosts })
    }

    /// Nanoseconds of a blocking and of a non-blocking call, of `iterations` that follow each
    /// other.
    ///
    /// # Errors
    /// The error of mpirun.
    pub(crate) fn run(&self, operation: &str, bytes: u64, iterations: u64) -> io::Result<[f64; 2]> {
        let mut command = self.cluster.hosts()[0].command("mpirun");
        command.args(["--allow-run-as-root", "--mca", "plm_rsh_agent"]).arg(&self.agent);
        command.arg("--hostfile").arg(&self.hosts).args(["--map-by", "node", "--bind-to", "none"]);
        // TCP over the hosts' wires, as ranks on one machine would not; and ranks that wait let
        // others run, as all share two processors.
        for (name, value) in [
            ("pml", "ob1"),
            ("btl", "tcp,self"),
            ("btl_tcp_if_include", INTERFACE),
            ("oob_tcp_if_include", INTERFACE),
            ("mpi_yield_when_idle", "1"),
        ] {
            command.args(["--mca", name, value]);
        }
        command.args(["-n", &self.cluster.hosts().len().to_string()]).arg(self.program);
        command.args([operation, &format!("{bytes}:{iterations}")]);
        let output = command.stdin(Stdio::null()).output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let of = |mode: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(&format!("{bytes} {mode} ")));
            let said = || io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned());
            line.and_then(|ns| ns.trim().parse().ok()).ok_or_else(said)
        };
        Ok([of("blocking")?, of("nonblocking")?])
    }
}
