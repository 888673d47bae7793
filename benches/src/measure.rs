//! Timing whole commands: wall clock, processor time and peak memory, as the kernel accounts them.

use clap::Args as ClapArgs;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// `measure`'s arguments.
#[derive(ClapArgs)]
pub(crate) struct Args {
    /// A file to remove before: a result that is not there yet
    #[arg(long)]
    fresh: Option<PathBuf>,
    /// Seconds after which the command is ended, and has no figures
    #[arg(long, value_name = "SECONDS")]
    limit: Option<f64>,
    /// The command and its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    command: Vec<String>,
}

/// The status of `timeout` after it has ended a command.
const ENDED: i32 = 124;

/// The cost of one run of a command.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Cost {
    /// Seconds from start to end.
    pub(crate) wall_s: f64,
    /// Seconds of processor time, user and system.
    pub(crate) cpu_s: f64,
    /// Largest resident set in bytes, mapped files included.
    pub(crate) peak_bytes: u64,
}

/// Runs one command and prints its cost: in a process of its own, since the kernel's account of
/// children never shrinks.
pub(crate) fn run(args: &Args) -> io::Result<()> {
    if let Some(fresh) = &args.fresh {
        let _ = std::fs::remove_file(fresh);
    }
    let limit = args.limit.map(|limit| limit.to_string());
    let limited = limit.iter().flat_map(|limit| ["timeout", limit]);
    let command: Vec<_> = limited.chain(args.command.iter().map(String::as_str)).collect();
    let begin = Instant::now();
    let status = Command::new(command[0])
        .args(&command[1..])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()?;
    let wall_s = begin.elapsed().as_secs_f64();
    if limit.is_some() && status.code() == Some(ENDED) {
        say!("null");
        return Ok(());
    }
    if !status.success() {
        return Err(io::Error::other(format!("{} ended with {status}", args.command.join(" "))));
    }
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let cpu_us = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    let cost =
        Cost { wall_s, cpu_s: cpu_us as f64 / 1e6, peak_bytes: usage.max_rss() as u64 * 1024 };
    say!("{}", serde_json::to_string(&cost)?);
    Ok(())
}

/// The costs of several commands, run in turn `runs` times after one round that is not counted;
/// each run finds no file `fresh`.
pub(crate) fn interleaved(
    commands: &[Vec<String>],
    runs: usize,
    fresh: &Path,
) -> io::Result<Vec<Vec<Cost>>> {
    let mut costs = vec![Vec::new(); commands.len()];
    for round in 0..=runs {
        for (command, costs) in commands.iter().zip(&mut costs) {
            let cost = once(command, fresh)?;
            if round > 0 {
                costs.push(cost);
            }
        }
    }
    Ok(costs)
}

fn once(command: &[String], fresh: &Path) -> io::Result<Cost> {
    measure(command, |measure| measure.arg("--fresh").arg(fresh))
}

/// Returns the cost of a command, or `None` if it has not ended after `limit` seconds.
pub(crate) fn within(command: &[String], limit: f64) -> io::Result<Option<Cost>> {
    measure(command, |measure| measure.args(["--limit", &limit.to_string()]))
}

fn measure<T: DeserializeOwned>(
    command: &[String],
    options: impl FnOnce(&mut Command) -> &mut Command,
) -> io::Result<T> {
    let output = options(Command::new(std::env::current_exe()?).arg("measure"))
        .arg("--")
        .args(command)
        .stderr(Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err(io::Error::other(format!("`{}` failed", command.join(" "))));
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Returns the middle value, or the mean of the two in the middle.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { (values[middle - 1] + values[middle]) / 2.0 }
}

/// Returns the path of a program of this workspace that was built beside this one.
pub(crate) fn sibling(name: &str) -> io::Result<String> {
    let path = std::env::current_exe()?.with_file_name(name);
    if !path.exists() {
        let hint = format!("{} is missing; build it first: cargo build --release", path.display());
        return Err(io::Error::new(io::ErrorKind::NotFound, hint));
    }
    Ok(path.to_string_lossy().into_owned())
}
