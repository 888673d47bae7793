//! Counts the collectives that the ranks of a program started, by algorithm and size.

use goal_shm::Started;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// A collective with one algorithm and one size, as a row of the report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct OfCollective {
    collective: String,
    algorithm: String,
    /// The bytes of a block. `None` if the blocks have different sizes.
    block_bytes: Option<u64>,
    /// The number of ranks that started this collective.
    ranks: u32,
    /// The number of starts, summed over all ranks.
    starts: u64,
}

/// Returns the sums of what the ranks have started, sorted by name, algorithm and size.
pub(super) fn collectives(ranks: &[Vec<Started>]) -> Vec<OfCollective> {
    let mut all: BTreeMap<(&str, &str, Option<u64>), (u32, u64)> = BTreeMap::new();
    for started in ranks.iter().flatten() {
        let key = (started.collective.as_str(), started.algorithm.as_str(), started.block);
        let (ranks, starts) = all.entry(key).or_default();
        *ranks = ranks.saturating_add(1);
        // Saturating, because another host may have sent any number.
        *starts = starts.saturating_add(started.starts);
    }
    let entries = all.into_iter().map(|((collective, algorithm, block_bytes), (ranks, starts))| {
        let (collective, algorithm) = (collective.to_owned(), algorithm.to_owned());
        OfCollective { collective, algorithm, block_bytes, ranks, starts }
    });
    entries.collect()
}

impl OfCollective {
    /// Returns the rows of the table, with a row of titles first.
    pub(super) fn rows(all: &[Self]) -> Vec<[String; 5]> {
        let titles = ["collective", "algorithm", "block", "ranks", "starts"].map(str::to_owned);
        let rows = all.iter().map(|one| {
            let block = one.block_bytes.map_or("-".to_owned(), |bytes| bytes.to_string());
            let (ranks, starts) = (one.ranks.to_string(), one.starts.to_string());
            [one.collective.clone(), one.algorithm.clone(), block, ranks, starts]
        });
        std::iter::once(titles).chain(rows).collect()
    }
}

/// Returns rows as columns that are aligned to the right. A line end precedes each line.
pub(super) fn columns<const N: usize>(rows: &[[String; N]]) -> String {
    let widths: [usize; N] =
        std::array::from_fn(|column| rows.iter().map(|row| row[column].len()).max().unwrap_or(0));
    let mut text = String::new();
    for row in rows {
        for (column, cell) in row.iter().enumerate() {
            let gap = if column == 0 { "\n" } else { "  " };
            let _ = write!(text, "{gap}{cell:>width$}", width = widths[column]);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started(collective: &str, block: Option<u64>, starts: u64) -> Started {
        let (collective, algorithm) = (collective.to_owned(), "linear".to_owned());
        Started { collective, algorithm, block, starts }
    }

    #[test]
    fn ranks_are_added_up() {
        let first = vec![started("scatter", None, 2), started("bcast", Some(800), u64::MAX)];
        let second = vec![started("bcast", Some(800), 7), started("bcast", Some(8), 1)];
        let all = collectives(&[first, second, vec![]]);
        let text = columns(&OfCollective::rows(&all));
        let wanted = "
collective  algorithm  block  ranks                starts
     bcast     linear      8      1                     1
     bcast     linear    800      2  18446744073709551615
   scatter     linear      -      1                     2";
        assert_eq!(text, wanted);
    }
}
