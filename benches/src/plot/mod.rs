//! The raw data of `overlap` as a picture: the cost of the allreduce over the time
//! that the product takes.

mod curves;
mod draw;

use clap::Args as ClapArgs;
use std::io;
use std::path::PathBuf;

/// `plot`'s arguments.
#[derive(ClapArgs)]
pub(crate) struct Args {
    /// File that `overlap --csv` wrote
    csv: PathBuf,
    /// The picture
    #[arg(short, long, value_name = "SVG")]
    output: PathBuf,
}

pub(crate) fn run(args: &Args) -> io::Result<()> {
    let named = |error: String| io::Error::other(format!("{}: {error}", args.csv.display()));
    let panels = curves::parse(&std::fs::read_to_string(&args.csv)?).map_err(named)?;
    std::fs::write(&args.output, draw::svg(&panels).map_err(io::Error::other)?)
}
