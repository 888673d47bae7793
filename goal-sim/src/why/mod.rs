//! Why a run takes its time: the critical path, totals, sensitivity and tolerance.

mod json;
mod text;

pub(crate) use json::{Report, sensitivity};
pub(crate) use text::write;

use crate::{Format, Model};
use goal_loggops::Workload;
use goal_loggops::machine::{Machine, Parameter};
use goal_loggops::path::{Cost, Path, Sensitivity, Tolerance, Totals, tolerances};
use goalc::driver::{self, Error};

/// The percentages by which a run may become slower.
const PERCENTS: [u32; 3] = [1, 2, 5];

/// The arguments of what is told about a run.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct WhyArguments {
    /// Tell why the run takes its time: critical path, totals, sensitivity and tolerance
    #[arg(long)]
    pub(crate) critical_path: bool,
    /// Longest steps of the critical path that are listed as text
    #[arg(long, value_name = "N", default_value_t = 20, requires = "critical_path")]
    pub(crate) steps: usize,
    /// Of a program that gets stuck, print the ends of what has ended
    #[arg(long)]
    pub(crate) partial: bool,
}

impl WhyArguments {
    /// # Errors
    /// If the model or the format can't tell what the arguments ask for, or there is noise.
    pub(crate) fn check(&self, model: Model, format: Format, has_noise: bool) -> Result<(), Error> {
        if self.critical_path && has_noise {
            return Err(Error::Usage(
                "--critical-path tells about one run without noise: leave noise and --runs out"
                    .to_owned(),
            ));
        }
        if self.critical_path && format == Format::Csv {
            let why = "--critical-path: a path has the formats text and json";
            return Err(Error::Usage(why.to_owned()));
        }
        let option = match (self.critical_path, self.partial) {
            _ if model == Model::Goal => return Ok(()),
            (true, _) => "--critical-path",
            (_, true) => "--partial",
            _ => return Ok(()),
        };
        Err(Error::Usage(format!(
            "{option}: the models of the peers keep no reasons and no parts of a run; leave --model out"
        )))
    }
}

/// Why a run takes its time.
pub(crate) struct Why {
    path: Path,
    totals: Totals,
    sensitivity: Sensitivity,
    /// By parameter, a tolerance for each percentage.
    tolerances: [(Parameter, Vec<Tolerance>); 3],
}

impl Why {
    /// Adds up a critical path, and runs the program again for the tolerances.
    pub(crate) fn new(workload: &Workload, machine: &Machine, path: Path) -> Self {
        let totals = Totals::new(workload, machine, &path);
        let sensitivity = path.sensitivity();
        driver::show_stage("looking for tolerances");
        let tolerances = [
            (Parameter::Latency, sensitivity.latency),
            (Parameter::Overhead, sensitivity.overhead),
            (Parameter::GapPerByte, sensitivity.gap_per_byte),
        ]
        .map(|(parameter, units)| {
            let finish = path.finish_ps;
            (parameter, tolerances(workload, machine, parameter, finish, units, &PERCENTS))
        });
        Self { path, totals, sensitivity, tolerances }
    }
}

/// Returns the name of a kind of cost: a parameter of LogGOPS, or `calc`.
fn name_of(cost: Cost) -> &'static str {
    match cost {
        Cost::Computation => "calc",
        Cost::Overhead => "o",
        Cost::OverheadPerByte => "O",
        Cost::Latency => "L",
        Cost::Gap => "g",
        Cost::GapPerByte => "G",
    }
}
