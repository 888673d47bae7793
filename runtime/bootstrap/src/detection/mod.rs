//! Recognition of the launcher that started this process.
//!
//! Launchers hand their environment down, so a process under nested launchers sees the variables of
//! all of them. The innermost one counts. The rules are tried in this order:
//!
//! 1. `PMI_FD` names an open socket: a PMI-1 launcher. Other launchers close the descriptor when
//!    they start processes, so one that is open comes from the innermost launcher.
//! 2. `TORCHELASTIC_RUN_ID`: `torchrun`, which sets `RANK` anew.
//! 3. `PMIX_RANK`: a PMIx launcher. Each overwrites `PMIX_NAMESPACE`, whose form tells Slurm's from
//!    others, and what an outer one wrote is gone.
//! 4. `OMPI_COMM_WORLD_RANK` without PMIx, then `PMI_RANK` without a connection.
//! 5. `SLURM_PROCID` in a step. `mpirun` and `mpiexec` within a Slurm job come before it. A batch
//!    script has the variable too, but no `SLURM_STEP_ID`: it is no rank.
//! 6. `RANK` with `WORLD_SIZE`, which scripts set too, then `JOB_COMPLETION_INDEX`.
//!
//! `srun` without PMI within `mpirun` is not seen: nothing tells it from `mpirun` within `srun`.

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
    /// Recognises the launcher from an environment. Returns `None` if no launcher that is known
    /// started the process. `is_socket` tells if a descriptor is an open socket of the process.
    ///
    /// This function reads only what its arguments hand out.
    ///
    /// # Errors
    /// A variable that decides has no valid value, lacks its companion, or contradicts another.
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

    /// Recognises the launcher of this process. Call it before the process opens sockets: one of
    /// them could get the number of a `PMI_FD` that was closed.
    ///
    /// # Errors
    /// As [`Launcher::detect`].
    pub fn from_process() -> Result<Option<Self>, Error> {
        Self::detect(|name| std::env::var_os(name), crate::pmi::is_socket)
    }
}
