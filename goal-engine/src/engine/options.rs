//! Settings of an engine, and its counts.

use crate::seed::Seed;

/// How long `calc` takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Calc {
    /// No time.
    Skip,
    /// As long as it says, times this factor, by the clock of the engine's caller. One at a time on
    /// each cpu that the actions name.
    Scaled(f64),
}

/// Settings of an engine; all ranks of a job must have the same.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Messages of at most this many bytes are sent at once, whether their receive is there or not,
    /// where the receiver has room; others wait for it (rendezvous).
    pub eager_limit: u64,
    /// Most bytes of messages without a receive that are kept, but for those that are on their way
    /// when it is reached; the payloads of further messages stay with their senders until the
    /// receive is there.
    pub unexpected_limit: u64,
    /// How long `calc` takes.
    pub calc: Calc,
    /// Secret numbers for hash tables, so that nobody can choose tags, ranks or offsets that
    /// collide. An engine draws no random numbers: its caller does, where peers or authors of
    /// schedules are not trusted.
    pub seed: Seed,
}

impl Options {
    /// Default of [`Options::eager_limit`].
    pub const EAGER_LIMIT: u64 = goal_lang::limits::EAGER_LIMIT;
    /// Default of [`Options::unexpected_limit`].
    pub const UNEXPECTED_LIMIT: u64 = goal_lang::limits::UNEXPECTED_LIMIT;
}

impl Default for Options {
    fn default() -> Self {
        Self {
            eager_limit: Self::EAGER_LIMIT,
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
    /// Of these messages, those that left in parts without waiting for their receive.
    pub in_parts: u64,
    /// Those whose payload waited for the receive.
    pub requests: u64,
    /// Of the latter, those that were read where they lay.
    pub read_in_place: u64,
    /// Chunks of operations that others could take a part of.
    pub shared_chunks: u64,
    /// Of these, those that others did.
    pub helped_chunks: u64,
    /// Polls.
    pub polls: u64,
    /// Most actions ready at a time, when it was an instance's turn.
    pub ready_max: u64,
    /// Messages that came for an instance and that no receive of it took.
    pub unreceived: u64,
    /// Messages that came before a receive for them was posted.
    pub unexpected: u64,
    /// Most bytes of messages without a receive kept at a time.
    pub unexpected_max: u64,
}

/// How long an engine's queues were at most since its beginning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Depths {
    /// Receives that no message had met.
    pub posted: u64,
    /// Messages that had come and were not delivered.
    pub kept: u64,
    /// Messages to one rank that waited for room.
    pub blocked: u64,
}
