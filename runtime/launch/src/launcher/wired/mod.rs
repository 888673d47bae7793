//! Jobs whose processes another launcher has started, such as `mpirun`: they agree who leads each
//! node, and how the leaders meet.
//!
//! ```text
//! every process   tells all others its node and its processors (rank 0 also the key)
//! lowest rank     of each node opens the hall at which its node joins; that of rank 0 listens
//!                 for the others, and all tell that
//! every process   joins at the hall of its node
//! ```
//!
//! Each process may bring a [`Fabric`](goal_fabric::Fabric) of its own, such as one over MPI, which
//! then carries the messages between nodes. Ranks that it can't reach are reached by TCP.
//!
//! The lowest rank of a node has the node's launcher, in a thread. Launchers of several nodes meet
//! over TCP. What is told goes through the other launcher, by an exchange that the caller brings:
//! PMI, PMIx or MPI.
//!
//! Threat: whoever reads the exchange has the key of the job. `mpirun` and its like show it to the
//! processes of the job only. What other processes tell is checked as far as it must be: they run
//! the same program by the same user.

mod addresses;
mod arrange;
mod attach;
mod outside;
mod rank;

pub use arrange::{Common, Exchange, Lead, Wired};
pub use attach::{attach, attach_among, attach_among_over};
pub use outside::{OpenFabric, Outside};
pub use rank::{Left, joined_rank, joined_rank_over};
