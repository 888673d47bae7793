//! `goalc dis`.

use crate::style::Spelling;
use goalc::driver::{self, Emit, Error, Format, InputArguments, Output, Target};
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  goalc dis broadcast.nisa
  goalc dis broadcast.nisa | goalc build - -O0 --strip -o same.nisa     the same bytes as those of a stripped broadcast.nisa")]
pub(crate) struct Arguments {
    #[command(flatten)]
    input: InputArguments,
    /// File for the text; - is standard output
    #[arg(short, long, value_name = "OUT", default_value = "-")]
    output: PathBuf,
    /// Spelling of the text
    #[arg(long, value_enum, value_name = "STYLE", default_value_t)]
    style: Spelling,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Error> {
    let mut options = arguments.input.options();
    options.collectives = options.collectives.or_keep();
    let mut loaded = driver::load_program(&arguments.input.inputs, &options)?;
    let target = Target::new(&arguments.output).apart_from(arguments.input.files())?;
    let mut out = Output::create(&target, false)?;
    driver::emit(&mut loaded, Emit::Text(arguments.style.style()), &options, &mut out)?;
    out.finish()?;
    driver::report(&loaded.findings, Format::Text)?;
    std::mem::forget(loaded);
    Ok(())
}
