//! Why a run takes its time: the critical path, totals, sensitivity and tolerance.

mod collectives;
mod json;
mod text;

pub(crate) use json::{Report, sensitivity};
pub(crate) use text::write;

use crate::markers::{Key, Phases};
use crate::parallel::each;
use crate::parts::OfPart;
use crate::source::Subject;
use crate::{Format, Model};
use goal_loggops::machine::{Machine, Parameter};
use goal_loggops::path::{Path, Sensitivity, Totals, tolerance};
use goal_loggops::symmetry::Prepared;
use goalc::driver::{self, Error, Options};

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
    /// By phase, the time of the path. `None` without markers.
    of_phases: Option<Vec<OfPart<Key>>>,
    /// By collective, the time of the path. `None` if no statements were expanded.
    of_collectives: Option<Vec<OfPart<usize>>>,
    sensitivity: Sensitivity,
    /// By parameter, the tolerance to each of [`PERCENTS`].
    tolerances: [(Parameter, Vec<Option<u64>>); 3],
}

impl Why {
    /// Adds up a critical path, and runs the program again for the tolerances. All threads work.
    pub(crate) fn new(
        subject: &Subject,
        machine: &Machine,
        path: Path,
        phases: Option<&Phases>,
        options: &Options,
    ) -> Self {
        let of_phases = phases.map(|phases| phases.of_path(&path));
        let of_collectives = collectives::of_path(&path, subject);
        let workload = &subject.workload;
        let totals = Totals::new(workload, machine, &path);
        let sensitivity = path.sensitivity();
        driver::show_stage("looking for tolerances");
        let program = Prepared::new(workload);
        let parameters = [
            (Parameter::Latency, sensitivity.latency),
            (Parameter::Overhead, sensitivity.overhead),
            (Parameter::GapPerByte, sensitivity.gap_per_byte),
        ];
        let searches: Vec<(Parameter, u64, u32)> = parameters
            .iter()
            .flat_map(|&(parameter, units)| PERCENTS.map(|percent| (parameter, units, percent)))
            .collect();
        let found = each(options, &searches, |&(parameter, units, percent)| {
            tolerance(&program, machine, parameter, [path.finish_ps, units], percent)
        });
        let mut found = found.into_iter();
        let tolerances = parameters
            .map(|(parameter, _)| (parameter, found.by_ref().take(PERCENTS.len()).collect()));
        Self { path, totals, of_phases, of_collectives, sensitivity, tolerances }
    }
}
