//! Shows the counts of ranks, and the collectives that they started, as tables.

use super::duration;
use super::starts::{OfCollective, collectives, columns};
use crate::outcome::Outcome;
use goal_shm::RankCounts;
use serde::Serialize;
use std::fmt::Write;

/// The counts of the ranks of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Stats {
    /// The sums over all ranks.
    all: RankCounts,
    /// The counts of each rank.
    ranks: Vec<OfRank>,
    /// The collectives that the ranks of a program started. Absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    collectives: Vec<OfCollective>,
    /// The reason why the ranks of this host were not bound to processors. Absent if they were
    /// bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    unbound: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct OfRank {
    /// The processor to which the rank was bound. `None` if it was not bound.
    processor: Option<u32>,
    /// The number of bytes of its memory that the rank made resident before it started.
    prefaulted_bytes: u64,
    #[serde(flatten)]
    counts: RankCounts,
}

const TITLES: [&str; 23] = [
    "rank",
    "messages",
    "bytes",
    "eager",
    "in parts",
    "read in place",
    "written in place",
    "in messages",
    "unexpected",
    "kept bytes",
    "posted",
    "kept",
    "ready",
    "blocked",
    "fell back",
    "unreadable",
    "shared",
    "helped",
    "polls",
    "sleeps",
    "slept",
    "processor",
    "prefaulted",
];

impl Stats {
    /// Returns the counts of the ranks of a run.
    pub(super) fn new(outcome: &Outcome) -> Self {
        let counts = outcome.rank_counts();
        let all = counts.iter().fold(RankCounts::default(), RankCounts::and);
        let places = outcome.processors().into_iter().zip(outcome.prefaulted());
        let of_rank = |(counts, (processor, prefaulted_bytes))| OfRank {
            processor,
            prefaulted_bytes,
            counts,
        };
        let ranks = counts.into_iter().zip(places).map(of_rank).collect();
        let collectives = collectives(&outcome.rank_starts());
        Self { all, ranks, collectives, unbound: outcome.run.unbound.clone() }
    }

    /// Returns a table with a line for each rank. If there are several ranks, a last line has the
    /// sums. The text has no final line end.
    pub(super) fn table(&self) -> String {
        let mut rows = vec![TITLES.map(str::to_owned)];
        rows.extend(self.ranks.iter().enumerate().map(|(rank, of_rank)| {
            let processor = of_rank.processor.map_or("-".to_owned(), |number| number.to_string());
            row(rank.to_string(), &of_rank.counts, processor, of_rank.prefaulted_bytes)
        }));
        if self.ranks.len() > 1 {
            let prefaulted = self.ranks.iter().map(|of_rank| of_rank.prefaulted_bytes);
            // Saturating, because another host may have sent any number.
            let prefaulted = prefaulted.fold(0, u64::saturating_add);
            rows.push(row("all".to_owned(), &self.all, String::new(), prefaulted));
        }
        let mut text = columns(&rows);
        if !self.collectives.is_empty() {
            text.push_str(&columns(&OfCollective::rows(&self.collectives)));
        }
        if let Some(why) = &self.unbound {
            let _ = write!(text, "\nranks were not bound to processors: {why}");
        }
        text.split_off(1)
    }
}

fn row(
    name: String,
    counts: &RankCounts,
    processor: String,
    prefaulted: u64,
) -> [String; TITLES.len()] {
    let RankCounts { messages, bytes, eager, in_parts, .. } = *counts;
    let RankCounts { read_in_place, written_in_place, in_messages, .. } = *counts;
    let RankCounts { unexpected, unexpected_bytes_max, posted_max, kept_max, ready_max, .. } =
        *counts;
    let RankCounts {
        blocked_max,
        fallen_back,
        unreadable,
        shared_chunks,
        helped_chunks,
        polls,
        sleeps,
        slept_ns,
        ..
    } = *counts;
    let numbers = [
        messages,
        bytes,
        eager,
        in_parts,
        read_in_place,
        written_in_place,
        in_messages,
        unexpected,
        unexpected_bytes_max,
        posted_max,
        kept_max,
        ready_max,
        blocked_max,
        fallen_back,
        unreadable,
        shared_chunks,
        helped_chunks,
        polls,
        sleeps,
    ];
    let mut cells = std::array::from_fn(|_| String::new());
    cells[0] = name;
    for (cell, number) in cells[1..].iter_mut().zip(numbers) {
        *cell = number.to_string();
    }
    let last = [duration(slept_ns), processor, prefaulted.to_string()];
    cells[TITLES.len() - last.len()..].clone_from_slice(&last);
    cells
}
