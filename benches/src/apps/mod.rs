//! Measures applications in C that compute the same with libgoal and with MPI libraries: the
//! programs share all of the computation, and check their results themselves.

mod application;
mod report;

use crate::job::{crowded, processors};
use crate::library::goal::{LIBGOAL, Program, Table};
use crate::library::{Libraries, Peer};
use application::{Application, Size};
use clap::Args as ClapArgs;
use goal_job::Mode;
use goal_run::named;
use report::{HEADER, Sample};
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

/// `apps`'s arguments.
#[derive(ClapArgs)]
pub(crate) struct Args {
    #[command(flatten)]
    libraries: Libraries,
    #[command(flatten)]
    table: Table,
    /// Applications
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = Application::ALL)]
    application: Vec<Application>,
    /// Sizes of the problems, as in the NAS Parallel Benchmarks
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = Size::ALL)]
    class: Vec<Size>,
    /// Numbers of ranks
    #[arg(long, value_delimiter = ',', default_values_t = [2, 4],
        value_parser = clap::value_parser!(u32).range(1..=64))]
    ranks: Vec<u32>,
    /// Mode in which the schedules of libgoal make progress
    #[arg(long, value_parser = named::<Mode>(), default_value = "caller")]
    progress: Mode,
    /// Multiplies the number of iterations of each run
    #[arg(long, default_value_t = 1.0, value_parser = positive)]
    iterations: f64,
    /// Counted runs
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Write every run there, as lines of ranks, application, class, contestant, way, run and
    /// microseconds of an iteration
    #[arg(long)]
    csv: Option<PathBuf>,
}

fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| *number > 0.0 && number.is_finite());
    number.ok_or_else(|| "give a number above 0".to_owned())
}

pub(crate) fn run(args: &Args) -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let mut samples = Vec::new();
    for &application in &args.application {
        let mut contestants = contestants(args, application, folder.path())?;
        if contestants.is_empty() {
            return Err(io::Error::other("there is nothing to measure"));
        }
        for &ranks in &args.ranks {
            for &size in &args.class {
                let iterations = f64::from(application.iterations(size)) * args.iterations;
                let case = Case { ranks, size, iterations: iterations.ceil() as u32 };
                measure(args, application, case, &mut contestants, &mut samples)?;
            }
        }
    }
    say!("microseconds of an iteration, median of {} runs", args.runs);
    report::print(&samples);
    let Some(path) = &args.csv else { return Ok(()) };
    let mut csv = format!("{HEADER}\n");
    for sample in &samples {
        let _ = writeln!(csv, "{sample}");
    }
    std::fs::write(path, csv)
}

/// One cell of the measurement.
#[derive(Debug, Clone, Copy)]
struct Case {
    ranks: u32,
    size: Size,
    iterations: u32,
}

/// A program of an application.
enum Contestant {
    Ours(Program),
    /// A library with its way.
    Mpi(Peer, &'static str),
}

/// Compiles an application for all libraries.
fn contestants(
    args: &Args,
    application: Application,
    folder: &Path,
) -> io::Result<Vec<Contestant>> {
    let ours = args.table.build(&application.program(), folder)?;
    let mut contestants: Vec<_> = ours.map(Contestant::Ours).into_iter().collect();
    for (way, source) in application.ways() {
        let peers = args.libraries.build(&source, folder)?;
        contestants.extend(peers.into_iter().map(|peer| Contestant::Mpi(peer, way)));
    }
    Ok(contestants)
}

impl Contestant {
    fn can_run(&self, ranks: u32) -> bool {
        match self {
            Contestant::Ours(_) => true,
            Contestant::Mpi(peer, _) => peer.library.can_run(ranks),
        }
    }

    /// Returns the names of the library and of the way.
    fn names(&self) -> (&str, &'static str) {
        match self {
            Contestant::Ours(_) => (LIBGOAL, "prepared"),
            Contestant::Mpi(peer, way) => (&peer.library.name, way),
        }
    }

    /// Runs the program. Returns the microseconds of an iteration.
    fn time(&self, case: Case, progress: Mode) -> io::Result<f64> {
        let arguments = ["-t", "-n", &case.iterations.to_string(), case.size.name()];
        let arguments = arguments.map(str::to_owned);
        let lines = match self {
            Contestant::Ours(program) => {
                let processors = processors(case.ranks)?;
                let bound = (!crowded(case.ranks)).then_some(processors.as_slice());
                program.run(case.ranks, bound, progress, &arguments)?
            }
            Contestant::Mpi(peer, _) => peer.run(case.ranks, &arguments)?,
        };
        report::parse(&lines)
    }
}

/// Runs all contestants in turn. One of MPI that fails is left out from then on, after a message.
///
/// # Errors
/// The program of libgoal fails, or its result is wrong.
fn measure(
    args: &Args,
    application: Application,
    case: Case,
    contestants: &mut Vec<Contestant>,
    samples: &mut Vec<Sample>,
) -> io::Result<()> {
    // The first run brings files into the page cache.
    for run in 0..=args.runs {
        let mut failed = Vec::new();
        for (at, contestant) in contestants.iter().enumerate() {
            if !contestant.can_run(case.ranks) {
                continue;
            }
            let (library, way) = contestant.names();
            let us = match (contestant.time(case, args.progress), contestant) {
                (Ok(us), _) => us,
                (Err(error), Contestant::Ours(_)) => return Err(error),
                (Err(error), Contestant::Mpi(..)) => {
                    eprintln!("{}, {way}, is left out: {error}", application.name());
                    failed.push(at);
                    continue;
                }
            };
            if run > 0 {
                samples.push(Sample {
                    application,
                    ranks: case.ranks,
                    size: case.size,
                    library: library.to_owned(),
                    way,
                    run,
                    us,
                });
            }
        }
        for at in failed.into_iter().rev() {
            contestants.remove(at);
        }
    }
    Ok(())
}
