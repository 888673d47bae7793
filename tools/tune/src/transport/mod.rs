//! Searches parameters of transports. Runs jobs with different settings one after the other, and
//! each job measures the same patterns. The thesis searched parameters of interfaces in this way
//! (6.2).
//!
//! In a search over several hosts, each host runs this program. All measurements reach all ranks,
//! so all hosts make the same decisions and start the same jobs.

mod probe;
mod setting;

pub(crate) use probe::probe;

use crate::noise::{Rounds, percent};
use goal_collectives::Table;
use goal_job::JobSpec;
use goal_job::transport::Tuned;
use indicatif::ProgressBar;
use setting::{Parameter, found};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

type Failure = Box<dyn std::error::Error>;

/// A search for parameters of transports.
pub(crate) struct Search {
    /// The path of the launcher, `goal-run`.
    pub(crate) launcher: PathBuf,
    pub(crate) ranks: u32,
    pub(crate) sizes: Vec<u64>,
    /// The time for a pattern at a size in each job.
    pub(crate) time: Duration,
    pub(crate) rounds: usize,
    /// The options of `goal-run` for all jobs.
    pub(crate) options: Vec<OsString>,
    pub(crate) bar: ProgressBar,
}

/// What the search found for one parameter, as a line of the summary.
struct Line {
    parameter: Parameter,
    setting: JobSpec,
    /// The gain of the new value and the noise, as logarithms of times. The gain is `None` if the
    /// value stays.
    gain: Option<f64>,
    noise: f64,
}

impl Search {
    /// Returns true if the jobs run on several hosts.
    fn has_hosts(&self) -> bool {
        let is_interface = |option: &OsString| {
            let text = option.to_string_lossy();
            text == "--interface" || text.starts_with("--interface=")
        };
        self.options.iter().any(is_interface)
    }

    /// Searches all parameters, and adds the values that it found to `table`. Returns a summary for
    /// the user.
    ///
    /// # Errors
    /// A job failed, there are fewer than two ranks, or the table has invalid parameters of
    /// transports.
    pub(crate) fn run(&self, table: &mut Table) -> Result<String, Failure> {
        if self.ranks < 2 {
            return Err("transports are between ranks: give -n 2 or more".into());
        }
        let mut setting = JobSpec::default();
        let mut lines = Vec::new();
        for &parameter in Parameter::all(self.has_hosts()) {
            let line = self.search(parameter, &setting)?;
            setting = line.setting.clone();
            lines.push(line);
        }
        self.bar.finish_and_clear();
        let text: String = lines.iter().map(Line::to_text).collect();
        let source = format!(
            "goal-tune --transport on {} ranks: {} rounds of ping-pong, exchange and allreduce at {:?} bytes, operands \
             written before and results read after each, medians of the slowest rank; {}",
            self.ranks,
            self.rounds,
            self.sizes,
            text.trim_end().replace('\n', "; ")
        );
        let mut tuned = match table.transports.take() {
            Some(known) => serde_json::from_value(known)?,
            None => Tuned::default(),
        };
        let found = Some(found(&setting, source));
        *if self.has_hosts() { &mut tuned.several_hosts } else { &mut tuned.one_host } = found;
        table.transports = Some(serde_json::to_value(tuned)?);
        Ok(text)
    }

    /// Searches one parameter, beginning with a setting. Measures a coarse grid first, and then the
    /// values beside the best one. At last measures the winner anew, because it may have won by
    /// chance.
    fn search(&self, parameter: Parameter, setting: &JobSpec) -> Result<Line, Failure> {
        let coarse = self.compare(parameter, setting, &parameter.coarse(setting))?;
        let noise = coarse.iter().map(|(_, rounds)| rounds.noise()).fold(0.0, f64::max);
        let mut line = Line { parameter, setting: setting.clone(), gain: None, noise };
        let Some(best) = best(&coarse) else { return Ok(line) };
        let fine = self.compare(parameter, setting, &parameter.fine(&best))?;
        let best = crate::transport::best(&fine).unwrap_or(best);
        let (best, rounds) =
            self.compare(parameter, setting, &[best])?.pop().expect("one was measured");
        line.noise = rounds.noise();
        if rounds.is_better() {
            (line.setting, line.gain) = (best, Some(rounds.gain()));
        }
        Ok(line)
    }

    /// Measures several settings, and the current setting in the same rounds.
    fn compare(
        &self,
        parameter: Parameter,
        current: &JobSpec,
        others: &[JobSpec],
    ) -> Result<Vec<(JobSpec, Rounds)>, Failure> {
        let mut all: Vec<(JobSpec, Rounds)> =
            others.iter().map(|other| (other.clone(), Rounds::default())).collect();
        self.bar.inc_length((self.rounds * (others.len() + 2)) as u64);
        for _ in 0..self.rounds {
            let begin = self.score(parameter, current)?;
            for (other, rounds) in &mut all {
                rounds.other.push(self.score(parameter, other)?);
            }
            let end = self.score(parameter, current)?;
            all.iter_mut().for_each(|(_, rounds)| rounds.current.push([begin, end]));
        }
        Ok(all)
    }

    /// Runs a job with a setting. Returns the mean of the logarithms of its times.
    fn score(&self, parameter: Parameter, setting: &JobSpec) -> Result<f64, Failure> {
        self.bar.set_message(format!("{} {}", parameter.option(), parameter.of(setting)));
        let mut command = Command::new(&self.launcher);
        command.args(["-n", &self.ranks.to_string()]).args(&self.options);
        let parameters = Parameter::all(self.has_hosts()).iter();
        let parameters = parameters
            .flat_map(|parameter| [parameter.option().into(), parameter.of(setting).to_string()]);
        let parameters: Vec<String> = parameters.collect();
        command.args(&parameters);
        let sizes: Vec<String> = self.sizes.iter().map(u64::to_string).collect();
        command.arg("--").arg(std::env::current_exe()?).args(["--probe", "--bytes"]);
        command.arg(sizes.join(",")).args(["--time", &self.time.as_millis().to_string()]);
        // A table in the environment must not change the settings of the jobs.
        let output = command.env_remove("GOAL_TABLE").output()?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).trim_end().to_owned();
            return Err(format!(
                "a job with {} ended with {}: {said}",
                parameters.join(" "),
                output.status
            )
            .into());
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let times: Vec<u64> = serde_json::from_str(text.lines().next().unwrap_or_default())?;
        self.bar.inc(1);
        let sum: f64 = times.iter().map(|&ns| (ns.max(1) as f64).ln()).sum();
        Ok(sum / times.len().max(1) as f64)
    }
}

/// Returns the best of the settings that are better than the current one. Returns `None` if none
/// is.
fn best(compared: &[(JobSpec, Rounds)]) -> Option<JobSpec> {
    let better = compared.iter().filter(|(_, rounds)| rounds.is_better());
    better
        .max_by(|(_, a), (_, b)| a.gain().total_cmp(&b.gain()))
        .map(|(setting, _)| setting.clone())
}

impl Line {
    fn to_text(&self) -> String {
        let (option, value) = (self.parameter.option(), self.parameter.of(&self.setting));
        let noise = percent(self.noise);
        match self.gain {
            Some(gain) => {
                let gain = percent(gain);
                format!("{option} {value}: {gain:.1} % less time, noise {noise:.1} %\n")
            }
            None => format!(
                "{option}: nothing was better beyond the noise of {noise:.1} %, the default of {value} stays\n"
            ),
        }
    }
}

/// Reads the table in a file. Returns a new table with the published rules if there is no file.
///
/// # Errors
/// The file has no table.
pub(crate) fn table(path: Option<&Path>) -> Result<Table, Failure> {
    let published = || Table {
        measured: format!(
            "no algorithms; the rules are published: {}",
            Table::published().measured
        ),
        ..Table::published()
    };
    match path.filter(|path| path.exists()) {
        None => Ok(published()),
        Some(path) => {
            let named = |why: String| format!("{}: {why}", path.display());
            let text = std::fs::read_to_string(path).map_err(|error| named(error.to_string()))?;
            Ok(Table::parse(&text).map_err(|error| named(error.to_string()))?)
        }
    }
}
