//! Connects the launchers of a job on several hosts. They find each other and exchange messages.
//!
//! Every host runs a launcher. By datagrams of EDP the launchers find each other and the address of
//! each rank (`Discovery`). Then each opens a stream of ESP to the leader, which is the launcher of
//! the host of rank 0. Messages on these streams (`LauncherMessage`) start the job, end it, and
//! bring the leader the data for its report. Nothing here does IO or reads a clock: `Link` gets
//! frames and the time from its caller, and returns frames and events. Over TCP launchers meet at
//! an address instead: see `Rendezvous`.

mod discovery;
mod error;
mod key;
mod link;
mod message;
mod plan;
mod questions;
mod rendezvous;
mod rounds;
mod streams;
#[cfg(test)]
mod tests;

pub(crate) use discovery::Discovery;
pub(crate) use error::DiscoveryError;
pub use key::{Key, KeyError};
pub(crate) use link::Link;
pub(crate) use message::{Area, LauncherMessage, LinkEvent, Machine, Reply, Term};
pub(crate) use plan::ranges;
pub use plan::{Plan, PlanError, RankList, mac};
pub(crate) use rendezvous::Rendezvous;
pub(crate) use rounds::Rounds;

/// The EDP port of launchers, unless the user chooses another one.
pub const PORT: u16 = 0x474f;
