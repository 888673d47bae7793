//! Carries the messages of a rank by its transports.
//!
//! `RankTransport` combines all transports of one rank into one
//! [`Transport`](goal_engine::transport::Transport) for its engine. The job's
//! [`Choice`](goal_job::transport::Choice) says which transports a rank has.

#[cfg(test)]
mod cma_tests;
mod rank_transport;
mod remote;

pub(crate) use rank_transport::RankTransport;
pub use remote::RETRANSMIT_MAX_NS;
pub(crate) use remote::Sleeper;
