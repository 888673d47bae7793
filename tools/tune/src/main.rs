//! `goal-tune`: measures algorithms of collectives on the ranks that it is started on, or
//! parameters of transports in jobs that it starts. Writes a table of decisions. It also compares
//! `libgoal-mpi.so` with the MPI library. `goal-run tune -n 4 -o table.json` starts it.

mod measure;
mod mpi;
mod noise;
mod rules;
mod transport;

use clap::Parser;
use goal::{CollectiveKind, Group};
use goal_collectives::Table;
use indicatif::{ProgressBar, ProgressStyle};
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Measures the algorithms of collectives on these ranks, and writes a table of decisions
///
/// Start it as `goal-run tune -n RANKS -o table.json`. Programs use the table if GOAL_TABLE is its
/// path. What it does not decide, the thresholds of publications do.
#[derive(Parser)]
#[command(name = "goal-tune", version)]
struct Arguments {
    /// Collectives to measure, all if left out
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = kind)]
    collectives: Vec<CollectiveKind>,
    /// Search parameters of transports instead: the eager limit, the rings and, with --interface
    /// behind a last --, the bursts to other hosts
    #[arg(long, conflicts_with = "collectives", requires = "launcher")]
    transport: bool,
    /// Find the blocks of collectives that libgoal-mpi.so should run as schedules instead, with the
    /// MPI library that this file is built for. Programs use the table if GOALMPI_RANGES is @ and
    /// its path
    #[arg(long, value_name = "FILE", conflicts_with_all = ["collectives", "transport", "bytes", "time"], requires = "launcher")]
    mpi: Option<PathBuf>,
    /// The compiler of the MPI library
    #[arg(long, value_name = "FILE", default_value = "mpicc", requires = "mpi")]
    mpicc: OsString,
    /// The launcher of the MPI library and its options
    #[arg(long, value_name = "COMMAND", default_value = "mpirun", requires = "mpi")]
    mpirun: String,
    /// Sizes of a block, in bytes [default: 8,128,2048,16384,65536,524288; of transports
    /// 512,8192,32768,131072]
    #[arg(long, value_name = "BYTES", value_delimiter = ',', value_parser = clap::value_parser!(u64).range(8..=1 << 30))]
    bytes: Vec<u64>,
    /// Time for an algorithm at a size, in milliseconds; of transports for a pattern at a size in
    /// each job [default: 40; of transports 20]
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=60_000))]
    time: Option<u64>,
    /// File for the table; without it, the standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Rounds of jobs in which settings of transports, or schedules and MPI, are compared
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(3..=1000))]
    rounds: u16,
    /// The launcher of jobs, which goal-run tune gives
    #[arg(long, value_name = "FILE", hide = true, requires = "ranks")]
    launcher: Option<PathBuf>,
    /// The ranks of jobs, which goal-run tune gives
    #[arg(long, value_name = "N", hide = true)]
    ranks: Option<u32>,
    /// Measure the transports of this job, as a rank of it
    #[arg(long, hide = true)]
    probe: bool,
    /// Options of goal-run for the jobs that compare settings of transports
    #[arg(last = true, value_name = "OPTIONS", requires = "transport")]
    job: Vec<OsString>,
}

/// The default sizes in bytes of blocks, and of messages when transports are measured.
const BLOCKS: [u64; 6] = [8, 128, 2048, 16384, 65536, 524_288];
const MESSAGES: [u64; 4] = [512, 8192, 32768, 131_072];
/// The default milliseconds for an algorithm at a size, and for a pattern of messages at a size.
const ALGORITHM_MS: u64 = 40;
const PATTERN_MS: u64 = 20;

fn kind(name: &str) -> Result<CollectiveKind, String> {
    let known = CollectiveKind::ALL.into_iter().filter(|kind| !kind.has_neighbors());
    let names: Vec<&str> = known.clone().map(CollectiveKind::name).collect();
    known
        .into_iter()
        .find(|kind| kind.name() == name)
        .ok_or_else(|| format!("there is no collective {name}: they are {}", names.join(", ")))
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match (arguments.probe, arguments.transport) {
        _ if arguments.mpi.is_some() => tune_mpi(&arguments),
        (true, _) => transport::probe(&sizes(&arguments, &MESSAGES), time(&arguments, PATTERN_MS)),
        (false, true) => tune_transport(&arguments),
        (false, false) => tune(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_broken_pipe(error.as_ref()) => ExitCode::SUCCESS,
        Err(error) => {
            // If standard error can't be written, there is nowhere else to report.
            let _ = writeln!(io::stderr(), "goal-tune: {error}");
            ExitCode::from(2)
        }
    }
}

/// Returns true if the reader of the output has closed it. This is no failure.
fn is_broken_pipe(error: &(dyn std::error::Error + 'static)) -> bool {
    let error = error.downcast_ref::<io::Error>();
    error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

fn sizes(arguments: &Arguments, default: &[u64]) -> Vec<u64> {
    let mut sizes = arguments.bytes.clone();
    if sizes.is_empty() {
        sizes = default.to_vec();
    }
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

fn time(arguments: &Arguments, default_ms: u64) -> Duration {
    Duration::from_millis(arguments.time.unwrap_or(default_ms))
}

fn style() -> ProgressStyle {
    ProgressStyle::with_template("{bar:40} {pos}/{len} {eta} {msg}").expect("a template")
}

/// Writes a table to the output file of the arguments, or to standard output.
fn write(arguments: &Arguments, table: &Table) -> Result<(), Box<dyn std::error::Error>> {
    let mut text = serde_json::to_string_pretty(table)?;
    text.push('\n');
    write_text(arguments, &text)
}

fn write_text(arguments: &Arguments, text: &str) -> Result<(), Box<dyn std::error::Error>> {
    match &arguments.output {
        Some(path) => {
            std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        None => io::stdout().write_all(text.as_bytes())?,
    }
    Ok(())
}

fn tune_mpi(arguments: &Arguments) -> Result<(), Box<dyn std::error::Error>> {
    let search = mpi::Search {
        library: arguments.mpi.clone().unwrap_or_default(),
        mpicc: arguments.mpicc.clone(),
        mpirun: arguments.mpirun.clone(),
        ranks: arguments.ranks.unwrap_or(2),
        rounds: arguments.rounds.into(),
        bar: ProgressBar::new(0).with_style(style()),
    };
    write_text(arguments, &search.run()?)
}

fn tune_transport(arguments: &Arguments) -> Result<(), Box<dyn std::error::Error>> {
    let mut table = transport::table(arguments.output.as_deref())?;
    let search = transport::Search {
        launcher: arguments.launcher.clone().unwrap_or_else(|| "goal-run".into()),
        ranks: arguments.ranks.unwrap_or(2),
        sizes: sizes(arguments, &MESSAGES),
        time: time(arguments, PATTERN_MS),
        rounds: arguments.rounds.into(),
        options: arguments.job.clone(),
        bar: ProgressBar::new(0).with_style(style()),
    };
    let text = search.run(&mut table)?;
    write(arguments, &table)?;
    Ok(io::stderr().write_all(text.as_bytes())?)
}

fn tune(arguments: &Arguments) -> Result<(), Box<dyn std::error::Error>> {
    let group = Group::init()?;
    let kinds: Vec<CollectiveKind> = match arguments.collectives.as_slice() {
        [] => CollectiveKind::ALL.into_iter().filter(|kind| !kind.has_neighbors()).collect(),
        some => some.to_vec(),
    };
    let sizes = sizes(arguments, &BLOCKS);
    let mut points = Vec::new();
    for &kind in &kinds {
        let sizes = if kind == CollectiveKind::Barrier { &sizes[..1] } else { &sizes };
        for &bytes in sizes {
            points.extend(measure::candidates(group, kind, bytes));
        }
    }
    let is_root = group.rank() == 0;
    let bar = if is_root { ProgressBar::new(points.len() as u64) } else { ProgressBar::hidden() };
    bar.set_style(style());
    let time = time(arguments, ALGORITHM_MS);
    let mut measured = Vec::new();
    for point in points {
        bar.set_message(format!("{} {} {} B", point.kind, point.algorithm, point.bytes));
        measured.push(measure::measure(group, point, time)?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    if is_root {
        let table = rules::table(group.size(), &measured, time.as_millis() as u64);
        // Parameters of transports that are already in the output file stay in it.
        let before = transport::table(arguments.output.as_deref()).ok();
        let transports = before.and_then(|before| before.transports);
        write(arguments, &Table { transports, ..table })?;
        write!(io::stderr(), "{}", rules::summary(group.size(), &measured))?;
    }
    Ok(group.finalize()?)
}
