//! What a rank tells of what it counted.

use goal_engine::{Depths, Stats};
use goal_shm::RankCounts;

/// The counts of an engine; `slept` says how often its rank slept, and how many nanoseconds.
pub(crate) fn counts(stats: &Stats, depths: Depths, slept: (u64, u64)) -> RankCounts {
    RankCounts {
        messages: stats.messages,
        bytes: stats.bytes,
        eager: stats.messages - stats.in_parts - stats.requests,
        in_parts: stats.in_parts,
        read_in_place: stats.read_in_place,
        in_messages: stats.requests - stats.read_in_place,
        unexpected: stats.unexpected,
        unexpected_bytes_max: stats.unexpected_max,
        posted_max: depths.posted,
        kept_max: depths.kept,
        ready_max: stats.ready_max,
        blocked_max: depths.blocked,
        shared_chunks: stats.shared_chunks,
        helped_chunks: stats.helped_chunks,
        polls: stats.polls,
        sleeps: slept.0,
        slept_ns: slept.1,
    }
}
