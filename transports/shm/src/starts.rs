//! Counts the starts of a rank's collectives, for reports on a job. The rank's process writes the
//! counters, and its launcher reads them.
//!
//! Threat: the bytes of a rank on another host come over the network, so a name may hold any bytes.
//! All characters except letters, digits and hyphens are left out.
#![allow(unsafe_code)] // only `unsafe impl SharedWords`

use goal_sync::SharedWords;
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of entries in a rank's table. Once all other entries are taken, the last one counts
/// all further starts.
pub(crate) const STARTS: usize = 40;
/// The number of words that hold a name in the table.
const NAME_WORDS: usize = 3;
/// The most bytes of a name that are kept in the table.
const NAME_BYTES: usize = NAME_WORDS * size_of::<u64>();

/// A collective that a rank has started, by one algorithm.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Started {
    /// The name of the collective.
    pub collective: String,
    /// The name of the algorithm.
    pub algorithm: String,
    /// The bytes of a block; `None` if blocks differ.
    pub block: Option<u64>,
    /// The number of starts.
    pub starts: u64,
}

/// An entry of a rank's table.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct Entry {
    starts: AtomicU64,
    /// The bytes of a block, plus 1; 0 if blocks differ.
    block: AtomicU64,
    collective: [AtomicU64; NAME_WORDS],
    algorithm: [AtomicU64; NAME_WORDS],
}

/// The table of a rank.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Starts([Entry; STARTS]);

// SAFETY: repr(C), atomics only, aligned to 64.
unsafe impl SharedWords for Starts {}

fn words(name: &str) -> [u64; NAME_WORDS] {
    let mut bytes = [0; NAME_BYTES];
    let len = name.len().min(NAME_BYTES);
    bytes[..len].copy_from_slice(&name.as_bytes()[..len]);
    let mut words = [0; NAME_WORDS];
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    words
}

fn text(words: &[AtomicU64; NAME_WORDS]) -> String {
    let bytes = words.iter().flat_map(|word| word.load(Ordering::Relaxed).to_le_bytes());
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
    bytes.take_while(|&byte| byte != 0).filter(is_part).map(char::from).collect()
}

impl Starts {
    /// Returns the counter of a collective by an algorithm. Threads of a process must not call this
    /// at the same time. If the table is full, returns the last entry's counter, which counts all
    /// other collectives.
    pub(crate) fn counter(
        &self,
        collective: &str,
        algorithm: &str,
        block: Option<u64>,
    ) -> &AtomicU64 {
        let block = block.map_or(0, |bytes| bytes.saturating_add(1));
        let names = [words(collective), words(algorithm)];
        let (last, entries) = self.0.split_last().expect("there are several");
        for entry in entries {
            let of = [&entry.collective, &entry.algorithm]
                .map(|name| name.each_ref().map(|word| word.load(Ordering::Relaxed)));
            if of == names && entry.block.load(Ordering::Relaxed) == block {
                return &entry.starts;
            }
            if of[0][0] == 0 {
                entry.fill(names, block);
                return &entry.starts;
            }
        }
        last.fill([words("others"), words("")], 0);
        &last.starts
    }

    /// Returns the collectives that the rank has started, with the number of starts of each.
    pub(crate) fn all(&self) -> Vec<Started> {
        let entries = self.0.iter().map(|entry| Started {
            collective: text(&entry.collective),
            algorithm: text(&entry.algorithm),
            block: entry.block.load(Ordering::Relaxed).checked_sub(1),
            starts: entry.starts.load(Ordering::Relaxed),
        });
        entries.filter(|entry| entry.starts > 0).collect()
    }
}

impl Entry {
    fn fill(&self, [collective, algorithm]: [[u64; NAME_WORDS]; 2], block: u64) {
        self.block.store(block, Ordering::Relaxed);
        let names = [(&self.collective, collective), (&self.algorithm, algorithm)];
        for (name, words) in names {
            for (word, value) in name.iter().zip(words) {
                word.store(value, Ordering::Relaxed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn empty() -> Starts {
        Starts(std::array::from_fn(|_| Entry::default()))
    }

    fn start(starts: &Starts, collective: &str, algorithm: &str, block: Option<u64>) {
        starts.counter(collective, algorithm, block).fetch_add(1, Ordering::Relaxed);
    }

    #[test]
    fn the_same_collective_has_one_entry() {
        let starts = empty();
        for block in [Some(0), None, Some(8), Some(0)] {
            start(&starts, "neighbor-allgather", "n-way-dissemination", block);
        }
        starts.counter("barrier", "tree", Some(0));
        let told: Vec<(Option<u64>, u64)> =
            starts.all().iter().map(|entry| (entry.block, entry.starts)).collect();
        assert_eq!(told, [(Some(0), 2), (None, 1), (Some(8), 1)]);
        let first = &starts.all()[0];
        assert_eq!(first.collective, "neighbor-allgather");
        assert_eq!(first.algorithm, "n-way-dissemination");
    }

    #[test]
    fn a_full_table_counts_the_others_together() {
        let starts = empty();
        for block in 0..100 {
            start(&starts, "bcast", "linear", Some(block));
        }
        let all = starts.all();
        assert_eq!(all.len(), STARTS);
        let last = all.last().unwrap();
        assert_eq!((last.collective.as_str(), last.starts), ("others", 100 - STARTS as u64 + 1));
        assert_eq!(all.iter().map(|entry| entry.starts).sum::<u64>(), 100);
    }

    #[test]
    fn names_hold_no_other_bytes() {
        let starts = empty();
        start(&starts, "a\x1b[2J\u{e9}b", "c d\n", None);
        let all = starts.all();
        assert_eq!((all[0].collective.as_str(), all[0].algorithm.as_str()), ("a2Jb", "cd"));
    }
}
