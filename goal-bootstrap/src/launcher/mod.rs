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

mod environment;
mod rules;
mod slurm;
#[cfg(test)]
mod tests;

use crate::error::Error;
use environment::{Environment, Number, below, within};
use std::ffi::OsString;
use std::os::fd::RawFd;

/// A family of launchers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// `mpirun` of Open MPI, and `prterun` with its variables.
    OpenMpi,
    /// A launcher that speaks PMI-1: `mpiexec` of MPICH or Intel MPI (Hydra), and others.
    Pmi,
    /// A launcher that speaks PMIx and is none of the others.
    Pmix,
    /// `srun` of Slurm.
    Slurm,
    /// `torchrun`, or a script that sets the same variables.
    Torch,
    /// An indexed job of Kubernetes.
    Kubernetes,
}

impl Kind {
    /// The launcher's name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenMpi => "Open MPI's mpirun",
            Self::Pmi => "a PMI-1 launcher (mpiexec)",
            Self::Pmix => "a PMIx launcher",
            Self::Slurm => "Slurm's srun",
            Self::Torch => "torchrun",
            Self::Kubernetes => "Kubernetes",
        }
    }
}

/// The way in which blobs travel between ranks.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exchange {
    /// PMI-1 over an inherited socket.
    Pmi {
        /// The descriptor of the socket.
        descriptor: RawFd,
    },
    /// PMIx, by its library.
    Pmix {
        /// The namespace of the job.
        namespace: String,
    },
    /// Not at all.
    None {
        /// The cause, as the end of a sentence that begins with "but".
        reason: String,
        /// The commands or options that help.
        way_out: &'static str,
    },
}

/// The launcher that started a process, and what it says about the process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launcher {
    kind: Kind,
    exchange: Exchange,
    rank: u32,
    size: Option<u32>,
    local_rank: Option<u32>,
    local_size: Option<u32>,
}

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
    pub fn of_process() -> Result<Option<Self>, Error> {
        Self::detect(|name| std::env::var_os(name), crate::pmi::is_socket)
    }

    /// The family of the launcher.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The way in which blobs travel between ranks.
    pub fn exchange(&self) -> &Exchange {
        &self.exchange
    }

    /// The rank of the process in its job.
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// The number of ranks of the job, if the environment tells. A session knows it in any case.
    pub fn size(&self) -> Option<u32> {
        self.size
    }

    /// The rank of the process among those of its node, if the environment tells.
    pub fn local_rank(&self) -> Option<u32> {
        self.local_rank
    }

    /// The number of the job's ranks on this node, if the environment tells.
    pub fn local_size(&self) -> Option<u32> {
        self.local_size
    }
}

/// The numbers of a process, with the variables that they came from.
struct Numbers {
    rank: Number,
    size: Option<Number>,
    local_rank: Option<Number>,
    local_size: Option<Number>,
}

impl Numbers {
    /// Makes the launcher, if the numbers do not contradict each other.
    fn launcher(self, kind: Kind, exchange: Exchange) -> Result<Option<Launcher>, Error> {
        below(self.rank, self.size)?;
        within(self.local_size, self.size)?;
        if let Some(local_rank) = self.local_rank {
            below(local_rank, self.local_size)?;
            below(local_rank, self.size)?;
        }
        let value = |number: Option<Number>| number.map(|number| number.value);
        Ok(Some(Launcher {
            kind,
            exchange,
            rank: self.rank.value,
            size: value(self.size),
            local_rank: value(self.local_rank),
            local_size: value(self.local_size),
        }))
    }
}
