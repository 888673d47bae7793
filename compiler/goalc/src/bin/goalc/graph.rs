//! `goalc graph`.

use goal_lang::Program;
use goalc::driver::{self, Error, Format, InputArguments, Output, Target};
use goalc::graph::{SvgError, dot, dot_of_ranks, svg, svg_of_ranks};
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  goalc graph broadcast.goal -o broadcast.svg            all ranks and their messages
  goalc graph broadcast.goal --rank 0 -o rank0.svg
  goalc graph trace.nisa --rank 3 | dot -Tpdf > rank3.pdf")]
pub(crate) struct Arguments {
    #[command(flatten)]
    input: InputArguments,
    /// The rank whose graph is drawn [default: all, with their messages]
    #[arg(long, value_name = "R")]
    rank: Option<u32>,
    /// Draw it as SVG, which needs no graphviz. It shows a few hundred actions at most, and of
    /// larger programs only the first ranks. An OUT that ends in .svg asks for it, too
    #[arg(long, conflicts_with = "dot")]
    svg: bool,
    /// Write it in graphviz's language, as without --svg
    #[arg(long)]
    dot: bool,
    /// File for the drawing; - is standard output
    #[arg(short, long, value_name = "OUT", default_value = "-")]
    output: PathBuf,
}

impl Arguments {
    /// Returns true if the graph is drawn as SVG, and false if it is written in graphviz's
    /// language.
    fn is_svg(&self) -> Result<bool, Error> {
        if self.svg || self.dot {
            return Ok(self.svg);
        }
        let ending = self.output.extension().map(|ending| ending.to_ascii_lowercase());
        match ending.as_ref().and_then(|ending| ending.to_str()) {
            Some("svg") => Ok(true),
            Some(
                other @ ("png" | "pdf" | "jpg" | "jpeg" | "ps" | "eps" | "gif" | "webp" | "svgz"),
            ) => {
                let name = self.output.display();
                Err(Error::Usage(format!(
                    "{name}: goalc draws SVG and writes graphviz's language: use x.svg, or `| dot -T{other} > {name}`"
                )))
            }
            _ => Ok(false),
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Error> {
    let is_svg = arguments.is_svg()?;
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
    let drawn = draw(program, arguments.rank, is_svg, &mut out);
    let ranks = drawn.map_err(|error| match error {
        SvgError::Io(error) => Error::io(out.name(), error),
        SvgError::TooLarge { .. } => {
            Error::Usage(format!("rank {}: {error}", arguments.rank.unwrap_or(0)))
        }
    })?;
    out.finish()?;
    if ranks < program.num_ranks() && arguments.rank.is_none() {
        let (last, all) = (ranks - 1, program.num_ranks());
        driver::print_line(&format!(
            "goalc: ranks 0 to {last} of {all} are drawn: more can't be read; --rank draws another one, --dot writes all"
        ));
    }
    Ok(())
}

/// Draws one rank or all. Returns the number of ranks that are drawn.
fn draw(
    program: &Program,
    rank: Option<u32>,
    is_svg: bool,
    out: &mut Output,
) -> Result<u32, SvgError> {
    match (rank, is_svg) {
        (Some(rank), true) => svg(program.body_of(rank), out).map(|()| 1),
        (Some(rank), false) => {
            dot(program.body_of(rank), rank, out).map(|()| 1).map_err(SvgError::Io)
        }
        (None, true) => svg_of_ranks(program, out),
        (None, false) => {
            dot_of_ranks(program, out).map(|()| program.num_ranks()).map_err(SvgError::Io)
        }
    }
}
