//! Measures the cost of calls of libgoal for a program in C that starts a small schedule again and
//! again. The program runs as a group of one, and as two ranks with a processor each.

use crate::job::{Page, crowded, list, processors};
use crate::library::{self, goal::Table};
use crate::measure::median;
use crate::table;
use clap::Args as ClapArgs;
use goal_job::Mode;
use goal_job::Named;
use goal_run::named;
use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;

/// `library`'s arguments.
#[derive(ClapArgs)]
pub(crate) struct Args {
    #[command(flatten)]
    table: Table,
    /// Modes in which schedules make progress
    #[arg(long, value_parser = named::<Mode>(), value_delimiter = ',', default_values = ["caller", "thread"])]
    progress: Vec<Mode>,
    /// Samples of a run, of which the median counts
    #[arg(long, default_value_t = 21, value_parser = clap::value_parser!(u32).range(1..))]
    samples: u32,
    /// Counted runs
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Write every run's figures there, as lines of ranks, progress, run, rank, cost and
    /// nanoseconds
    #[arg(long)]
    csv: Option<PathBuf>,
}

/// The costs as the program names them, and as the table does, with the goal in nanoseconds.
const COSTS: [(&str, &str, Option<f64>); 8] = [
    ("run", "GOAL_Run", Some(100.0)),
    ("ended", "GOAL_Test of an ended run", Some(20.0)),
    ("waiting", "GOAL_Test of one that waits for a message", Some(20.0)),
    ("whole", "GOAL_Run and GOAL_Wait", None),
    ("trip", "a round trip of 8 bytes", None),
    ("trips", "16 round trips", None),
    ("linked-trip", "a linked round trip", None),
    ("linked-trips", "16 linked round trips", None),
];

pub(crate) fn run(args: &Args) -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let Some(program) = args.table.build(&library::COSTS, folder.path())? else {
        return Err(io::Error::other("there is nothing to measure"));
    };
    let mut csv = String::from("ranks,progress,run,rank,cost,ns\n");
    let mut rows = Vec::new();
    for ranks in [1, 2] {
        for &progress in &args.progress {
            let mut figures = [const { Vec::new() }; COSTS.len()];
            for run in 0..=args.runs {
                let (page, processors) = (Page::new()?, processors(ranks)?);
                let bound = (!crowded(ranks)).then_some(processors.as_slice());
                let arguments = [
                    page.path().display().to_string(),
                    bound.map_or("-".to_owned(), list),
                    args.samples.to_string(),
                ];
                let lines = program.run(ranks, bound, progress, &arguments)?;
                // The first run brings files into the page cache.
                for line in lines.iter().filter(|_| run > 0) {
                    let (rank, cost, ns) = parse(line)?;
                    figures[cost].push(ns);
                    let (name, progress) = (COSTS[cost].0, progress.name());
                    let _ = writeln!(csv, "{ranks},{progress},{run},{rank},{name},{ns:.1}");
                }
            }
            for ((_, name, goal), figures) in COSTS.iter().zip(figures) {
                if !figures.is_empty() {
                    rows.push(row(ranks, progress, name, *goal, &figures));
                }
            }
        }
    }
    say!(
        "median of {} runs and of the ranks, each the median of {} samples",
        args.runs,
        args.samples
    );
    table::print(&["ranks", "progress", "call", "ns", "least", "most", "goal"], &rows);
    match &args.csv {
        Some(path) => std::fs::write(path, csv),
        None => Ok(()),
    }
}

/// Returns the rank, the number of the cost and its nanoseconds in a line of the program.
fn parse(line: &str) -> io::Result<(u32, usize, f64)> {
    let words: Vec<&str> = line.split(' ').collect();
    let parse = || {
        let [rank, name, ns] = words[..] else { return None };
        let cost = COSTS.iter().position(|(of, ..)| *of == name)?;
        Some((rank.parse().ok()?, cost, ns.parse().ok()?))
    };
    parse().ok_or_else(|| io::Error::other(format!("a rank says `{line}`")))
}

fn row(ranks: u32, progress: Mode, name: &str, goal: Option<f64>, figures: &[f64]) -> Vec<String> {
    let (least, most) =
        figures.iter().fold((f64::MAX, f64::MIN), |(l, m), &ns| (l.min(ns), m.max(ns)));
    let ns = |ns: f64| format!("{ns:.1}");
    vec![
        ranks.to_string(),
        progress.name().to_owned(),
        name.to_owned(),
        ns(median(figures.iter().copied())),
        ns(least),
        ns(most),
        goal.map_or("-".to_owned(), |goal| format!("{goal:.0}")),
    ]
}
