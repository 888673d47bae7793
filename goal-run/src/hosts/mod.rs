//! Several hosts as one job: who is there, who has which rank, what their launchers tell each
//! other.
//!
//! Every host runs a launcher. By EDP they find each other and where each rank takes frames
//! ([`Discovery`]); then each opens a stream of ESP to the leader, the launcher of the host of rank
//! 0, and what they say there ([`Message`]) starts the job, ends it and brings the leader what the
//! report needs. Nothing here does any IO or reads a clock: [`Link`] takes frames and the time, and
//! gives frames and events.

mod discovery;
mod key;
mod link;
mod message;
mod plan;
mod questions;
mod rounds;
#[cfg(test)]
mod tests;

pub use discovery::Discovery;
pub use key::{Key, KeyError};
pub use link::{Event, Link, Reply};
pub use message::{Area, Broken, Decoder, Message, Term};
pub use plan::{Peer, Plan, RankList, mac, ranges};
pub use rounds::Rounds;

/// The port of an interface where launchers hear each other, unless another one is asked for.
pub const PORT: u16 = 0x474f;
