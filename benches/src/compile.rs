//! `goalc build` beside `wc -w` on the same files.

use crate::generate::{Pattern, Shape, write};
use crate::measure::{Cost, interleaved, median, sibling};
use crate::table;
use clap::Args as ClapArgs;
use std::io;
use std::path::Path;

/// `compile`'s arguments.
#[derive(ClapArgs)]
pub(crate) struct Args {
    /// Counted runs of each command
    #[arg(long, default_value_t = 7)]
    runs: usize,
    /// Leave out the 300 MB file
    #[arg(long)]
    small: bool,
}

pub(crate) fn run(args: &Args) -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let mut inputs = vec![("alltoall, 1024 ranks", Shape::new(Pattern::Alltoall))];
    if !args.small {
        inputs.push(("ring, 64 ranks", Shape::new(Pattern::Ring).messages(45_000)));
    }
    let mut rows = Vec::new();
    for (name, shape) in inputs {
        let path = folder.path().join("input.goal");
        write(&shape, &path)?;
        rows.extend(one_file(name, &path, args.runs)?);
    }
    table::print(
        &["input", "command", "wall s", "cpu s", "MB/s", "of wc -w", "peak MB", "output MB"],
        &rows,
    );
    Ok(())
}

fn one_file(name: &str, input: &Path, runs: usize) -> io::Result<Vec<Vec<String>>> {
    let goalc = sibling("goalc")?;
    let output = input.with_extension("nisa");
    let build = |options: &str| {
        let mut command = vec![goalc.clone(), "build".into()];
        command.extend(options.split_whitespace().map(String::from));
        command.extend(["-o".into(), output.to_string_lossy().into_owned()]);
        command.push(input.to_string_lossy().into_owned());
        command
    };
    let variants = [
        ("wc -w", vec!["wc".into(), "-w".into(), input.to_string_lossy().into_owned()]),
        ("build -O0 --no-check --strip, 1 thread", build("-O0 --no-check --strip --threads 1")),
        ("build -O0 --no-check, 1 thread", build("-O0 --no-check --threads 1")),
        ("build -O0 --no-check, 2 threads", build("-O0 --no-check --threads 2")),
        ("build (default), 1 thread", build("--threads 1")),
        ("build (default), 2 threads", build("--threads 2")),
    ];
    let commands: Vec<_> = variants.iter().map(|(_, command)| command.clone()).collect();
    let costs = interleaved(&commands, runs, &output)?;
    let megabytes = std::fs::metadata(input)?.len() as f64 / 1e6;
    let wall = |costs: &[Cost]| median(costs.iter().map(|cost| cost.wall_s));
    let reference = wall(&costs[0]);
    let mut rows = Vec::new();
    for ((label, command), costs) in variants.iter().zip(&costs) {
        // Each variant writes the same file, so the file is built once more to read its size.
        let size = if command[0] == goalc {
            std::process::Command::new(&command[0]).args(&command[1..]).status()?;
            format!("{:.1}", std::fs::metadata(&output)?.len() as f64 / 1e6)
        } else {
            String::new()
        };
        rows.push(vec![
            format!("{name}, {megabytes:.0} MB"),
            (*label).to_string(),
            format!("{:.3}", wall(costs)),
            format!("{:.3}", median(costs.iter().map(|cost| cost.cpu_s))),
            format!("{:.0}", megabytes / wall(costs)),
            format!("{:.2}", wall(costs) / reference),
            format!("{:.0}", median(costs.iter().map(|cost| cost.peak_bytes as f64 / 1e6))),
            size,
        ]);
    }
    Ok(rows)
}
