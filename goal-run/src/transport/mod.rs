//! The transports of a job's messages.
//!
//! Each transport is a [`Transport`](goal_engine::transport::Transport) and a
//! [`Plugin`](goal_engine::transport::Plugin) with its properties. [`Choice`] selects the
//! transports of a job. `Ends` combines one rank's ends of them to one transport for its engine.

mod choice;
#[cfg(test)]
mod copies;
mod echo;
mod ends;
mod parameters;
mod plugin;
mod remote;

pub(crate) use choice::Paths;
pub use choice::{
    Choice, Refusal, Request, RequestError, Standing, Unreachable, priority_variable,
};
pub use echo::{Answerer, Asker};
pub(crate) use ends::Ends;
pub use parameters::{Found, ParameterError, Parameters, Tuned, TunedError};
pub use plugin::Name;
pub(crate) use remote::RETRANSMIT_MAX_NS;
pub(crate) use remote::Sleeper;
