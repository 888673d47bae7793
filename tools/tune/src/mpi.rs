//! Finds the blocks of collectives that `libgoal-mpi.so` should run as schedules. Runs a program of
//! MPI alone and under the library, one job after the other, and compares the times.
//!
//! The program is compiled by the `mpicc` that built the library. In each round a job of MPI alone
//! comes before and after the job of schedules. So the difference of the first two is noise.
//!
//! Threats: the launcher and the compiler are programs that the user names, and run with the rights
//! of the user. What they print is text for numbers, and a wrong line is an error.

use crate::noise::Rounds;
use indicatif::ProgressBar;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

type Failure = Box<dyn std::error::Error>;

/// The program of MPI.
const PROGRAM: &str = include_str!("latency.c");
/// The names of the operations, as in `GOALMPI_RANGES`.
const OPERATIONS: [&str; 7] =
    ["barrier", "bcast", "reduce", "allreduce", "gather", "allgather", "alltoall"];

/// A search for the blocks that run as schedules.
pub(crate) struct Search {
    /// The path of `libgoal-mpi.so`.
    pub(crate) library: PathBuf,
    pub(crate) mpicc: OsString,
    /// The launcher of the MPI library with its options, between spaces.
    pub(crate) mpirun: String,
    pub(crate) ranks: u32,
    pub(crate) rounds: usize,
    pub(crate) bar: ProgressBar,
}

/// A form of an operation at one size, and its times in microseconds.
#[derive(Debug, PartialEq)]
struct Time {
    name: String,
    bytes: u64,
    us: f64,
}

/// A form of an operation at one size in all rounds.
#[derive(Debug, Default)]
struct Point {
    name: String,
    bytes: u64,
    rounds: Rounds,
}

impl Search {
    /// Measures, and returns the table as a text.
    ///
    /// # Errors
    /// The program can't be compiled, a job failed, or the library ran no schedule.
    pub(crate) fn run(&self) -> Result<String, Failure> {
        if self.ranks < 2 {
            return Err("collectives are between ranks: give -n 2 or more".into());
        }
        // The jobs may run in another folder.
        let library = self.library.canonicalize();
        let library = library.map_err(|error| format!("{}: {error}", self.library.display()))?;
        let folder = tempfile::tempdir()?;
        let program = self.compile(folder.path())?;
        self.bar.set_length(3 * self.rounds as u64);
        let (mut points, mut version) = (Vec::new(), String::new());
        for _ in 0..self.rounds {
            let begin = self.job(&program, None)?;
            let schedules = self.job(&program, Some(&library))?;
            let end = self.job(&program, None)?;
            version.clone_from(&begin.0);
            add(&mut points, &begin.1, &schedules.1, &end.1)?;
        }
        self.bar.finish_and_clear();
        Ok(self.text(&version, &points))
    }

    fn compile(&self, folder: &Path) -> Result<PathBuf, Failure> {
        let (source, program) = (folder.join("latency.c"), folder.join("latency"));
        std::fs::write(&source, PROGRAM)?;
        let mut command = Command::new(&self.mpicc);
        let output = command.arg("-O2").arg(source).arg("-o").arg(&program).output();
        let named = |why: String| format!("{}: {why}", self.mpicc.display());
        let output = output.map_err(|error| named(error.to_string()))?;
        if !output.status.success() {
            return Err(named(String::from_utf8_lossy(&output.stderr).into_owned()).into());
        }
        Ok(program)
    }

    /// Runs a job, under `library` unless it is `None`. Returns the version of the MPI library, and
    /// the times.
    fn job(&self, program: &Path, library: Option<&Path>) -> Result<(String, Vec<Time>), Failure> {
        let mut words = self.mpirun.split_whitespace();
        let mut command = Command::new(words.next().ok_or("--mpirun is empty")?);
        command.args(words).args(["-n", &self.ranks.to_string(), "env"]);
        if let Some(library) = library {
            command.arg(format!("LD_PRELOAD={}", library.display()));
            command.args(["GOALMPI=1", "GOALMPI_RANGES=all=on", "GOALMPI_REPORT=1"]);
        }
        let output = command.arg(program).output();
        let output = output.map_err(|error| format!("{}: {error}", self.mpirun))?;
        let said = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            return Err(format!("a job ended with {}: {}", output.status, said.trim_end()).into());
        }
        if library.is_some() && !said.contains(" as schedules") {
            return Err(format!("the library ran no schedule: {}", said.trim_end()).into());
        }
        self.bar.inc(1);
        parse(&String::from_utf8_lossy(&output.stdout))
    }

    /// Returns the table: the times as comments, and the entries of `GOALMPI_RANGES`.
    fn text(&self, version: &str, points: &[Point]) -> String {
        let mut text = format!(
            "# {version}: goal-tune --mpi on {} ranks of a host, {} rounds. A block runs as a schedule where\n\
             # that took less time in three rounds of four, by more than two jobs of MPI usually differ.\n\
             # Operation, bytes, microseconds of MPI, microseconds of schedules:\n",
            self.ranks, self.rounds
        );
        for Point { name, bytes, rounds } in points {
            let mpi = rounds.current.iter().map(|[begin, end]| (begin + end) / 2.0);
            let (mpi, ours) = (middle(mpi), middle(rounds.other.iter().copied()));
            let _ = writeln!(text, "# {name} {bytes} {mpi:.3} {ours:.3}");
        }
        text.push_str("all=off\n");
        for operation in OPERATIONS {
            // The first name stands for all forms, and the others replace a part.
            let forms =
                [operation.to_owned(), format!("i{operation}"), format!("{operation}_init")];
            for form in forms {
                let of: Vec<&Point> = points.iter().filter(|point| point.name == form).collect();
                if !of.is_empty() {
                    let _ = writeln!(text, "{form}={}", ranges(&of));
                }
            }
        }
        text
    }
}

/// Returns the median of logarithms of times as a time.
fn middle(times: impl Iterator<Item = f64>) -> f64 {
    let mut times: Vec<f64> = times.collect();
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).map_or(0.0, |time| time.exp())
}

/// Adds the times of a round to the points.
///
/// # Errors
/// The jobs measured different operations.
fn add(
    points: &mut Vec<Point>,
    begin: &[Time],
    schedules: &[Time],
    end: &[Time],
) -> Result<(), Failure> {
    if points.is_empty() {
        let empty =
            |time: &Time| Point { name: time.name.clone(), bytes: time.bytes, ..Point::default() };
        points.extend(begin.iter().map(empty));
    }
    for times in [begin, schedules, end] {
        let is_same = |(time, point): (&Time, &Point)| {
            (time.name.as_str(), time.bytes) == (point.name.as_str(), point.bytes)
        };
        if times.len() != points.len() || !times.iter().zip(&*points).all(is_same) {
            return Err("two jobs measured different operations".into());
        }
    }
    for (at, point) in points.iter_mut().enumerate() {
        point.rounds.current.push([begin[at].us.ln(), end[at].us.ln()]);
        point.rounds.other.push(schedules[at].us.ln());
    }
    Ok(())
}

/// Returns the ranges of one form: from the first to the last of successive sizes at which
/// schedules are faster. The largest size stands for larger ones, the smallest for smaller ones.
fn ranges(points: &[&Point]) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut begin = None;
    for (at, point) in points.iter().enumerate() {
        if !point.rounds.is_mostly_better() {
            begin = None;
            continue;
        }
        let is_new = begin.is_none();
        let from = *begin.get_or_insert(if at == 0 { 0 } else { point.bytes });
        let to = if at + 1 == points.len() { String::new() } else { point.bytes.to_string() };
        if !is_new {
            parts.pop();
        }
        parts.push(format!("{from}-{to}"));
    }
    match parts.as_slice() {
        [] => "off".to_owned(),
        [all] if all == "0-" => "on".to_owned(),
        some => some.join("+"),
    }
}

/// Reads what the program printed.
///
/// # Errors
/// A line has no name, size and time.
fn parse(text: &str) -> Result<(String, Vec<Time>), Failure> {
    let mut lines = text.lines();
    let version = lines.next().unwrap_or_default().to_owned();
    let time = |line: &str| -> Option<Time> {
        let mut fields = line.split(',');
        let name = fields.next()?.to_owned();
        let (bytes, us) = (fields.next()?.parse().ok()?, fields.next()?.parse::<f64>().ok()?);
        (us.is_finite() && us >= 0.0).then(|| Time { name, bytes, us: us.max(1e-4) })
    };
    let times = lines
        .map(|line| time(line).ok_or_else(|| format!("a job printed '{line}' in place of a time")))
        .collect::<Result<Vec<Time>, String>>()?;
    Ok((version, times))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(of: &[(&str, u64, f64)]) -> Vec<Time> {
        of.iter().map(|&(name, bytes, us)| Time { name: name.to_owned(), bytes, us }).collect()
    }

    /// Measures 4 sizes of an operation, whose schedules take these parts of the time of MPI.
    fn found(parts: [f64; 4]) -> String {
        let mpi = [4, 16, 64, 256].map(|bytes| ("bcast", bytes, 1.0));
        let mut points = Vec::new();
        for noise in [1.0, 1.01, 0.99] {
            let at = |at: usize| ("bcast", mpi[at].1, parts[at]);
            let end = mpi.map(|(name, bytes, us)| (name, bytes, us * noise));
            let schedules = times(&[at(0), at(1), at(2), at(3)]);
            add(&mut points, &times(&mpi), &schedules, &times(&end)).unwrap();
        }
        ranges(&points.iter().collect::<Vec<_>>())
    }

    #[test]
    fn ranges_lie_between_sizes_at_which_schedules_are_faster() {
        assert_eq!(found([0.5; 4]), "on");
        assert_eq!(found([1.5; 4]), "off");
        assert_eq!(found([0.5, 0.5, 1.5, 0.5]), "0-16+256-");
        assert_eq!(found([1.5, 0.5, 0.5, 1.5]), "16-64");
        assert_eq!(found([0.995, 0.5, 1.5, 0.995]), "16-16", "less than the noise");
    }

    #[test]
    fn wrong_lines_are_refused() {
        let (version, read) = parse("Some MPI 1.2\nbcast,4,0.5\nibarrier,0,1\n").unwrap();
        assert_eq!(version, "Some MPI 1.2");
        assert_eq!(read, times(&[("bcast", 4, 0.5), ("ibarrier", 0, 1.0)]));
        for wrong in ["bcast,4", "bcast,-4,1", "bcast,4,x", "bcast,4,NaN", "", "bcast,4,-1"] {
            assert!(parse(&format!("MPI\n{wrong}\n")).is_err(), "{wrong}");
        }
        let (one, other) = (times(&[("bcast", 4, 1.0)]), times(&[("bcast", 8, 1.0)]));
        assert!(add(&mut Vec::new(), &one, &other, &one).is_err());
        assert!(add(&mut Vec::new(), &one, &[], &one).is_err());
    }
}
