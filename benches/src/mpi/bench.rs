//! The contestants of a row, which are run in turn.

use super::args::{Args, HALO_BYTES_MAX, RANKS_MAX, RUNS_FACTOR};
use super::limits;
use super::replay::Replay;
use super::samples::{By, IN_A_ROW, LINE, LINE_AFTER, Memory, Row, Sample, moved};
use super::schedules::Operation;
use crate::job::{Job, crowded, processors};
use crate::library::{self, Peer, goal, goal::Ours};
use goal_job::Mode;
use goal_job::Named;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// An operation that is measured at all sizes in turn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Case {
    pub(super) memory: Memory,
    pub(super) ranks: u32,
    pub(super) operation: Operation,
}

/// A program to replay.
pub(super) struct Replayed {
    path: PathBuf,
    program: Replay,
    /// The file from which the peer's program reads it.
    pub(super) table: PathBuf,
}

/// The programs of the contestants, compiled.
pub(super) struct Bench {
    peers: Vec<Peer>,
    /// The program of the C library, if it is asked for.
    pub(super) library: Option<goal::Program>,
    schedules: bool,
    /// Counted rounds of a run at most.
    pub(super) rounds: u32,
    /// The number of times that an operation is performed without a barrier between, if it is.
    pub(super) in_a_row: Option<u32>,
    machine: Option<PathBuf>,
    pub(super) replay: Option<Replayed>,
}

impl Bench {
    pub(super) fn new(args: &Args, folder: &Path) -> io::Result<Self> {
        let peers = args.libraries.build(&library::OPERATIONS, folder)?;
        let replay = args.replay.as_ref().map(|path| {
            let (program, table) = (Replay::load(path)?, folder.join("replay"));
            if i64::from(program.ranks()) > RANKS_MAX {
                let message = format!("{}: more than {RANKS_MAX} ranks", path.display());
                return Err(io::Error::other(message));
            }
            std::fs::write(&table, program.table())?;
            Ok::<_, io::Error>(Replayed { path: path.clone(), program, table })
        });
        let library = match args.ours.contains(&Ours::Libgoal) {
            true => args.table.build(&library::OPERATIONS, folder)?,
            false => None,
        };
        let machine = library::build_machine(folder)?;
        let schedules = args.ours.contains(&Ours::Schedule) && args.in_a_row.is_none();
        Ok(Self {
            peers,
            library,
            schedules,
            rounds: args.rounds,
            in_a_row: args.in_a_row,
            machine,
            replay: replay.transpose()?,
        })
    }

    /// Returns all operations that are measured, in order.
    pub(super) fn cases(&self, args: &Args) -> Vec<Case> {
        let of_memory = |&memory: &Memory| {
            let of_ranks = move |&ranks: &u32| {
                let operations = args.operation.iter().filter(move |of| {
                    of.allows(ranks) && (self.in_a_row.is_none() || !of.is_repeated())
                });
                operations.map(move |&operation| Case { memory, ranks, operation })
            };
            let replay = self.replay.iter().map(move |replay| Case {
                memory,
                ranks: replay.program.ranks(),
                operation: Operation::Replay,
            });
            args.ranks.iter().flat_map(of_ranks).chain(replay)
        };
        args.memory.iter().flat_map(of_memory).collect()
    }

    /// Returns the row of a size. That of a replay has the name of its file.
    pub(super) fn row(&self, case: Case, bytes: u64) -> Row {
        let Case { memory, ranks, operation } = case;
        let replay = self.replay.as_ref().filter(|_| operation == Operation::Replay);
        let stem = replay.and_then(|replay| replay.path.file_stem());
        let name = stem.map(|stem| stem.to_string_lossy().replace(',', "-"));
        let name = name.unwrap_or_else(|| operation.name().to_owned());
        let operation = match self.in_a_row {
            Some(times) => format!("{name}{IN_A_ROW}{times}"),
            None => name,
        };
        Row { memory, ranks, operation, bytes }
    }

    /// Runs all contestants in turn. The first round is not counted if `is_first`, in which their
    /// files come into the page cache.
    pub(super) fn run(&self, case: Case, args: &Args, is_first: bool) -> io::Result<Vec<Sample>> {
        let Case { ranks, operation, .. } = case;
        let fits = |bytes: &u64| operation != Operation::Halo || *bytes <= HALO_BYTES_MAX;
        let sizes: Vec<u64> = match operation {
            Operation::Barrier | Operation::Replay => vec![0],
            _ => args.size.iter().copied().filter(fits).collect(),
        };
        let mut samples = Vec::new();
        // Libraries, and the ways in which their programs failed.
        let mut failed = BTreeSet::new();
        for run in usize::from(!is_first)..=RUNS_FACTOR * args.runs {
            // The least time of a line decides, so an earlier run may no longer count.
            if run > args.runs && run - 1 - moved(samples.iter()).len() >= args.runs {
                break;
            }
            let mut round = self.machine(case, &sizes)?;
            for peer in &self.peers {
                if peer.library.can_run(ranks) {
                    round.extend(self.run_peer(peer, case, &sizes, &mut failed));
                }
            }
            for &bytes in sizes.iter().filter(|_| self.schedules) {
                let [first, later] = self.run_schedule(case, bytes, args.progress)?;
                round.push(Sample {
                    row: self.row(case, bytes),
                    by: By::Schedule,
                    run,
                    first,
                    later,
                });
            }
            if let Some(library) = self.library.as_ref().filter(|_| operation.is_in_library()) {
                round.extend(self.run_library(library, case, &sizes, args.progress)?);
            }
            let after = self.machine(case, &sizes[..1])?.into_iter();
            let is_line = |sample: &Sample| sample.by == By::Machine(LINE.to_owned());
            let named = |of: Sample| Sample { by: By::Machine(LINE_AFTER.to_owned()), ..of };
            round.extend(after.filter(is_line).map(named).take(1));
            if run > 0 {
                samples.extend(round.into_iter().map(|sample| sample.of_run(run)));
            }
        }
        Ok(samples)
    }

    /// Measures the works of two processors without a library.
    fn machine(&self, case: Case, sizes: &[u64]) -> io::Result<Vec<Sample>> {
        let processors = processors(case.ranks)?;
        let (Some(program), 2, false) = (&self.machine, case.ranks, crowded(case.ranks)) else {
            return Ok(Vec::new());
        };
        let parts = sizes.iter().flat_map(|&bytes| limits::sizes(case.operation, bytes));
        let mut sizes: Vec<u64> = parts.collect();
        sizes.sort_unstable();
        sizes.dedup();
        let mut command = Command::new(program);
        let numbers = processors.iter().map(|&cpu| u64::from(cpu)).chain(sizes);
        let output = command.args(numbers.map(|number| number.to_string())).output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let sample = |line: &str| {
            let [bytes, work, ns] = line.split(' ').collect::<Vec<_>>()[..] else { return None };
            let (bytes, ns) = (bytes.parse().ok()?, ns.parse().ok()?);
            let by = By::Machine(work.to_owned());
            Some(Sample { row: self.row(case, bytes), by, run: 0, first: ns, later: ns })
        };
        let samples: Option<Vec<_>> = text.lines().map(sample).collect();
        samples.ok_or_else(|| io::Error::other(text.into_owned()))
    }

    /// Returns the nanoseconds of an operation, the first time and later, as the mean over the
    /// ranks; for a ping-pong, half of rank 0's time.
    fn run_schedule(&self, case: Case, bytes: u64, progress: Mode) -> io::Result<[f64; 2]> {
        let Case { ranks, operation, .. } = case;
        let replay = self.replay.as_ref().filter(|_| operation == Operation::Replay);
        let what = match replay {
            Some(replay) => format!("--replay={}", replay.path.display()),
            None => format!("--operation={}", operation.name()),
        };
        let arguments = [
            what,
            format!("--bytes={bytes}"),
            format!("--progress={}", progress.name()),
            format!("--rounds={}", self.rounds),
        ];
        let job = match replay {
            Some(replay) => Job::new(&replay.program.program)?,
            None => Job::new(&operation.program(ranks, bytes))?,
        };
        let printed = job.run("mpi-rank", &arguments)?;
        let times = |text: &String| {
            let times = text.split_whitespace().map(str::parse).collect::<Result<Vec<f64>, _>>();
            <[f64; 2]>::try_from(times.unwrap_or_default())
                .map_err(|_| io::Error::other(text.clone()))
        };
        let times = printed.iter().map(times).collect::<io::Result<Vec<_>>>()?;
        Ok([0, 1].map(|which| match operation {
            Operation::Pingpong => times[0][which] / 2.0,
            _ => times.iter().map(|times| times[which]).sum::<f64>() / f64::from(ranks),
        }))
    }
}
