//! What is printed: times, or why there are none.

use crate::noise::NoiseArguments;
use crate::parameters::Parameters;
use crate::simulation::{Stop, Times};
use crate::source::{Subject, name};
use crate::{Arguments, Format, Model};
use goal_loggops::Workload;
use goalc::driver::{self, CheckOptions, Error, Loaded, Options, print, report_error};
use serde::Serialize;

/// The exit status of a program that gets stuck.
const STUCK: u8 = 3;

/// The result, as programs read it.
#[derive(Serialize)]
struct Report<'a> {
    model: Model,
    parameters: &'a Parameters,
    #[serde(skip_serializing_if = "Option::is_none")]
    noise: Option<&'a NoiseArguments>,
    events: u64,
    classes: usize,
    elapsed_ns: u64,
    finish_ns: Vec<serde_json::Number>,
}

/// Reports why a simulation has no times. Returns the exit status.
pub(crate) fn stopped(arguments: &Arguments, subject: Subject, stop: Stop) -> Result<u8, Error> {
    let (loaded, workload) = subject.load()?;
    match stop {
        Stop::TooLate { action } => Err(Error::Usage(format!(
            "{} would end after 2^63 picoseconds, some 106 days: give smaller parameters or sizes",
            name(&loaded, &workload, action)
        ))),
        Stop::Stuck { why, actions } => {
            Ok(report_stuck(arguments, loaded, &workload, &why, &actions))
        }
        Stop::Unequal { send, receive } => {
            let why = "a message and its receive have different sizes";
            Ok(report_stuck(arguments, loaded, &workload, why, &[send, receive]))
        }
    }
}

/// Reports why a program gets stuck: what the checks find, or else `why`. Returns the exit status.
fn report_stuck(
    arguments: &Arguments,
    mut loaded: Loaded,
    workload: &Workload,
    why: &str,
    actions: &[u32],
) -> u8 {
    let eager_limit = arguments.parameters.eager_bytes_max().unwrap_or(u64::MAX);
    let checks =
        CheckOptions { eager_limit, unexpected_limit: u64::MAX, ..CheckOptions::default() };
    loaded.findings.report = Default::default();
    match driver::check(&mut loaded, &Options { checks, ..arguments.input.options() }) {
        Err(error) => {
            report_error("goal-sim", &error, arguments.format.findings());
        }
        Ok(_) => {
            let mut line = format!("goal-sim: stuck: {why}");
            for (at, &action) in actions.iter().enumerate() {
                line += if at == 0 { ": " } else { "; " };
                line += &name(&loaded, workload, action);
            }
            driver::print_line(&line);
        }
    }
    STUCK
}

pub(crate) fn write_times(
    arguments: &Arguments,
    times: &Times,
    elapsed_ns: u64,
) -> Result<(), Error> {
    let finish_ns: Vec<serde_json::Number> = times.finish_ps.iter().map(|&ps| in_ns(ps)).collect();
    match arguments.format {
        Format::Json => write_json(&Report {
            model: arguments.model,
            parameters: &arguments.parameters,
            noise: Some(&arguments.noise).filter(|noise| noise.is_given()),
            events: times.events,
            classes: times.classes,
            elapsed_ns,
            finish_ns,
        }),
        Format::Csv => print(|out| {
            writeln!(out, "rank,finish_ns")?;
            for (rank, ns) in finish_ns.iter().enumerate() {
                writeln!(out, "{rank},{ns}")?;
            }
            Ok(())
        }),
        Format::Text => print(|out| {
            for (rank, ns) in finish_ns.iter().enumerate() {
                writeln!(out, "rank {rank}: {ns} ns")?;
            }
            Ok(())
        }),
    }
}

/// Prints an object on one line.
pub(crate) fn write_json(report: &impl Serialize) -> Result<(), Error> {
    print(|out| {
        serde_json::to_writer(&mut *out, report)?;
        writeln!(out)
    })
}

/// Returns picoseconds as nanoseconds: a whole number where they are whole.
pub(crate) fn in_ns(ps: u128) -> serde_json::Number {
    match u64::try_from(ps / 1000) {
        Ok(ns) if ps.is_multiple_of(1000) => ns.into(),
        _ => serde_json::Number::from_f64(ps as f64 / 1000.0).unwrap_or_else(|| 0.into()),
    }
}
