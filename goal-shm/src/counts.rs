//! What a rank counts, for those who ask how a job went.

use serde::Serialize;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// What a rank did, all instances together; in sums over ranks, maxima are the largest of a rank.
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
    /// Messages sent.
    pub messages: u64,
    /// Payload bytes sent.
    pub bytes: u64,
    /// Messages that left whole, with their envelope.
    pub eager: u64,
    /// Messages that left in parts, without waiting for their receive.
    pub in_parts: u64,
    /// Messages that waited for their receive, whose rank then read them where they lay.
    pub read_in_place: u64,
    /// Messages that waited for their receive and then left in messages.
    pub in_messages: u64,
    /// Messages that came before their receive was posted.
    pub unexpected: u64,
    /// Most bytes kept of these at a time, with what it takes to keep them.
    pub unexpected_bytes_max: u64,
    /// Most receives posted at a time that no message had met.
    pub posted_max: u64,
    /// Most messages there at a time that were not delivered yet.
    pub kept_max: u64,
    /// Most actions ready at a time, when it was an instance's turn.
    pub ready_max: u64,
    /// Most messages to one rank at a time that waited for room.
    pub blocked_max: u64,
    /// Chunks of operations that others could take a part of.
    pub shared_chunks: u64,
    /// Of these, those that others did.
    pub helped_chunks: u64,
    /// Polls of the engine.
    pub polls: u64,
    /// Times that the rank slept as there was nothing to do.
    pub sleeps: u64,
    /// Nanoseconds that it slept.
    pub slept_ns: u64,
}

impl RankCounts {
    /// Adds what another rank did.
    #[must_use]
    pub fn and(self, other: &Self) -> Self {
        Self {
            messages: self.messages + other.messages,
            bytes: self.bytes.saturating_add(other.bytes),
            eager: self.eager + other.eager,
            in_parts: self.in_parts + other.in_parts,
            read_in_place: self.read_in_place + other.read_in_place,
            in_messages: self.in_messages + other.in_messages,
            unexpected: self.unexpected + other.unexpected,
            unexpected_bytes_max: self.unexpected_bytes_max.max(other.unexpected_bytes_max),
            posted_max: self.posted_max.max(other.posted_max),
            kept_max: self.kept_max.max(other.kept_max),
            ready_max: self.ready_max.max(other.ready_max),
            blocked_max: self.blocked_max.max(other.blocked_max),
            shared_chunks: self.shared_chunks + other.shared_chunks,
            helped_chunks: self.helped_chunks + other.helped_chunks,
            polls: self.polls + other.polls,
            sleeps: self.sleeps + other.sleeps,
            slept_ns: self.slept_ns + other.slept_ns,
        }
    }
}
