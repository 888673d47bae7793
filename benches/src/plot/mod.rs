//! Draws pictures of raw data. For `overlap` it draws the cost of the allreduce over the time of
//! the product. For `connections` it draws the remaining performance over the number of
//! connections.

mod connections;
mod curves;
mod draw;

use clap::Args as ClapArgs;
use std::io;
use std::path::PathBuf;

/// `plot`'s arguments.
#[derive(ClapArgs)]
pub(crate) struct Args {
    /// File that `overlap --csv` or `connections --csv` wrote
    csv: PathBuf,
    /// The picture
    #[arg(short, long, value_name = "SVG")]
    output: PathBuf,
}

pub(crate) fn run(args: &Args) -> io::Result<()> {
    let named = |error: String| io::Error::other(format!("{}: {error}", args.csv.display()));
    let csv = std::fs::read_to_string(&args.csv)?;
    if csv.lines().next() == Some(crate::connections::CSV_HEADER) {
        return std::fs::write(&args.output, connections::svg(&csv).map_err(named)?);
    }
    let panels = curves::parse(&csv).map_err(named)?;
    std::fs::write(&args.output, draw::svg(&panels).map_err(io::Error::other)?)
}
