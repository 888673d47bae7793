//! Many runs with noise: how long they take, and which rank is last.

use crate::noise::{NoiseArguments, Plan};
use crate::parallel::each;
use crate::parameters::{Parsed, Shown};
use crate::report::{in_ns, write_json};
use crate::simulation::{Stop, simulate, simulate_with};
use crate::source::Subject;
use crate::statistics::{mean, quantile};
use crate::{Arguments, Format, Model, report};
use goal_loggops::Workload;
use goalc::driver::{self, Error, Options, print};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The most ranks that a report lists as the last ones.
const LAST_RANKS_MAX: usize = 5;

/// The parts of runs that a report gives, in per cent.
const PARTS: [u32; 7] = [0, 5, 25, 50, 75, 95, 100];

/// A program's time without noise, and its runs.
pub(crate) struct Measured {
    /// In picoseconds.
    pub(crate) quiet: u128,
    pub(crate) events: u64,
    pub(crate) runs: Vec<Run>,
}

/// A run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run {
    /// The time at which the last rank ended, in picoseconds.
    pub(crate) finish: u128,
    /// The first of the ranks that ended then.
    last: u32,
}

/// The reason why there are no times.
pub(crate) struct Failure {
    /// The run, counted from 0. `None` without noise.
    run: Option<usize>,
    pub(crate) stop: Stop,
}

impl Failure {
    /// Returns a sentence that names the run.
    pub(crate) fn sentence(&self, count: u32) -> String {
        match self.run {
            Some(run) => format!("run {} of {count} has no times", run + 1),
            None => "no times without noise".to_owned(),
        }
    }
}

impl Run {
    fn new(finish_ps: &[u128]) -> Self {
        let last = (0..finish_ps.len()).max_by_key(|&rank| (finish_ps[rank], Reverse(rank)));
        let last = last.unwrap_or(0);
        Self { finish: finish_ps.get(last).copied().unwrap_or(0), last: last as u32 }
    }
}

impl Measured {
    /// Simulates a program without noise, and `count` times with noise. The result does not depend
    /// on the number of threads.
    ///
    /// # Errors
    /// If a run has no end: that without noise, or else the first one.
    pub(crate) fn new(
        workload: &Workload,
        model: Model,
        parameters: &Parsed,
        plan: &Plan,
        count: u32,
        options: &Options,
    ) -> Result<Self, Failure> {
        let quiet = simulate(workload, model, parameters, options.threads)
            .map_err(|stop| Failure { run: None, stop })?;
        let noises = plan.of(workload);
        let numbers: Vec<u64> = (0..u64::from(count)).collect();
        let runs: Vec<Result<Run, Stop>> = each(options, &numbers, |&run| {
            let times = simulate_with(workload, parameters, &noises.of_run(run), &mut ())?;
            Ok(Run::new(&times.finish_ps))
        });
        let runs = runs.into_iter().enumerate();
        let runs = runs
            .map(|(run, found)| found.map_err(|stop| Failure { run: Some(run), stop }))
            .collect::<Result<_, _>>()?;
        Ok(Self { quiet: Run::new(&quiet.finish_ps).finish, events: quiet.events, runs })
    }

    /// Returns the times of the runs in nanoseconds, the shortest first.
    pub(crate) fn sorted(&self) -> Vec<f64> {
        let mut sorted: Vec<f64> = self.runs.iter().map(|run| nanos(run.finish)).collect();
        sorted.sort_by(f64::total_cmp);
        sorted
    }

    /// Returns the ranks that are last, and in how many runs, the most frequent first.
    fn last_ranks(&self) -> Vec<LastRank> {
        let mut counts = BTreeMap::new();
        for run in &self.runs {
            *counts.entry(run.last).or_insert(0) += 1;
        }
        let mut ranks: Vec<LastRank> =
            counts.into_iter().map(|(rank, runs)| LastRank { rank, runs }).collect();
        ranks.sort_by_key(|last| Reverse(last.runs));
        ranks.truncate(LAST_RANKS_MAX);
        ranks
    }
}

/// A rank that is last in some runs.
#[derive(Debug, Serialize)]
struct LastRank {
    rank: u32,
    runs: u32,
}

/// The runs, as programs read them.
#[derive(Serialize)]
struct Report<'a> {
    model: Model,
    parameters: Shown,
    noise: &'a NoiseArguments,
    events: u64,
    elapsed_ns: u64,
    without_noise_ns: serde_json::Number,
    /// By run, the end of its last rank.
    finish_ns: Vec<serde_json::Number>,
    quantiles_ns: BTreeMap<u32, f64>,
    mean_ns: f64,
    slowdown: Option<f64>,
    last: Vec<LastRank>,
}

/// Returns the error of runs that don't differ.
pub(crate) fn all_equal() -> Error {
    Error::Usage("--runs: all runs would be equal; give --noise or --jitter".to_owned())
}

/// Simulates the program many times, and reports the runs. Returns the exit status.
pub(crate) fn run(arguments: &Arguments, count: u32) -> Result<u8, Error> {
    let options = arguments.input.options();
    let (parameters, plan) = arguments.read(&options)?;
    arguments.outputs.refuse("--runs")?;
    arguments.why.check(arguments.model, arguments.format, true)?;
    arguments.refuse_lean()?;
    if !plan.is_random() {
        return Err(all_equal());
    }
    let subject = Subject::read(&arguments.input, arguments.format.findings())?;
    plan.check(&subject.workload)?;
    driver::show_stage("simulating");
    match Measured::new(&subject.workload, arguments.model, &parameters, &plan, count, &options) {
        Ok(measured) => {
            let elapsed_ns = subject.started.elapsed().as_nanos() as u64;
            write(arguments, &parameters, &measured, elapsed_ns)?;
            Ok(0)
        }
        Err(failure) => {
            driver::print_line(&format!("goal-sim: {}", failure.sentence(count)));
            report::stopped(&arguments.context(&parameters), subject, failure.stop)
        }
    }
}

fn write(
    arguments: &Arguments,
    parameters: &Parsed,
    measured: &Measured,
    elapsed_ns: u64,
) -> Result<(), Error> {
    let sorted = measured.sorted();
    let part_of = |part| (part, rounded(quantile(&sorted, f64::from(part) / 100.0)));
    let quantiles_ns: BTreeMap<u32, f64> = PARTS.into_iter().map(part_of).collect();
    let quiet = nanos(measured.quiet);
    let report = Report {
        model: arguments.model,
        parameters: Shown::from(&parameters.machine),
        noise: &arguments.noise,
        events: measured.events,
        elapsed_ns,
        without_noise_ns: in_ns(measured.quiet),
        finish_ns: measured.runs.iter().map(|run| in_ns(run.finish)).collect(),
        mean_ns: rounded(mean(&sorted)),
        slowdown: Some(quantiles_ns[&50] / quiet).filter(|slowdown| slowdown.is_finite()),
        quantiles_ns,
        last: measured.last_ranks(),
    };
    match arguments.format {
        Format::Json => write_json(&report),
        Format::Csv => print(|out| {
            writeln!(out, "run,finish_ns")?;
            let mut runs = report.finish_ns.iter().enumerate();
            runs.try_for_each(|(run, ns)| writeln!(out, "{run},{ns}"))
        }),
        Format::Text => print(|out| write_text(out, &report)),
    }
}

fn write_text(out: &mut dyn std::io::Write, report: &Report) -> std::io::Result<()> {
    writeln!(out, "without noise  {} ns", report.without_noise_ns)?;
    for (part, value) in &report.quantiles_ns {
        let name = match part {
            0 => "minimum".to_owned(),
            50 => "median".to_owned(),
            100 => "maximum".to_owned(),
            part => format!("{part} %"),
        };
        writeln!(out, "{name:13}  {} ns", value)?;
    }
    writeln!(out, "mean           {} ns", report.mean_ns)?;
    if let Some(slowdown) = report.slowdown {
        writeln!(out, "slowdown       {slowdown:.3} (median)")?;
    }
    let runs = report.finish_ns.len();
    for LastRank { rank, runs: count } in &report.last {
        writeln!(out, "rank {rank} is last in {count} of {runs} runs")?;
    }
    Ok(())
}

/// Returns picoseconds as nanoseconds.
pub(crate) fn nanos(ps: u128) -> f64 {
    ps as f64 / 1000.0
}

/// Rounds to picoseconds.
pub(crate) fn rounded(ns: f64) -> f64 {
    (ns * 1000.0).round() / 1000.0
}
