//! The arguments of `benches/c/operations.c`, and the lines that it prints.

use super::Operation;
use super::manner::Manner;
use super::plan::Plan;
use super::samples::{By, Row, Sample};
use crate::job::{Page, list};
use std::io;
use std::path::Path;

/// The calls of an operation that a run of the program times.
pub(crate) struct Calls<'a> {
    pub(crate) operation: Operation,
    /// The processor of each rank.
    pub(crate) processors: &'a [u32],
    pub(crate) sizes: &'a [u64],
    /// Counted rounds at most.
    pub(crate) rounds: u32,
    pub(crate) manner: Manner,
    /// The file of a replay.
    pub(crate) table: Option<&'a Path>,
}

impl Calls<'_> {
    fn plan(&self, bytes: u64) -> Plan {
        let ranks = self.processors.len() as u32;
        Plan::new(self.operation, ranks, bytes).in_manner(&self.manner).at_most(self.rounds)
    }

    /// Returns the arguments for these kinds of memory and ways to call the operation.
    pub(crate) fn arguments(&self, page: &Page, kinds: &str, ways: &[&str]) -> Vec<String> {
        let path = page.path().display().to_string();
        let mut arguments =
            vec![self.operation.peer_name().to_owned(), path, list(self.processors)];
        arguments.extend([kinds.to_owned(), ways.join(",")]);
        arguments
            .push(self.table.map_or_else(|| "-".to_owned(), |path| path.display().to_string()));
        arguments.push(self.manner.words());
        let case = |&bytes: &u64| self.plan(bytes).case(bytes);
        arguments.extend(self.sizes.iter().map(case));
        arguments
    }

    /// Returns the number of operations that one way in one kind of memory performs.
    pub(crate) fn operations(&self) -> u64 {
        let of = |&bytes: &u64| {
            let Plan { rounds, times, .. } = self.plan(bytes);
            u64::from(rounds) * u64::from(self.manner.in_a_row.unwrap_or(times))
        };
        self.sizes.iter().map(of).sum()
    }
}

/// Returns the samples in the lines of a program. `by` names the contestant of a way and a kind of
/// memory. Samples with wrong results have no numbers as times.
///
/// # Errors
/// A line that no such program prints.
pub(crate) fn parsed(
    lines: &[String],
    library: &str,
    row: impl Fn(u64) -> Row,
    by: impl Fn(&str, &str) -> By,
) -> io::Result<Vec<Sample>> {
    let sample = |line: &String| {
        let words: Vec<&str> = line.split(' ').collect();
        let garbled = || io::Error::other(format!("{library}: {line}"));
        let number = |text: &str| text.parse::<f64>().map_err(|_| garbled());
        let (bytes, by, [first, later, span]) = match words[..] {
            [bytes, kind, way, "wrong"] => (bytes, by(way, kind), [f64::NAN; 3]),
            [bytes, kind, way, first, later, span] => {
                (bytes, by(way, kind), [number(first)?, number(later)?, number(span)?])
            }
            _ => return Err(garbled()),
        };
        let row = row(bytes.parse().map_err(|_| garbled())?);
        Ok(Sample { row, by, run: 0, first, later, span })
    };
    lines.iter().map(sample).collect()
}

/// Returns the samples if all results were right.
///
/// # Errors
/// The first one that was wrong.
pub(crate) fn right(samples: Vec<Sample>) -> io::Result<Vec<Sample>> {
    match samples.iter().find(|sample| sample.later.is_nan()) {
        Some(Sample { row, by, .. }) => {
            let text = format!("{by}: wrong result of {row}, {} bytes", row.bytes);
            Err(io::Error::other(text))
        }
        None => Ok(samples),
    }
}
