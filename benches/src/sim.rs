//! goal-sim in each of its models beside the simulators whose models these are.

use crate::measure::{Cost, median, sibling, within};
use crate::table;
use crate::trace::{Pattern, Shape};
use clap::Args as ClapArgs;
use serde::Deserialize;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// `sim`'s arguments.
#[derive(ClapArgs)]
pub(crate) struct Args {
    /// LogGOPSim binaries, instead of those that the benchmark writes
    inputs: Vec<PathBuf>,
    /// Counted runs of each program
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// The program of spcl/LogGOPSim
    #[arg(long, value_name = "PATH")]
    loggopsim: Option<PathBuf>,
    /// The program of spcl/atlahs, sim/LogGOPSim
    #[arg(long, value_name = "PATH")]
    atlahs: Option<PathBuf>,
    /// Seconds that a run may take
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0)]
    limit: f64,
}

/// The machine, as goal-sim and both peers take it.
const MACHINE: [&str; 12] =
    ["-L", "2500", "-o", "1500", "-g", "1000", "-G", "6", "-O", "0", "-S", "65535"];

/// The inputs that the benchmark writes: name and shape.
const INPUTS: [(&str, Shape); 4] = [
    ("dissemination, 16384 ranks", shape(Pattern::Dissemination, 16_384, 1, 0)),
    ("binomial broadcast, 262144 ranks", shape(Pattern::Binomial, 262_144, 1, 0)),
    ("uneven stencil, 4096 ranks", shape(Pattern::Stencil, 4096, 40, 10_000)),
    ("alltoall, 1024 ranks", shape(Pattern::Alltoall, 1024, 1, 0)),
];

const fn shape(pattern: Pattern, ranks: u32, steps: u32, nanos: u64) -> Shape {
    Shape { pattern, ranks, steps, bytes: 8, nanos }
}

/// A program, and what its runs took.
struct Contestant {
    name: String,
    command: Vec<String>,
    /// The place of the peer with this model among the contestants.
    peer: Option<usize>,
    costs: Vec<Cost>,
    /// True if a run has not ended in time.
    is_late: bool,
}

/// The part of goal-sim's report that is read.
#[derive(Deserialize)]
struct Report {
    events: u64,
}

pub(crate) fn run(args: &Args) -> io::Result<()> {
    for (option, path) in [("--loggopsim", &args.loggopsim), ("--atlahs", &args.atlahs)] {
        if path.is_none() {
            say!("{option} is not given: rows without this peer");
        }
    }
    let folder = tempfile::tempdir()?;
    let mut rows = Vec::new();
    if args.inputs.is_empty() {
        for (name, shape) in INPUTS {
            let path = folder.path().join("input.bin");
            shape.write(&path)?;
            rows.extend(one_input(name, &path, args)?);
        }
    }
    for path in &args.inputs {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        rows.extend(one_input(&name, path, args)?);
    }
    table::print(
        &["input", "program", "wall s", "cpu s", "M events/s", "of the peer's", "peak MB"],
        &rows,
    );
    Ok(())
}

fn one_input(name: &str, input: &Path, args: &Args) -> io::Result<Vec<Vec<String>>> {
    let mut contestants = contestants(input, args)?;
    let events = count_events(input)?;
    for round in 0..=args.runs {
        for contestant in contestants.iter_mut().filter(|contestant| !contestant.is_late) {
            match within(&contestant.command, args.limit)? {
                None => contestant.is_late = true,
                Some(cost) if round > 0 => contestant.costs.push(cost),
                Some(_) => {}
            }
        }
    }
    Ok(contestants
        .iter()
        .map(|contestant| row(name, contestant, &contestants, events, args))
        .collect())
}

/// Lists the peers that are given, then goal-sim's models.
fn contestants(input: &Path, args: &Args) -> io::Result<Vec<Contestant>> {
    let contestant = |name: &str, program: &str, options: &[&str], peer| Contestant {
        name: name.to_owned(),
        command: [program]
            .iter()
            .chain(&MACHINE)
            .chain(options)
            .map(ToString::to_string)
            .chain([input.to_string_lossy().into_owned()])
            .collect(),
        peer,
        costs: Vec::new(),
        is_late: false,
    };
    let mut all = Vec::new();
    let mut places = [None, None];
    let peers = [("LogGOPSim", &args.loggopsim), ("ATLAHS", &args.atlahs)];
    for ((name, path), place) in peers.into_iter().zip(&mut places) {
        if let Some(path) = path {
            *place = Some(all.len());
            all.push(contestant(name, &path.to_string_lossy(), &["-b", "-f"], None));
        }
    }
    let goal_sim = sibling("goal-sim")?;
    let help = Command::new(&goal_sim).arg("--help").output()?.stdout;
    let has_threads = String::from_utf8_lossy(&help).contains("--threads");
    let [loggopsim, atlahs] = places;
    let model = |model: &str, threads: Option<&str>, peer| {
        let mut options = vec!["--format", "csv", "--model", model];
        let mut name = format!("goal-sim, {model}");
        if let Some(threads) = threads {
            options.extend(["--threads", threads]);
            name += &format!(", --threads {threads}");
        }
        contestant(&name, &goal_sim, &options, peer)
    };
    all.push(model("goal", has_threads.then_some("1"), loggopsim));
    if has_threads {
        all.push(model("goal", Some("2"), loggopsim));
    }
    all.push(model("loggopsim", None, loggopsim));
    all.push(model("atlahs", None, atlahs));
    Ok(all)
}

/// Returns the actions that are started and the messages that are taken in.
fn count_events(input: &Path) -> io::Result<u64> {
    let output =
        Command::new(sibling("goal-sim")?).args(["--format", "json"]).arg(input).output()?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(io::Error::other(why));
    }
    let report: Report = serde_json::from_slice(&output.stdout)?;
    Ok(report.events)
}

fn row(
    input: &str,
    contestant: &Contestant,
    all: &[Contestant],
    events: u64,
    args: &Args,
) -> Vec<String> {
    let mut cells = vec![input.to_owned(), contestant.name.clone()];
    let Some(wall_s) = wall(contestant) else {
        cells.extend([format!("> {}", args.limit), "".into(), "".into(), "".into(), "".into()]);
        return cells;
    };
    let of_costs = |part: fn(&Cost) -> f64| median(contestant.costs.iter().map(part));
    let ratio = contestant.peer.map_or(String::new(), |peer| match wall(&all[peer]) {
        Some(of_peer) => format!("{:.1}", of_peer / wall_s),
        None => format!("> {:.1}", args.limit / wall_s),
    });
    cells.extend([
        format!("{wall_s:.3}"),
        format!("{:.3}", of_costs(|cost| cost.cpu_s)),
        format!("{:.2}", events as f64 / wall_s / 1e6),
        ratio,
        format!("{:.0}", of_costs(|cost| cost.peak_bytes as f64 / 1e6)),
    ]);
    cells
}

/// Returns the median of the seconds, or `None` if a run has not ended in time.
fn wall(contestant: &Contestant) -> Option<f64> {
    let costs = contestant.costs.iter().map(|cost| cost.wall_s);
    (!contestant.is_late).then(|| median(costs))
}
