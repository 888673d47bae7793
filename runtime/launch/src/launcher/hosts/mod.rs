//! Runs a job on several hosts. The launchers of the hosts find each other. The launcher of the
//! host of rank 0 is the leader, which decides when the job starts and ends.
//!
//! ```text
//! every host   find all ranks, send Hello
//! leader       compares settings, sends Start
//! all          agree if their kernels run the schedule (Mtu, Offload), if that was asked for
//! every host   starts its ranks, sends Ready
//! leader       sends Go
//! every host   reports when its ranks finish, fail, die, rest or get a signal
//! leader       decides, sends End
//! every host   sends the memory that its ranks left
//! leader       sends Verdict
//! ```
//!
//! The leader gathers in its own segment the memory that the ranks of other hosts left. So the
//! outcome is computed as for a job on one host.

mod agree;
mod concern;
mod ended;
mod error;
mod follow;
mod gather;
mod kernel;
mod lead;
mod left;
mod options;
mod post;
mod run;
mod session;
mod survival;
mod survive;
#[cfg(test)]
mod tests;
mod waiting;

pub use ended::{Ended, Others, Verdict};
pub use options::{Ethernet, Hosts, Meeting, Obstacle, Rendezvous};
pub use post::listen_at;
pub use run::run_on_hosts;
