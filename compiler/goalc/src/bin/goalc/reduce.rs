//! `goalc reduce`.

use crate::style::Spelling;
use goalc::driver::{self, Error, InputArguments, ReduceOptions, Target};
use std::path::PathBuf;
use std::time::Duration;

#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  goalc reduce hangs.goal --check 'goalc check %s 2>&1 | grep -q G0301' -o small.goal
  goalc reduce wrong.goal --check 'goal-run %s 2>&1 | grep -q \"holds Int32 1, expected 3\"' --timeout 10

CMD should ask for the one fault that is meant: a program that shows another is interesting too, if CMD says so.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    input: InputArguments,
    /// Shell command that ends with exit status 0 if a program is interesting. %s stands for the
    /// program's file, a text, also inside quotes; without a %s the file is added at the end
    #[arg(long, value_name = "CMD")]
    check: String,
    /// File for the text, which always has the smallest interesting program so far; - is standard
    /// output
    #[arg(short, long, value_name = "OUT", default_value = "-")]
    output: PathBuf,
    /// Spelling of the text
    #[arg(long, value_enum, value_name = "STYLE", default_value_t)]
    style: Spelling,
    /// Time after which CMD is killed with all processes that it started; the program is then not
    /// interesting
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    timeout: u64,
    /// Most programs that are tried
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..))]
    max_tries: u64,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Error> {
    let target = Target::new(&arguments.output).apart_from(arguments.input.files())?;
    let loaded = driver::load_program(&arguments.input.inputs, &arguments.input.options())?;
    let options = ReduceOptions {
        check: arguments.check.clone(),
        timeout: Duration::from_secs(arguments.timeout),
        tries_max: arguments.max_tries,
        style: arguments.style.style(),
    };
    driver::reduce(&loaded.program, &options, &target)
}
