//! Rules of jitter: `calc*=normal(1,0.05)`, `L@0-3:9+=exp(200)`.
//!
//! Rules come from the command line. A rule may lead to times below 0 or beyond all bounds: times
//! end at 0 and at 2^64 picoseconds, which the model refuses as too late.

use super::ranks::Ranks;
use rand_distr::{Distribution, Exp, LogNormal, Normal, Pareto, Uniform};
use rand_xoshiro::SplitMix64;
use std::str::FromStr;

/// Draws of normal and log-normal distributions are at least this number of standard deviations
/// below the middle, so that latencies have a least one.
const DEVIATIONS_MAX: f64 = 4.0;

/// A change of some times.
#[derive(Debug, Clone)]
pub(crate) struct Rule {
    pub(crate) time: Time,
    place: Place,
    change: Change,
    draw: Draw,
    /// The least draw.
    least: f64,
}

/// The time that a rule changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Time {
    Computation,
    Latency,
    Overhead,
}

/// The ranks of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    All,
    /// Some ranks; for latencies, messages from or to them.
    Some(Ranks),
    /// Messages from some ranks to others.
    Pairs(Ranks, Ranks),
}

/// A change of a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    /// It is the draw, in nanoseconds.
    Set,
    /// The draw is added, in nanoseconds.
    Add,
    /// It is multiplied by the draw.
    Multiply,
}

#[derive(Debug, Clone, Copy)]
enum Draw {
    Constant(f64),
    Normal(Normal<f64>),
    Exponential(Exp<f64>),
    Uniform(Uniform<f64>),
    LogNormal(LogNormal<f64>),
    Pareto(Pareto<f64>),
}

impl Rule {
    /// Returns the rule that makes times of some ranks `factor` times as long.
    pub(crate) fn slow(time: Time, ranks: Ranks, factor: f64) -> Self {
        let draw = Draw::Constant(factor);
        Self { time, place: Place::Some(ranks), change: Change::Multiply, draw, least: factor }
    }

    /// Returns true if its draws differ.
    pub(crate) fn is_random(&self) -> bool {
        !matches!(self.draw, Draw::Constant(_))
    }

    /// Returns the highest rank that it names.
    pub(crate) fn last_rank(&self) -> Option<u32> {
        match &self.place {
            Place::All => None,
            Place::Some(ranks) => Some(ranks.last()),
            Place::Pairs(from, to) => Some(from.last().max(to.last())),
        }
    }

    /// Returns true if the rule is for times of a rank.
    pub(crate) fn is_for(&self, rank: u32) -> bool {
        match &self.place {
            Place::All => true,
            Place::Some(ranks) => ranks.contains(rank),
            Place::Pairs(..) => false,
        }
    }

    /// Returns true if the rule is for messages between two ranks.
    pub(crate) fn is_for_message(&self, from: u32, to: u32) -> bool {
        match &self.place {
            Place::Pairs(sources, targets) => sources.contains(from) && targets.contains(to),
            _ => self.is_for(from) || self.is_for(to),
        }
    }

    /// Returns what becomes of a time in picoseconds.
    pub(crate) fn apply(&self, time: u64, random: &mut SplitMix64) -> u64 {
        let draw = match self.draw {
            Draw::Constant(value) => value,
            Draw::Normal(normal) => normal.sample(random),
            Draw::Exponential(exponential) => exponential.sample(random),
            Draw::Uniform(uniform) => uniform.sample(random),
            Draw::LogNormal(log_normal) => log_normal.sample(random),
            Draw::Pareto(pareto) => pareto.sample(random),
        };
        self.changed(time, draw.max(self.least))
    }

    /// Returns the least that may become of times of at least `time` picoseconds.
    pub(crate) fn apply_least(&self, time: u64) -> u64 {
        let changed = self.changed(time, self.least);
        if self.place == Place::All { changed } else { changed.min(time) }
    }

    /// It grows with both arguments, so that [`apply_least`](Self::apply_least) is a lower bound.
    fn changed(&self, time: u64, draw: f64) -> u64 {
        let changed = match self.change {
            Change::Set => draw * 1000.0,
            Change::Add => time as f64 + draw * 1000.0,
            Change::Multiply => time as f64 * draw,
        };
        // It ends at 0 and at the largest number.
        changed.round() as u64
    }
}

impl FromStr for Rule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (left, right) = text
            .split_once('=')
            .ok_or("a rule is a time, `=`, `+=` or `*=`, and a distribution, as `L+=exp(200)`")?;
        let (left, change) = match left.as_bytes().last() {
            Some(b'+') => (&left[..left.len() - 1], Change::Add),
            Some(b'*') => (&left[..left.len() - 1], Change::Multiply),
            _ => (left, Change::Set),
        };
        let (name, place) = match left.split_once('@') {
            Some((name, place)) => (name, Some(place)),
            None => (left, None),
        };
        let time = match name {
            "calc" => Time::Computation,
            "L" => Time::Latency,
            "o" => Time::Overhead,
            _ => return Err(format!("`{name}` is no time that jitters: give calc, L or o")),
        };
        let place = match place.map(|place| (place, place.split_once(':'))) {
            None => Place::All,
            Some((ranks, None)) => Place::Some(ranks.parse()?),
            Some((_, Some((from, to)))) if time == Time::Latency => {
                Place::Pairs(from.parse()?, to.parse()?)
            }
            Some(_) => return Err(format!("`{name}` is of a rank; only L is of two")),
        };
        let (draw, least) = parse_draw(right)?;
        Ok(Self { time, place, change, draw, least })
    }
}

/// Parses a distribution. Returns its least draw too.
fn parse_draw(text: &str) -> Result<(Draw, f64), String> {
    let wrong = || {
        format!(
            "`{text}` is no distribution: give a number, normal(MEAN,SD), exp(MEAN), \
             uniform(LOW,HIGH), lognormal(MEDIAN,SIGMA) or pareto(LEAST,SHAPE)"
        )
    };
    if let Ok(value) = number(text) {
        return Ok((Draw::Constant(value), value));
    }
    let (name, arguments) =
        text.strip_suffix(')').and_then(|text| text.split_once('(')).ok_or_else(wrong)?;
    let arguments: Vec<f64> = arguments.split(',').map(number).collect::<Result<_, _>>()?;
    let refused = |why: &str| format!("`{text}`: {why}");
    Ok(match (name, &arguments[..]) {
        ("normal", &[mean, deviation]) => {
            let normal = Some(deviation).filter(|&deviation| deviation >= 0.0);
            let normal = normal.and_then(|deviation| Normal::new(mean, deviation).ok());
            let normal = normal.ok_or_else(|| refused("the deviation is negative"))?;
            (Draw::Normal(normal), mean - DEVIATIONS_MAX * deviation)
        }
        ("exp", &[mean]) => {
            let exponential = Some(mean).filter(|&mean| mean > 0.0);
            let exponential = exponential.and_then(|mean| Exp::new(mean.recip()).ok());
            (Draw::Exponential(exponential.ok_or_else(|| refused("the mean is not above 0"))?), 0.0)
        }
        ("uniform", &[low, high]) => {
            let uniform = Uniform::new_inclusive(low, high);
            (Draw::Uniform(uniform.map_err(|_| refused("the second is not above the first"))?), low)
        }
        ("lognormal", &[median, sigma]) => {
            let log_normal = Some(median.ln()).filter(|_| median > 0.0 && sigma >= 0.0);
            let log_normal = log_normal.and_then(|mu| LogNormal::new(mu, sigma).ok());
            let why = "the median is not above 0, or the sigma is negative";
            let least = median * (-DEVIATIONS_MAX * sigma).exp();
            (Draw::LogNormal(log_normal.ok_or_else(|| refused(why))?), least)
        }
        ("pareto", &[least, shape]) => {
            let pareto = Pareto::new(least, shape);
            (Draw::Pareto(pareto.map_err(|_| refused("a number is not above 0"))?), least)
        }
        _ => return Err(wrong()),
    })
}

/// Parses a finite number.
pub(crate) fn number(text: &str) -> Result<f64, String> {
    let number = text.trim().parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| format!("`{text}` is no number"))
}
