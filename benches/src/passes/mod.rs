//! Every pass and every check on large programs: time, memory, actions and dependencies before and
//! after.
//!
//! Each step runs in a process of its own on the program as it was read, so that steps don't hide
//! each other's memory.

mod step;

pub(crate) use step::{Args as StepArgs, run as run_step};

use crate::generate::{Pattern, Shape, write};
use crate::measure::median;
use crate::table;
use clap::Args as ClapArgs;
use goal_opt::{Level, PASSES, Pass};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use step::Measured;

/// `passes`'s arguments.
#[derive(ClapArgs)]
pub(crate) struct Args {
    /// Programs: of sweep, alltoall, dissemination, binomial, ring, layered and dense, or files
    /// [default: all of these]
    programs: Vec<String>,
    /// Only the steps whose names begin so
    #[arg(long)]
    step: Option<String>,
    /// Counted runs of each step
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Seconds after which a step on a program is given up
    #[arg(long, default_value_t = 120)]
    timeout: u64,
    /// Write every run's figures there, as comma-separated values
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
}

/// Seconds that an `-O1` pass, and all checks together, should take for a million actions at most.
const PASS_GOAL_S: f64 = 1.0;
const CHECK_GOAL_S: f64 = 3.0;

/// The programs by name.
fn programs() -> Vec<(&'static str, Shape)> {
    vec![
        ("sweep", Shape::new(Pattern::Sweep)),
        ("alltoall", Shape::new(Pattern::Alltoall).memory()),
        ("dissemination", Shape::new(Pattern::Dissemination)),
        ("binomial", Shape::new(Pattern::Binomial)),
        ("ring", Shape::new(Pattern::Ring).memory()),
        ("layered", Shape::new(Pattern::Layered)),
        ("dense", Shape::new(Pattern::Dense)),
    ]
}

/// The steps: the passes that `--passes` takes, and `verify` and `check`.
fn steps() -> Vec<(String, Option<f64>)> {
    let pass = |pass: &Pass| {
        // These have no size of their own.
        let spec =
            if pass.name == "window" { "window(64)".to_owned() } else { pass.name.to_owned() };
        (spec, pass.level.filter(|&level| level <= Level::O1).map(|_| PASS_GOAL_S))
    };
    let mut steps: Vec<_> = PASSES.iter().map(pass).collect();
    steps.extend([("verify".to_owned(), None), ("check".to_owned(), Some(CHECK_GOAL_S))]);
    steps
}

pub(crate) fn run(args: &Args) -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let mut names = args.programs.clone();
    if names.is_empty() {
        names = programs().into_iter().map(|(name, _)| name.to_owned()).collect();
    }
    let mut csv = match &args.csv {
        Some(path) => Some(File::create(path)?),
        None => None,
    };
    if let Some(csv) = &mut csv {
        writeln!(
            csv,
            "program,step,run,seconds,extra_bytes,program_bytes,actions_before,actions_after,dependencies_before,dependencies_after"
        )?;
    }
    let mut rows = Vec::new();
    for name in &names {
        let generated = programs().into_iter().find(|(known, _)| known == name);
        let path = match &generated {
            Some((_, shape)) => {
                let path = folder.path().join("program.goal");
                write(shape, &path)?;
                path
            }
            None => PathBuf::from(name),
        };
        let wanted =
            |step: &str| args.step.as_ref().is_none_or(|prefix| step.starts_with(prefix.as_str()));
        for (step, goal) in steps().into_iter().filter(|(step, _)| wanted(step)) {
            let measured = child(&path, &step, args)?;
            if let (Some(csv), Ok(measured)) = (&mut csv, &measured) {
                write_runs(csv, name, &step, measured)?;
            }
            rows.push(row(name, step, goal, measured));
        }
    }
    let header = [
        "program",
        "step",
        "actions",
        "after",
        "dependencies",
        "after",
        "cpu s",
        "s a million actions",
        "goal",
        "program MB",
        "step MB",
    ];
    table::print(&header, &rows);
    Ok(())
}

/// Returns the figures of one step on one program, or the reason why there are none.
fn child(path: &Path, step: &str, args: &Args) -> io::Result<Result<Measured, String>> {
    let mut child = Command::new(std::env::current_exe()?)
        .args(["pass", step, "--runs", &args.runs.to_string()])
        .arg(path)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    let begin = Instant::now();
    // The output fits into a pipe, so it can be read after the end.
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if begin.elapsed() > Duration::from_secs(args.timeout) {
            child.kill()?;
            child.wait()?;
            return Ok(Err(format!("not within {} s", args.timeout)));
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    if !status.success() {
        return Ok(Err(format!("ended with {status}")));
    }
    let output = child.stdout.take().expect("a pipe");
    let told: Result<Measured, String> = serde_json::from_reader(output)?;
    Ok(told)
}

fn write_runs(csv: &mut File, program: &str, step: &str, measured: &Measured) -> io::Result<()> {
    let Measured { seconds, extra_bytes, program_bytes, actions, dependencies } = measured;
    for (run, seconds) in seconds.iter().enumerate() {
        writeln!(
            csv,
            "{program},{step},{run},{seconds:.6},{extra_bytes},{program_bytes},{},{},{},{}",
            actions[0], actions[1], dependencies[0], dependencies[1]
        )?;
    }
    Ok(())
}

fn row(
    program: &str,
    step: String,
    goal: Option<f64>,
    measured: Result<Measured, String>,
) -> Vec<String> {
    let mut row = vec![program.to_owned(), step];
    match measured {
        Ok(Measured { seconds, extra_bytes, program_bytes, actions, dependencies }) => {
            let seconds = median(seconds);
            let of_million = seconds * 1e6 / actions[0].max(1) as f64;
            let counts = actions.into_iter().chain(dependencies).map(|count| count.to_string());
            row.extend(counts);
            row.extend([format!("{seconds:.3}"), format!("{of_million:.3}")]);
            row.push(goal.map_or(String::new(), |goal| {
                let verdict = if of_million <= goal { "met" } else { "missed" };
                format!("{goal:.0} s, {verdict}")
            }));
            row.extend(
                [program_bytes, extra_bytes].map(|bytes| format!("{:.0}", bytes as f64 / 1e6)),
            );
        }
        Err(why) => {
            row.push(why);
            row.resize(11, String::new());
        }
    }
    row
}
