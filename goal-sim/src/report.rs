//! Prints the times, or the reason why there are none.

use crate::noise::NoiseArguments;
use crate::parameters::{Parsed, Shown, number};
use crate::partial;
use crate::simulation::{Stop, Times};
use crate::source::{Subject, name};
use crate::why::{self, Why};
use crate::{Arguments, Format, Model};
use goal_loggops::Workload;
use goal_loggops::model::ModelError;
use goalc::driver::{
    self, CheckOptions, Error, InputArguments, Loaded, Options, print, report_error,
};
use serde::Serialize;

/// The exit status of a program that gets stuck.
const STUCK: u8 = 3;

/// The result, as programs read it.
#[derive(Serialize)]
struct Report<'a> {
    model: Model,
    parameters: Shown,
    #[serde(skip_serializing_if = "Option::is_none")]
    noise: Option<&'a NoiseArguments>,
    events: u64,
    classes: usize,
    elapsed_ns: u64,
    finish_ns: Vec<serde_json::Number>,
    #[serde(flatten)]
    why: Option<why::Report<'a>>,
}

/// The ends in a program that gets stuck, as programs read them.
#[derive(Serialize)]
struct PartialReport {
    partial: bool,
    model: Model,
    parameters: Shown,
    /// By rank; `null` if none of its actions ends.
    finish_ns: Vec<Option<serde_json::Number>>,
    /// By rank, the actions that never end.
    left: Vec<usize>,
}

/// The part of the command line that a report needs.
pub(crate) struct Context<'a> {
    pub(crate) input: &'a InputArguments,
    /// The format of findings.
    pub(crate) format: driver::Format,
    pub(crate) parameters: &'a Parsed,
    /// The model and the format in which to write what ends, if that is asked for.
    pub(crate) partial: Option<(Model, Format)>,
}

/// Reports why a simulation has no times that has kept no list of the actions. Returns the exit
/// status.
pub(crate) fn stopped_lean(stop: Stop) -> Result<u8, Error> {
    let why = match stop {
        Stop::TooLate { .. } => {
            return Err(Error::Usage(ModelError::TooLate { action: 0 }.to_string()));
        }
        Stop::TooLarge(error) => return Err(Error::Usage(error.to_string())),
        Stop::Stuck { why, .. } => why,
        Stop::Unequal { send, receive } => ModelError::Unequal { send, receive }.to_string(),
    };
    driver::print_line(&format!(
        "goal-sim: the program gets stuck: {why}; goalc check names the actions"
    ));
    Ok(STUCK)
}

/// Reports why a simulation has no times. Returns the exit status.
pub(crate) fn stopped(context: &Context<'_>, subject: Subject, stop: Stop) -> Result<u8, Error> {
    let (loaded, workload) = subject.load()?;
    let (why, actions) = match stop {
        Stop::TooLate { action } => {
            return Err(Error::Usage(format!(
                "{} would end after 2^63 picoseconds, some 106 days: give smaller parameters or sizes",
                name(&loaded, &workload, action)
            )));
        }
        Stop::TooLarge(error) => return Err(Error::Usage(error.to_string())),
        Stop::Stuck { why, actions } => (why, actions),
        Stop::Unequal { send, receive } => {
            ("a message and its receive have different sizes".to_owned(), vec![send, receive])
        }
    };
    let status = report_stuck(context, loaded, &workload, &why, &actions);
    if let Some((model, format)) = context.partial {
        write_partial(model, format, context.parameters, &workload)?;
    }
    Ok(status)
}

/// Writes the ends in a program that gets stuck.
fn write_partial(
    model: Model,
    format: Format,
    parameters: &Parsed,
    workload: &Workload,
) -> Result<(), Error> {
    let ended = partial::ended(workload, &parameters.machine);
    let (mut finish_ns, mut left) = (Vec::new(), Vec::new());
    for (rank, ended) in (0..).zip(&ended) {
        let never_end = workload.actions(rank).len() - ended.actions as usize;
        let finish = ended.finish_ps.or((never_end == 0).then_some(0));
        finish_ns.push(finish.map(|ps| number(ps, 3)));
        left.push(never_end);
    }
    let parameters = Shown::from(&parameters.machine);
    let report = PartialReport { partial: true, model, parameters, finish_ns, left };
    print(|out| match format {
        Format::Json => {
            serde_json::to_writer(&mut *out, &report)?;
            writeln!(out)
        }
        Format::Csv => {
            writeln!(out, "rank,finish_ns,left")?;
            for (rank, (finish, left)) in report.finish_ns.iter().zip(&report.left).enumerate() {
                let end = finish.as_ref().map_or(String::new(), serde_json::Number::to_string);
                writeln!(out, "{rank},{end},{left}")?;
            }
            Ok(())
        }
        Format::Text => {
            writeln!(out, "partial: the program gets stuck, and these are the ends before that")?;
            for (rank, (finish, left)) in report.finish_ns.iter().zip(&report.left).enumerate() {
                let end = finish.as_ref().map_or("no end".to_owned(), |ns| format!("{ns} ns"));
                match left {
                    0 => writeln!(out, "rank {rank}: {end}")?,
                    1 => writeln!(out, "rank {rank}: {end}, 1 action never ends")?,
                    left => writeln!(out, "rank {rank}: {end}, {left} actions never end")?,
                }
            }
            Ok(())
        }
    })
}

/// Reports why a program gets stuck: what the checks find, or else `why`. Returns the exit status.
fn report_stuck(
    context: &Context,
    mut loaded: Loaded,
    workload: &Workload,
    why: &str,
    actions: &[u32],
) -> u8 {
    let checks = CheckOptions {
        eager_limit: context.parameters.machine.eager_bytes_max,
        unexpected_limit: u64::MAX,
        ..CheckOptions::default()
    };
    loaded.findings.report = Default::default();
    match driver::check(&mut loaded, &Options { checks, ..context.input.options() }) {
        Err(error) => {
            report_error("goal-sim", &error, context.format);
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
    parameters: &Parsed,
    times: &Times,
    elapsed_ns: u64,
    why: Option<(&Why, &Subject)>,
) -> Result<(), Error> {
    let finish_ns: Vec<serde_json::Number> = times.finish_ps.iter().map(|&ps| in_ns(ps)).collect();
    match arguments.format {
        Format::Json => write_json(&Report {
            model: arguments.model,
            parameters: Shown::from(&parameters.machine),
            noise: Some(&arguments.noise).filter(|noise| noise.is_given()),
            events: times.events,
            classes: times.classes,
            elapsed_ns,
            finish_ns,
            why: why.map(|(why, subject)| why::Report::new(why, subject)),
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
            why.map_or(Ok(()), |(why, subject)| why::write(why, subject, arguments.why.steps, out))
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
