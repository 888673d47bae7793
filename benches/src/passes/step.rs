//! One pass or check on one program, in a process that does nothing else.

use clap::Args as ClapArgs;
use goal_lang::Program;
use goal_opt::{Pipeline, Timings, verify};
use goalc::driver::{Loaded, Options, load_program};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::PathBuf;

/// `pass`'s arguments.
#[derive(ClapArgs)]
pub(crate) struct Args {
    /// A pass with its parameters, `verify` or `check`
    step: String,
    /// The program
    input: PathBuf,
    /// Runs, each on the program as it was read
    #[arg(long)]
    runs: u32,
}

/// The cost and the effect of a step.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Measured {
    /// Processor time of each run.
    pub(crate) seconds: Vec<f64>,
    /// The growth of the resident set during a run, of the run in which it is largest.
    pub(crate) extra_bytes: u64,
    /// Resident set with the program and its text, before the first run.
    pub(crate) program_bytes: u64,
    /// Of all ranks, before and after.
    pub(crate) actions: [u64; 2],
    /// Of all ranks, before and after.
    pub(crate) dependencies: [u64; 2],
}

/// Prints the figures, or the reason why there are none, as JSON.
pub(crate) fn run(args: &Args) -> io::Result<()> {
    let loaded = load_program(std::slice::from_ref(&args.input), &Options::default())
        .map_err(io::Error::other)?;
    say!("{}", serde_json::to_string(&measure(args, &loaded)?)?);
    Ok(())
}

fn measure(args: &Args, loaded: &Loaded) -> io::Result<Result<Measured, String>> {
    let program_bytes = resident("VmRSS")?;
    let (actions, dependencies) = counts(&loaded.program);
    let mut measured = Measured {
        seconds: Vec::new(),
        extra_bytes: 0,
        program_bytes,
        actions: [actions; 2],
        dependencies: [dependencies; 2],
    };
    for _ in 0..args.runs {
        let mut program = loaded.program.clone();
        let before = resident("VmRSS")?;
        // Resets the peak of the resident set to its current size (proc_pid_clear_refs(5)).
        fs::write("/proc/self/clear_refs", "5")?;
        match step(&args.step, &mut program, loaded) {
            Ok(seconds) => measured.seconds.push(seconds),
            Err(why) => return Ok(Err(why)),
        }
        measured.extra_bytes = measured.extra_bytes.max(resident("VmHWM")?.saturating_sub(before));
        (measured.actions[1], measured.dependencies[1]) = counts(&program);
    }
    Ok(Ok(measured))
}

/// Runs a step once. Returns the seconds of processor time that it took.
fn step(name: &str, program: &mut Program, loaded: &Loaded) -> Result<f64, String> {
    let begin = cpu_s()?;
    match name {
        "verify" => verify(program).map_err(|faults| faults.to_string())?,
        "check" => {
            let report = goal_check::check(
                program,
                Some(&loaded.findings.sources),
                &goal_check::Options::default(),
            );
            std::hint::black_box(report);
        }
        _ => {
            let mut pipeline = Pipeline::parse(name).map_err(|error| error.to_string())?;
            // Without the last passes, which the format needs.
            pipeline.passes.truncate(1);
            pipeline.verify = false;
            goal_opt::run(program, &pipeline, &mut Timings::default(), |_, _| {})
                .map_err(|error| error.to_string())?;
        }
    }
    Ok(cpu_s()? - begin)
}

/// Returns the processor time of this process so far, user and system.
fn cpu_s() -> Result<f64, String> {
    let usage = getrusage(UsageWho::RUSAGE_SELF).map_err(|error| error.to_string())?;
    Ok((usage.user_time().num_microseconds() + usage.system_time().num_microseconds()) as f64 / 1e6)
}

/// Returns the number of actions and of dependencies of all ranks.
fn counts(program: &Program) -> (u64, u64) {
    (0..program.num_ranks()).map(|rank| program.body_of(rank)).fold(
        (0, 0),
        |(actions, dependencies), body| {
            let more = body.requires.len() + body.irequires.len();
            (actions + body.len() as u64, dependencies + more as u64)
        },
    )
}

/// Returns the bytes of a line of `/proc/self/status`.
fn resident(line: &str) -> io::Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let found = status.lines().find_map(|text| text.strip_prefix(line)?.strip_prefix(':'));
    let kib = found.and_then(|text| text.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kib.map(|kib| kib * 1024)
        .ok_or_else(|| io::Error::other(format!("no {line} in /proc/self/status")))
}
