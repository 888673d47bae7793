//! Measures the cost of waiting: the processor time of ranks that have nothing to do until a
//! message comes.

mod processor_time;

use crate::library::{self, Libraries, Peer};
use crate::measure::sibling;
use crate::table;
use clap::Args as ClapArgs;
use goal_job::Mode;
use goal_job::Named;
use goal_run::named;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// `idle`'s arguments.
#[derive(ClapArgs)]
pub(crate) struct Args {
    #[command(flatten)]
    libraries: Libraries,
    /// Numbers of ranks
    #[arg(long, default_values_t = [2, 4], value_parser = clap::value_parser!(u32).range(2..))]
    ranks: Vec<u32>,
    /// Seconds that rank 0 computes, and the others wait
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// Mode in which the schedule makes progress
    #[arg(long, value_parser = named::<Mode>(), default_values = ["caller", "thread", "node"])]
    progress: Vec<Mode>,
    /// Write every sample there, as lines of ranks, contestant, process and milliseconds of
    /// processor time
    #[arg(long)]
    csv: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let goal_run = sibling("goal-run")?;
    let peers = args.libraries.build(&library::IDLE, folder.path())?;
    let mut csv = String::from("ranks,contestant,process,milliseconds\n");
    let mut rows = Vec::new();
    for &ranks in &args.ranks {
        let path = folder.path().join("idle.goal");
        std::fs::write(&path, program(ranks, args.seconds))?;
        let mut used: Vec<(&str, BTreeMap<String, f64>)> = Vec::new();
        for peer in peers.iter().filter(|peer| peer.library.can_run(ranks)) {
            used.push((&peer.library.name, run_peer(peer, ranks, args.seconds)?));
        }
        for &progress in &args.progress {
            used.push((progress.name(), run_schedule(&goal_run, &path, progress)?));
        }
        for (contestant, used) in used {
            for (process, ms) in &used {
                let _ = writeln!(csv, "{ranks},{contestant},{process},{ms:.3}");
            }
            rows.push(row(ranks, contestant, &used)?);
        }
    }
    say!(
        "milliseconds of processor time while rank 0 computes for {} s and the others wait",
        args.seconds
    );
    let header = [
        "ranks",
        "by",
        "rank 0",
        "least that waits",
        "most that waits",
        "all that wait",
        "launcher",
    ];
    table::print(&header, &rows);
    match &args.csv {
        Some(path) => std::fs::write(path, csv),
        None => Ok(()),
    }
}

fn row(ranks: u32, contestant: &str, used: &BTreeMap<String, f64>) -> io::Result<Vec<String>> {
    let of = |rank: u32| {
        let missing = || io::Error::other(format!("{contestant}: rank {rank} was not seen"));
        used.get(&format!("rank {rank}")).copied().ok_or_else(missing)
    };
    let waiting = (1..ranks).map(of).collect::<io::Result<Vec<f64>>>()?;
    let (least, most) =
        waiting.iter().fold((f64::MAX, 0f64), |(least, most), &ms| (least.min(ms), most.max(ms)));
    let ms = |value: f64| format!("{value:.1}");
    let mut row = vec![ranks.to_string(), contestant.to_owned()];
    row.extend([of(0)?, least, most, waiting.iter().sum()].map(ms));
    row.push(used.get("goal-run").map_or("-".to_owned(), |&launcher| ms(launcher)));
    Ok(row)
}

/// Rank 0 computes and then sends a message to each of the others, which wait for it.
fn program(ranks: u32, seconds: u64) -> String {
    let mut text = format!("rank #0 {{\ncompute: calc {};\n", seconds * 1_000_000_000);
    for to in 1..ranks {
        let _ = writeln!(text, "send{to}: send 8b to {to}; requ send{to} -> compute;");
    }
    text.push_str("}\n");
    for rank in 1..ranks {
        let _ = writeln!(text, "rank #{rank} {{\nrecv 8b from 0;\n}}");
    }
    text
}

fn run_schedule(goal_run: &str, path: &Path, progress: Mode) -> io::Result<BTreeMap<String, f64>> {
    let mut command = Command::new(goal_run);
    command.arg(path).args(["--progress", progress.name()]);
    let mut job = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn()?;
    let used = processor_time::follow(&mut job)?;
    let status = job.wait()?;
    if status.success() {
        Ok(used)
    } else {
        Err(io::Error::other(format!("goal-run ended with {status}")))
    }
}

fn run_peer(peer: &Peer, ranks: u32, seconds: u64) -> io::Result<BTreeMap<String, f64>> {
    let lines = peer.run(ranks, &[seconds.to_string()])?;
    let parse = |line: &String| {
        let (rank, ms) = line.split_once(' ')?;
        Some((format!("rank {rank}"), ms.parse().ok()?))
    };
    let used: Option<BTreeMap<_, _>> = lines.iter().map(parse).collect();
    used.ok_or_else(|| io::Error::other(lines.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::row;
    use std::collections::BTreeMap;

    #[test]
    fn a_row_needs_every_rank() {
        let mut used: BTreeMap<String, f64> =
            [("rank 0", 9000.0), ("rank 1", 2.0), ("goal-run", 3.0)]
                .map(|(name, ms)| (name.to_owned(), ms))
                .into();
        assert_eq!(
            row(3, "caller", &used).expect_err("no rank 2").to_string(),
            "caller: rank 2 was not seen"
        );
        used.insert("rank 2".to_owned(), 0.5);
        let cells = row(3, "caller", &used).expect("a row");
        assert_eq!(cells, ["3", "caller", "9000.0", "0.5", "2.0", "2.5", "3.0"]);
    }
}
