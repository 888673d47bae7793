//! The raw data of a run: a line of text for each sample.

use crate::library::goal::LIBGOAL;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The memory that operands and results lie in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Memory {
    /// Memory of a process; that of schedules lies in the segment as goal-run lays it out
    Malloc,
    /// Memory that the library allocates and ranks may share; that of schedules lies in the segment
    Shared,
}

impl Memory {
    pub(crate) const ALL: [Memory; 2] = [Memory::Malloc, Memory::Shared];

    fn name(self) -> &'static str {
        match self {
            Memory::Malloc => "malloc",
            Memory::Shared => "shared",
        }
    }

    /// Returns the kinds of memory that a peer's program tries.
    pub(crate) fn kinds(self) -> &'static str {
        match self {
            Memory::Malloc => "malloc",
            Memory::Shared => "alloc,window",
        }
    }

    /// Returns the kinds of memory that a program of libgoal tries.
    pub(crate) fn kinds_of_library(self) -> &'static str {
        match self {
            Memory::Malloc => "malloc",
            Memory::Shared => "alloc",
        }
    }
}

/// A row of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) memory: Memory,
    pub(crate) ranks: u32,
    pub(crate) operation: String,
    pub(crate) bytes: u64,
}

/// The row without its size, as messages name it.
impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { memory, ranks, operation, bytes: _ } = self;
        write!(f, "{operation}, {ranks} ranks, memory: {}", memory.name())
    }
}

/// The ways in which MPI offers an operation, as the peer's program names them.
pub(crate) const WAYS: [&str; 3] = ["blocking", "nonblocking", "persistent"];

/// The kind of memory in the sample of a way whose program failed, with all kinds.
pub(crate) const FAILED: &str = "any";

/// The contestants of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum By {
    /// A schedule of this project.
    Schedule,
    /// A call of this project's C library, in a kind of memory. The variant is empty for the
    /// library as it is.
    Library { variant: String, way: String, kind: String },
    /// A call of an MPI library, in a kind of memory.
    Peer { library: String, way: String, kind: String },
    /// A work of the machine, in a block of the row's bytes.
    Machine(String),
}

impl By {
    /// Returns the contestant of a way and a kind of memory of an MPI library.
    pub(crate) fn peer(library: &str) -> impl Fn(&str, &str) -> By {
        |way, kind| {
            let library = library.to_owned();
            By::Peer { library, way: way.to_owned(), kind: kind.to_owned() }
        }
    }

    /// Returns the contestant of a way and a kind of memory of a variant of this project's library.
    pub(crate) fn library(variant: &str) -> impl Fn(&str, &str) -> By {
        |way, kind| {
            let variant = variant.to_owned();
            By::Library { variant, way: way.to_owned(), kind: kind.to_owned() }
        }
    }
}

impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            By::Schedule => f.write_str("schedule"),
            By::Library { variant, way, kind } if variant.is_empty() => {
                write!(f, "{LIBGOAL}:{way}:{kind}")
            }
            By::Library { variant, way, kind } => write!(f, "{LIBGOAL} {variant}:{way}:{kind}"),
            By::Peer { library, way, kind } => write!(f, "{library}:{way}:{kind}"),
            By::Machine(work) => write!(f, "machine:{work}"),
        }
    }
}

/// The figures of one contestant in one run, in nanoseconds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sample {
    pub(crate) row: Row,
    pub(crate) by: By,
    pub(crate) run: usize,
    /// Of the first time.
    pub(crate) first: f64,
    /// The mean of later times.
    pub(crate) later: f64,
    /// The mean of later times from the last rank's beginning to the last one's end. It is no
    /// number where nobody measured it.
    pub(crate) span: f64,
}

impl Sample {
    /// Returns the sample of a contestant that failed.
    pub(crate) fn without_time(row: Row, by: By) -> Self {
        let [first, later, span] = [f64::NAN; 3];
        Self { row, by, run: 0, first, later, span }
    }

    /// Returns the sample with the number of its run, and times as the raw data has them.
    pub(crate) fn of_run(self, run: usize) -> Self {
        let times = [self.first, self.later, self.span];
        let [first, later, span] = times.map(|ns| (ns * 10.0).round() / 10.0);
        Self { run, first, later, span, ..self }
    }
}

pub(crate) const HEADER: &str =
    "memory,ranks,operation,bytes,contestant,run,first_ns,later_ns,span_ns";
/// The beginning of every header of raw data. Earlier headers had no span.
const HEADER_BEGIN: &str = "memory,ranks,";
/// The beginning of a note in raw data.
const NOTE: &str = "# ";

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { row: Row { memory, ranks, operation, bytes }, by, run, .. } = self;
        let (memory, Self { first, later, span, .. }) = (memory.name(), self);
        write!(f, "{memory},{ranks},{operation},{bytes},{by},{run},{first:.1},{later:.1},{span:.1}")
    }
}

impl FromStr for Sample {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let parse = || {
            let cells: Vec<&str> = line.split(',').collect();
            let [memory, ranks, operation, bytes, by, run, first, later, ref span @ ..] = cells[..]
            else {
                return None;
            };
            let span = match *span {
                [] => "NaN",
                [span] => span,
                _ => return None,
            };
            let memory = Memory::ALL.into_iter().find(|of| of.name() == memory)?;
            let by = match by.split(':').collect::<Vec<_>>()[..] {
                ["schedule"] => By::Schedule,
                ["machine", work] => By::Machine(work.to_owned()),
                [library, way, kind] if library.starts_with(LIBGOAL) => {
                    By::library(library[LIBGOAL.len()..].trim_start())(way, kind)
                }
                [library, way, kind] => By::Peer {
                    library: library.to_owned(),
                    way: way.to_owned(),
                    kind: kind.to_owned(),
                },
                _ => return None,
            };
            let (ranks, bytes) = (ranks.parse().ok()?, bytes.parse().ok()?);
            let row = Row { memory, ranks, operation: operation.to_owned(), bytes };
            let [first, later, span] = [first, later, span].map(|ns| ns.parse().ok());
            let (first, later, span) = (first?, later?, span?);
            Some(Self { row, by, run: run.parse().ok()?, first, later, span })
        };
        parse().ok_or_else(|| format!("`{line}` is no sample"))
    }
}

/// The machine's work to hand over a cache line. It is measured before and after all contestants of
/// a run.
pub(crate) const LINE: &str = "line";
/// The name of [`LINE`] when it is measured again, after all contestants of a run.
pub(crate) const LINE_AFTER: &str = "line after";

/// A line that takes this many times the least time is between processors that were moved apart.
const MOVED: f64 = 2.0;

/// Stands between an operation and the number of times that it was performed in a row.
pub(super) const IN_A_ROW: &str = " x ";

/// Returns the runs of one operation during which the system had moved the two processors apart. In
/// such a run, a cache line took more than twice as long as in the best run.
pub(crate) fn moved<'a>(samples: impl Iterator<Item = &'a Sample> + Clone) -> BTreeSet<usize> {
    let is_line =
        |of: &&Sample| matches!(&of.by, By::Machine(work) if work == LINE || work == LINE_AFTER);
    let lines = samples.filter(is_line);
    let least = lines.clone().map(|of| of.later).fold(f64::MAX, f64::min);
    lines.filter(|of| of.later > MOVED * least).map(|of| of.run).collect()
}

/// Reads the samples of files, and their notes without those that occurred before. The runs of an
/// operation are numbered from 1 over all files, and over all measurements that were appended to
/// one.
///
/// # Errors
/// The system's error, or a line is garbled.
pub(crate) fn read(paths: &[PathBuf]) -> io::Result<(Vec<Sample>, Vec<String>)> {
    let (mut samples, mut notes) = (Vec::new(), Vec::new());
    for path in paths {
        let text = std::fs::read_to_string(path).map_err(|error| named(path, &error))?;
        for line in text.lines().filter(|&line| !line.starts_with(HEADER_BEGIN)) {
            match line.strip_prefix(NOTE).map(str::to_owned) {
                Some(note) if notes.contains(&note) => {}
                Some(note) => notes.push(note),
                None => {
                    let garbled = |why: String| named(path, &io::Error::other(why));
                    samples.push(line.parse().map_err(garbled)?);
                }
            }
        }
    }
    renumber(&mut samples);
    Ok((samples, notes))
}

/// Appends samples, and notes before them, to a file of raw data.
///
/// # Errors
/// The system's error, with the name of the file.
pub(crate) fn append(path: &Path, samples: &[Sample], notes: &[String]) -> io::Result<()> {
    let append = || {
        let mut file = File::options().append(true).create(true).open(path)?;
        let mut text = String::new();
        if file.metadata()?.len() == 0 {
            text = format!("{HEADER}\n");
        }
        notes.iter().for_each(|note| text.push_str(&format!("{NOTE}{note}\n")));
        for sample in samples {
            text.push_str(&format!("{sample}\n"));
        }
        file.write_all(text.as_bytes())
    };
    append().map_err(|error| named(path, &error))
}

/// Returns an error with the name of its file.
pub(super) fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// Numbers the runs of each operation in their order. A run ends before a sample of another number,
/// and before a second one of the same row and contestant.
fn renumber(samples: &mut [Sample]) {
    // The original and the new number of the last run of each operation, and its samples so far.
    type Last = (usize, usize, BTreeSet<(u64, String)>);
    let mut lasts: BTreeMap<(&'static str, u32, String), Last> = BTreeMap::new();
    for Sample { row, by, run, .. } in samples {
        let operation = (row.memory.name(), row.ranks, row.operation.clone());
        let (original, number, seen) = lasts.entry(operation).or_default();
        let key = (row.bytes, by.to_string());
        if *number == 0 || original != run || seen.contains(&key) {
            (*original, *number) = (*run, *number + 1);
            seen.clear();
        }
        seen.insert(key);
        *run = *number;
    }
}

#[cfg(test)]
mod tests {
    use super::{HEADER, Sample, append, moved, read};

    #[test]
    fn text_and_back() {
        for line in [
            "malloc,2,barrier,0,schedule,3,1200.0,130.5,NaN",
            "shared,4,bcast late 10 us,8,Open MPI 5:nonblocking:window,1,1.0,2.0,3.0",
            "shared,2,bcast,8,machine:line,1,1.0,2.0,2.0",
            "shared,2,bcast,8,libgoal:persistent:alloc,1,1.0,2.0,3.5",
            "shared,2,bcast,8,libgoal no links:persistent:alloc,1,1.0,2.0,3.5",
        ] {
            let sample: Sample = line.parse().expect("a sample");
            assert_eq!(sample.to_string(), line);
            assert_eq!(line.split(',').count(), HEADER.split(',').count());
        }
        let before: Sample =
            "malloc,2,barrier,0,schedule,3,1200.0,130.5".parse().expect("a sample");
        assert!(before.span.is_nan());
        assert!("malloc,2,barrier,0,schedule,3,1200.0".parse::<Sample>().is_err());
        assert!("heap,2,barrier,0,schedule,3,1,2".parse::<Sample>().is_err());
    }

    #[test]
    fn runs_between_processors_that_were_moved_apart() {
        let lines =
            ["line,1,1,30.0", "line after,1,1,59.0", "line,2,1,35.0", "line after,2,1,250.0"];
        let sample = |line: &str| format!("malloc,2,bcast,8,machine:{line}").parse::<Sample>();
        let samples = lines.map(|line| sample(line).expect("a sample"));
        assert_eq!(moved(samples.iter()), [2].into());
    }

    #[test]
    fn runs_of_several_measurements_are_numbered_on() {
        let folder = tempfile::tempdir().expect("a folder");
        let [one, two] = ["1.csv", "2.csv"].map(|name| folder.path().join(name));
        let of = |run: usize, ns: usize| {
            format!("malloc,2,bcast,8,schedule,{run},1,{ns}\nshared,2,bcast,8,schedule,1,1,{ns}\n")
        };
        // Two measurements in one file, the second of one run, and another in a second file.
        std::fs::write(&one, [HEADER, "\n", &of(1, 10), &of(2, 20), &of(1, 30)].concat())
            .expect("written");
        let more =
            of(1, 40).lines().map(|line| line.parse().expect("a sample")).collect::<Vec<_>>();
        append(&two, &[], &["Open MPI 5: version 5.0.11".to_owned()]).expect("written");
        append(&two, &more, &["Open MPI 5: version 5.0.11".to_owned()]).expect("written");
        let (samples, notes) = read(&[one, two]).expect("samples");
        assert_eq!(notes, ["Open MPI 5: version 5.0.11"]);
        let runs = samples.iter().map(|sample| (sample.run, sample.later as usize));
        let wanted = [1, 2, 3, 4].map(|run| (run, run * 10));
        assert_eq!(runs.collect::<Vec<_>>(), wanted.map(|of| [of, of]).concat());
    }
}
