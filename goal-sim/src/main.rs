//! `goal-sim`: when each rank of a program ends on a machine that one may not have.
//!
//! Inputs may come from anywhere: `goalc` reads and checks them. Parameters come from the command
//! line, and must be exact decimals ([`parameters`]). Traces of noise are files
//! from anywhere too ([`noise`]).

mod binary;
mod compare;
mod compat;
mod markers;
mod noise;
mod outputs;
mod parallel;
mod parameters;
mod partial;
mod parts;
mod report;
mod runs;
mod simulation;
mod source;
mod statistics;
mod sweep;
mod why;

use clap::{Parser, Subcommand, ValueEnum};
use compare::CompareArguments;
use compat::Peer;
use goal_loggops::model::{Effort, Memory};
use goal_loggops::path::Path as CriticalPath;
use goalc::driver::{
    self, Color, Error, InputArguments, Options, clear_stage, exit_status, report_error, with_stack,
};
use goalc::memory::{Allocator, installed_bytes, prefer_huge_pages};
use markers::Phases;
use noise::{NoiseArguments, Plan};
use outputs::{OutputArguments, Outputs};
use parameters::{Parameters, Parsed};
use report::{Context, Details, Summary};
use serde::Serialize;
use simulation::{Stop, Times, explain, simulate_peer, simulate_quiet, simulate_with};
use source::{Reading, Subject, TimesOnly};
use std::convert::Infallible;
use std::path::Path;
use std::process::ExitCode;
use sweep::Axis;
use why::{Why, WhyArguments};

#[global_allocator]
static ALLOCATOR: Allocator = Allocator { program: "goal-sim" };

#[derive(Parser)]
#[command(
    name = "goal-sim",
    version,
    about = "Simulates GOAL programs: when each rank ends on a LogGOPS machine",
    after_help = STATUS,
    after_long_help = HELP,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    arguments: Arguments,
}

#[derive(Subcommand)]
enum Command {
    /// Tell which of two programs takes less time, beyond noise
    #[command(after_help = STATUS)]
    Compare(CompareArguments),
}

/// The arguments of a simulation.
#[derive(Debug, Clone, clap::Args)]
struct Arguments {
    /// When to colour reports
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    color: Color,
    #[command(flatten)]
    input: InputArguments,
    /// Rules of time
    #[arg(long, value_enum, default_value_t, ignore_case = true)]
    model: Model,
    /// Format of the times
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    parameters: Parameters,
    /// Simulate once for each value of L, o, g, G, O or S: those from START to END, or a list;
    /// several sweeps make a grid
    #[arg(long, value_name = "P=START:END:STEP|P=V,V,..", help_heading = "Machine")]
    sweep: Vec<Axis>,
    #[command(flatten)]
    noise: NoiseArguments,
    #[command(flatten)]
    outputs: OutputArguments,
    #[command(flatten)]
    why: WhyArguments,
    /// Keep only what is under way, and read LogGOPSim binaries where they lie in the file; for
    /// times alone
    #[arg(long)]
    lean: bool,
    /// Take the command line of a peer, which follows, and print what it prints. It comes first
    #[arg(long, value_enum, value_name = "PEER")]
    compat: Option<Peer>,
    /// LogGOPSim's option for the input, which gets a hint
    #[arg(short = 'f', long, value_name = "FILE", hide = true, value_parser = refuse_filename)]
    filename: Option<Infallible>,
}

/// Refuses LogGOPSim's option for the input.
///
/// # Errors
/// Always.
fn refuse_filename(file: &str) -> Result<Infallible, String> {
    Err(format!(
        "this is LogGOPSim's option: give the file alone, as `goal-sim {file}`, or LogGOPSim's \
         command line as `goal-sim --compat loggopsim -f {file}`"
    ))
}

const STATUS: &str = "Exit status: 0 done; 1 the input is wrong; 2 the command line is wrong or the system failed; 3 the program gets stuck.";

const HELP: &str = "\
Examples:
  goal-sim broadcast.goal                            the end of each rank
  goal-sim -L 3700 -o 200 -g 5 -G 0.04 trace.bin     on another machine
  goal-sim --machine cluster.machine trace.bin       on the machine of a file
  goal-sim --sweep L=1000:10000:500 trace.bin        on machines with other latencies
  goal-sim --critical-path trace.bin                 why the run takes its time
  goal-sim --model loggopsim trace.bin               the times of LogGOPSim
  goal-sim --format json trace.bin                   one object on standard output
  goal-sim --jitter 'calc*=normal(1,0.05)' --runs 100 trace.bin
                                                     how long 100 runs with noise take
  goal-sim compare --jitter 'L+=exp(200)' old.goal new.goal
                                                     which program takes less time
  goal-sim --timeline trace.svg trace.bin            a picture of the processors' time
  goalc gen barrier -n 1024 --relative --algorithm dissemination | goal-sim
                                                     of a program that another one writes
  goal-sim --compat loggopsim -f trace.bin -L 3700   in place of LogGOPSim

Exit status:
  0  done
  1  the input is wrong
  2  the command line is wrong, or the system failed
  3  the program gets stuck";

/// The format of the times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum Format {
    /// For people
    #[default]
    Text,
    /// For programs
    Json,
    /// For tables: rank,finish_ns
    Csv,
}

impl Format {
    /// The format of findings.
    fn findings(self) -> driver::Format {
        match self {
            Format::Text | Format::Csv => driver::Format::Text,
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
    /// The name on the command line.
    fn name(self) -> &'static str {
        match self {
            Model::Goal => "goal",
            Model::Loggopsim => "loggopsim",
            Model::Atlahs => "atlahs",
        }
    }

    /// The name of the program that has this model.
    fn program(self) -> &'static str {
        match self {
            Model::Goal => "goal-sim",
            Model::Loggopsim => "LogGOPSim",
            Model::Atlahs => "ATLAHS",
        }
    }
}

fn main() -> ExitCode {
    prefer_huge_pages();
    let status = with_stack(run).unwrap_or_else(|why| {
        report_error("goal-sim", &Error::Usage(why), driver::Format::Text) as u8
    });
    ExitCode::from(exit_status(status))
}

fn run() -> u8 {
    driver::survive_file_size();
    if let Some(status) = compat::run(std::env::args_os()) {
        return status;
    }
    let cli = match driver::parse_filter::<Cli>("goal-sim") {
        Ok(cli) => cli,
        Err(status) => return status as u8,
    };
    let (arguments, status) = match &cli.command {
        None => (&cli.arguments, run_simulation(&cli.arguments)),
        Some(Command::Compare(pair)) => (&pair.0, compare::run(pair)),
    };
    let status = status.unwrap_or_else(|error| {
        report_error("goal-sim", &error, arguments.format.findings()) as u8
    });
    clear_stage();
    status
}

/// Simulates the program of the arguments. Returns the exit status.
fn run_simulation(arguments: &Arguments) -> Result<u8, Error> {
    let first = &arguments.input.inputs[0];
    if first == Path::new("compare") && !first.exists() {
        return Err(Error::Usage("compare goes before all options".to_owned()));
    }
    if arguments.compat.is_some() {
        let message = "--compat comes first: goal-sim --compat loggopsim -f FILE";
        return Err(Error::Usage(message.to_owned()));
    }
    if !arguments.sweep.is_empty() {
        return sweep::run(arguments);
    }
    match arguments.noise.runs {
        None => simulate_once(arguments),
        Some(count) => runs::run(arguments, count),
    }
}

fn simulate_once(arguments: &Arguments) -> Result<u8, Error> {
    let (parameters, plan) = arguments.read(&arguments.input.options())?;
    arguments.outputs.check(arguments.model)?;
    arguments.why.check(arguments.model, arguments.format, arguments.noise.is_given())?;
    let (options, effort) = arguments.effort()?;
    let only = TimesOnly { machine: &parameters.machine, effort };
    let only = arguments.needs_times_only().then_some(only);
    let format = arguments.format.findings();
    let subject = match Subject::read_for(&arguments.input, options, format, only)? {
        Reading::Subject(subject) => *subject,
        Reading::Times(times, started) => {
            // CSV has no phases in any case.
            let note = times.note.iter().filter(|_| !matches!(arguments.format, Format::Csv));
            note.for_each(|note| report::warn(note));
            let finish_ps = times.finish_ps.iter().copied();
            let summary = Summary::new(times.events, times.classes, started);
            report::write_times(arguments, &parameters, &summary, finish_ps)?;
            return Ok(0);
        }
        Reading::CommonTimes { times, ranks, started } => {
            let finish_ps = std::iter::repeat_n(times.finish_ps.into(), ranks as usize);
            let summary = Summary::new(times.events, 1, started);
            report::write_times(arguments, &parameters, &summary, finish_ps)?;
            return Ok(0);
        }
        Reading::Stop(stop) => return report::stopped_lean(stop),
    };
    plan.check(&subject.workload)?;
    driver::show_stage("simulating");
    let mut outputs = Outputs::create(arguments, &parameters, &subject)?;
    let (times, path) =
        match simulate_for(arguments, &parameters, &plan, &subject, effort, &mut outputs) {
            Ok(found) => found,
            Err(stop) => {
                drop(outputs);
                return report::stopped(&arguments.context(&parameters), subject, stop);
            }
        };
    let summary = Summary::new(times.events, times.classes, subject.started);
    let phases = outputs.take_markers().map(|markers| Phases::new(&subject.workload, markers));
    // The times are known even if a file is not written.
    let written = outputs.finish(&times.finish_ps, path.as_ref());
    report::warn_of_order(arguments.model, &subject);
    times.note.iter().for_each(|note| report::warn(note));
    if !arguments.outputs.replace_times() {
        let (options, phases_of_path) = (arguments.input.options(), phases.as_ref());
        let why = path
            .map(|path| Why::new(&subject, &parameters.machine, path, phases_of_path, &options));
        let details = Details { subject: &subject, phases, why };
        let summary = Summary { details: Some(&details), ..summary };
        report::write_times(arguments, &parameters, &summary, times.finish_ps.iter().copied())?;
    }
    match written {
        Ok(()) => Ok(0),
        Err(error) => Ok(report_error("goal-sim", &error, driver::Format::Text) as u8),
    }
}

/// Simulates a program once for all that the arguments ask for. Returns the critical path too if
/// they do.
fn simulate_for(
    arguments: &Arguments,
    parameters: &Parsed,
    plan: &Plan,
    subject: &Subject,
    effort: Effort,
    outputs: &mut Outputs<'_>,
) -> Result<(Times, Option<CriticalPath>), Stop> {
    let workload = &subject.workload;
    let times = match arguments.noise.is_given() {
        true => simulate_with(workload, parameters, &plan.of(workload).of_run(0), outputs)?,
        false if arguments.model == Model::Goal && outputs.needs_all_ranks() => {
            simulate_with(workload, parameters, &(), outputs)?
        }
        false if arguments.why.critical_path => {
            return explain(workload, parameters).map(|(times, path)| (times, Some(path)));
        }
        false if arguments.model == Model::Goal => {
            simulate_quiet(workload, &parameters.machine, effort)?
        }
        false => simulate_peer(workload, arguments.model, parameters, outputs)?,
    };
    let path = arguments.why.critical_path.then(|| explain(workload, parameters)).transpose()?;
    Ok((times, path.map(|(_, path)| path)))
}

impl Arguments {
    /// Returns what a report on a stuck program needs.
    fn context<'a>(&'a self, parameters: &'a Parsed) -> Context<'a> {
        Context {
            input: &self.input,
            format: self.format.findings(),
            parameters,
            partial: self.why.partial.then_some((self.model, self.format)),
        }
    }

    /// Returns true if the user wants only the times of one simulation, by the model `goal` and
    /// without noise.
    fn needs_times_only(&self) -> bool {
        self.model == Model::Goal
            && !self.noise.is_given()
            && !self.outputs.is_given()
            && !self.why.critical_path
            && (!self.lean || !self.why.partial)
    }

    /// Returns the options of reading, and how to simulate. A binary that is large for the memory
    /// stays in the file.
    ///
    /// # Errors
    /// `--lean` was given with something that needs a list of the actions.
    fn effort(&self) -> Result<(Options, Effort), Error> {
        if self.lean && !self.needs_times_only() {
            self.refuse_lean()?;
        }
        let options = self.input.options();
        let mapped_bytes_min = match (self.lean, self.needs_times_only()) {
            (true, _) => 0,
            // A binary that may not be held in memory stays in the file.
            (false, true) => {
                let half = installed_bytes().map_or(u64::MAX, |bytes| bytes / 2);
                half.min(options.input_bytes_max.saturating_add(1))
            }
            (false, false) => u64::MAX,
        };
        let memory = if self.lean { Memory::Lean } else { Memory::Fast };
        let effort = Effort { memory, threads: options.threads };
        Ok((Options { mapped_bytes_min, ..options }, effort))
    }

    /// Refuses `--lean`.
    ///
    /// # Errors
    /// It was given.
    fn refuse_lean(&self) -> Result<(), Error> {
        match self.lean {
            true => Err(Error::Usage(
                "--lean gives the times of one simulation in the model `goal`, and nothing else"
                    .to_owned(),
            )),
            false => Ok(()),
        }
    }

    /// Parses the machine and its noise.
    ///
    /// # Errors
    /// If a parameter or the noise is wrong, the model has no noise, or two files are standard
    /// input.
    fn read(&self, options: &Options) -> Result<(Parsed, Plan), Error> {
        let files = self.input.inputs.iter().chain(self.noise.trace());
        if files.filter(|file| file.as_os_str() == "-").count() > 1 {
            let message = "standard input can be read only once: give - once";
            return Err(Error::Usage(message.to_owned()));
        }
        let parameters = self.parameters.parse(self.model)?;
        if self.model != Model::Goal && self.noise.is_given() {
            return Err(Error::Usage(format!(
                "--model {}: noise needs the model goal, because the models of peers give the \
                 times of programs whose own noise they don't have",
                self.model.name()
            )));
        }
        Ok((parameters, self.noise.read(options)?))
    }
}
