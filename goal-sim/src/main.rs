//! `goal-sim`: when each rank of a program ends on a machine that one may not have.
//!
//! Inputs may come from anywhere: `goalc` reads and checks them. Parameters come from the command
//! line, and one that is no exact decimal is refused ([`parameters`]).

mod parameters;
mod simulation;

use clap::{Parser, ValueEnum};
use goal_loggops::{TooLarge, Workload, WorkloadBuilder};
use goalc::driver::{
    self, CheckOptions, Color, Error, Input, InputArguments, Loaded, Opened, Options, clear_stage,
    exit_status, print, report_error, with_stack,
};
use goalc::memory::{Allocator, prefer_huge_pages};
use parameters::Parameters;
use serde::Serialize;
use simulation::{Stop, Times, simulate};
use std::process::ExitCode;
use std::time::Instant;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator { program: "goal-sim" };

/// The exit status of a program that gets stuck.
const STUCK: u8 = 3;

#[derive(Parser)]
#[command(
    name = "goal-sim",
    version,
    about = "Simulates GOAL programs: when each rank ends on a LogGOPS machine",
    after_help = "Exit status: 0 done; 1 the input is wrong; 2 the command line is wrong or the system failed; 3 the program gets stuck.",
    after_long_help = HELP
)]
struct Cli {
    /// When to colour reports
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    color: Color,
    #[command(flatten)]
    input: InputArguments,
    /// Rules of time
    #[arg(long, value_enum, default_value_t)]
    model: Model,
    #[command(flatten)]
    parameters: Parameters,
    /// Format of the times
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

const HELP: &str = "\
Examples:
  goal-sim broadcast.goal                            the end of each rank
  goal-sim -L 3700 -o 200 -g 5 -G 0.04 trace.bin     on another machine
  goal-sim --model loggopsim trace.bin               the times of LogGOPSim
  goal-sim --format json trace.bin                   one object on standard output

Exit status:
  0  done
  1  the input is wrong
  2  the command line is wrong, or the system failed
  3  the program gets stuck";

/// The format of the times.
#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum Format {
    /// For people
    #[default]
    Text,
    /// For programs
    Json,
}

impl Format {
    /// The format of findings.
    fn findings(self) -> driver::Format {
        match self {
            Format::Text => driver::Format::Text,
            Format::Json => driver::Format::Json,
        }
    }
}

/// The rules of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum Model {
    /// LogGOPS, with an order of events that each rank decides alone
    #[default]
    Goal,
    /// The times of spcl/LogGOPSim
    Loggopsim,
    /// The times of the simulator in spcl/atlahs
    Atlahs,
}

impl Model {
    /// The name of the program that has this model.
    fn program(self) -> &'static str {
        match self {
            Model::Goal => "goal-sim",
            Model::Loggopsim => "LogGOPSim",
            Model::Atlahs => "ATLAHS",
        }
    }
}

/// The result, as programs read it.
#[derive(Serialize)]
struct Report<'a> {
    model: Model,
    parameters: &'a Parameters,
    events: u64,
    elapsed_ns: u64,
    finish_ns: Vec<serde_json::Number>,
}

fn main() -> ExitCode {
    prefer_huge_pages();
    let status = with_stack(run).unwrap_or_else(|why| {
        report_error("goal-sim", &Error::Usage(why), driver::Format::Text) as u8
    });
    ExitCode::from(exit_status(status))
}

fn run() -> u8 {
    let cli = match driver::parse::<Cli>("goal-sim") {
        Ok(cli) => cli,
        Err(status) => return status as u8,
    };
    let status = simulate_input(&cli)
        .unwrap_or_else(|error| report_error("goal-sim", &error, cli.format.findings()) as u8);
    clear_stage();
    status
}

/// The program, for reports: what is simulated is a [`Workload`].
enum Source {
    /// A LogGOPSim binary, which is read as a program only if a report needs it.
    Opened(Opened),
    Loaded(Loaded),
}

impl Source {
    fn load(self, options: &Options) -> Result<Loaded, Error> {
        match self {
            Source::Opened(opened) => opened.load(options),
            Source::Loaded(loaded) => Ok(loaded),
        }
    }
}

fn simulate_input(cli: &Cli) -> Result<u8, Error> {
    let parameters = cli.parameters.parse(cli.model).map_err(Error::Usage)?;
    let options = Options { strip: false, ..cli.input.options() };
    let opened = driver::open(&cli.input.inputs, &options)?;
    let mut started = Instant::now();
    let (source, workload) = match opened {
        Opened::Loggopsim(ref input) => {
            driver::show_stage("reading");
            let workload = of_binary(input, &options)?;
            (Source::Opened(opened), workload)
        }
        opened => {
            let loaded = opened.load(&options)?;
            driver::note(&loaded.findings, cli.format.findings());
            started = Instant::now();
            let workload = Workload::new(&loaded.program, |_, _| 0);
            (Source::Loaded(loaded), workload)
        }
    };
    let workload = workload.map_err(|error| Error::Usage(error.to_string()))?;
    driver::show_stage("simulating");
    match simulate(&workload, cli.model, &parameters) {
        Ok(times) => {
            let elapsed_ns = started.elapsed().as_nanos() as u64;
            if let Some(note) = &times.note {
                driver::print_line(&format!("goal-sim: warning: {note}"));
            }
            write_times(cli, &times, elapsed_ns)?;
            Ok(0)
        }
        Err(Stop::TooLate { action }) => Err(Error::Usage(format!(
            "{} would end after 2^63 picoseconds, some 106 days: give smaller parameters or sizes",
            name(&source.load(&options)?, &workload, action)
        ))),
        Err(Stop::Stuck { why, actions }) => {
            Ok(report_stuck(cli, source.load(&options)?, &workload, &why, &actions))
        }
        Err(Stop::Unequal { send, receive }) => {
            let why = "a message and its receive have different sizes";
            Ok(report_stuck(cli, source.load(&options)?, &workload, why, &[send, receive]))
        }
    }
}

/// Lists the actions of a LogGOPSim binary as they lie in the file.
fn of_binary(input: &Input, options: &Options) -> Result<Result<Workload, TooLarge>, Error> {
    // An operation has 39 bytes, and each dependency 4.
    let mut builder = WorkloadBuilder::with_capacity(input.bytes.len() / 39, 0);
    driver::visit_ranks(input, options, |rank| {
        builder.begin_rank();
        for index in 0..rank.len() {
            builder.push(
                None,
                &rank.action(index),
                rank.missing(index),
                rank.waiters(index),
                rank.start_waiters(index),
                &|_, _| 0,
            );
        }
        rank.roots().for_each(|root| builder.push_root(root));
    })?;
    Ok(builder.finish())
}

/// Reports why a program gets stuck: what the checks find, or else `why`. Returns the exit status.
fn report_stuck(
    cli: &Cli,
    mut loaded: Loaded,
    workload: &Workload,
    why: &str,
    actions: &[u32],
) -> u8 {
    let eager_limit = cli.parameters.eager_bytes_max().unwrap_or(u64::MAX);
    let checks =
        CheckOptions { eager_limit, unexpected_limit: u64::MAX, ..CheckOptions::default() };
    loaded.findings.report = Default::default();
    match driver::check(&mut loaded, &Options { checks, ..cli.input.options() }) {
        Err(error) => {
            report_error("goal-sim", &error, cli.format.findings());
        }
        Ok(_) => {
            let mut line = format!("goal-sim: stuck: {why}");
            for (at, &action) in actions.iter().enumerate() {
                line += if at == 0 { ": " } else { "; " };
                line += &name(&loaded, workload, action);
            }
            driver::print_line(&line);
        }
    }
    STUCK
}

/// Returns the rank, the label and the kind of an action.
fn name(loaded: &Loaded, workload: &Workload, action: u32) -> String {
    let rank = workload.rank_of(action);
    let id = goal_lang::ActionId(action - workload.actions(rank).start);
    let body = loaded.program.body_of(rank);
    let kind = body.action(id).kind().name();
    match body.debug.labels.get(id) {
        Some(label) => format!("rank {rank}, {kind} `{label}`"),
        None => format!("rank {rank}, {kind} number {}", id.0),
    }
}

fn write_times(cli: &Cli, times: &Times, elapsed_ns: u64) -> Result<(), Error> {
    let finish_ns: Vec<serde_json::Number> = times.finish_ps.iter().map(|&ps| in_ns(ps)).collect();
    print(|out| match cli.format {
        Format::Json => {
            let report = Report {
                model: cli.model,
                parameters: &cli.parameters,
                events: times.events,
                elapsed_ns,
                finish_ns,
            };
            serde_json::to_writer(&mut *out, &report)?;
            writeln!(out)
        }
        Format::Text => {
            for (rank, ns) in finish_ns.iter().enumerate() {
                writeln!(out, "rank {rank}: {ns} ns")?;
            }
            Ok(())
        }
    })
}

/// Returns picoseconds as nanoseconds: a whole number where they are whole.
fn in_ns(ps: u128) -> serde_json::Number {
    match u64::try_from(ps / 1000) {
        Ok(ns) if ps.is_multiple_of(1000) => ns.into(),
        _ => serde_json::Number::from_f64(ps as f64 / 1000.0).unwrap_or_else(|| 0.into()),
    }
}
