//! Measures the gain of passes that split and order messages. It takes a chain broadcast and an
//! alltoall without and with each pass, and shows predicted and measured times.

use crate::measure::{median, sibling};
use crate::table;
use clap::Args as ClapArgs;
use goal_lang::{ParseOptions, Program, SourceMap};
use goal_opt::{Pipeline, Timings, cost};
use std::fmt::Write;
use std::io;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

/// `shape`'s arguments.
#[derive(ClapArgs)]
pub(crate) struct Args {
    /// Counted runs of each
    #[arg(long, default_value_t = 9)]
    runs: usize,
    /// Ranks
    #[arg(long, default_value_t = 4)]
    ranks: u32,
    /// Bytes that go down the chain
    #[arg(long, default_value_t = 16 << 20)]
    chain: u64,
    /// Bytes of each message of the alltoall
    #[arg(long, default_value_t = 1 << 20)]
    alltoall: u64,
    /// Lists of passes that are tried
    #[arg(long, default_values_t = ["segment".to_owned(), "contention".to_owned()])]
    passes: Vec<String>,
    /// How messages travel: shm or threads
    #[arg(long, default_value = "shm")]
    transport: String,
}

pub(crate) fn run(args: &Args) -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let mut rows = Vec::new();
    let patterns = [
        (format!("chain of {} B", args.chain), chain(args.ranks, args.chain)),
        (format!("alltoall of {} B", args.alltoall), alltoall(args.ranks, args.alltoall)),
    ];
    for (pattern, text) in patterns {
        let specs = std::iter::once("").chain(args.passes.iter().map(String::as_str));
        let mut contestants = Vec::new();
        for (number, spec) in specs.enumerate() {
            let predicted_ns = predict(&text, spec)?;
            let source = folder.path().join("shape.goal");
            let nisa = folder.path().join(format!("{number}.nisa"));
            std::fs::write(&source, &text)?;
            build(&source, &nisa, spec)?;
            contestants.push((spec, predicted_ns, nisa, Vec::new()));
        }
        for round in 0..=args.runs {
            for (_, _, nisa, samples) in &mut contestants {
                let elapsed_us = elapsed_ns(nisa, &args.transport)? / 1000.0;
                if round > 0 {
                    samples.push(elapsed_us);
                }
            }
        }
        let (plain_ns, plain_us) = (contestants[0].1, median(contestants[0].3.clone()));
        for (spec, predicted_ns, _, samples) in contestants {
            let (least, most) =
                samples.iter().fold((f64::MAX, 0f64), |(l, m), &s| (l.min(s), m.max(s)));
            let middle = median(samples);
            let name = if spec.is_empty() { "none" } else { spec };
            let mut row = vec![pattern.clone(), name.to_owned()];
            row.extend([predicted_ns / 1000.0, least, middle, most].map(|us| format!("{us:.0}")));
            row.extend(
                [predicted_ns / plain_ns, middle / plain_us].map(|ratio| format!("{ratio:.2}")),
            );
            rows.push(row);
        }
    }
    let header = [
        "pattern",
        "passes",
        "predicted us",
        "least us",
        "median us",
        "most us",
        "predicted",
        "measured",
    ];
    table::print(&header, &rows);
    Ok(())
}

/// Returns a chain: each rank passes on the bytes that it received, the first its own.
fn chain(ranks: u32, bytes: u64) -> String {
    let mut text = format!("num_ranks {ranks}\n");
    for rank in 0..ranks {
        let _ = writeln!(text, "rank {rank} {{");
        if rank > 0 {
            let _ = writeln!(text, "r: recv 0,{bytes} from {}", rank - 1);
        }
        if rank + 1 < ranks {
            let _ = writeln!(text, "s: send 0,{bytes} to {}", rank + 1);
        }
        if rank > 0 && rank + 1 < ranks {
            text.push_str("s requires r\n");
        }
        text.push_str("}\n");
    }
    text
}

/// Returns an alltoall: every rank sends a part of its memory to every other, in the order of
/// ranks.
fn alltoall(ranks: u32, bytes: u64) -> String {
    let mut text = format!("num_ranks {ranks}\n");
    let into = u64::from(ranks) * bytes;
    for rank in 0..ranks {
        let _ = writeln!(text, "rank {rank} {{");
        for peer in (0..ranks).filter(|&peer| peer != rank) {
            let _ = writeln!(text, "recv {},{bytes} from {peer}", into + u64::from(peer) * bytes);
            let _ = writeln!(text, "send {},{bytes} to {peer}", u64::from(peer) * bytes);
        }
        text.push_str("}\n");
    }
    text
}

/// Returns the time at which the last rank ends on the machine that passes suppose, in nanoseconds.
fn predict(text: &str, spec: &str) -> io::Result<f64> {
    let mut sources = SourceMap::default();
    sources.add("shape.goal", Arc::new(text.as_bytes().to_vec()));
    let parsed = goal_lang::parse(&sources, &ParseOptions::default()).program;
    let mut program: Program =
        parsed.ok_or_else(|| io::Error::other("the schedule is no program"))?;
    let pipeline = Pipeline::parse(spec).map_err(io::Error::other)?;
    goal_opt::run(&mut program, &pipeline, &mut Timings::default(), |_, _| {})
        .map_err(io::Error::other)?;
    let prediction = cost::predict(&program, &pipeline.machine).map_err(io::Error::other)?;
    Ok(prediction.makespan_ns())
}

fn build(source: &Path, nisa: &Path, spec: &str) -> io::Result<()> {
    let mut goalc = Command::new(sibling("goalc")?);
    let status =
        goalc.arg("build").arg(source).args(["--passes", spec, "-o"]).arg(nisa).status()?;
    if status.success() {
        Ok(())
    } else {
        Err(io::Error::other(format!("goalc ended with {status}")))
    }
}

fn elapsed_ns(nisa: &Path, transport: &str) -> io::Result<f64> {
    let mut goal_run = Command::new(sibling("goal-run")?);
    let output =
        goal_run.arg(nisa).args(["--transport", transport, "--format", "json"]).output()?;
    if !output.status.success() {
        return Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    let report: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    report["elapsed_ns"]
        .as_f64()
        .ok_or_else(|| io::Error::other("goal-run's report has no elapsed_ns"))
}
