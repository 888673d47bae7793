//! `goal-sim compare`: which of two programs takes less time, and if noise leaves that in doubt.

use crate::noise::NoiseArguments;
use crate::parameters::{Parsed, Shown};
use crate::report::{in_ns, write_json};
use crate::runs::{Measured, all_equal, nanos, rounded};
use crate::source::Subject;
use crate::statistics::{RUNS_MIN, interval_of_median, quantile};
use crate::{Arguments, Format, Model, report};
use clap::{ArgAction, ArgMatches, Args, Command, FromArgMatches};
use goalc::driver::{self, Error, print};
use serde::Serialize;
use std::path::PathBuf;

/// The runs of a comparison with noise.
const RUNS: u32 = 30;

/// The arguments of a simulation that a comparison refuses, and does not list.
const REFUSED: [&str; 8] =
    ["sweep", "timeline", "matches", "critical_path", "steps", "lean", "compat", "filename"];

/// The arguments of a comparison: those of a simulation, with two inputs.
pub(crate) struct CompareArguments(pub(crate) Arguments);

impl Args for CompareArguments {
    fn augment_args(command: Command) -> Command {
        let command = Arguments::augment_args(command).mut_arg("inputs", |inputs| {
            let inputs = inputs.num_args(2).action(ArgAction::Set).value_names(["A", "B"]);
            inputs.help("The two programs, a file each").long_help(None)
        });
        command.mut_args(|argument| {
            let hidden = REFUSED.contains(&argument.get_id().as_str());
            argument.hide(hidden)
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for CompareArguments {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Arguments::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }
}

/// The comparison, as programs read it.
#[derive(Serialize)]
struct Report<'a> {
    model: Model,
    parameters: Shown,
    noise: &'a NoiseArguments,
    a: Side,
    b: Side,
    /// The median of the differences of runs, that of B less that of A.
    difference_ns: f64,
    /// The median of the quotients of runs, that of B by that of A.
    ratio: f64,
    /// Has the median of the quotients with a probability of 95 %.
    ratio_interval: Option<(f64, f64)>,
    verdict: Verdict,
}

/// One of the two programs.
#[derive(Serialize)]
struct Side {
    input: String,
    without_noise_ns: serde_json::Number,
    median_ns: Option<f64>,
    /// By run, the end of the last rank.
    finish_ns: Vec<serde_json::Number>,
}

impl Side {
    /// Returns the times by run, or the one without noise if there are no runs.
    fn times(&self) -> &[serde_json::Number] {
        match &self.finish_ns[..] {
            [] => std::slice::from_ref(&self.without_noise_ns),
            times => times,
        }
    }
}

/// The answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Verdict {
    Faster,
    Slower,
    NoDifference,
}

/// Compares two programs, and reports the difference. Returns the exit status.
pub(crate) fn run(CompareArguments(arguments): &CompareArguments) -> Result<u8, Error> {
    let options = arguments.input.options();
    let (parameters, plan) = arguments.read(&options)?;
    arguments.outputs.refuse("compare")?;
    if !arguments.sweep.is_empty() {
        return Err(Error::Usage("compare has one machine: leave --sweep out".to_owned()));
    }
    arguments.why.check(arguments.model, arguments.format, true)?;
    arguments.refuse_lean()?;
    let runs = match (plan.is_random(), arguments.noise.runs) {
        (true, Some(runs)) if runs < RUNS_MIN => {
            return Err(Error::Usage(format!("--runs {runs}: a comparison needs {RUNS_MIN} runs")));
        }
        (true, runs) => runs.unwrap_or(RUNS),
        (false, None) => u32::from(arguments.noise.is_given()),
        (false, Some(_)) => return Err(all_equal()),
    };
    let mut sides = Vec::new();
    for input in &arguments.input.inputs {
        let input =
            driver::InputArguments { inputs: vec![input.clone()], ..arguments.input.clone() };
        let subject = Subject::read(&input, arguments.format.findings())?;
        plan.check(&subject.workload)?;
        driver::show_stage("simulating");
        match Measured::new(&subject.workload, arguments.model, &parameters, &plan, runs, &options)
        {
            Ok(measured) => sides.push(measured),
            Err(failure) => {
                let (name, why) = (input.inputs[0].display(), failure.sentence(runs));
                driver::print_line(&format!("goal-sim: {name}: {why}"));
                let arguments = Arguments { input, ..arguments.clone() };
                return report::stopped(&arguments.context(&parameters), subject, failure.stop);
            }
        }
    }
    let [a, b] = &sides[..] else { return Err(Error::Usage("give two inputs".to_owned())) };
    write(arguments, &parameters, plan.is_random(), [a, b])?;
    Ok(0)
}

fn write(
    arguments: &Arguments,
    parameters: &Parsed,
    random: bool,
    [a, b]: [&Measured; 2],
) -> Result<(), Error> {
    // Run by run, as both programs have equal noise in a run.
    let times: Vec<(f64, f64)> = match a.runs.is_empty() {
        true => vec![(nanos(a.quiet), nanos(b.quiet))],
        false => {
            a.runs.iter().zip(&b.runs).map(|(a, b)| (nanos(a.finish), nanos(b.finish))).collect()
        }
    };
    if times.iter().any(|&(a, _)| a == 0.0) {
        let why = "the first program takes no time, so there is nothing to compare with";
        return Err(Error::Usage(why.to_owned()));
    }
    let sorted = |of: fn(&(f64, f64)) -> f64| {
        let mut values: Vec<f64> = times.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let ratios = sorted(|(a, b)| b / a);
    let ratio_interval = if random { interval_of_median(&ratios) } else { None };
    let ratio = quantile(&ratios, 0.5);
    let (low, high) = ratio_interval.unwrap_or((ratio, ratio));
    let verdict = match (low, high) {
        (_, high) if high < 1.0 => Verdict::Faster,
        (low, _) if low > 1.0 => Verdict::Slower,
        _ => Verdict::NoDifference,
    };
    let side = |measured: &Measured, path: &PathBuf| Side {
        input: path.display().to_string(),
        without_noise_ns: in_ns(measured.quiet),
        median_ns: (!measured.runs.is_empty()).then(|| rounded(quantile(&measured.sorted(), 0.5))),
        finish_ns: measured.runs.iter().map(|run| in_ns(run.finish)).collect(),
    };
    let inputs = &arguments.input.inputs;
    let report = Report {
        model: arguments.model,
        parameters: Shown::from(&parameters.machine),
        noise: &arguments.noise,
        a: side(a, &inputs[0]),
        b: side(b, &inputs[1]),
        difference_ns: rounded(quantile(&sorted(|(a, b)| b - a), 0.5)),
        ratio,
        ratio_interval,
        verdict,
    };
    match arguments.format {
        Format::Json => write_json(&report),
        Format::Csv => print(|out| {
            writeln!(out, "run,a_ns,b_ns")?;
            let mut runs = report.a.times().iter().zip(report.b.times()).enumerate();
            runs.try_for_each(|(run, (a, b))| writeln!(out, "{run},{a},{b}"))
        }),
        Format::Text => print(|out| {
            for (name, side) in [("A", &report.a), ("B", &report.b)] {
                write!(out, "{name} ({}): {} ns", side.input, side.without_noise_ns)?;
                match side.median_ns {
                    Some(median) => writeln!(out, " without noise, median {median} ns")?,
                    None => writeln!(out)?,
                }
            }
            writeln!(out, "B - A: {} ns", report.difference_ns)?;
            writeln!(out, "{}", report.sentence())
        }),
    }
}

impl Report<'_> {
    /// Returns the answer as a sentence.
    fn sentence(&self) -> String {
        let (name, sign) = match self.verdict {
            Verdict::Faster => ("faster", -1.0),
            Verdict::Slower => ("slower", 1.0),
            Verdict::NoDifference => ("", 1.0),
        };
        let percent = |ratio: f64| sign * (ratio - 1.0) * 100.0;
        let shown = number(percent(self.ratio));
        match (self.verdict, self.ratio_interval) {
            (Verdict::NoDifference, None) => "no difference".to_owned(),
            (Verdict::NoDifference, Some((low, high))) if low == high => "no difference".to_owned(),
            (Verdict::NoDifference, Some((low, high))) => format!(
                "no difference beyond noise (95 % interval {} to {} %)",
                signed(percent(low)),
                signed(percent(high))
            ),
            (_, None) => format!("B is {shown} % {name}"),
            (_, Some((low, high))) => {
                let (near, far) = if sign < 0.0 { (high, low) } else { (low, high) };
                let (near, far) = (number(percent(near)), number(percent(far)));
                format!("B is {shown} % {name} (95 % interval {near} to {far} %)")
            }
        }
    }
}

/// Writes a number of per cent with one digit after the point, or with two that are not 0.
fn number(percent: f64) -> String {
    let size = percent.abs();
    let digits = if size >= 1.0 || size == 0.0 { 1 } else { 1 - size.log10().floor() as i32 };
    format!("{percent:.*}", digits.clamp(1, 12) as usize)
}

fn signed(percent: f64) -> String {
    let sign = if percent > 0.0 { "+" } else { "" };
    format!("{sign}{}", number(percent))
}
