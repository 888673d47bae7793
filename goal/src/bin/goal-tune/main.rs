//! `goal-tune`: measures the algorithms of collectives on the ranks that it is started on, and
//! writes a table of decisions. `goal-run tune -n 4 -o table.json` starts it.

mod measure;
mod rules;

use clap::Parser;
use goal::{CollectiveKind, Group};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Measures the algorithms of collectives on these ranks, and writes a table of decisions
///
/// Start it as `goal-run -n RANKS goal-tune -o table.json`. Programs use the table if GOAL_TABLE is
/// its path. What it does not decide, the thresholds of publications do.
#[derive(Parser)]
#[command(name = "goal-tune", version)]
struct Arguments {
    /// Collectives to measure, all if left out
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = kind)]
    collectives: Vec<CollectiveKind>,
    /// Sizes of a block, in bytes
    #[arg(long, value_name = "BYTES", value_delimiter = ',', default_value = "8,128,2048,16384,65536,524288", value_parser = clap::value_parser!(u64).range(8..=1 << 30))]
    bytes: Vec<u64>,
    /// Time for an algorithm at a size, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 40, value_parser = clap::value_parser!(u64).range(1..=60_000))]
    time: u64,
    /// File for the table; without it, the standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

fn kind(name: &str) -> Result<CollectiveKind, String> {
    let known = CollectiveKind::ALL.into_iter().filter(|kind| !kind.has_neighbors());
    let names: Vec<&str> = known.clone().map(CollectiveKind::name).collect();
    known
        .into_iter()
        .find(|kind| kind.name() == name)
        .ok_or_else(|| format!("there is no collective {name}: they are {}", names.join(", ")))
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match tune(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("goal-tune: {error}");
            ExitCode::FAILURE
        }
    }
}

fn tune(arguments: &Arguments) -> Result<(), Box<dyn std::error::Error>> {
    let group = Group::init()?;
    let kinds: Vec<CollectiveKind> = match arguments.collectives.as_slice() {
        [] => CollectiveKind::ALL.into_iter().filter(|kind| !kind.has_neighbors()).collect(),
        some => some.to_vec(),
    };
    let mut sizes = arguments.bytes.clone();
    sizes.sort_unstable();
    sizes.dedup();
    let mut points = Vec::new();
    for &kind in &kinds {
        let sizes = if kind == CollectiveKind::Barrier { &sizes[..1] } else { &sizes };
        for &bytes in sizes {
            points.extend(measure::candidates(group, kind, bytes));
        }
    }
    let is_root = group.rank() == 0;
    let bar = if is_root { ProgressBar::new(points.len() as u64) } else { ProgressBar::hidden() };
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} {eta} {msg}");
    bar.set_style(style.expect("a template"));
    let time = Duration::from_millis(arguments.time);
    let mut measured = Vec::new();
    for point in points {
        bar.set_message(format!("{} {} {} B", point.kind, point.algorithm, point.bytes));
        measured.push(measure::measure(group, point, time)?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    if is_root {
        let table = rules::table(group.size(), &measured, arguments.time);
        let mut text = serde_json::to_string_pretty(&table)?;
        text.push('\n');
        match &arguments.output {
            Some(path) => std::fs::write(path, text)
                .map_err(|error| format!("{}: {error}", path.display()))?,
            None => std::io::stdout().write_all(text.as_bytes())?,
        }
        eprint!("{}", rules::summary(group.size(), &measured));
    }
    Ok(group.finalize()?)
}
