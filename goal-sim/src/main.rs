//! `goal-sim`: when each rank of a program ends on a machine that one may not have.
//!
//! Inputs may come from anywhere: `goalc` reads and checks them. Parameters come from the command
//! line, and one that is no exact decimal is refused ([`parameters`]).

mod parameters;
mod report;
mod simulation;
mod source;

use clap::{Parser, ValueEnum};
use goalc::driver::{
    self, Color, Error, InputArguments, clear_stage, exit_status, report_error, with_stack,
};
use goalc::memory::{Allocator, prefer_huge_pages};
use parameters::Parameters;
use serde::Serialize;
use simulation::simulate;
use source::Subject;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator { program: "goal-sim" };

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

fn simulate_input(cli: &Cli) -> Result<u8, Error> {
    let parameters = cli.parameters.parse(cli.model).map_err(Error::Usage)?;
    let subject = Subject::read(&cli.input, cli.format.findings())?;
    driver::show_stage("simulating");
    match simulate(&subject.workload, cli.model, &parameters) {
        Ok(times) => {
            let elapsed_ns = subject.started.elapsed().as_nanos() as u64;
            if cli.model != Model::Goal && !subject.keeps_order {
                driver::print_line(
                    "goal-sim: warning: NISA does not keep the order of dependencies, on which the times of this model depend: simulate the text or a LogGOPSim binary",
                );
            }
            if let Some(note) = &times.note {
                driver::print_line(&format!("goal-sim: warning: {note}"));
            }
            report::write_times(cli, &times, elapsed_ns)?;
            Ok(0)
        }
        Err(stop) => report::stopped(cli, subject, stop),
    }
}
