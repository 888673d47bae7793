//! `goalc graph`.

use goalc::driver::{self, Error, Format, InputArguments, Output, Target};
use goalc::graph::{dot, dot_of_ranks};
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  goalc graph broadcast.goal | dot -Tsvg > graph.svg       all ranks and their messages
  goalc graph trace.nisa --rank 3 | dot -Tpdf > rank3.pdf")]
pub(crate) struct Arguments {
    #[command(flatten)]
    input: InputArguments,
    /// The rank whose graph is written [default: all, with their messages]
    #[arg(long, value_name = "R")]
    rank: Option<u32>,
    /// File for the graph; - is standard output
    #[arg(short, long, value_name = "OUT", default_value = "-")]
    output: PathBuf,
}

impl Arguments {
    /// Refuses names of pictures.
    fn refuse_pictures(&self) -> Result<(), Error> {
        let ending = self.output.extension().map(|ending| ending.to_ascii_lowercase());
        let name = self.output.display();
        match ending.as_ref().and_then(|ending| ending.to_str()) {
            Some(ending @ ("svg" | "png")) => Err(Error::Usage(format!(
                "{name}: this command writes graphviz's language: use goalc draw, or \
                 `| dot -T{ending} > {name}`"
            ))),
            Some(ending @ ("pdf" | "jpg" | "jpeg" | "ps" | "eps" | "gif" | "webp" | "svgz")) => {
                Err(Error::Usage(format!(
                    "{name}: this command writes graphviz's language: use `| dot -T{ending} > {name}`"
                )))
            }
            _ => Ok(()),
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Error> {
    arguments.refuse_pictures()?;
    let loaded = driver::load_program(&arguments.input.inputs, &arguments.input.options())?;
    driver::report(&loaded.findings, Format::Text)?;
    let program = &loaded.program;
    if let Some(rank) = arguments.rank.filter(|&rank| rank >= program.num_ranks()) {
        return Err(Error::Usage(format!(
            "there is no rank {rank}: the program has {}",
            program.num_ranks()
        )));
    }
    let target = Target::new(&arguments.output).apart_from(arguments.input.files())?;
    let mut out = Output::create(&target, false)?;
    let written = match arguments.rank {
        Some(rank) => dot(program.body_of(rank), rank, &mut out),
        None => dot_of_ranks(program, &mut out),
    };
    written.map_err(|error| Error::io(out.name(), error))?;
    out.finish()
}
