//! `goalc`: checks, compiles, prints and explains GOAL programs. Each command has a module here.
//! The work behind it is in [`goalc::driver`].

mod build;
mod check;
mod collective;
mod concat;
mod dis;
mod draw;
mod explain;
mod format;
mod generate;
mod graph;
mod merge;
mod reduce;
mod slice;
mod splice;
mod stats;
mod style;

use clap::{Parser, Subcommand};
use goalc::driver::{
    Color, Completions, Error, Format, Man, Status, clear_stage, exit_status, report_error,
    survive_file_size, with_stack,
};
use goalc::memory::{Allocator, prefer_huge_pages};
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator { program: "goalc" };

#[derive(Parser)]
#[command(
    name = "goalc",
    version,
    about = "The GOAL compiler: from text to the schedules that ranks execute",
    after_help = "Exit status: 0 done, warnings or not; 1 the input is wrong; 2 the command line is wrong or the system failed.",
    after_long_help = HELP
)]
struct Cli {
    /// When to colour reports
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    color: Color,
    #[command(subcommand)]
    command: Command,
}

const HELP: &str = "\
Examples:
  goalc build broadcast.goal                    write broadcast.nisa
  goalc build r0.goal r1.goal -o pair.nisa      texts of bare statements, one a rank
  gzip -dc trace.goal.gz | goalc check -        read standard input
  goalc build -i trace.goal -o trace.bin        a binary for LogGOPSim, as txt2bin does
  goalc dis broadcast.nisa                      print a schedule as text
  goalc explain G0007                           what a code means, and the way out

Exit status:
  0  done; warnings don't change that
  1  the input is wrong
  2  the command line is wrong, or the system failed";

#[derive(Subcommand)]
enum Command {
    /// Compile a program to NISA, or write it in another form
    Build(build::Arguments),
    /// Report the faults of a program
    Check(check::Arguments),
    /// Format texts, in either spelling; comments stay
    Fmt(format::Arguments),
    /// Write the program of a collective, or list the algorithms
    Gen(generate::Arguments),
    /// Print a program as text that compiles to the same schedule
    Dis(dis::Arguments),
    /// Reduce a program that shows a fault to a small one that still shows it
    Reduce(reduce::Arguments),
    /// Keep some ranks of a program, or a window of their actions
    Slice(slice::Arguments),
    /// Let programs follow each other on the same ranks
    Concat(concat::Arguments),
    /// Place several programs on the ranks of one
    Merge(merge::Arguments),
    /// Count what a program does
    Stats(stats::Arguments),
    /// Draw a program, a simulation or a run: ranks, messages and findings over time
    Draw(draw::Arguments),
    /// Write the graphs of all ranks with their messages, or that of one rank, for graphviz
    Graph(graph::Arguments),
    /// Explain a code of a report
    Explain(explain::Arguments),
    /// Write the completions of a shell to standard output
    #[command(after_long_help = COMPLETIONS)]
    Completions(Completions),
    /// Write the manual pages into a folder
    #[command(after_long_help = MAN)]
    Man(Man),
}

const COMPLETIONS: &str = "\
Examples:
  goalc completions bash > ~/.local/share/bash-completion/completions/goalc";

const MAN: &str = "\
Examples:
  goalc man ~/.local/share/man/man1";

fn main() -> ExitCode {
    prefer_huge_pages();
    survive_file_size();
    let status = with_stack(run)
        .unwrap_or_else(|why| report_error("goalc", &Error::Usage(why), Format::Text));
    ExitCode::from(exit_status(status as u8))
}

fn run() -> Status {
    let command = match goalc::driver::parse::<Cli>("goalc") {
        Ok(Cli { command, .. }) => command,
        Err(status) => return status,
    };
    let format = match &command {
        Command::Check(arguments) => arguments.format,
        Command::Stats(arguments) => arguments.findings(),
        _ => Format::Text,
    };
    let success = |()| Status::Success;
    let done = match command {
        Command::Fmt(arguments) => format::run(&arguments),
        Command::Build(arguments) => build::run(&arguments).map(success),
        Command::Check(arguments) => check::run(&arguments).map(success),
        Command::Gen(arguments) => generate::run(&arguments).map(success),
        Command::Dis(arguments) => dis::run(&arguments).map(success),
        Command::Reduce(arguments) => reduce::run(&arguments).map(success),
        Command::Slice(arguments) => slice::run(&arguments).map(success),
        Command::Concat(arguments) => concat::run(&arguments).map(success),
        Command::Merge(arguments) => merge::run(&arguments).map(success),
        Command::Stats(arguments) => stats::run(&arguments).map(success),
        Command::Draw(arguments) => draw::run(&arguments).map(success),
        Command::Graph(arguments) => graph::run(&arguments).map(success),
        Command::Explain(arguments) => explain::run(&arguments).map(success),
        Command::Completions(arguments) => arguments.run::<Cli>("goalc").map(success),
        Command::Man(arguments) => arguments.run::<Cli>().map(success),
    };
    let status = done.unwrap_or_else(|error| report_error("goalc", &error, format));
    clear_stage();
    status
}
