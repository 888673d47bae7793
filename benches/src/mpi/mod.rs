//! Operations between processes on this machine beside those of MPI libraries, as the thesis
//! measures them (6.5): a barrier, the same for both sides, before everything that is timed; the
//! mean over the ranks; the median over the runs, which alternate. Operands are written before an
//! operation and results are read after it.

mod limits;
mod operands;
mod plan;
mod rank;
mod replay;
mod report;
mod samples;
mod schedules;

pub(crate) use rank::{Args as RankArgs, run as run_rank};
pub(crate) use schedules::Operation;

use crate::job::{Job, Page, crowded, list, processors};
use crate::library::{self, Libraries, Peer};
use crate::overlap::bytes;
use clap::Args as ClapArgs;
use goal_run::job::Mode;
use plan::Plan;
use replay::Replay;
use samples::{By, FAILED, HEADER, LINE, LINE_AFTER, Memory, Row, Sample, WAYS, moved};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

/// `mpi`'s arguments.
#[derive(ClapArgs)]
pub(crate) struct Args {
    #[command(flatten)]
    libraries: Libraries,
    /// Operations
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = Operation::ALL)]
    operation: Vec<Operation>,
    /// Numbers of ranks
    #[arg(long, value_delimiter = ',', default_values_t = [2, 4],
        value_parser = clap::value_parser!(u32).range(1..=RANKS_MAX))]
    ranks: Vec<u32>,
    /// Bytes that each rank gives, to each other rank in an alltoall; multiples of 4
    #[arg(long, value_delimiter = ',', value_parser = bytes,
        default_values_t = [8, 1 << 10, 64 << 10, 1 << 20, 4 << 20])]
    size: Vec<u64>,
    /// Replay the messages of this program too, as a row with the name of the file; its
    /// computations are left out
    #[arg(long, value_name = "PROGRAM")]
    replay: Option<PathBuf>,
    /// Kinds of memory
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = Memory::ALL)]
    memory: Vec<Memory>,
    /// Mode in which the schedules make progress
    #[arg(long, value_enum, default_value_t)]
    progress: Mode,
    /// Counted runs
    #[arg(long, default_value_t = 7)]
    runs: usize,
    /// Append every sample there, as lines of memory, ranks, operation, bytes, contestant, run, and
    /// nanoseconds of the first time and of later ones
    #[arg(long)]
    csv: Option<PathBuf>,
    /// Measure nothing: print the tables of raw data
    #[arg(long, value_name = "CSV")]
    from: Vec<PathBuf>,
}

/// The most ranks, for which `meeting.h` has marks.
const RANKS_MAX: i64 = 200;
/// The largest row of a halo exchange, so that the parts of two ranks fit a cache of 32 MiB.
const HALO_BYTES_MAX: u64 = 1 << 20;
/// A run during which the system moves the processors apart does not count, and is repeated. There
/// are at most this many times as many runs as shall count.
const RUNS_FACTOR: usize = 3;

pub(crate) fn run(args: &Args) -> io::Result<()> {
    if !args.from.is_empty() {
        report::print(&samples::read(&args.from)?);
        return Ok(());
    }
    if let Some(path) = &args.csv {
        append(path, &[])?;
    }
    let folder = tempfile::tempdir()?;
    let bench = Bench::new(args, folder.path())?;
    let cases = bench.cases(args);
    let mut samples = Vec::new();
    for (index, &case) in cases.iter().enumerate() {
        // A line that is drawn again and again would take time from the ranks.
        if io::stderr().is_terminal() {
            eprintln!("{} of {}: {}", index + 1, cases.len(), bench.row(case, 0));
        }
        let of_case = bench.run(case, args, samples.is_empty())?;
        if let Some(path) = &args.csv {
            append(path, &of_case)?;
        }
        samples.extend(of_case);
    }
    report::print(&samples);
    Ok(())
}

/// Appends samples to a file of raw data.
fn append(path: &Path, samples: &[Sample]) -> io::Result<()> {
    let append = || {
        let mut file = File::options().append(true).create(true).open(path)?;
        let mut text = String::new();
        if file.metadata()?.len() == 0 {
            text = format!("{HEADER}\n");
        }
        for sample in samples {
            text.push_str(&format!("{sample}\n"));
        }
        file.write_all(text.as_bytes())
    };
    append().map_err(|error| samples::named(path, &error))
}

/// An operation that is measured at all sizes in turn.
#[derive(Debug, Clone, Copy)]
struct Case {
    memory: Memory,
    ranks: u32,
    operation: Operation,
}

/// A program to replay.
struct Replayed {
    path: PathBuf,
    program: Replay,
    /// The file from which the peer's program reads it.
    table: PathBuf,
}

/// The programs of the contestants, compiled.
struct Bench {
    peers: Vec<Peer>,
    machine: Option<PathBuf>,
    replay: Option<Replayed>,
}

impl Bench {
    fn new(args: &Args, folder: &Path) -> io::Result<Self> {
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
        Ok(Self { peers, machine: library::build_machine(folder)?, replay: replay.transpose()? })
    }

    /// Returns all operations that are measured, in order.
    fn cases(&self, args: &Args) -> Vec<Case> {
        let of_memory = |&memory: &Memory| {
            let of_ranks = move |&ranks: &u32| {
                let operations = args.operation.iter().filter(move |of| of.allows(ranks));
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
    fn row(&self, case: Case, bytes: u64) -> Row {
        let Case { memory, ranks, operation } = case;
        let replay = self.replay.as_ref().filter(|_| operation == Operation::Replay);
        let stem = replay.and_then(|replay| replay.path.file_stem());
        let name = stem.map(|stem| stem.to_string_lossy().replace(',', "-"));
        let operation = name.unwrap_or_else(|| operation.name().to_owned());
        Row { memory, ranks, operation, bytes }
    }

    /// Runs all contestants in turn. The first round is not counted if `is_first`, in which their
    /// files come into the page cache.
    fn run(&self, case: Case, args: &Args, is_first: bool) -> io::Result<Vec<Sample>> {
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
            for &bytes in &sizes {
                let [first, later] = self.run_schedule(case, bytes, args.progress)?;
                round.push(Sample {
                    row: self.row(case, bytes),
                    by: By::Schedule,
                    run,
                    first,
                    later,
                });
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
        let arguments =
            [what, format!("--bytes={bytes}"), format!("--progress={}", progress.name())];
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

    /// Returns the samples of all ways to call the operation. If the program fails, each way is
    /// called in processes of its own, so that only one of them is lost. Adds that one to `failed`,
    /// whose ways are not tried again.
    fn run_peer(
        &self,
        peer: &Peer,
        case: Case,
        sizes: &[u64],
        failed: &mut BTreeSet<(String, &'static str)>,
    ) -> Vec<Sample> {
        let name = &peer.library.name;
        let mut ways = WAYS.to_vec();
        ways.retain(|&way| !failed.contains(&(name.clone(), way)));
        let mut samples = self.run_ways(peer, case, sizes, &ways).unwrap_or_else(|_| {
            let mut samples = Vec::new();
            for &way in &ways {
                match self.run_ways(peer, case, sizes, &[way]) {
                    Ok(of_way) => samples.extend(of_way),
                    Err(error) => {
                        eprintln!("{way} {}: {error}", case.operation.name());
                        failed.insert((name.clone(), way));
                    }
                }
            }
            samples
        });
        let lost = failed.iter().filter(|(library, _)| library == name);
        samples.extend(lost.flat_map(|&(_, way)| self.failed(peer, case, sizes, way)));
        samples
    }

    /// Returns the samples of a way whose program has failed: without a number.
    fn failed(&self, peer: &Peer, case: Case, sizes: &[u64], way: &str) -> Vec<Sample> {
        let library = peer.library.name.clone();
        let by = By::Peer { library, way: way.to_owned(), kind: FAILED.to_owned() };
        let [first, later] = [f64::NAN; 2];
        let sample =
            |&bytes| Sample { row: self.row(case, bytes), by: by.clone(), run: 0, first, later };
        sizes.iter().map(sample).collect()
    }

    /// Returns the samples of these ways. Those with wrong results have no numbers as times.
    fn run_ways(
        &self,
        peer: &Peer,
        case: Case,
        sizes: &[u64],
        ways: &[&str],
    ) -> io::Result<Vec<Sample>> {
        let Case { memory, ranks, operation } = case;
        let page = Page::new()?;
        let processors = processors(ranks)?;
        let path = page.path().display().to_string();
        let mut arguments = vec![operation.peer_name().to_owned(), path, list(&processors)];
        arguments.extend([memory.kinds().to_owned(), ways.join(",")]);
        let table = self.replay.as_ref().map(|replay| replay.table.display().to_string());
        arguments.push(table.unwrap_or_else(|| "-".to_owned()));
        arguments.extend(sizes.iter().map(|&bytes| Plan::new(operation, ranks, bytes).case(bytes)));
        let library = &peer.library.name;
        let sample = |line: &String| {
            let words: Vec<&str> = line.split(' ').collect();
            let of = |way: &str, kind: &str| By::Peer {
                library: library.clone(),
                way: way.to_owned(),
                kind: kind.to_owned(),
            };
            let garbled = || io::Error::other(format!("{library}: {line}"));
            let number = |text: &str| text.parse::<f64>().map_err(|_| garbled());
            let (bytes, by, [first, later]) = match words[..] {
                [bytes, kind, way, "wrong"] => (bytes, of(way, kind), [f64::NAN; 2]),
                [bytes, kind, way, first, later] => {
                    (bytes, of(way, kind), [number(first)?, number(later)?])
                }
                _ => return Err(garbled()),
            };
            let row = self.row(case, bytes.parse().map_err(|_| garbled())?);
            Ok(Sample { row, by, run: 0, first, later })
        };
        peer.run_bound(&processors, &arguments)?.iter().map(sample).collect()
    }
}
