//! `goalc check`.

use goal_asm::driver::{self, CheckArguments, Error, Format, InputArguments};

#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  goalc check broadcast.goal
  goalc check --eager-limit 0 broadcast.goal                  does it end on any machine?
  goalc check --deny warnings broadcast.nisa
  goalc check --format json trace.goal.gz                     one object a line: code, kind, severity, message, file, line, column, spans")]
pub(crate) struct Arguments {
    #[command(flatten)]
    input: InputArguments,
    #[command(flatten)]
    checks: CheckArguments,
    /// How findings are written: drawn on standard error, or as JSON on standard output
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Error> {
    let options = arguments.checks.apply(arguments.input.options());
    let mut loaded = driver::load_program(&arguments.input.inputs, &options)?;
    driver::check(&mut loaded, &options)?;
    driver::tell(&loaded.findings, arguments.format)?;
    std::mem::forget(loaded);
    Ok(())
}
