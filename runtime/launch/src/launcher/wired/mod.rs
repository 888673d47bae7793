//! Runs jobs whose processes another launcher, such as `mpirun`, has started. The processes agree
//! which of them leads each node, and where the leaders meet.
//!
//! ```text
//! every process   tells all others its node and its processors (rank 0 also the key)
//! lowest rank     of each node opens a socket at which its node joins; that of rank 0 listens
//!                 for the others, and all tell that
//! every process   joins at the socket of its node
//! ```
//!
//! Each process may bring a [`Fabric`](goal_fabric::Fabric) of its own, such as a fabric over MPI.
//! It carries the messages between nodes. TCP carries messages to ranks that the fabric can't
//! reach.
//!
//! The process with the lowest rank of a node runs the node's launcher in a thread. Launchers of
//! several nodes meet over TCP. Before that, the processes exchange texts through the other
//! launcher, by PMI, PMIx or MPI.
//!
//! Threat: a process that reads the exchanged texts has the key of the job. `mpirun` and similar
//! launchers show them to the processes of the job only. Texts of other processes are checked only
//! as far as needed, as all processes run the same program as the same user.

mod addresses;
mod arrange;
mod attach;
mod outside;
mod rank;

pub use arrange::{Common, Exchange, Lead, Wired};
pub use attach::{attach, attach_among, attach_among_over};
pub use outside::{OpenFabric, Outside};
pub use rank::{Left, joined_rank, joined_rank_over};
