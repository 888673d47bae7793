//! How messages of a job travel: the transports that serve it, and a rank's ends of all of them.
//!
//! Each transport is a [`Transport`] with a [`Plugin`](goal_engine::transport::Plugin), its
//! properties. [`Choice`] picks those that serve a job, and [`Ends`] is all of them to a rank.

mod choice;
mod echo;
mod ends;
mod plugin;
mod remote;

pub use choice::{
    Choice, List, Origin, Paths, Refusal, Request, RequestError, Standing, Unreachable,
    priority_variable,
};
pub use echo::{Answerer, Asker};
pub use ends::Ends;
pub use plugin::{Carrier, Name};
pub(crate) use remote::RETRANSMIT_MAX_NS;
pub use remote::{Remote, Sleeper};
