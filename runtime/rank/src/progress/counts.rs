//! Collects the counts of a rank for the reports of its launcher.

use crate::pause::Slept;
use goal_engine::{Depths, Stats};
use goal_shm::RankCounts;

/// Returns the counts of a rank's engine and of the rank's sleeps. The counts of the transports
/// stay 0.
pub(super) fn counts(stats: &Stats, depths: Depths, slept: Slept) -> RankCounts {
    RankCounts {
        messages: stats.messages,
        bytes: stats.bytes,
        eager: stats.messages - stats.in_parts - stats.requests,
        in_parts: stats.in_parts,
        read_in_place: stats.read_in_place,
        written_in_place: stats.put_in_place,
        in_messages: stats.requests - stats.read_in_place - stats.put_in_place,
        unexpected: stats.unexpected,
        unexpected_bytes_max: stats.unexpected_max,
        posted_max: depths.posted,
        kept_max: depths.kept,
        ready_max: stats.ready_max,
        blocked_max: depths.blocked,
        shared_chunks: stats.shared_chunks,
        helped_chunks: stats.helped_chunks,
        polls: stats.polls,
        sleeps: slept.sleeps,
        slept_ns: slept.ns,
        ..RankCounts::default()
    }
}
