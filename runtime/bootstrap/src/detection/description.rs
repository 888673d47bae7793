//! Describes a launcher, and what it says about this process.

use super::environment::{Number, below, within};
use crate::error::Error;
use std::os::fd::RawFd;

/// A family of launchers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LauncherKind {
    /// `mpirun` of Open MPI, and `prterun` with its variables.
    OpenMpi,
    /// A launcher that speaks PMI-1: `mpiexec` of MPICH or Intel MPI (Hydra), and others.
    Pmi,
    /// Another launcher that speaks PMIx.
    Pmix,
    /// `srun` of Slurm.
    Slurm,
    /// `torchrun`, or a script that sets the variables of `torchrun`.
    Torch,
    /// An indexed job of Kubernetes.
    Kubernetes,
}

impl LauncherKind {
    /// Returns the name of the launcher for messages.
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

/// The way in which the launcher carries blobs between ranks.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exchange {
    /// PMI-1 over an inherited socket.
    Pmi {
        /// The descriptor of the socket.
        descriptor: RawFd,
    },
    /// PMIx, through a PMIx library.
    Pmix {
        /// The namespace of the job.
        namespace: String,
    },
    /// The launcher carries no blobs.
    None {
        /// The reason, as the end of a sentence that begins with "but".
        reason: String,
        /// The commands or options that solve the problem.
        way_out: &'static str,
    },
}

/// The launcher that started a process, and what it says about the process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launcher {
    kind: LauncherKind,
    exchange: Exchange,
    rank: u32,
    size: Option<u32>,
    local_rank: Option<u32>,
    local_size: Option<u32>,
}

impl Launcher {
    /// Returns the family of the launcher.
    pub fn kind(&self) -> LauncherKind {
        self.kind
    }

    /// Returns the way in which the launcher carries blobs between ranks.
    pub fn exchange(&self) -> &Exchange {
        &self.exchange
    }

    /// Returns the rank of the process in its job.
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// Returns the number of ranks of the job; `None` if the environment does not state it. A
    /// [`Session`](crate::Session) always knows this number.
    pub fn size(&self) -> Option<u32> {
        self.size
    }

    /// Returns the rank of the process among the job's ranks on its node; `None` if the environment
    /// does not state it.
    pub fn local_rank(&self) -> Option<u32> {
        self.local_rank
    }

    /// Returns the number of the job's ranks on this node; `None` if the environment does not state
    /// it.
    pub fn local_size(&self) -> Option<u32> {
        self.local_size
    }
}

/// The numbers that the environment states about a process, with their variables.
pub(super) struct Numbers {
    pub(super) rank: Number,
    pub(super) size: Option<Number>,
    pub(super) local_rank: Option<Number>,
    pub(super) local_size: Option<Number>,
}

impl Numbers {
    /// Returns the launcher with these numbers. Returns an error if the numbers contradict each
    /// other.
    pub(super) fn launcher(
        self,
        kind: LauncherKind,
        exchange: Exchange,
    ) -> Result<Option<Launcher>, Error> {
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
