//! The tables of a run.

mod interval;
mod library;

use super::Operation;
use super::limits::limit;
use super::manner::operation_of;
use super::samples::{By, FAILED, Memory, Row, Sample, moved};
use crate::measure::median;
use crate::table;
use std::collections::BTreeSet;

const HEADER: [&str; 13] = [
    "ranks",
    "operation",
    "bytes",
    "best peer",
    "its us",
    "least",
    "most",
    "schedule in segment us",
    "least",
    "most",
    "ratio",
    "limit us",
    "times it",
];

/// The columns that the table of first instances has too: all but those of limits.
const FIRST_COLUMNS: usize = HEADER.len() - 2;

/// Median, least and most of the runs in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Figures {
    pub(crate) median: f64,
    least: f64,
    most: f64,
}

impl Figures {
    fn from_values(values: impl Iterator<Item = f64> + Clone) -> Option<Self> {
        values.clone().next()?;
        if values.clone().any(f64::is_nan) {
            // One wrong result is enough.
            return Some(Self { median: f64::NAN, least: f64::NAN, most: f64::NAN });
        }
        let (least, most) = values
            .clone()
            .fold((f64::MAX, 0f64), |(least, most), ns| (least.min(ns), most.max(ns)));
        Some(Self { median: median(values), least, most })
    }

    /// Returns the cells of median, least and most.
    pub(crate) fn cells(this: Option<Self>) -> [String; 3] {
        let us = |value: fn(Self) -> f64| this.map_or("-".to_owned(), |this| us(value(this)));
        [us(|of| of.median), us(|of| of.least), us(|of| of.most)]
    }
}

fn us(ns: f64) -> String {
    if ns < 10_000.0 { format!("{:.3}", ns / 1000.0) } else { format!("{:.1}", ns / 1000.0) }
}

/// One of the times of a sample.
pub(crate) type Value = fn(&Sample) -> f64;

/// The samples of one row of a table.
pub(crate) struct Group<'a> {
    pub(crate) row: &'a Row,
    samples: Vec<&'a Sample>,
    /// All samples with the same memory, ranks and operation.
    alike: Vec<&'a Sample>,
}

impl Group<'_> {
    fn values(&self, by: &By, value: Value) -> impl Iterator<Item = f64> + Clone {
        let of = self.samples.iter().filter(move |sample| sample.by == *by);
        of.map(move |sample| value(sample))
    }

    fn figures(&self, by: &By, value: Value) -> Option<Figures> {
        Figures::from_values(self.values(by, value))
    }

    /// Returns the peer with the least median.
    fn best(&self, value: Value) -> Option<(&By, Figures)> {
        self.best_of(value, |by| matches!(by, By::Peer { .. }))
    }

    /// Returns the one of these contestants that has the least median.
    pub(crate) fn best_of(
        &self,
        value: Value,
        is_one: impl Fn(&By) -> bool,
    ) -> Option<(&By, Figures)> {
        let mut peers: Vec<&By> = self.samples.iter().map(|sample| &sample.by).collect();
        peers.retain(|by| is_one(by));
        peers.dedup();
        let figures = peers.into_iter().filter_map(|by| Some((by, self.figures(by, value)?)));
        let figures = figures.filter(|(_, figures)| !figures.median.is_nan());
        figures.min_by(|(_, x), (_, y)| x.median.total_cmp(&y.median))
    }

    /// Returns true if an instance has many steps.
    fn is_repeated(&self) -> bool {
        let name = operation_of(&self.row.operation);
        let named = |operation: &&Operation| operation.name() == name;
        // Whatever has another name is a replay.
        Operation::ALL.iter().find(named).is_none_or(|operation| operation.is_repeated())
    }

    /// Returns true if a schedule was measured, or no program in C at all.
    fn has_schedule(&self) -> bool {
        let is_library = |by: &By| matches!(by, By::Library { .. });
        let mut contestants = self.samples.iter().map(|sample| &sample.by);
        contestants.clone().any(|by| *by == By::Schedule) || !contestants.any(is_library)
    }

    fn limit(&self) -> Option<f64> {
        let work = |name: &str, bytes: u64| {
            let of_work = |sample: &&&Sample| {
                sample.row.bytes == bytes && matches!(&sample.by, By::Machine(work) if work == name)
            };
            let times = self.alike.iter().filter(of_work).map(|sample| sample.later);
            Figures::from_values(times).map(|figures| figures.median)
        };
        limit(&self.row.operation, self.row.bytes, work)
    }

    /// Returns the cells of the row in a table of these figures.
    fn cells(&self, value: Value, limit: Option<f64>) -> Vec<String> {
        let (best, ours) = (self.best(value), self.figures(&By::Schedule, value));
        let medians = best.as_ref().map(|(_, best)| best.median).zip(ours.map(|ours| ours.median));
        let mut cells = vec![
            self.row.ranks.to_string(),
            self.row.operation.clone(),
            self.row.bytes.to_string(),
            best.as_ref().map_or("-".to_owned(), |(by, _)| by.to_string().replace(':', " ")),
        ];
        cells.extend(Figures::cells(best.map(|(_, best)| best)));
        cells.extend(Figures::cells(ours));
        cells.push(medians.map_or("-".to_owned(), |(best, ours)| format!("{:.2}", ours / best)));
        cells.push(limit.map_or("-".to_owned(), us));
        cells.push(times(ours.map(|ours| ours.median), limit));
        cells
    }
}

/// Returns how many times a time is another one, as a cell.
fn times(of: Option<f64>, other: Option<f64>) -> String {
    let times = of.zip(other).map(|(of, other)| of / other).filter(|times| !times.is_nan());
    times.map_or("-".to_owned(), |times| format!("{times:.2}"))
}

/// Returns the samples that were taken with the same memory, ranks and operation, without the runs
/// during which the processors were moved apart. Their number comes with it.
fn alike<'a>(samples: &'a [Sample], row: &Row) -> (Vec<&'a Sample>, usize) {
    let key = |row: &Row| (row.memory, row.ranks, row.operation.clone());
    let of_key = samples.iter().filter(|sample| key(&sample.row) == key(row));
    let moved = moved(of_key.clone());
    (of_key.filter(|sample| !moved.contains(&sample.run)).collect(), moved.len())
}

/// Returns the samples of each row, in the order in which rows occur first.
pub(crate) fn groups(samples: &[Sample]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for sample in samples.iter().filter(|sample| !matches!(sample.by, By::Machine(_))) {
        match groups.iter_mut().find(|group| *group.row == sample.row) {
            Some(group) => group.samples.push(sample),
            None => {
                groups.push(Group { row: &sample.row, samples: vec![sample], alike: Vec::new() });
            }
        }
    }
    for group in &mut groups {
        group.alike = alike(samples, group.row).0;
        group
            .samples
            .retain(|sample| group.alike.iter().any(|other| std::ptr::eq(*other, *sample)));
        group.samples.sort_by_key(|sample| sample.by.to_string());
    }
    groups
}

fn title(memory: Memory) -> &'static str {
    match memory {
        Memory::Malloc => {
            "MPI: memory from malloc. Schedules: memory in the job's segment, as goal-run lays it out."
        }
        Memory::Shared => {
            "MPI: memory from MPI_Alloc_mem, or a window that the ranks share. Schedules: memory in the job's segment."
        }
    }
}

/// Returns notes on missing figures in the rows with this memory: calls with wrong results, and
/// libraries that did not run on a number of ranks.
fn notes(samples: &[Sample], memory: Memory) -> BTreeSet<String> {
    let mut notes = BTreeSet::new();
    let mut ranks = BTreeSet::new();
    let mut there = BTreeSet::new();
    let mut rows: Vec<&Row> = Vec::new();
    for Sample { row, .. } in samples.iter().filter(|of| of.row.memory == memory) {
        let is_same = |of: &&Row| of.ranks == row.ranks && of.operation == row.operation;
        if !rows.iter().any(is_same) {
            rows.push(row);
            let (Row { ranks, operation, .. }, (left, moved)) = (row, alike(samples, row));
            if moved > 0 && left.is_empty() {
                notes.insert(format!(
                    "{operation}, {ranks} ranks: no run counts: in each of the {moved} a line took twice its least time. Run this row again, or raise --runs."
                ));
            } else if moved > 0 {
                notes.insert(format!(
                    "{operation}, {ranks} ranks: {moved} runs are left out, in which a line took twice its least time."
                ));
            }
        }
    }
    for Sample { row, by, later, .. } in samples.iter().filter(|of| of.row.memory == memory) {
        ranks.insert(row.ranks);
        let By::Peer { library, way, kind } = by else { continue };
        there.insert((library, row.ranks));
        if later.is_nan() {
            let operation = &row.operation;
            let trouble = if kind == FAILED { "ended with an error" } else { "left wrong results" };
            notes.insert(format!("{library}: {way} {operation} {trouble} and is left out."));
        }
    }
    for (library, _) in &there {
        for &ranks in ranks.iter().filter(|&&ranks| !there.contains(&(library, ranks))) {
            notes.insert(format!(
                "{library}: left out with {ranks} ranks, since ranks that wait keep their processor."
            ));
        }
    }
    notes
}

/// Prints a table for each kind of memory, and one of first times. `contestants` are notes on their
/// versions and settings.
pub(crate) fn print(samples: &[Sample], contestants: &[String]) {
    let groups = groups(samples);
    for memory in Memory::ALL {
        let of_memory = || groups.iter().filter(|group| group.row.memory == memory);
        if of_memory().next().is_none() {
            continue;
        }
        let of_schedules = of_memory().filter(|group| group.has_schedule());
        let later = of_schedules.map(|group| group.cells(|sample| sample.later, group.limit()));
        let later: Vec<_> = later.collect();
        if !later.is_empty() {
            say!("\n{} Operands are written before and results read after.", title(memory));
            table::print(&HEADER, &later);
        }
        library::print(memory, &of_memory().collect::<Vec<_>>());
        notes(samples, memory).iter().for_each(|note| say!("{note}"));
        contestants.iter().for_each(|note| say!("{note}"));
        first_instances(&of_memory().filter(|group| group.is_repeated()).collect::<Vec<_>>());
    }
}

/// Prints the first instances of what takes many steps; the table before has later instances. Of
/// single operations that would be a table of how processes and connections start.
fn first_instances(groups: &[&Group<'_>]) {
    if groups.is_empty() {
        return;
    }
    say!("\nThe first instance, beside later ones.");
    let row = |group: &&Group<'_>| {
        let first: Value = |sample| sample.first;
        let later: Value = |sample| sample.later;
        let mut cells = group.cells(first, None);
        cells.truncate(FIRST_COLUMNS);
        let slower = |first: Option<Figures>, later: Option<Figures>| {
            let ratio = first.zip(later).map(|(first, later)| first.median / later.median);
            ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.2}"))
        };
        let figures = |by| (group.figures(by, first), group.figures(by, later));
        let (of_peer, later_of_peer) =
            group.best(first).map_or((None, None), |(by, _)| figures(by));
        let (ours, later_of_ours) = figures(&By::Schedule);
        cells.extend([slower(of_peer, later_of_peer), slower(ours, later_of_ours)]);
        cells
    };
    let mut header = HEADER[..FIRST_COLUMNS].to_vec();
    header.extend(["peer: of later", "schedule: of later"]);
    table::print(&header, &groups.iter().map(row).collect::<Vec<_>>());
}

#[cfg(test)]
mod tests {
    use super::{Memory, Sample, notes};

    #[test]
    fn a_row_without_a_run_that_counts_says_so() {
        let lines = [
            "schedule,1,1,1",
            "machine:line,1,1,30",
            "machine:line after,1,1,70",
            "v4:blocking:malloc,1,1,1",
        ];
        let sample = |line: &str| format!("malloc,2,barrier,0,{line}").parse::<Sample>();
        let samples = lines.map(|line| sample(line).expect("a sample"));
        let notes = notes(&samples, Memory::Malloc);
        assert!(notes.iter().any(|note| note.contains("no run counts")), "{notes:?}");
        assert!(notes.iter().any(|note| note.contains("--runs")), "{notes:?}");
    }
}
