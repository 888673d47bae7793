//! Half round trip between two ranks, as a schedule that goes to and fro; beside the MPI
//! library on the path.

use crate::library::{self, Peer};
use crate::measure::{median, sibling};
use crate::table;
use clap::Args as ClapArgs;
use std::fmt::Write;
use std::io;
use std::path::Path;
use std::process::Command;

/// `pingpong`'s arguments.
#[derive(ClapArgs)]
pub(crate) struct Args {
    /// Counted runs of each size
    #[arg(long, default_value_t = 9)]
    runs: usize,
    /// Bytes of a message
    #[arg(long, default_values_t = [8, 65_536, 1_048_576])]
    size: Vec<u64>,
    /// Transports
    #[arg(long, default_values_t = ["shm".to_string(), "threads".to_string()])]
    transport: Vec<String>,
}

/// The peer's name in the table.
const PEER: &str = "MPI";

pub(crate) fn run(args: &Args) -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let goal_run = sibling("goal-run")?;
    let peer = Peer::on_path(&library::PINGPONG, folder.path())?;
    let mut rows = Vec::new();
    for &size in &args.size {
        let round_trips = (400_000_000 / (size + 4_000)).clamp(1_000, 100_000);
        let path = folder.path().join("pingpong.goal");
        std::fs::write(&path, schedule(size, round_trips))?;
        let mut contestants: Vec<(String, Vec<f64>)> =
            args.transport.iter().map(|transport| (transport.clone(), Vec::new())).collect();
        if peer.is_some() {
            contestants.push((PEER.into(), Vec::new()));
        }
        for round in 0..=args.runs {
            for (name, samples) in &mut contestants {
                let half_ns = match &peer {
                    Some(peer) if name == PEER => mpi_half_ns(peer, size, round_trips)?,
                    _ => elapsed_ns(&goal_run, &path, name)? / (2 * round_trips) as f64,
                };
                if round > 0 {
                    samples.push(half_ns / 1000.0);
                }
            }
        }
        let reference = contestants
            .last()
            .filter(|_| peer.is_some())
            .map(|(_, samples)| median(samples.clone()));
        for (name, samples) in contestants {
            let (least, most) =
                samples.iter().fold((f64::MAX, 0f64), |(l, m), &s| (l.min(s), m.max(s)));
            let middle = median(samples);
            let ratio =
                reference.map_or("-".into(), |reference| format!("{:.2}", middle / reference));
            let cells = [least, middle, most].map(|us| format!("{us:.2}"));
            let mut row = vec![size.to_string(), name, round_trips.to_string()];
            row.extend(cells);
            row.push(ratio);
            rows.push(row);
        }
    }
    table::print(
        &["bytes", "by", "round trips", "least us", "median us", "most us", "of MPI"],
        &rows,
    );
    Ok(())
}

fn mpi_half_ns(peer: &Peer, size: u64, round_trips: u64) -> io::Result<f64> {
    let lines = peer.run(2, &[size.to_string(), round_trips.to_string()])?;
    lines.concat().trim().parse().map_err(|_| io::Error::other(lines.join("\n")))
}

/// Builds the program. Rank 0 sends and waits for the answer; each message starts when the one
/// before has arrived.
fn schedule(size: u64, round_trips: u64) -> String {
    let mut text = String::new();
    for (rank, peer) in [(0, 1), (1, 0)] {
        let _ = writeln!(text, "rank #{rank} {{");
        for i in 0..round_trips {
            let (first, second) = if rank == 0 { ("send", "recv") } else { ("recv", "send") };
            let word = |verb: &str| if verb == "send" { "to" } else { "from" };
            let _ = writeln!(text, "a{i}: {first} 0,{size} {} {peer};", word(first));
            let _ = writeln!(
                text,
                "b{i}: {second} 0,{size} {} {peer}; requ b{i} -> a{i};",
                word(second)
            );
            if i > 0 {
                let _ = writeln!(text, "requ a{i} -> b{};", i - 1);
            }
        }
        text.push_str("}\n");
    }
    text
}

fn elapsed_ns(goal_run: &str, path: &Path, transport: &str) -> io::Result<f64> {
    let output = Command::new(goal_run)
        .arg(path)
        .args(["--transport", transport, "--format", "json"])
        .output()?;
    if !output.status.success() {
        return Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    let report: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    report["elapsed_ns"]
        .as_f64()
        .ok_or_else(|| io::Error::other("goal-run's report has no elapsed_ns"))
}
