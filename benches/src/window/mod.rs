//! A schedule run through a window in a memory cgroup that is smaller than it, and without a window
//! in the same group.

mod exchange;

use crate::measure::sibling;
use crate::memory_group::MemoryGroup;
use crate::table;
use clap::Args as ClapArgs;
use exchange::exchange;
use goal_asm::{EncodeOptions, encode};
use goalc::driver::bytes;
use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// `window`'s arguments.
#[derive(ClapArgs)]
pub(crate) struct Args {
    /// Actions of each of the two ranks
    #[arg(long, default_value_t = 50_000_000)]
    actions: usize,
    /// Actions of a window
    #[arg(long, default_value_t = 64)]
    window: u32,
    /// Most bytes of both ranks, the launcher and the pages of files that they read together
    #[arg(long, value_name = "BYTES", default_value = "64M", value_parser = bytes)]
    limit: u64,
    /// Folder for the schedule: some 35 bytes an action; not one that lies in memory
    #[arg(long, default_value_os_t = std::env::temp_dir())]
    folder: PathBuf,
}

/// The end of a run in the group.
struct Ended {
    status: ExitStatus,
    report: String,
    /// The most bytes that could not be dropped, sampled every few milliseconds.
    held_max: u64,
    /// The most bytes with the pages of files.
    peak: u64,
}

pub(crate) fn run(args: &Args) -> io::Result<()> {
    let goal_run = sibling("goal-run")?;
    drop(MemoryGroup::new(args.limit)?);
    let folder = tempfile::tempdir_in(&args.folder)?;
    let path = folder.path().join("exchange.nisa");
    let begin = Instant::now();
    let actions = write(args, &path)?;
    let (size, built_s) = (path.metadata()?.len(), begin.elapsed().as_secs_f64());
    say!(
        "2 ranks with {actions} actions each in windows of {}, {size} bytes of NISA, built in {built_s:.1} s; at most {} bytes \
         for both, their launcher, and the pages of files that they read",
        args.window,
        args.limit
    );
    let window = args.window.to_string();
    let options: [&[&str]; 2] = [&["--window", &window], &[]];
    let mut rows = Vec::new();
    for options in options {
        let ended = in_group(args.limit, &goal_run, &path, options)?;
        let report: serde_json::Value = serde_json::from_str(&ended.report).unwrap_or_default();
        let of_report = |name: &str| match &report[name] {
            serde_json::Value::Null => "-".to_owned(),
            value => value.as_str().map_or_else(|| value.to_string(), str::to_owned),
        };
        let end = if report.is_null() { ended.status.to_string() } else { of_report("status") };
        let elapsed = report["elapsed_ns"].as_f64().filter(|&ns| ns > 0.0);
        rows.push(vec![
            if options.is_empty() { "whole".to_owned() } else { options.join(" ") },
            end,
            elapsed.map_or("-".to_owned(), |ns| format!("{:.2}", ns / 1e9)),
            ended.held_max.to_string(),
            ended.peak.to_string(),
            of_report("table_max"),
        ]);
        if !options.is_empty() && !ended.status.success() {
            table::print(&HEADER, &rows);
            return Err(io::Error::other(format!(
                "the run in a window ended with {}",
                ended.status
            )));
        }
    }
    table::print(&HEADER, &rows);
    Ok(())
}

const HEADER: [&str; 6] = [
    "run",
    "end",
    "seconds",
    "bytes held at most",
    "with pages of files",
    "entries of the table at most",
];

/// Builds the schedule and leaves none of it in memory. Returns the number of actions of a rank.
fn write(args: &Args, path: &Path) -> io::Result<usize> {
    let program = exchange(args.actions, args.window)?;
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let options = EncodeOptions { strip: true, ..EncodeOptions::default() };
    encode(&program, &options, None, &mut out).map_err(io::Error::other)?;
    out.flush()?;
    let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.sync_all()?;
    // Pages that are in memory already would not count as the group's.
    posix_fadvise(&file, 0, 0, PosixFadviseAdvice::POSIX_FADV_DONTNEED)?;
    Ok(program.body_of(0).len())
}

/// Runs a schedule in a group of its own.
fn in_group(limit: u64, goal_run: &str, path: &Path, options: &[&str]) -> io::Result<Ended> {
    let group = MemoryGroup::new(limit)?;
    let mut command = group.command(goal_run);
    command
        .arg(path)
        .args(options)
        .args(["--format", "json"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    let mut child = command.spawn()?;
    let mut held_max = 0;
    let status = loop {
        held_max = held_max.max(group.held()?);
        if let Some(status) = child.try_wait()? {
            break status;
        }
        sleep(Duration::from_millis(5));
    };
    let mut report = String::new();
    child.stdout.take().expect("it is piped").read_to_string(&mut report)?;
    Ok(Ended { status, report, held_max, peak: group.peak()? })
}
