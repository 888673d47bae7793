//! Half round trip between two ranks, as a schedule that goes to and fro.

use crate::measure::{median, sibling};
use crate::table;
use clap::Args as ClapArgs;
use std::fmt::Write;
use std::io;
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

pub(crate) fn run(args: &Args) -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let goal_run = sibling("goal-run")?;
    let mut rows = Vec::new();
    for &size in &args.size {
        let round_trips = (400_000_000 / (size + 4_000)).clamp(1_000, 100_000);
        let path = folder.path().join("pingpong.goal");
        std::fs::write(&path, schedule(size, round_trips))?;
        let mut samples = vec![Vec::new(); args.transport.len()];
        for round in 0..=args.runs {
            for (transport, samples) in args.transport.iter().zip(&mut samples) {
                let elapsed = elapsed_ns(&goal_run, &path, transport)?;
                if round > 0 {
                    samples.push(elapsed / (2 * round_trips) as f64 / 1000.0);
                }
            }
        }
        for (transport, samples) in args.transport.iter().zip(samples) {
            let (least, most) = samples.iter().fold((f64::MAX, 0f64), |(l, m), &s| (l.min(s), m.max(s)));
            let cells = [least, median(samples), most].map(|us| format!("{us:.2}"));
            rows.push(
                [vec![size.to_string(), transport.clone(), round_trips.to_string()], cells.to_vec()].concat(),
            );
        }
    }
    table::print(&["bytes", "transport", "round trips", "least us", "median us", "most us"], &rows);
    Ok(())
}

/// Rank 0 sends and waits for the answer; each message starts when the one before has arrived.
fn schedule(size: u64, round_trips: u64) -> String {
    let mut text = String::new();
    for (rank, peer) in [(0, 1), (1, 0)] {
        let _ = writeln!(text, "rank #{rank} {{");
        for i in 0..round_trips {
            let (first, second) = if rank == 0 { ("send", "recv") } else { ("recv", "send") };
            let word = |verb: &str| if verb == "send" { "to" } else { "from" };
            let _ = writeln!(text, "a{i}: {first} 0,{size} {} {peer};", word(first));
            let _ = writeln!(text, "b{i}: {second} 0,{size} {} {peer}; requ b{i} -> a{i};", word(second));
            if i > 0 {
                let _ = writeln!(text, "requ a{i} -> b{};", i - 1);
            }
        }
        text.push_str("}\n");
    }
    text
}

fn elapsed_ns(goal_run: &str, path: &std::path::Path, transport: &str) -> io::Result<f64> {
    let output =
        Command::new(goal_run).arg(path).args(["--transport", transport, "--format", "json"]).output()?;
    if !output.status.success() {
        return Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    let report: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    report["elapsed_ns"].as_f64().ok_or_else(|| io::Error::other("goal-run's report has no elapsed_ns"))
}
