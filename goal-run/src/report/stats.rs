//! The counts of ranks as a table.

use super::duration;
use goal_shm::RankCounts;
use serde::Serialize;
use std::fmt::Write;

/// The counts of the ranks of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Stats {
    /// The counts of all ranks together.
    pub(super) all: RankCounts,
    /// The counts of each rank.
    pub(super) ranks: Vec<RankCounts>,
}

const TITLES: [&str; 19] = [
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
    "shared",
    "helped",
    "polls",
    "sleeps",
    "slept",
];

impl Stats {
    /// Creates the statistics from the counts of each rank.
    pub(super) fn new(ranks: Vec<RankCounts>) -> Self {
        let all = ranks.iter().fold(RankCounts::default(), RankCounts::and);
        Self { all, ranks }
    }

    /// Returns a table with a line for each rank and, if there are several, one for all. It has no
    /// line end.
    pub(super) fn table(&self) -> String {
        let mut rows = vec![TITLES.map(str::to_owned)];
        rows.extend(
            self.ranks.iter().enumerate().map(|(rank, counts)| row(rank.to_string(), counts)),
        );
        if self.ranks.len() > 1 {
            rows.push(row("all".to_owned(), &self.all));
        }
        let widths: [usize; TITLES.len()] = std::array::from_fn(|column| {
            rows.iter().map(|row| row[column].len()).max().unwrap_or(0)
        });
        let mut text = String::new();
        for row in &rows {
            for (column, cell) in row.iter().enumerate() {
                let gap = if column == 0 { "\n" } else { "  " };
                let _ = write!(text, "{gap}{cell:>width$}", width = widths[column]);
            }
        }
        text.split_off(1)
    }
}

fn row(name: String, counts: &RankCounts) -> [String; TITLES.len()] {
    let RankCounts { messages, bytes, eager, in_parts, .. } = *counts;
    let RankCounts { read_in_place, written_in_place, in_messages, .. } = *counts;
    let RankCounts { unexpected, unexpected_bytes_max, posted_max, kept_max, ready_max, .. } =
        *counts;
    let RankCounts { blocked_max, shared_chunks, helped_chunks, polls, sleeps, slept_ns, .. } =
        *counts;
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
    cells[TITLES.len() - 1] = duration(slept_ns);
    cells
}
