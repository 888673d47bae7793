//! Runs jobs whose processes another launcher has started, such as `mpirun`. The processes agree
//! which of them leads each node, and how the leaders meet.
//!
//! ```text
//! every process   tells all others its node and its processors (rank 0 also the key)
//! lowest rank     of each node opens a socket at which its node joins; that of rank 0 listens
//!                 for the others, and all tell that
//! every process   joins at the socket of its node
//! ```
//!
//! Each process may bring a [`Fabric`](goal_fabric::Fabric) of its own, such as one over MPI, which
//! then carries the messages between nodes. Ranks that it can't reach are reached by TCP.
//!
//! The process with the lowest rank of a node has the node's launcher, in a thread. Launchers of
//! several nodes meet over TCP. Texts travel through the other launcher, by an exchange that the
//! caller brings: PMI, PMIx or MPI.
//!
//! Threat: a process that reads the exchange has the key of the job. `mpirun` and similar launchers
//! show it to the processes of the job only. Texts of other processes are checked as far as they
//! must be: these run the same program as the same user.

mod addresses;
mod arrange;
mod attach;
mod outside;
mod rank;

pub use arrange::{Common, Exchange, Lead, Wired};
pub use attach::{attach, attach_among, attach_among_over};
pub use outside::{OpenFabric, Outside};
pub use rank::{Left, joined_rank, joined_rank_over};
