//! `goalc`: checks, compiles, prints and explains GOAL programs. A module a command; what they do is in
//! [`goal_asm::driver`].

mod build;
mod check;
mod collective;
mod dis;
mod explain;
mod format;
mod graph;
mod reduce;
mod shell;
mod stats;
mod style;

use clap::{Parser, Subcommand};
use goal_asm::driver::{Error, Format, Status, clear_stage, tell_error};
use std::process::ExitCode;

#[derive(Parser)]
#[command(
    name = "goalc",
    version,
    about = "The GOAL compiler: from text to the schedules that ranks execute",
    after_help = "Exit status: 0 done, warnings or not; 1 the input is wrong; 2 the command line is wrong or the system failed.",
    after_long_help = HELP,
    disable_help_subcommand = true
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const HELP: &str = "\
Examples:
  goalc build broadcast.goal                    write broadcast.nisa
  goalc build r0.goal r1.goal -o pair.nisa      texts of bare statements, one a rank
  gzip -dc trace.goal.gz | goalc check -        read standard input
  goalc build trace.goal --emit loggopsim       write trace.bin for LogGOPSim
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
    /// Tell what is wrong with a program
    Check(check::Arguments),
    /// Lay out texts anew, in either spelling; comments stay
    Fmt(format::Arguments),
    /// Print a program as text that compiles to the same schedule
    Dis(dis::Arguments),
    /// Shrink a program that shows a fault to a small one that still does
    Reduce(reduce::Arguments),
    /// Count what a program does
    Stats(stats::Arguments),
    /// Draw the graph of a rank
    Graph(graph::Arguments),
    /// Explain a code of a report
    Explain(explain::Arguments),
    /// Write the completions of a shell to standard output
    Completions(shell::Completions),
    /// Write the manual pages into a folder
    Man(shell::Man),
}

fn main() -> ExitCode {
    let command = Cli::parse().command;
    let format = match &command {
        Command::Check(arguments) => arguments.format,
        _ => Format::Text,
    };
    let success = |()| Status::Success;
    let done = match command {
        Command::Fmt(arguments) => format::run(&arguments),
        Command::Build(arguments) => build::run(&arguments).map(success),
        Command::Check(arguments) => check::run(&arguments).map(success),
        Command::Dis(arguments) => dis::run(&arguments).map(success),
        Command::Reduce(arguments) => reduce::run(&arguments).map(success),
        Command::Stats(arguments) => stats::run(&arguments).map(success),
        Command::Graph(arguments) => graph::run(&arguments).map(success),
        Command::Explain(arguments) => explain::run(&arguments).map(success),
        Command::Completions(arguments) => shell::completions(&arguments).map(success),
        Command::Man(arguments) => shell::man(&arguments).map(success),
    };
    let status = match done {
        Ok(status) => status,
        Err(error) if error.is_broken_pipe() => Status::Success,
        Err(error) => {
            tell_error("goalc", &error, format);
            error.status()
        }
    };
    clear_stage();
    ExitCode::from(status as u8)
}

/// Writes a text to standard output.
fn print(write: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>) -> Result<(), Error> {
    clear_stage();
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    write(&mut out)
        .and_then(|()| std::io::Write::flush(&mut out))
        .map_err(|error| Error::io("<stdout>", error))
}
