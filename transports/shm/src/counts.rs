//! The counters of a rank's messages, bytes and polls, for reports on a job.

use serde::Serialize;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// The counters of a rank over all instances. In a sum over ranks, each maximum is the largest of
/// the ranks.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    Serialize,
    FromBytes,
    IntoBytes,
    Immutable,
    KnownLayout,
)]
#[repr(C)]
pub struct RankCounts {
    /// The number of messages sent.
    pub messages: u64,
    /// The number of payload bytes sent.
    pub bytes: u64,
    /// The number of messages that left whole, with their envelope.
    pub eager: u64,
    /// The number of messages that left in parts, without waiting for their receive.
    pub in_parts: u64,
    /// The number of messages that waited for their receive and that the receiver then read in the
    /// sender's memory.
    pub read_in_place: u64,
    /// The number of messages that waited for their receive and that their sender then wrote to
    /// the receive's buffer.
    pub written_in_place: u64,
    /// The number of messages that waited for their receive and whose payload then left in
    /// messages.
    pub in_messages: u64,
    /// The number of messages that arrived before their receive was posted.
    pub unexpected: u64,
    /// The most bytes of such unexpected messages that were kept at a time, including overhead.
    pub unexpected_bytes_max: u64,
    /// The most receives at a time that were posted and had no message.
    pub posted_max: u64,
    /// The most messages at a time that had arrived and were not delivered.
    pub kept_max: u64,
    /// The most actions of an instance that were ready at a time, counted when it was the
    /// instance's turn.
    pub ready_max: u64,
    /// The most messages to one rank that waited for room at a time.
    pub blocked_max: u64,
    /// The number of ranks on other hosts that the rank's first transport could not reach. Another
    /// transport carried the messages to them.
    pub fallen_back: u64,
    /// The number of ranks of the same host whose memory the system did not let this rank read.
    /// Their large messages came through the segment.
    pub unreadable: u64,
    /// The number of chunks of operations that were shared with other ranks.
    pub shared_chunks: u64,
    /// The number of shared chunks that other ranks did.
    pub helped_chunks: u64,
    /// The number of polls of the engine.
    pub polls: u64,
    /// The number of times that the rank slept because it had nothing to do.
    pub sleeps: u64,
    /// The nanoseconds that the rank slept.
    pub slept_ns: u64,
}

impl RankCounts {
    /// Returns the sum of the counters of two ranks.
    #[must_use]
    pub fn and(self, other: &Self) -> Self {
        Self {
            messages: self.messages + other.messages,
            bytes: self.bytes.saturating_add(other.bytes),
            eager: self.eager + other.eager,
            in_parts: self.in_parts + other.in_parts,
            read_in_place: self.read_in_place + other.read_in_place,
            written_in_place: self.written_in_place + other.written_in_place,
            in_messages: self.in_messages + other.in_messages,
            unexpected: self.unexpected + other.unexpected,
            unexpected_bytes_max: self.unexpected_bytes_max.max(other.unexpected_bytes_max),
            posted_max: self.posted_max.max(other.posted_max),
            kept_max: self.kept_max.max(other.kept_max),
            ready_max: self.ready_max.max(other.ready_max),
            blocked_max: self.blocked_max.max(other.blocked_max),
            fallen_back: self.fallen_back.saturating_add(other.fallen_back),
            unreadable: self.unreadable.saturating_add(other.unreadable),
            shared_chunks: self.shared_chunks + other.shared_chunks,
            helped_chunks: self.helped_chunks + other.helped_chunks,
            polls: self.polls + other.polls,
            sleeps: self.sleeps + other.sleeps,
            slept_ns: self.slept_ns + other.slept_ns,
        }
    }
}
