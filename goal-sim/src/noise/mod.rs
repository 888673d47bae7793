//! Noise of a machine: a trace, jitter, and stragglers.
//!
//! A trace is a file from anywhere: see [`trace`]. Rules come from the command line: see [`rule`].
//! They may name ranks that a program does not have, which [`Plan::check`] refuses.

mod draws;
mod ranks;
mod rule;
#[cfg(test)]
mod tests;
mod trace;

use draws::{Draws, Purpose};
use goal_loggops::model::{self, Message};
use goal_loggops::{Kind, Workload};
use goalc::driver::{Error, Input, Options};
use ranks::Ranks;
use rule::{Rule, Time};
use serde::{Serialize, Serializer};
use std::path::PathBuf;
use trace::Trace;

/// The noise of the machine.
#[derive(Debug, Clone, clap::Args, Serialize)]
#[command(next_help_heading = "Noise (model goal)")]
pub(crate) struct NoiseArguments {
    /// Trace of noise in LogGOPSim's form: starts and durations in nanoseconds, repeated
    #[arg(long = "noise", value_name = "FILE")]
    #[serde(serialize_with = "shown")]
    trace: Option<PathBuf>,
    /// Let all ranks have the noise of the trace at one time
    #[arg(long, requires = "trace")]
    cosched: bool,
    /// Change times by draws, as calc*=normal(1,0.05), L+=exp(200) or o@0-7=uniform(900,1100)
    #[arg(long, value_name = "RULE", allow_hyphen_values = true)]
    jitter: Vec<String>,
    /// Let the processors of some ranks take FACTOR times as long, as 0,4-7=1.5
    #[arg(long, value_name = "RANKS=FACTOR")]
    straggler: Vec<String>,
    /// Number that all draws depend on
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Tell how long N runs take, each with draws of its own; a comparison has 30 by default
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) runs: Option<u32>,
}

impl NoiseArguments {
    /// Returns true if there is noise.
    pub(crate) fn is_given(&self) -> bool {
        self.trace.is_some() || !self.jitter.is_empty() || !self.straggler.is_empty()
    }

    /// Returns the file of the trace.
    pub(crate) fn trace(&self) -> Option<&PathBuf> {
        self.trace.as_ref()
    }

    /// Parses the rules, and reads the trace.
    ///
    /// # Errors
    /// If a rule or the trace is wrong, or the trace can't be read.
    pub(crate) fn read(&self, options: &Options) -> Result<Plan, Error> {
        let mut rules = Vec::new();
        for text in &self.jitter {
            let rule = text.parse();
            let rule: Rule = rule.map_err(|why| Error::Usage(format!("--jitter {text}: {why}")))?;
            rules.push((format!("--jitter {text}"), rule));
        }
        for text in &self.straggler {
            let argument = format!("--straggler {text}");
            let (ranks, factor) =
                straggler(text).map_err(|why| Error::Usage(format!("{argument}: {why}")))?;
            for time in [Time::Computation, Time::Overhead] {
                rules.push((argument.clone(), Rule::slow(time, ranks.clone(), factor)));
            }
        }
        let trace = match &self.trace {
            None => None,
            Some(path) => {
                let input = Input::open(path, options)?;
                let limit = options.input_bytes_max;
                let parsed = match input.bytes.len() as u64 > limit {
                    true => {
                        Err(format!("more than {limit} bytes; raise the limit with --max-input"))
                    }
                    false => Trace::parse(&input.bytes),
                };
                Some(parsed.map_err(|why| Error::Usage(format!("{}: {why}", input.name)))?)
            }
        };
        Ok(Plan { trace, cosched: self.cosched, rules, seed: self.seed })
    }
}

/// Writes a path as text, also one that is not in UTF-8.
fn shown<S: Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    path.as_ref().map(|path| path.display().to_string()).serialize(serializer)
}

/// Parses ranks and a factor.
fn straggler(text: &str) -> Result<(Ranks, f64), String> {
    let (ranks, factor) = text.split_once('=').ok_or("give ranks and a factor, as 0,4-7=1.5")?;
    let factor = rule::number(factor)?;
    if factor < 0.0 {
        return Err("the factor is negative".to_owned());
    }
    Ok((ranks.parse()?, factor))
}

/// The noise of a machine, parsed.
#[derive(Debug)]
pub(crate) struct Plan {
    trace: Option<Trace>,
    cosched: bool,
    /// Each with its argument.
    rules: Vec<(String, Rule)>,
    seed: u64,
}

impl Plan {
    /// Returns true if runs differ.
    pub(crate) fn is_random(&self) -> bool {
        self.trace.is_some() || self.rules.iter().any(|(_, rule)| rule.is_random())
    }

    /// Refuses rules for ranks that a program does not have.
    ///
    /// # Errors
    /// The message.
    pub(crate) fn check(&self, workload: &Workload) -> Result<(), Error> {
        let ranks = workload.num_ranks();
        for (argument, rule) in &self.rules {
            if let Some(last) = rule.last_rank().filter(|&last| last as usize >= ranks) {
                return Err(Error::Usage(format!(
                    "{argument}: there is no rank {last}; the program has {ranks} ranks"
                )));
            }
        }
        Ok(())
    }

    /// Returns what the noise of all runs of a workload has in common.
    pub(crate) fn of<'p>(&'p self, workload: &'p Workload) -> Noises<'p> {
        let of = |time| {
            let indexed =
                self.rules.iter().zip(0..).filter(move |((_, rule), _)| rule.time == time);
            indexed.map(|((_, rule), index)| (rule, index)).collect()
        };
        let [computation, latency, overhead] =
            [Time::Computation, Time::Latency, Time::Overhead].map(of);
        let ordinals = if self.rules.is_empty() { Vec::new() } else { ordinals(workload) };
        Noises { plan: self, workload, ordinals, computation, latency, overhead }
    }
}

/// The noise of all runs of a workload.
pub(crate) struct Noises<'p> {
    plan: &'p Plan,
    workload: &'p Workload,
    /// See [`ordinals`].
    ordinals: Vec<u32>,
    /// Rules with their numbers among all.
    computation: Vec<(&'p Rule, u32)>,
    latency: Vec<(&'p Rule, u32)>,
    overhead: Vec<(&'p Rule, u32)>,
}

impl<'p> Noises<'p> {
    /// Returns the noise of a run.
    pub(crate) fn of_run(&'p self, run: u64) -> Noise<'p> {
        Noise { all: self, draws: Draws::new(self.plan.seed, run) }
    }
}

/// Returns a number for each action. That of a computation counts those of its rank before it in
/// the text, and that of a send counts those of its rank to its destination.
///
/// Draws depend on these numbers. So two programs have equal draws for corresponding actions.
fn ordinals(workload: &Workload) -> Vec<u32> {
    let mut ordinals = vec![0; workload.len()];
    let mut sends = vec![0_u32; workload.num_ranks()];
    for rank in 0..workload.num_ranks() as u32 {
        let mut computations = 0;
        for action in workload.actions(rank) {
            let record = workload.record(action);
            let count = match record.kind {
                Kind::Calc => &mut computations,
                Kind::Send => &mut sends[record.peer as usize],
                Kind::Recv | Kind::Local | Kind::Dummy => continue,
            };
            ordinals[action as usize] = *count;
            *count += 1;
        }
        for action in workload.actions(rank) {
            let record = workload.record(action);
            if record.kind == Kind::Send {
                sends[record.peer as usize] = 0;
            }
        }
    }
    ordinals
}

/// The noise of a run.
pub(crate) struct Noise<'p> {
    all: &'p Noises<'p>,
    draws: Draws,
}

impl Noise<'_> {
    /// Applies rules to a time in picoseconds. `about` tells which time it is among those of its
    /// purpose.
    fn change<'r>(
        &self,
        time: u64,
        rules: impl Iterator<Item = &'r (&'r Rule, u32)>,
        purpose: Purpose,
        [first, second, third]: [u32; 3],
    ) -> u64 {
        rules.fold(time, |time, &(rule, index)| {
            let mut random = self.draws.of(purpose, [first, second, third, index]);
            rule.apply(time, &mut random)
        })
    }
}

impl model::Noise for Noise<'_> {
    fn latency_min(&self, latency: u64) -> u64 {
        self.all.latency.iter().fold(latency, |least, (rule, _)| rule.apply_least(least))
    }

    fn latency(&self, Message { send, from, to }: Message, latency: u64) -> u64 {
        if self.all.latency.is_empty() {
            return latency;
        }
        let rules = self.all.latency.iter().filter(|(rule, _)| rule.is_for_message(from, to));
        let ordinal = self.all.ordinals[send as usize];
        self.change(latency, rules, Purpose::Latency, [from, to, ordinal])
    }

    fn overhead(&self, rank: u32, send: u32, overhead: u64) -> u64 {
        if self.all.overhead.is_empty() {
            return overhead;
        }
        let rules = self.all.overhead.iter().filter(|(rule, _)| rule.is_for(rank));
        let to = self.all.workload.record(send).peer;
        let (purpose, other) = match rank == to {
            true => (Purpose::Receiving, self.all.workload.rank_of(send)),
            false => (Purpose::Sending, to),
        };
        let ordinal = self.all.ordinals[send as usize];
        self.change(overhead, rules, purpose, [rank, other, ordinal])
    }

    fn computation(&self, rank: u32, action: u32, time: u64) -> u64 {
        let is_calc = self.all.workload.record(action).kind == Kind::Calc;
        // Computations of no time are written for their dependencies only.
        if self.all.computation.is_empty() || !is_calc || time == 0 {
            return time;
        }
        let rules = self.all.computation.iter().filter(|(rule, _)| rule.is_for(rank));
        let ordinal = self.all.ordinals[action as usize];
        self.change(time, rules, Purpose::Computation, [rank, ordinal, 0])
    }

    fn end_of_work(&self, rank: u32, start: u64, work: u64) -> u64 {
        let Some(trace) = &self.all.plan.trace else { return start.saturating_add(work) };
        let rank = if self.all.plan.cosched { 0 } else { rank };
        // The high half of the product is a number below the period.
        let draw = self.draws.number(Purpose::Offset, [rank, 0, 0, 0]);
        let offset = (u128::from(draw) * u128::from(trace.period())) >> 64;
        trace.end_of_work(offset as u64, start, work)
    }
}
