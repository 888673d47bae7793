//! The settings of an engine, and its counters.

use crate::seed::Seed;

/// The duration of `calc`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Calc {
    /// No time.
    Skip,
    /// The nominal duration times this factor, by the clock of the engine's caller. On each cpu
    /// that the actions name, one `calc` runs at a time.
    Scaled(f64),
}

/// Settings of an engine; all ranks of a job must have the same.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Messages of at most this many bytes are sent before their receive is known to be posted, if
    /// the receiver has room. Larger ones wait for the receive (rendezvous).
    pub eager_limit: u64,
    /// The limit that replaces [`Options::eager_limit`] where messages are faster than copies, if
    /// it is larger ([`Transport::pushed_max`](crate::transport::Transport::pushed_max)). The
    /// default is 0: then a check of the program with the same limits predicts for certain how it
    /// ends.
    pub pushed_max: u64,
    /// The most bytes of messages without a receive that are kept, except for those that are on
    /// their way when the limit is reached. The payloads of further messages stay with their
    /// senders until the receive is posted.
    pub unexpected_limit: u64,
    /// The duration of `calc`.
    pub calc: Calc,
    /// Secret numbers for hash tables, so that an attacker can't choose tags, ranks or offsets that
    /// collide. An engine draws no random numbers: its caller must draw them if peers or authors of
    /// schedules are not trusted.
    pub seed: Seed,
}

impl Options {
    /// Default of [`Options::eager_limit`].
    pub const EAGER_LIMIT: u64 = goal_lang::limits::EAGER_LIMIT;
    /// A good [`Options::pushed_max`] for programs whose memory is their own.
    pub const PUSHED_MAX: u64 = 1 << 20;
    /// Default of [`Options::unexpected_limit`].
    pub const UNEXPECTED_LIMIT: u64 = goal_lang::limits::UNEXPECTED_LIMIT;
}

impl Default for Options {
    fn default() -> Self {
        Self {
            eager_limit: Self::EAGER_LIMIT,
            pushed_max: 0,
            unexpected_limit: Self::UNEXPECTED_LIMIT,
            calc: Calc::Scaled(1.0),
            seed: Seed::default(),
        }
    }
}

/// Counts of an engine since its beginning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Messages sent.
    pub messages: u64,
    /// Payload bytes sent.
    pub bytes: u64,
    /// Payload bytes received and compared with their pattern.
    pub verified_bytes: u64,
    /// The sent messages that left in parts without waiting for their receive.
    pub in_parts: u64,
    /// The sent messages whose payload waited for the receive.
    pub requests: u64,
    /// The messages of `requests` whose payload the receiver read from the sender's memory.
    pub read_in_place: u64,
    /// The messages of `requests` whose payload this rank wrote to the receiver's memory.
    pub put_in_place: u64,
    /// The chunks of this rank's shared operations.
    pub shared_chunks: u64,
    /// The chunks of `shared_chunks` that other ranks did.
    pub helped_chunks: u64,
    /// The number of polls.
    pub polls: u64,
    /// The most ready actions of an instance at the beginning of one of its runs.
    pub ready_max: u64,
    /// Messages that arrived for an instance and were taken by no receive of it.
    pub unreceived: u64,
    /// Messages that arrived before a receive for them was posted.
    pub unexpected: u64,
    /// Most bytes of messages without a receive kept at a time.
    pub unexpected_max: u64,
}

/// The greatest lengths of an engine's queues since its beginning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Depths {
    /// Posted receives that no message had matched.
    pub posted: u64,
    /// Messages that had arrived and were not delivered.
    pub kept: u64,
    /// Messages to one rank that waited for room, or behind a message that waited for room.
    pub blocked: u64,
}
