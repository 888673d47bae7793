//! The models of the peers, artefacts included: exact to the nanosecond.

pub mod atlahs;
mod calendar;
#[cfg(test)]
mod closed_forms;
mod inbound;
mod jobs;
#[cfg(test)]
mod lines;
pub mod loggopsim;
mod state;
mod stdcxx;
mod units;

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

impl Parameters {
    /// Returns ATLAHS's `G` times the bytes, as a conversion from `double` rounds it.
    pub fn wire_ns(&self, bytes: u64) -> u64 {
        let nanos = bytes as f64 * self.gap_per_byte_ns;
        if nanos < 0.0 { nanos as i64 as u64 } else { nanos as u64 }
    }
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

/// A message and a receive that meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meeting {
    /// The message and the receive.
    pub pair: Pair,
    /// The time in nanoseconds.
    pub time: u64,
    /// True if the message waited for the receive, and false if the receive waited.
    pub is_unexpected: bool,
}

/// Sees a simulation of a peer in the order of its events. Times are in nanoseconds. A message has
/// the number of its send.
///
/// `()` sees nothing.
pub trait Observer {
    /// Returns true to see also each look at an event that can't start yet. It takes more time.
    fn sees_retries(&self) -> bool {
        false
    }

    /// Starts an action that is neither a send nor a receive.
    fn calc(&mut self, action: u32, start: u64) {
        let _ = (action, start);
    }

    /// Starts a send.
    fn send(&mut self, send: u32, start: u64) {
        let _ = (send, start);
    }

    /// Lets a receive wait for its message, or a message for its receive.
    fn wait(&mut self, action: u32, time: u64) {
        let _ = (action, time);
    }

    /// Takes a message in.
    fn meet(&mut self, meeting: Meeting) {
        let _ = meeting;
    }

    /// Puts an event back, as what it needs is busy. `action` is that of the event.
    fn retry(&mut self, action: u32) {
        let _ = action;
    }

    /// Ends a look at an event. `queued` events are left, and `made` were made so far.
    fn step(&mut self, queued: usize, made: u64) {
        let _ = (queued, made);
    }
}

impl Observer for () {}
