//! `goalc graph`.

use goal_asm::driver::{self, Error, Format, InputArguments, Output, Target};
use goal_asm::graph::{SvgError, dot, svg};
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  goalc graph broadcast.goal --rank 0 --svg -o rank0.svg
  goalc graph trace.nisa --rank 3 | dot -Tpdf > rank3.pdf")]
pub(crate) struct Arguments {
    #[command(flatten)]
    input: InputArguments,
    /// The rank whose graph is drawn
    #[arg(long, value_name = "R")]
    rank: u32,
    /// Draw it as SVG, which needs no graphviz; for graphs of up to a few hundred actions
    #[arg(long, conflicts_with = "dot")]
    svg: bool,
    /// Write it in graphviz's language, which is what happens without --svg too
    #[arg(long)]
    dot: bool,
    /// Where it goes; - is standard output
    #[arg(short, long, value_name = "OUT", default_value = "-")]
    output: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Error> {
    let loaded = driver::load_program(&arguments.input.inputs, &arguments.input.options())?;
    driver::tell(&loaded.findings, Format::Text)?;
    let program = &loaded.program;
    let rank = arguments.rank;
    if rank >= program.num_ranks() {
        return Err(Error::Usage(format!(
            "there is no rank {rank}: the program has {}",
            program.num_ranks()
        )));
    }
    let target = Target::new(&arguments.output).apart_from(&arguments.input.inputs)?;
    let mut out = Output::create(&target, false)?;
    let drawn = match arguments.svg {
        true => svg(program.body_of(rank), &mut out),
        false => dot(program.body_of(rank), rank, &mut out).map_err(SvgError::Io),
    };
    drawn.map_err(|error| match error {
        SvgError::Io(error) => Error::io(out.name(), error),
        SvgError::TooLarge { .. } => Error::Usage(format!("rank {rank}: {error}")),
    })?;
    out.finish()
}
