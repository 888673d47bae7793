//! The contestants of a row, which are run in turn.

use super::args::{Args, RANKS_MAX, RUNS_FACTOR};
use super::limits;
use super::manner::Manner;
use super::operation::Operation;
use super::replay::Replay;
use super::samples::{By, LINE, LINE_AFTER, Memory, Row, Sample, moved};
use crate::job::{Job, crowded, processors};
use crate::library::{self, Peer, goal, goal::Ours};
use goal_job::Mode;
use goal_job::Named;
use goal_job::binding::num_processors;
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
    pub(super) manner: Manner,
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
    /// The program of the C library and its variants, if it is asked for.
    pub(super) library: Vec<goal::Program>,
    schedules: bool,
    /// Counted rounds of a run at most.
    pub(super) rounds: u32,
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
        let variants = |plain: &goal::Program| {
            let variants = args.variant.iter().map(|request| plain.variant(request));
            std::iter::once(Ok(plain.clone())).chain(variants).collect::<io::Result<Vec<_>>>()
        };
        let library = library.as_ref().map_or(Ok(Vec::new()), variants)?;
        let machine = library::build_machine(folder)?;
        let schedules = args.ours.contains(&Ours::Schedule);
        Ok(Self {
            peers,
            library,
            schedules,
            rounds: args.rounds,
            machine,
            replay: replay.transpose()?,
        })
    }

    /// Returns the versions and settings of the contestants, and the processor.
    pub(super) fn notes(&self) -> Vec<String> {
        let peers = self.peers.iter().map(|peer| peer.library.note());
        let variants = self.library.iter().skip(1).map(goal::Program::note);
        machine_notes().into_iter().chain(peers).chain(variants).collect()
    }

    /// Returns all operations that are measured, in order.
    pub(super) fn cases(&self, args: &Args) -> Vec<Case> {
        let mut cases = Vec::new();
        for &memory in &args.memory {
            for &ranks in &args.ranks {
                for &operation in args.operation.iter().filter(|of| of.allows(ranks)) {
                    let can = |manner: &Manner| {
                        let is_float = !manner.float64 || operation.is_reduction();
                        is_float
                            && (manner.is_plain() || !operation.is_repeated())
                            && (manner.in_a_row.or(manner.late_ns.map(|_| 1)).is_none()
                                || !operation.is_mix())
                            && (manner.late_ns.is_none() || ranks > 1 && !crowded(ranks))
                    };
                    let manners = args.manners().into_iter().filter(can);
                    cases.extend(manners.map(|manner| Case { memory, ranks, operation, manner }));
                }
            }
            cases.extend(self.replay.iter().map(|replay| Case {
                memory,
                ranks: replay.program.ranks(),
                operation: Operation::Replay,
                manner: Manner::default(),
            }));
        }
        cases
    }

    /// Returns the row of a size. That of a replay has the name of its file.
    pub(super) fn row(&self, case: Case, bytes: u64) -> Row {
        let Case { memory, ranks, operation, manner } = case;
        let replay = self.replay.as_ref().filter(|_| operation == Operation::Replay);
        let stem = replay.and_then(|replay| replay.path.file_stem());
        let name = stem.map(|stem| stem.to_string_lossy().replace(',', "-"));
        let name = name.unwrap_or_else(|| operation.name().to_owned());
        let operation = name + &manner.suffix();
        Row { memory, ranks, operation, bytes }
    }

    /// Runs all contestants in turn. The first round is not counted if `is_first`, in which their
    /// files come into the page cache.
    pub(super) fn run(&self, case: Case, args: &Args, is_first: bool) -> io::Result<Vec<Sample>> {
        let Case { ranks, operation, manner, .. } = case;
        let element = if manner.float64 { 8 } else { 4 };
        let fits = |bytes: &u64| operation.fits(*bytes, element);
        let sizes: Vec<u64> = match operation {
            Operation::Barrier | Operation::Mix | Operation::MixWorld | Operation::Replay => {
                vec![0]
            }
            _ => args.size.iter().copied().filter(fits).collect(),
        };
        if sizes.is_empty() {
            return Ok(Vec::new());
        }
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
            let has_schedules = self.schedules && manner.is_plain() && !operation.is_mix();
            let is_whole = |bytes: &&u64| {
                **bytes > 0 && bytes.is_multiple_of(4)
                    || operation == Operation::Barrier
                    || operation == Operation::Replay
            };
            for &bytes in sizes.iter().filter(|_| has_schedules).filter(is_whole) {
                let [first, later] = self.run_schedule(case, bytes, args.progress)?;
                round.push(Sample {
                    row: self.row(case, bytes),
                    by: By::Schedule,
                    run,
                    first,
                    later,
                    span: f64::NAN,
                });
            }
            for library in self.library.iter().filter(|_| operation.is_in_library()) {
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
            Some(Sample { row: self.row(case, bytes), by, run: 0, first: ns, later: ns, span: ns })
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

/// Returns the names of the processor and the kernel, and how the processor's clock is chosen.
fn machine_notes() -> Vec<String> {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let info = read("/proc/cpuinfo");
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or("unknown", |(_, name)| name);
    let kernel = read("/proc/sys/kernel/osrelease");
    let governor = read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    let governor = if governor.is_empty() { "unknown" } else { governor.trim() };
    vec![format!(
        "{model}, {} processors, kernel {}, governor {governor}",
        num_processors(),
        kernel.trim()
    )]
}
