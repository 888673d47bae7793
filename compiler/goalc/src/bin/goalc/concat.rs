//! `goalc concat`.

use super::splice::{OutputArguments, programs, tell};
use goalc::driver::{Error, InputArguments};
use goalc::splice::Concat;

#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  goalc concat init.bin step.bin step.bin -o run.bin     each rank begins a program when it has ended the one before")]
pub(crate) struct Arguments {
    /// Each input is a program.
    #[command(flatten)]
    input: InputArguments,
    #[command(flatten)]
    output: OutputArguments,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Error> {
    let options = arguments.input.options();
    let target = arguments.output.target(arguments.input.files())?;
    let mut concat = Concat::new(programs(&arguments.input, &options)?)?;
    let size = (concat.num_ranks(), concat.is_streamed());
    arguments.output.write(&target, &options, size, |rank| concat.rank(rank))?;
    concat.notes().iter().for_each(|line| tell(line));
    Ok(())
}
