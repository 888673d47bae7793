//! `--sweep`: the time of a program on many machines, from one reading of the program.
//!
//! Ranges and lists come from the command line. A range that never ends and a sweep of more than
//! [`POINTS_MAX`] machines are refused before memory is taken for them.

use crate::parallel::each;
use crate::parameters::{Parsed, Shown, number};
use crate::report::{self, in_ns, write_json};
use crate::simulation::{Stop, Times, explain, simulate};
use crate::source::Subject;
use crate::why::sensitivity;
use crate::{Arguments, Format, Model};
use goal_loggops::machine::{Machine, Parameter};
use goal_loggops::path::Sensitivity;
use goal_loggops::symmetry::Prepared;
use goalc::driver::{self, Error, print};
use serde::Serialize;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::str::FromStr;

/// The most machines of a sweep.
const POINTS_MAX: u64 = 1_000_000;

/// A parameter and its values.
#[derive(Debug, Clone)]
pub(crate) struct Axis {
    parameter: Parameter,
    values: Vec<u64>,
}

impl FromStr for Axis {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = "give a range or a list, as L=1000:10000:500 or L=500,1000,2000";
        let (name, values) = text.split_once('=').ok_or(form)?;
        let parameter = Parameter::ALL.into_iter().find(|parameter| parameter.name() == name);
        let parameter = parameter
            .ok_or_else(|| format!("`{name}` is no parameter: give L, o, g, G, O or S"))?;
        let value =
            |text: &str| parameter.parse(text).map_err(|why| format!("{name}={text}: {why}"));
        let values = match values.split(':').collect::<Vec<_>>()[..] {
            [list] => list.split(',').map(value).collect::<Result<_, _>>()?,
            [start, end, step] => range([value(start)?, value(end)?, value(step)?])?,
            _ => return Err(form.to_owned()),
        };
        Ok(Self { parameter, values })
    }
}

/// Returns the values from the start to the end, which is one of them if a step meets it.
fn range([start, end, step]: [u64; 3]) -> Result<Vec<u64>, String> {
    if step == 0 {
        return Err("the step is 0".to_owned());
    }
    let span = end.checked_sub(start).ok_or("the end is below the start")?;
    let count = span / step + 1;
    if count > POINTS_MAX {
        return Err(format!("the range has {count} values, and a sweep at most {POINTS_MAX}"));
    }
    Ok((0..count).map(|at| start + at * step).collect())
}

/// Returns the machines of a sweep. The values of the last axis change first.
fn machines(arguments: &Arguments) -> Result<Vec<Machine>, Error> {
    let axes = &arguments.sweep;
    for (at, Axis { parameter, .. }) in axes.iter().enumerate() {
        let name = parameter.name();
        if axes[..at].iter().any(|axis| axis.parameter == *parameter) {
            return Err(Error::Usage(format!("--sweep {name}: the parameter has two sweeps")));
        }
        if arguments.parameters.has(*parameter) {
            let why = format!("--sweep {name}: the parameter also has a value, -{name}");
            return Err(Error::Usage(why));
        }
    }
    let lens = axes.iter().map(|axis| axis.values.len() as u64);
    let count = lens.fold(1_u64, u64::saturating_mul);
    if count > POINTS_MAX {
        let why = format!("--sweep: {count} machines, and a sweep has at most {POINTS_MAX}");
        return Err(Error::Usage(why));
    }
    let mut machines = vec![arguments.parameters.machine()?];
    for Axis { parameter, values } in axes {
        let with = |machine: &Machine| {
            values.iter().map(|&value| parameter.with(machine, value)).collect::<Vec<_>>()
        };
        machines = machines.iter().flat_map(with).collect();
    }
    Ok(machines)
}

/// The time of a program on one of the machines.
struct Run {
    /// The end of the last rank in picoseconds.
    finish: u128,
    events: u64,
    sensitivity: Option<Sensitivity>,
    note: Option<String>,
}

impl Run {
    fn new(times: Times, sensitivity: Option<Sensitivity>) -> Self {
        let finish = times.finish_ps.iter().copied().max().unwrap_or(0);
        Self { finish, events: times.events, sensitivity, note: times.note }
    }
}

/// Simulates the program on all machines, and reports the times. Returns the exit status.
pub(crate) fn run(arguments: &Arguments) -> Result<u8, Error> {
    refuse_others(arguments)?;
    let machines = machines(arguments)?.into_iter();
    let points: Vec<Parsed> =
        machines.map(|machine| Parsed::new(machine, arguments.model)).collect::<Result<_, _>>()?;
    let subject = Subject::read(&arguments.input, arguments.format.findings())?;
    driver::show_stage("simulating");
    let runs = simulate_all(arguments, &subject, &points);
    let elapsed_ns = subject.started.elapsed().as_nanos() as u64;
    report::warn_of_order(arguments.model, &subject);
    let notes = runs.iter().filter_map(|run| run.as_ref().ok()?.note.as_ref());
    notes.collect::<BTreeSet<_>>().into_iter().for_each(|note| report::warn(note));
    write(arguments, &points, &runs, elapsed_ns)?;
    let failures = runs.iter().filter(|run| run.is_err()).count();
    let mut found = points.iter().zip(runs).filter_map(|(point, run)| Some((point, run.err()?)));
    let Some((point, stop)) = found.next() else { return Ok(0) };
    let others = match failures - 1 {
        0 => String::new(),
        1 => ", nor with 1 other machine".to_owned(),
        others => format!(", nor with {others} other machines"),
    };
    let named = describe(&arguments.sweep, &point.machine);
    driver::print_line(&format!("goal-sim: no time with {named}{others}"));
    report::stopped(&arguments.context(point), subject, stop)
}

/// Refuses what is about one simulation, or about noise.
fn refuse_others(arguments: &Arguments) -> Result<(), Error> {
    arguments.outputs.refuse("--sweep")?;
    let refused = [
        (arguments.noise.is_given() || arguments.noise.runs.is_some(), "noise and --runs"),
        (arguments.why.partial, "--partial"),
    ];
    if let Some((_, what)) = refused.iter().find(|(is_given, _)| *is_given) {
        return Err(Error::Usage(format!(
            "--sweep gives the times without noise: leave {what} out"
        )));
    }
    // A table has the sensitivity in every format.
    arguments.why.check(arguments.model, Format::Text, false)
}

fn simulate_all(
    arguments: &Arguments,
    subject: &Subject,
    points: &[Parsed],
) -> Vec<Result<Run, Stop>> {
    let Arguments { model, why, .. } = arguments;
    let workload = &subject.workload;
    let prepared = (*model == Model::Goal && !why.critical_path).then(|| Prepared::new(workload));
    each(&arguments.input.options(), points, |point| match &prepared {
        Some(prepared) => {
            let (times, classes) = prepared.simulate(&point.machine)?;
            Ok(Run::new(Times { classes, ..times.into() }, None))
        }
        None if why.critical_path => {
            let (times, path) = explain(workload, point)?;
            Ok(Run::new(times, Some(path.sensitivity())))
        }
        None => Ok(Run::new(simulate(workload, *model, point, 1)?, None)),
    })
}

/// Returns the values of a machine that a sweep changes, with their units.
fn describe(axes: &[Axis], machine: &Machine) -> String {
    let value = |axis: &Axis| {
        let parameter = axis.parameter;
        let value = number(parameter.value(machine), parameter.digits());
        format!("{} {value} {}", parameter.name(), parameter.unit())
    };
    axes.iter().map(value).collect::<Vec<_>>().join(", ")
}

/// The sweep, as programs read it.
#[derive(Serialize)]
struct Report {
    model: Model,
    /// The parameters that change.
    sweep: Vec<&'static str>,
    elapsed_ns: u64,
    runs: Vec<Row>,
}

/// The time on a machine.
#[derive(Serialize)]
struct Row {
    parameters: Shown,
    /// The end of the last rank; `null` if there is none.
    finish_ns: Option<serde_json::Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    events: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sensitivity: Option<serde_json::Value>,
    /// Why there is no time.
    #[serde(skip_serializing_if = "Option::is_none")]
    stop: Option<&'static str>,
}

impl Row {
    fn new(point: &Parsed, run: &Result<Run, Stop>) -> Self {
        let done = run.as_ref().ok();
        Self {
            parameters: Shown::from(&point.machine),
            finish_ns: done.map(|run| in_ns(run.finish)),
            events: done.map(|run| run.events),
            sensitivity: done
                .and_then(|run| Some(sensitivity(run.sensitivity.as_ref()?, run.finish))),
            stop: run.as_ref().err().map(reason),
        }
    }
}

/// Returns why there is no time.
fn reason(stop: &Stop) -> &'static str {
    match stop {
        Stop::Stuck { .. } | Stop::Unequal { .. } => "stuck",
        Stop::TooLate { .. } => "too late",
        Stop::TooLarge(_) => "too large",
    }
}

fn write(
    arguments: &Arguments,
    points: &[Parsed],
    runs: &[Result<Run, Stop>],
    elapsed_ns: u64,
) -> Result<(), Error> {
    let rows = points.iter().zip(runs);
    match arguments.format {
        Format::Json => write_json(&Report {
            model: arguments.model,
            sweep: arguments.sweep.iter().map(|axis| axis.parameter.name()).collect(),
            elapsed_ns,
            runs: rows.map(|(point, run)| Row::new(point, run)).collect(),
        }),
        Format::Csv => print(|out| write_csv(arguments, points, runs, out)),
        Format::Text => print(|out| write_text(arguments, points, runs, out)),
    }
}

/// Returns a row of a table: the values of some parameters, the time or `none`, the derivatives.
fn cells(
    parameters: &[Parameter],
    point: &Parsed,
    run: &Result<Run, Stop>,
    none: impl Fn(&Stop) -> &'static str,
) -> Vec<String> {
    let value = |parameter: &Parameter| {
        number(parameter.value(&point.machine), parameter.digits()).to_string()
    };
    let time = match run {
        Ok(run) => in_ns(run.finish).to_string(),
        Err(stop) => none(stop).to_owned(),
    };
    let slopes =
        run.iter().filter_map(|run| run.sensitivity.as_ref()).flat_map(Sensitivity::by_name);
    let slopes = slopes.map(|(_, slope)| slope.to_string());
    parameters.iter().map(value).chain([time]).chain(slopes).collect()
}

fn write_csv(
    arguments: &Arguments,
    points: &[Parsed],
    runs: &[Result<Run, Stop>],
    out: &mut dyn Write,
) -> io::Result<()> {
    let slopes = if arguments.why.critical_path { ",dT_dL,dT_do,dT_dg,dT_dG,dT_dO" } else { "" };
    writeln!(out, "L,o,g,G,O,S,finish_ns{slopes}")?;
    for (point, run) in points.iter().zip(runs) {
        let mut cells = cells(&Parameter::ALL, point, run, |_| "");
        let missing = if run.is_err() { slopes.matches(',').count() } else { 0 };
        cells.extend(vec![String::new(); missing]);
        writeln!(out, "{}", cells.join(","))?;
    }
    Ok(())
}

fn write_text(
    arguments: &Arguments,
    points: &[Parsed],
    runs: &[Result<Run, Stop>],
    out: &mut dyn Write,
) -> io::Result<()> {
    let parameters: Vec<Parameter> = arguments.sweep.iter().map(|axis| axis.parameter).collect();
    let name = |parameter: &Parameter| format!("{}, {}", parameter.name(), parameter.unit());
    let mut header: Vec<String> = parameters.iter().map(name).chain(["T, ns".to_owned()]).collect();
    if arguments.why.critical_path {
        let names = Sensitivity::default().by_name().map(|(name, _)| format!("dT/d{name}"));
        header.extend(names);
    }
    let rows = points.iter().zip(runs);
    let rows = rows.map(|(point, run)| cells(&parameters, point, run, reason));
    for row in std::iter::once(header).chain(rows) {
        let row: Vec<String> = row.iter().map(|cell| format!("{cell:>14}")).collect();
        writeln!(out, "{}", row.join(" "))?;
    }
    Ok(())
}
