//! The simulation of a program on a LogGOPS machine, for arrays of numpy.
//!
//! Programs may come from anywhere: `goalc` reads and checks them. Parameters are numbers of
//! Python. One that is negative, not finite or too large is refused by name.

use crate::error::raised;
use crate::text;
use goal::ErrorCode;
use goal_lang::ActionId;
use goal_loggops::machine::{Machine, Parameter, ValueError};
use goal_loggops::model::{Effort, Memory, ModelError, Times};
use goal_loggops::path::{Path, Sensitivity, Step, Work, critical_path};
use goal_loggops::{Workload, symmetry};
use goalc::driver::{self, CheckOptions, Error, Input, Loaded, MachineArguments, Opened, Options};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes};
use std::path::PathBuf;
use std::sync::Arc;

/// A program as the package takes it.
enum Source {
    Texts(Vec<(String, String)>),
    File(PathBuf),
    Bytes(Vec<u8>),
}

impl Source {
    fn new(program: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = program.cast::<PyBytes>() {
            return Ok(Self::Bytes(bytes.as_bytes().to_vec()));
        }
        if let Ok(texts) = program.extract() {
            return Ok(Self::Texts(texts));
        }
        program.extract().map(Self::File)
    }

    fn load(self, options: &Options) -> Result<Loaded, Error> {
        match self {
            Self::Texts(texts) => text::load(texts, options),
            Self::File(path) => driver::load_program(&[path], options),
            Self::Bytes(bytes) => {
                let limit = options.input_bytes_max;
                let input = Input::from_bytes("bytes".to_owned(), Arc::new(bytes), limit)?;
                Opened::from(input).load(options)
            }
        }
    }
}

/// The reason why there are no times.
enum Failure {
    Program(Error),
    /// The program gets stuck.
    Stuck(String),
    TooLate(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Program(error)
    }
}

impl Failure {
    fn raised(self, py: Python<'_>) -> PyErr {
        match self {
            Self::Program(error) => raised(py, ErrorCode::File, &text::report(&error)),
            Self::Stuck(report) => raised(py, ErrorCode::Stuck, &report),
            Self::TooLate(why) => raised(py, ErrorCode::Limit, &why),
        }
    }
}

/// The result for Python: the ends of ranks, the path with the derivatives, the events and the
/// machine. Arrays are bytes of numpy.
type Simulated<'py> = (
    Bound<'py, PyByteArray>,
    Option<(Bound<'py, PyByteArray>, Vec<(&'static str, u64)>)>,
    u64,
    Vec<(&'static str, f64)>,
);

/// Simulates a program: named texts, the path of a file, or the bytes of one. `machine` is the text
/// of `--machine`. Parameters override it.
#[pyfunction]
#[pyo3(name = "_simulate")]
pub(crate) fn simulate<'py>(
    py: Python<'py>,
    program: &Bound<'py, PyAny>,
    machine: Option<String>,
    parameters: Vec<(String, Bound<'py, PyAny>)>,
    has_path: bool,
) -> PyResult<Simulated<'py>> {
    let source = Source::new(program)?;
    let mut on = match machine {
        Some(_) => described(py, machine)?,
        None => Machine::default(),
    };
    for (name, value) in parameters {
        on = with(&on, &name, &value)?;
    }
    let done = py.detach(|| run(source, &on, has_path));
    let (times, path) = done.map_err(|failure| failure.raised(py))?;
    let shown = |parameter: Parameter| {
        let unit = 10_u64.pow(parameter.digits()) as f64;
        (parameter.name(), parameter.value(&on) as f64 / unit)
    };
    let finish: Vec<u8> = times.finish_ps.iter().flat_map(|&ps| nanos(ps)).collect();
    let path = path.map(|(rows, of)| (PyByteArray::new(py, &rows), of.by_name().to_vec()));
    let machine = Parameter::ALL.map(shown).to_vec();
    Ok((PyByteArray::new(py, &finish), path, times.events, machine))
}

/// Returns the machine that a file or a text describes.
fn described(py: Python<'_>, machine: Option<String>) -> PyResult<Machine> {
    match (MachineArguments { machine }).machine() {
        Ok(machine) => Ok(machine.exact()),
        Err(Error::Usage(why)) => Err(PyValueError::new_err(why.replace("--machine", "machine"))),
        Err(error) => {
            Err(raised(py, ErrorCode::File, &error.to_string().replace("--machine", "machine")))
        }
    }
}

/// Returns a machine with another value of a parameter. A fraction is rounded to the unit.
fn with(machine: &Machine, name: &str, value: &Bound<'_, PyAny>) -> PyResult<Machine> {
    let refused =
        |why: &dyn std::fmt::Display| PyValueError::new_err(format!("{name}={value}: {why}"));
    let known = Parameter::ALL.into_iter().find(|parameter| parameter.name() == name);
    let parameter = known
        .ok_or_else(|| refused(&format!("`{name}` is no parameter: give L, o, g, G, O or S")))?;
    let number = match value.extract::<i128>() {
        Ok(whole) => parameter.parse(&whole.to_string()),
        Err(_) => rounded(parameter, value.extract()?),
    };
    Ok(parameter.with(machine, number.map_err(|why| refused(&why))?))
}

/// Returns the value of a parameter that is nearest to a number.
fn rounded(parameter: Parameter, number: f64) -> Result<u64, ValueError> {
    if !number.is_finite() || number < 0.0 {
        return Err(ValueError::NoNumber);
    }
    if parameter.digits() == 0 && number.fract() != 0.0 {
        return Err(ValueError::NotWhole);
    }
    let digits = parameter.digits() as usize;
    parameter.parse(&format!("{number:.digits$}"))
}

type Done = (Times, Option<(Vec<u8>, Sensitivity)>);

fn run(source: Source, machine: &Machine, has_path: bool) -> Result<Done, Failure> {
    let options = Options::default();
    let loaded = source.load(&options)?;
    let workload = Workload::new(&loaded.program, |_, _| 0)
        .map_err(|error| Error::Usage(error.to_string()))?;
    let found = match has_path {
        true => critical_path(&workload, machine).map(|(times, path)| (times, Some(path))),
        false => {
            let effort = Effort { memory: Memory::Fast, threads: options.threads };
            let found = symmetry::simulate(&workload, machine, effort, &|_| ());
            found.map(|(times, _)| (times, None))
        }
    };
    match found {
        Ok((times, path)) => {
            let path = path.map(|path| (rows(&path, &loaded, &workload), path.sensitivity()));
            Ok((times, path))
        }
        Err(ModelError::TooLate { action }) => {
            let rank = workload.rank_of(action);
            Err(Failure::TooLate(format!(
                "an action of rank {rank} would end after 2^63 picoseconds, some 106 days: give \
                 smaller parameters or sizes"
            )))
        }
        Err(error) => Err(stuck(loaded, machine, &error)),
    }
}

/// Returns why a program gets stuck: what the checks find, or else the sentence of the model.
fn stuck(mut loaded: Loaded, machine: &Machine, error: &ModelError) -> Failure {
    let checks = CheckOptions {
        eager_limit: machine.eager_bytes_max,
        unexpected_limit: u64::MAX,
        ..CheckOptions::default()
    };
    loaded.findings.report = Default::default();
    match driver::check(&mut loaded, &Options { checks, ..Options::default() }) {
        Err(found) => Failure::Stuck(text::report(&found)),
        Ok(_) => Failure::Stuck(format!("stuck: {error}")),
    }
}

/// Returns picoseconds as nanoseconds in a float of numpy.
fn nanos(ps: u64) -> [u8; 8] {
    (ps as f64 / 1000.0).to_ne_bytes()
}

/// Returns the steps that take time as rows of numpy, in the form of `_simulation.STEP`.
fn rows(path: &Path, loaded: &Loaded, workload: &Workload) -> Vec<u8> {
    let mut out = Vec::new();
    for step in path.steps.iter().filter(|step| step.duration_ps > 0) {
        row(step, loaded, workload, &mut out);
    }
    out
}

fn row(step: &Step, loaded: &Loaded, workload: &Workload, out: &mut Vec<u8>) {
    let number = |action: u32| action - workload.actions(workload.rank_of(action)).start;
    let id = ActionId(number(step.action));
    let kind = loaded.program.body_of(step.rank).action(id).kind().name();
    let line = loaded.place(step.rank, id).map_or(0, |(_, line)| line);
    let partner = step.partner.map(|action| (workload.rank_of(action), number(action)));
    let (partner_rank, partner) =
        partner.map_or((-1, -1), |(rank, number)| (i64::from(rank), i64::from(number)));
    for whole in [i64::from(step.rank), i64::from(id.0), line as i64] {
        out.extend(whole.to_ne_bytes());
    }
    put_text::<5>(kind, out);
    put_text::<7>(step.work.name(), out);
    put_text::<4>(step.cost.name(), out);
    out.extend(nanos(step.start_ps));
    out.extend(nanos(step.start_ps + step.duration_ps));
    let units = if step.work == Work::Compute { 1 } else { step.units as i64 };
    for whole in [units, partner_rank, partner] {
        out.extend(whole.to_ne_bytes());
    }
}

/// Writes a text as numpy keeps one of at most `N` characters.
fn put_text<const N: usize>(text: &str, out: &mut Vec<u8>) {
    let all = text.chars().map(u32::from).chain(std::iter::repeat(0));
    out.extend(all.take(N).flat_map(u32::to_ne_bytes));
}
