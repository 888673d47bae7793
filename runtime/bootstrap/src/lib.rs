//! Connects processes that another launcher started.
//!
//! `mpirun`, `mpiexec` and `srun` start processes and tell each its rank. This crate reads this
//! information ([`Launcher`]). It also exchanges small blobs, such as addresses and keys, between
//! the ranks of a job through the launcher ([`Session`]). It needs no MPI library and never calls
//! `MPI_Init`.
//!
//! | started by | recognised by | blobs travel by |
//! |---|---|---|
//! | `mpirun` of Open MPI 4 and 5, `prterun` | `OMPI_COMM_WORLD_RANK`, `PMIX_RANK` | PMIx |
//! | `mpiexec` of MPICH and Intel MPI | `PMI_FD`, `PMI_RANK` | PMI-1 |
//! | `srun --mpi=pmix` | `PMIX_NAMESPACE=slurm.pmix.*` | PMIx |
//! | `srun --mpi=pmi2` | `PMI_FD`, `PMI_JOBID` | PMI-1, which Slurm's plugin speaks too |
//! | `srun` without these | `SLURM_STEP_ID`, `SLURM_PROCID` | nothing |
//! | `torchrun` and what sets the same variables | `RANK`, `WORLD_SIZE` | nothing |
//! | Kubernetes, an indexed job | `JOB_COMPLETION_INDEX` | nothing, and no number of ranks |
//!
//! If the launcher exchanges no blobs, [`Session::open`] fails with an error that names the missing
//! part and the remedy.
//!
//! A process that calls `MPI_Init` must not open a session: a process has one connection to its
//! launcher, and the MPI library needs it. Such a program exchanges its blobs by `MPI_Allgather`.
//! [`Launcher::detect`] only reads the environment, so any program may call it.
//!
//! A session ends by [`Session::finalize`] or when it is dropped. If a process ends without either,
//! Open MPI and Intel MPI take it for a failed process, and end all ranks.
//!
//! ```no_run
//! use goal_bootstrap::{Launcher, Session};
//! use std::time::Duration;
//!
//! let wait = Duration::from_secs(30);
//! let launcher = Launcher::from_process()?.expect("a launcher started this process");
//! let mut session = Session::open(&launcher, wait)?;
//! let addresses = session.allgather(b"192.0.2.7:4242", wait)?;
//! assert_eq!(addresses.len(), session.size() as usize);
//! session.finalize(wait)?;
//! # Ok::<(), goal_bootstrap::Error>(())
//! ```
//!
//! Threats, and the modules that handle them: the user who starts the process writes the
//! environment, which may be stale or contradict itself (`detection/`). Answers on `PMI_FD` come
//! from the launcher's proxy on this node (`pmi/`). A PMIx library is code that the user or the
//! launcher chose (`pmix/library/mod.rs`). Blobs come from other ranks of the job, which may run
//! other code. Their sizes are bounded (`limits.rs`), and the caller must check their contents.

mod deadline;
mod detection;
mod error;
mod limits;
mod pmi;
mod pmix;
mod session;

pub use detection::{Exchange, Launcher, LauncherKind};
pub use error::Error;
pub use limits::{BLOB_MAX, RANKS_MAX};
pub use session::Session;
