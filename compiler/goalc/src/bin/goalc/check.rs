//! `goalc check`.

use crate::collective::CollectiveArguments;
use goalc::driver::{self, CheckArguments, Error, Format, InputArguments, Ranks};
use serde_json::json;

#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  goalc check broadcast.goal
  goalc check --eager-limit 0 broadcast.goal                  does it end where every message waits for its receive?
  goalc check --deny warnings broadcast.nisa
  goalc check --allow timing-dependent-match farm.goal        leave out findings of a kind
  goalc check --fix broadcast.goal                            put missing dependencies into the text
  goalc check --collective allreduce --count 8 ring.goal      is it the sum of 8 Int32 at address 0 of every rank?
  goalc check --format json trace.goal.gz                     one object a line: code, kind, severity, message, file, line, column, spans
  goalc check --format sarif broadcast.goal > found.sarif     for code hosts and editors")]
pub(crate) struct Arguments {
    #[command(flatten)]
    input: InputArguments,
    #[command(flatten)]
    checks: CheckArguments,
    /// Put the dependencies that findings suggest into the texts, and check the result
    #[arg(long, conflicts_with = "expand")]
    fix: bool,
    /// Format of findings: drawn on standard error, or as JSON or SARIF on standard output
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
    #[command(flatten)]
    collective: CollectiveArguments,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Error> {
    let mut options = arguments.checks.apply(arguments.input.options());
    options.collectives = options.collectives.or_keep();
    options.checks.collective = arguments.collective.collective()?;
    if arguments.fix {
        for change in driver::fix(&arguments.input.inputs, &options)? {
            driver::print_line(&format!("goalc: {change}"));
        }
    }
    let ranks = Ranks::open(&arguments.input.inputs, &options)?;
    let (findings, proved) = driver::check_ranks(ranks, &options)?;
    driver::report(&findings, arguments.format)?;
    for proved in proved {
        driver::print_line(&match arguments.format {
            Format::Json => {
                json!({"kind": "proved", "severity": "note", "message": proved}).to_string()
            }
            _ => format!("goalc: proved: {proved}"),
        });
    }
    Ok(())
}
