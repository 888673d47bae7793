//! The markers of a program: when its ranks reach them, and the phases that they end.
//!
//! A phase ends where ranks reach one marker. Markers of different ranks belong together if they
//! have one tag, and if their ranks reach this tag equally often up to there.

use crate::outputs::Names;
use crate::parameters::number;
use crate::parts::{OfPart, add_up, in_ns};
use crate::source::Subject;
use goal_loggops::Workload;
use goal_loggops::path::{Path, Work};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;
use serde_json::Number;
use std::fmt;
use std::io::{self, Write};

/// The phases that text lists.
const ROWS_MAX: usize = 100;

/// A marker that its rank has reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reached {
    pub(crate) rank: u32,
    pub(crate) action: u32,
    pub(crate) time_ps: u64,
}

/// The name of a phase: the marker at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct Key {
    tag: u32,
    /// The number of times that a rank has reached the tag by then.
    occurrence: u32,
    /// True if some rank reaches the tag several times.
    #[serde(skip)]
    recurs: bool,
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tag {}", self.tag)?;
        if self.recurs { write!(f, " #{}", self.occurrence) } else { Ok(()) }
    }
}

/// A phase. It begins where the phase before it ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Phase {
    #[serde(flatten)]
    key: Key,
    /// The number of ranks that reach its marker.
    ranks: usize,
    #[serde(rename = "first_ns", serialize_with = "in_ns")]
    first: u64,
    #[serde(rename = "median_ns", serialize_with = "in_ns")]
    median: u64,
    /// The time at which the last rank reaches the marker, which is the end of the phase.
    #[serde(rename = "last_ns", serialize_with = "in_ns")]
    last: u64,
    /// The time from the end of the phase before it.
    #[serde(rename = "ns", serialize_with = "in_ns")]
    duration: u64,
}

/// The markers of a run and its phases, in the order of their ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Phases {
    /// By rank, then in the order of time; each with the tag and the place of its phase.
    markers: Vec<(Reached, u32, usize)>,
    phases: Vec<Phase>,
}

impl Phases {
    /// Finds the phases of a run that has reached these markers.
    pub(crate) fn new(workload: &Workload, mut reached: Vec<Reached>) -> Self {
        reached.sort_unstable_by_key(|marker| (marker.rank, marker.time_ps, marker.action));
        let mut times: FxHashMap<(u32, u32), Vec<u64>> = FxHashMap::default();
        let mut keys = Vec::with_capacity(reached.len());
        for of_rank in reached.chunk_by(|a, b| a.rank == b.rank) {
            let mut counts: FxHashMap<u32, u32> = FxHashMap::default();
            for marker in of_rank {
                let tag = workload.record(marker.action).tag;
                let occurrence = counts.entry(tag).or_default();
                *occurrence += 1;
                keys.push((tag, *occurrence));
                times.entry((tag, *occurrence)).or_default().push(marker.time_ps);
            }
        }
        let phases = phases(times);
        let at_of: FxHashMap<(u32, u32), usize> = (0..)
            .zip(&phases)
            .map(|(at, phase)| ((phase.key.tag, phase.key.occurrence), at))
            .collect();
        let markers = reached.into_iter().zip(keys);
        let markers = markers.map(|(marker, key)| (marker, key.0, at_of[&key])).collect();
        Self { markers, phases }
    }

    /// Adds up a critical path by phases, and as the last one what no marker follows. A step
    /// belongs to the phase in which its rank starts it, and a message to that of its send.
    pub(crate) fn of_path(&self, path: &Path) -> Vec<OfPart<Key>> {
        let mut at = None;
        add_up(path, self.phases.iter().map(|phase| phase.key), |step| {
            if step.work != Work::Travel {
                at = self.phase_at(step.rank, step.start_ps);
            }
            at
        })
    }

    /// Returns the place of a rank's phase at a time: that of the next marker it reaches.
    fn phase_at(&self, rank: u32, time: u64) -> Option<usize> {
        let next = self
            .markers
            .partition_point(|(marker, ..)| (marker.rank, marker.time_ps) <= (rank, time));
        let &(marker, _, phase) = self.markers.get(next)?;
        (marker.rank == rank).then_some(phase)
    }
}

/// Makes phases of the times at which ranks reach their markers.
fn phases(times: FxHashMap<(u32, u32), Vec<u64>>) -> Vec<Phase> {
    let recurring: FxHashSet<u32> =
        times.keys().filter(|(_, occurrence)| *occurrence == 2).map(|key| key.0).collect();
    let phase = |((tag, occurrence), mut times): ((u32, u32), Vec<u64>)| {
        times.sort_unstable();
        let [lower, upper] = [times[(times.len() - 1) / 2], times[times.len() / 2]];
        Phase {
            key: Key { tag, occurrence, recurs: recurring.contains(&tag) },
            ranks: times.len(),
            first: times[0],
            median: lower + (upper - lower) / 2,
            last: times[times.len() - 1],
            duration: 0,
        }
    };
    let mut phases: Vec<Phase> = times.into_iter().map(phase).collect();
    phases.sort_unstable_by_key(|phase| (phase.last, phase.first, phase.key));
    let mut before = 0;
    for phase in &mut phases {
        phase.duration = phase.last - std::mem::replace(&mut before, phase.last);
    }
    phases
}

/// The markers and phases, as programs read them.
#[derive(Serialize)]
pub(crate) struct Report<'a> {
    markers: Vec<JsonMarker<'a>>,
    phases: &'a [Phase],
}

#[derive(Serialize)]
struct JsonMarker<'a> {
    rank: u32,
    action: u32,
    tag: u32,
    time_ns: Number,
    /// The place among the phases.
    phase: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
}

impl<'a> Report<'a> {
    pub(crate) fn new(phases: &'a Phases, subject: &'a Subject) -> Self {
        let mut names = Names::new(subject);
        let marker = |&(Reached { rank, action, time_ps }, tag, phase): &(Reached, u32, usize)| {
            let name = names.of(rank, action);
            JsonMarker {
                rank,
                action: name.number,
                tag,
                time_ns: number(time_ps, 3),
                phase,
                label: name.label,
                line: name.line,
            }
        };
        Self { markers: phases.markers.iter().map(marker).collect(), phases: &phases.phases }
    }
}

/// Writes the phases as a table.
pub(crate) fn write(phases: &Phases, out: &mut dyn Write) -> io::Result<()> {
    let all = &phases.phases;
    let of_all = match all.len() > ROWS_MAX {
        true => format!(", {ROWS_MAX} of {}", all.len()),
        false => String::new(),
    };
    writeln!(out, "\nphases by marker{of_all}")?;
    writeln!(
        out,
        "  {:<20} {:>8} {:>15} {:>15} {:>15} {:>15}",
        "up to", "ranks", "first, ns", "median, ns", "last, ns", "phase, ns"
    )?;
    for phase in all.iter().take(ROWS_MAX) {
        let [first, median, last, duration] =
            [phase.first, phase.median, phase.last, phase.duration]
                .map(|ps| number(ps, 3).to_string());
        let (name, ranks) = (phase.key.to_string(), phase.ranks);
        writeln!(
            out,
            "  {name:<20} {ranks:>8} {first:>15} {median:>15} {last:>15} {duration:>15}"
        )?;
    }
    Ok(())
}
