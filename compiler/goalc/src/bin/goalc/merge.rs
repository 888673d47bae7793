//! `goalc merge`.

use super::splice::{OutputArguments, programs, tell};
use goalc::driver::{Error, InputArguments};
use goalc::splice::{Merge, Placements};
use std::fs::File;
use std::io::Read;
use std::path::Path;

#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  goalc merge a.bin b.bin -o both.bin                                  the ranks of b behind those of a
  goalc merge a.bin b.bin --placement 1:0-63,2:64-127 -o both.bin      each on these ranks of the result
  goalc merge a.bin a.bin --placement 1:0-63,2:0-63 -o twice.bin       both on the same hosts")]
pub(crate) struct Arguments {
    /// Each input is a program.
    #[command(flatten)]
    input: InputArguments,
    /// The ranks of the result, here called hosts, on which each program's ranks 0, 1, ... lie:
    /// entries PROGRAM:HOSTS, or a file of such entries; PROGRAM is an input or its number, 1 for
    /// the first [default: one program behind the other]
    #[arg(long, value_name = "FILE|1:0-63,2:..")]
    placement: Option<String>,
    #[command(flatten)]
    output: OutputArguments,
}

/// The most bytes that are read of a placement.
const PLACEMENT_BYTES_MAX: u64 = 64 << 20;

pub(crate) fn run(arguments: &Arguments) -> Result<(), Error> {
    let options = arguments.input.options();
    let target = arguments.output.target(arguments.input.files())?;
    let target = target.apart_from(&arguments.placement)?;
    let placements = arguments.placement.as_deref().map(placements).transpose()?;
    let inputs = programs(&arguments.input, &options)?;
    let mut merge = Merge::new(inputs, placements.as_ref(), &options.limits)?;
    let size = (merge.num_ranks(), merge.is_streamed());
    arguments.output.write(&target, &options, size, |rank| merge.rank(rank))?;
    merge.notes().iter().for_each(|line| tell(line));
    Ok(())
}

/// Returns the placements that a file has, or else the text itself.
fn placements(text: &str) -> Result<Placements, Error> {
    let wrong = |error| Error::Usage(format!("--placement: {error}"));
    if text.contains(':') && !Path::new(text).exists() {
        return Placements::parse(text).map_err(wrong);
    }
    let mut entries = String::new();
    let read = |file: File| file.take(PLACEMENT_BYTES_MAX + 1).read_to_string(&mut entries);
    let bytes = File::open(text).and_then(read);
    let bytes = bytes.map_err(|error| Error::io(format!("--placement {text}"), error))?;
    if bytes as u64 > PLACEMENT_BYTES_MAX {
        return Err(wrong(format!("{text} is too large to be a placement")));
    }
    Placements::parse(&entries).map_err(|error| wrong(format!("{text}: {error}")))
}
