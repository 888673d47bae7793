//! Why a run takes its time, as programs read it. Times are in nanoseconds.

use super::Why;
use super::collectives::named;
use crate::parameters::number;
use crate::report::in_ns;
use crate::source::Subject;
use goal_loggops::path::{OfPair, Sensitivity, Step, Work};
use serde::Serialize;
use serde_json::{Map, Number, Value, json};

/// The objects of the report.
#[derive(Serialize)]
pub(crate) struct Report<'a> {
    critical_path: CriticalPath<'a>,
    totals: Value,
    sensitivity: Value,
    tolerance: Vec<Value>,
}

#[derive(Serialize)]
struct CriticalPath<'a> {
    finish_ns: Number,
    steps: Vec<JsonStep<'a>>,
}

#[derive(Serialize)]
struct JsonStep<'a> {
    start_ns: Number,
    ns: Number,
    cost: &'static str,
    /// The multiple of the parameter. Absent for a computation.
    #[serde(skip_serializing_if = "Option::is_none")]
    units: Option<u64>,
    work: &'static str,
    #[serde(flatten)]
    action: Action<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    partner: Option<Action<'a>>,
}

/// An action, by its rank and its number there.
#[derive(Serialize)]
struct Action<'a> {
    rank: u32,
    action: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
}

impl<'a> Report<'a> {
    pub(crate) fn new(why: &Why, subject: &'a Subject) -> Self {
        let taking_time = why.path.steps.iter().filter(|step| step.duration_ps > 0);
        Self {
            critical_path: CriticalPath {
                finish_ns: number(why.path.finish_ps, 3),
                steps: taking_time.map(|step| JsonStep::new(step, subject)).collect(),
            },
            totals: totals(why, subject),
            sensitivity: sensitivity(&why.sensitivity, u128::from(why.path.finish_ps)),
            tolerance: tolerance(why),
        }
    }
}

impl<'a> JsonStep<'a> {
    fn new(step: &Step, subject: &'a Subject) -> Self {
        Self {
            start_ns: number(step.start_ps, 3),
            ns: number(step.duration_ps, 3),
            cost: step.cost.name(),
            units: (step.work != Work::Compute).then_some(step.units),
            work: step.work.name(),
            action: Action::new(step.action, subject),
            partner: step.partner.map(|partner| Action::new(partner, subject)),
        }
    }
}

impl<'a> Action<'a> {
    fn new(action: u32, subject: &'a Subject) -> Self {
        let place = subject.place(action);
        let (file, line) = place.line.unzip();
        let rank = subject.workload.rank_of(action);
        Self { rank, action: place.number, label: place.label, file, line }
    }
}

fn totals(why: &Why, subject: &Subject) -> Value {
    let cost = |of: &goal_loggops::path::OfCost| {
        json!({
            "cost": of.cost.name(),
            "path_ns": number(of.path_ps, 3),
            "run_ns": in_ns(of.run_ps),
        })
    };
    let rank = |of: &goal_loggops::path::OfRank| {
        json!({
            "path_ns": number(of.path_ps, 3),
            "calc_ns": in_ns(of.computation_ps),
            "messages_ns": in_ns(of.messages_ps),
        })
    };
    let pair = |of: &OfPair| {
        json!({
            "from": of.from,
            "to": of.to,
            "path_ns": number(of.path_ps, 3),
            "path_messages": of.path_messages,
            "path_bytes": bytes(of.path_bytes),
            "run_messages": of.run_messages,
            "run_bytes": bytes(of.run_bytes),
        })
    };
    let phases = why.of_phases.as_deref().map(|phases| json!(phases));
    let collectives = why.of_collectives.as_ref().map(|collectives| {
        collectives.iter().map(|of| json!(named(of, subject))).collect::<Value>()
    });
    let why = &why.totals;
    let mut totals = json!({
        "costs": why.costs.iter().map(cost).collect::<Vec<_>>(),
        "ranks": why.ranks.iter().map(rank).collect::<Vec<_>>(),
        "pairs": why.pairs.iter().map(pair).collect::<Vec<_>>(),
    });
    if let Some(phases) = phases {
        totals["phases"] = phases;
    }
    if let Some(collectives) = collectives {
        totals["collectives"] = collectives;
    }
    totals
}

/// Returns a number of bytes, at most 2^64 - 1. Sums of real sizes of messages are smaller.
fn bytes(count: u128) -> Number {
    Number::from(u64::try_from(count).unwrap_or(u64::MAX))
}

/// Returns the sensitivity of a run that takes `finish_ps` picoseconds.
pub(crate) fn sensitivity(of: &Sensitivity, finish_ps: u128) -> Value {
    json!({
        "L": of.latency,
        "o": of.overhead,
        "g": of.gap,
        "G": of.gap_per_byte,
        "O": of.overhead_per_byte,
        "calc_share": of.computation_ps as f64 / finish_ps.max(1) as f64,
    })
}

/// Returns an object for each percentage.
fn tolerance(why: &Why) -> Vec<Value> {
    let of_percent = |(at, percent): (usize, u32)| {
        let mut object = Map::from_iter([("percent".to_owned(), percent.into())]);
        for (parameter, found) in &why.tolerances {
            let value = found[at].map(|value| number(value, parameter.digits()));
            object.insert(parameter.name().to_owned(), value.map_or(Value::Null, Value::Number));
        }
        Value::Object(object)
    };
    super::PERCENTS.into_iter().enumerate().map(of_percent).collect()
}
