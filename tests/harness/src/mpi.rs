//! Finds the launchers of MPI libraries on this machine, for tests.
//!
//! `mpirun` on the path is one launcher. `GOAL_MPI_PREFIXES` names further libraries: a list of
//! folders that have `bin/mpiexec`, separated by colons. If a launcher is missing, a line reports
//! that it is skipped.

use crate::{skipped, timeout};
use std::path::Path;
use std::process::Command;

/// The rank of a process as a shell expression, from the variables that known launchers set.
pub const RANK: &str = "${PMIX_RANK:-${PMI_RANK:-$SLURM_PROCID}}";

/// A command that starts processes.
pub struct Launcher {
    /// The name of the launcher in messages.
    pub name: String,
    /// The command with its options, without the number of processes.
    pub command: Vec<String>,
    /// The environment variables that the command needs.
    pub environment: Vec<(&'static str, String)>,
}

impl Launcher {
    /// Returns a command that starts `ranks` processes. The program and its arguments follow.
    /// The command ends the processes after the [`patience`](crate::patience) of `seconds` seconds.
    pub fn start(&self, ranks: u32, seconds: u64) -> Command {
        let mut command = Command::new("timeout");
        command.args(["--kill-after=5", &timeout(seconds)]).args(&self.command);
        command.args(["-n", &ranks.to_string()]);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Returns a command like [`start`](Self::start), in which this machine plays several nodes
    /// with `per_node` processes each. GOAL takes the variable `GOAL_NODE` for the name of a node.
    /// The program and its arguments follow.
    pub fn start_on_nodes(&self, ranks: u32, per_node: u32, seconds: u64) -> Command {
        let mut command = self.start(ranks, seconds);
        let line = format!("GOAL_NODE=n$(({RANK}/{per_node})) exec \"$0\" \"$@\"");
        command.args(["sh", "-c", &line]);
        command
    }
}

/// Starts the program `$0` with a session folder of its own. Open MPI 4 otherwise keeps one folder
/// for all its launchers on a machine. One that ends removes it, even while another one makes its
/// part of it, which then fails with "orte_session_dir failed".
const OWN_SESSION: &str = r#"folder=$(mktemp -d) || exit
OMPI_MCA_orte_tmpdir_base=$folder "$0" "$@"
status=$?
rm -rf "$folder"
exit $status"#;

/// Returns the command that starts `program`, a launcher of Open MPI, with any number of processes.
pub fn open_mpi(program: &str) -> Vec<String> {
    ["sh", "-c", OWN_SESSION, program, "--allow-run-as-root", "--oversubscribe"]
        .map(str::to_owned)
        .into()
}

/// Returns the launchers on this machine. A line reports each one that does not run.
pub fn launchers() -> Vec<Launcher> {
    let prefixes = std::env::var("GOAL_MPI_PREFIXES").unwrap_or_default();
    let prefixes = prefixes.split(':').filter(|prefix| !prefix.is_empty()).map(Some);
    [None].into_iter().chain(prefixes).filter_map(launcher).collect()
}

/// Returns the launcher of an MPI library: `mpirun` on the path, or `mpiexec` below `prefix`.
/// Returns `None` if it is missing.
fn launcher(prefix: Option<&str>) -> Option<Launcher> {
    let program = match prefix {
        None => "mpirun".to_owned(),
        Some(prefix) => format!("{prefix}/bin/mpiexec"),
    };
    let path = std::env::var("PATH").unwrap_or_default();
    let mut environment = Vec::new();
    if let Some(prefix) = prefix {
        environment.push(("PATH", format!("{prefix}/bin:{path}")));
        // Intel MPI finds its own files by these variables.
        if Path::new(prefix).join("bin/impi_info").exists() {
            environment.push(("I_MPI_ROOT", prefix.to_owned()));
            environment.push(("LD_LIBRARY_PATH", format!("{prefix}/lib")));
        }
    }
    let mut version = Command::new(&program);
    version.arg("--version").envs(environment.iter().map(|(name, value)| (name, value)));
    let Some(output) = version.output().ok().filter(|output| output.status.success()) else {
        skipped(&format!("{program} does not run"));
        return None;
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let is_open_mpi = text.contains("Open MPI") || text.contains("open-mpi");
    let command = if is_open_mpi { open_mpi(&program) } else { vec![program.clone()] };
    Some(Launcher { name: program, command, environment })
}
