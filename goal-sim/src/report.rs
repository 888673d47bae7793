//! Prints the times, or the reason why there are none.

use crate::markers::{self, Phases};
use crate::noise::NoiseArguments;
use crate::parameters::{Parsed, Shown, number};
use crate::partial;
use crate::simulation::Stop;
use crate::source::{Subject, name};
use crate::why::{self, Why};
use crate::{Arguments, Format, Model};
use goal_loggops::Workload;
use goal_loggops::model::ModelError;
use goalc::driver::{
    self, CheckOptions, Error, InputArguments, Loaded, Options, print, report_error,
};
use serde::Serialize;
use std::io::{self, Write};
use std::time::Instant;

/// The exit status of a program that gets stuck.
const STUCK: u8 = 3;

/// The most ranks in a text with a line for each.
const APART_MAX: usize = 64;

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
    markers: Option<markers::Report<'a>>,
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

/// Prints a warning.
pub(crate) fn warn(text: &str) {
    driver::print_line(&format!("goal-sim: warning: {text}"));
}

/// Warns of times of a peer that depend on what the input does not keep.
pub(crate) fn warn_of_order(model: Model, subject: &Subject) {
    if model != Model::Goal && !subject.keeps_order {
        warn(
            "NISA does not keep the order of dependencies, on which the times of this model depend: simulate the text or a LogGOPSim binary",
        );
    }
}

/// Reports why a simulation without a list of the actions has no times. Returns the exit status.
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

/// The findings about a run besides its times.
pub(crate) struct Details<'a> {
    pub(crate) subject: &'a Subject,
    /// The phases of a program with markers.
    pub(crate) phases: Option<Phases>,
    pub(crate) why: Option<Why>,
}

/// The result of a simulation without the ends of ranks.
pub(crate) struct Summary<'a> {
    pub(crate) events: u64,
    /// The ranks that were simulated.
    pub(crate) classes: usize,
    pub(crate) elapsed_ns: u64,
    pub(crate) details: Option<&'a Details<'a>>,
}

impl Summary<'_> {
    /// Ends the measurement of a simulation.
    pub(crate) fn new(events: u64, classes: usize, started: Instant) -> Self {
        Self { events, classes, elapsed_ns: started.elapsed().as_nanos() as u64, details: None }
    }
}

/// Writes the ends of all ranks, in picoseconds, and the summary.
pub(crate) fn write_times(
    arguments: &Arguments,
    parameters: &Parsed,
    summary: &Summary<'_>,
    finish_ps: impl ExactSizeIterator<Item = u128>,
) -> Result<(), Error> {
    let phases = summary.details.and_then(|of| Some((of.phases.as_ref()?, of.subject)));
    let why = summary.details.and_then(|of| Some((of.why.as_ref()?, of.subject)));
    match arguments.format {
        Format::Json => write_json(&Report {
            model: arguments.model,
            parameters: Shown::from(&parameters.machine),
            noise: Some(&arguments.noise).filter(|noise| noise.is_given()),
            events: summary.events,
            classes: summary.classes,
            elapsed_ns: summary.elapsed_ns,
            finish_ns: finish_ps.map(in_ns).collect(),
            markers: phases.map(|(phases, subject)| markers::Report::new(phases, subject)),
            why: why.map(|(why, subject)| why::Report::new(why, subject)),
        }),
        Format::Csv => print(|out| {
            writeln!(out, "rank,finish_ns")?;
            for (rank, ps) in finish_ps.enumerate() {
                writeln!(out, "{rank},{}", in_ns(ps))?;
            }
            Ok(())
        }),
        Format::Text => print(|out| {
            write_ends(finish_ps, out)?;
            phases.map_or(Ok(()), |(phases, _)| markers::write(phases, out))?;
            why.map_or(Ok(()), |(why, subject)| why::write(why, subject, arguments.why.steps, out))
        }),
    }
}

/// Writes a line for each rank. Of many ranks, neighbours with equal ends share a line.
fn write_ends(
    finish_ps: impl ExactSizeIterator<Item = u128>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let are_many = finish_ps.len() > APART_MAX;
    let mut ends = finish_ps.zip(0_usize..).peekable();
    while let Some((ps, first)) = ends.next() {
        let mut last = first;
        while are_many && let Some((_, next)) = ends.next_if(|&(other, _)| other == ps) {
            last = next;
        }
        match last == first {
            true => writeln!(out, "rank {first}: {} ns", in_ns(ps))?,
            false => writeln!(out, "ranks {first} to {last}: {} ns", in_ns(ps))?,
        }
    }
    Ok(())
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
