//! Recognises the launcher that started this process.
//!
//! Launchers pass their environment on, so a process under nested launchers sees the variables of
//! all of them. The innermost launcher counts. The rules are tried in this order:
//!
//! 1. `PMI_FD` names an open socket: a PMI-1 launcher. Other launchers close the descriptor when
//!    they start processes, so an open descriptor comes from the innermost launcher.
//! 2. `TORCHELASTIC_RUN_ID`: `torchrun`, which sets `RANK` anew.
//! 3. `PMIX_RANK`: a PMIx launcher. The form of `PMIX_NAMESPACE` distinguishes Slurm from others.
//!    Each PMIx launcher overwrites this variable, so an outer launcher leaves no trace.
//! 4. `OMPI_COMM_WORLD_RANK` without PMIx, then `PMI_RANK` without a connection.
//! 5. `SLURM_PROCID` in a step. The rules for `mpirun` and `mpiexec` come before, since these may
//!    run within a Slurm job. A batch script has the variable too, but no `SLURM_STEP_ID`: it is no
//!    rank.
//! 6. `RANK` with `WORLD_SIZE`, which scripts set too, then `JOB_COMPLETION_INDEX`.
//!
//! `srun` without PMI within `mpirun` is not recognised: nothing distinguishes it from `mpirun`
//! within `srun`.

mod description;
mod environment;
mod rules;
mod slurm;
#[cfg(test)]
mod tests;

use crate::error::Error;
use environment::Environment;
use std::ffi::OsString;
use std::os::fd::RawFd;

pub use description::{Exchange, Launcher, LauncherKind};

impl Launcher {
    /// Recognises the launcher from the environment that `env` reads. Returns `None` if no known
    /// launcher started the process. `is_socket` returns true if a descriptor is an open socket of
    /// the process.
    ///
    /// This function reads only through its arguments.
    ///
    /// # Errors
    /// A variable that a rule reads has no valid value, lacks another variable that belongs to it,
    /// or contradicts another one.
    pub fn detect(
        env: impl Fn(&str) -> Option<OsString>,
        is_socket: impl Fn(RawFd) -> bool,
    ) -> Result<Option<Self>, Error> {
        let environment = Environment::new(&env, &is_socket);
        for rule in rules::IN_ORDER {
            if let Some(launcher) = rule(&environment)? {
                return Ok(Some(launcher));
            }
        }
        Ok(None)
    }

    /// Recognises the launcher of this process; `None` if there is no known one. Call this before
    /// the process opens sockets. A new socket could get the number of a `PMI_FD` that was closed.
    ///
    /// # Errors
    /// As [`Launcher::detect`].
    pub fn from_process() -> Result<Option<Self>, Error> {
        Self::detect(|name| std::env::var_os(name), crate::pmi::is_socket)
    }
}
