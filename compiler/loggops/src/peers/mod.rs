//! The models of the peers, artefacts included: exact to the nanosecond.

pub mod atlahs;
mod busy;
#[cfg(test)]
mod closed_forms;
pub mod loggopsim;
mod stdcxx;

/// Parameters of LogGOPS as the peers take them: whole nanoseconds, but for ATLAHS's `G`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameters {
    /// `L`: the latency of the network in nanoseconds.
    pub latency: u64,
    /// `o`: the processor time of a message at each end, in nanoseconds.
    pub overhead: u64,
    /// `g`: the least time between two messages of an interface, in nanoseconds.
    pub gap: u64,
    /// `G`: the time of a byte on the wire, in whole nanoseconds (LogGOPSim).
    pub gap_per_byte: u64,
    /// `G`: the time of a byte on the wire, in nanoseconds (ATLAHS).
    pub gap_per_byte_ns: f64,
    /// `O`: the processor time of a byte at each end, in nanoseconds.
    pub overhead_per_byte: u64,
    /// `S`: the largest message in bytes that a send hands over before its receive is posted.
    pub eager_bytes_max: u64,
}

/// The times of a simulated program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// By rank, the time at which its last processor is free, in nanoseconds.
    pub finish_ns: Vec<u64>,
    /// The actions that were started and the messages that were taken in.
    pub events: u64,
    /// The actions that never end.
    pub left: u64,
    /// The messages that no receive takes, and the receives that no message reaches.
    pub waiting: u64,
    /// The first message with a receive of another size; `None` without such a message.
    pub unequal: Option<Pair>,
}

/// A message and the receive that takes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    /// The send of the message.
    pub send: u32,
    /// The receive.
    pub receive: u32,
}

/// ATLAHS aborts: a receive is ready before its message has arrived, and finds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("ATLAHS aborts: a receive starts before the message that it finds has arrived")]
pub struct Abort(pub Pair);
