//! GOAL's messages over MPI, for jobs whose processes `mpirun` has started.
//!
//! `MpiFabric` is a [`Fabric`](goal_fabric::Fabric) over a duplicate of `MPI_COMM_WORLD`, so its
//! messages mix with no others of the process. MPI only moves bytes. The engine matches messages
//! and receives. `Process` initializes MPI and exchanges blobs, from which ranks learn of each
//! other.
//!
//! The crate has little but [`MPI`] unless it is built with its feature `mpi`, which links the
//! MPI library whose `mpicc` is on the path.
//!
//! **Threads.** MPI is asked for `MPI_THREAD_SERIALIZED`. If the library grants less, only the
//! thread that initialized MPI may use the fabric. In other threads the calls of the fabric fail.
//!
//! **Sleeping.** MPI has no descriptor to sleep on. A waiting rank looks for messages again and
//! again. While nothing comes, the pauses grow from 20 us to 1 ms. So the first message after a
//! long wait may be taken a millisecond late. `--wait spin` looks without a pause.
//!
//! **Order.** Receives are posted for any source and handled in the order in which they were
//! posted, as MPI matches them. So a large packet whose sender does not call MPI delays the packets
//! behind it.
//!
//! Threat: every process of the job can send any bytes. All lengths in a packet are checked when it
//! is read. An invalid packet ends the job with an error that names the rank. A packet is invalid
//! if it is not a sequence of messages from its source, or has more bytes than were granted. This
//! crate does not authenticate: MPI's launcher must keep other processes out of the job.

#[cfg(feature = "mpi")]
mod comm;
#[cfg(feature = "mpi")]
mod error;
#[cfg(feature = "mpi")]
mod fabric;
mod limits;
mod packet;
#[cfg(feature = "mpi")]
mod process;
#[cfg(feature = "mpi")]
mod transfer;

#[cfg(feature = "mpi")]
pub use comm::Comm;
#[cfg(feature = "mpi")]
pub use error::MpiError;
#[cfg(feature = "mpi")]
pub use fabric::MpiFabric;
pub use limits::MESSAGE_MAX;
#[cfg(feature = "mpi")]
pub use process::Process;

use goal_engine::transport::{Distance, Plugin, ZeroCopy};
use std::error::Error;

/// The properties of the transport. Jobs use it only if they ask for it.
pub const MPI: Plugin = Plugin {
    name: "mpi",
    about: "messages of MPI, to ranks on other nodes of a job that mpirun started",
    priority: 5,
    nearest: Distance::Network,
    reach: Distance::Network,
    carries_messages: true,
    zero_copy: ZeroCopy::None,
    latency_ns: 3_000,
    bandwidth_mb_s: 5_000,
    probe,
};

fn probe() -> Result<(), Box<dyn Error + Send + Sync>> {
    match cfg!(feature = "mpi") {
        true => Ok(()),
        false => Err("not built in (the feature mpi of goal-run)".into()),
    }
}
