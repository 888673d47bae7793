//! The model of a picture, without any geometry.
//!
//! Moments are whole numbers: steps of a program, or picoseconds of a simulation or of a run.

use crate::limits::{FINDINGS_MAX, LINE_CHARS_MAX};
use crate::unit::{Duration, decimal, shortened};
use goal_lang::diag::{Code, Diagnostic, Report};
use serde::Serialize;

/// A time-space diagram.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Diagram {
    /// The title: the program, and how many ranks it has.
    pub title: String,
    /// The source of the times.
    pub subtitle: String,
    /// The meaning of moments.
    pub axis: Axis,
    /// The last moment of the axis.
    pub end: u64,
    /// The moment at which all ranks have ended. `None` if some never end, or of steps.
    pub finish: Option<u64>,
    /// The ranks of the program, drawn or not.
    pub ranks: u32,
    /// The shapes, or their sums.
    pub body: Body,
    /// The findings, the most important one first.
    pub findings: Vec<Finding>,
    /// Sentences about what the picture leaves out, and about ranks that differ from others.
    pub notes: Vec<String>,
}

impl Diagram {
    /// Adds the findings of a report below the picture, without their places.
    #[must_use]
    pub fn with_findings(mut self, report: &Report) -> Self {
        self.findings = findings(report);
        self
    }
}

/// Returns the most important findings of a report, without shapes. If there are more, the last one
/// counts them.
pub(crate) fn findings(report: &Report) -> Vec<Finding> {
    let mut findings: Vec<Finding> = most_important(report)
        .map(|found| Finding {
            code: format!("{} {}", found.code, found.code.kind()),
            text: shortened(&found.message, 3 * LINE_CHARS_MAX),
            shapes: Vec::new(),
            waits: Vec::new(),
        })
        .collect();
    let left = report.diagnostics.len().saturating_sub(FINDINGS_MAX);
    if left > 0 {
        let plural = if left == 1 { "" } else { "s" };
        findings.push(Finding {
            code: String::new(),
            text: format!("{left} more finding{plural}: goalc check lists them"),
            shapes: Vec::new(),
            waits: Vec::new(),
        });
    }
    findings
}

/// Returns the findings that are told: deadlocks, other errors, warnings.
pub(crate) fn most_important(report: &Report) -> impl Iterator<Item = &Diagnostic> {
    let mut found: Vec<_> = report.diagnostics.iter().collect();
    found.sort_by_key(|found| (found.code != Code::Deadlock, found.severity()));
    found.into_iter().take(FINDINGS_MAX)
}

/// The meaning of moments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Axis {
    /// Steps of the longest chain of actions before this one.
    Steps,
    /// Picoseconds of a simulation.
    Simulated,
    /// Picoseconds of a run.
    Measured,
}

/// The content of a diagram.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    /// Each action and each message.
    Detail(Detail),
    /// Sums over groups of ranks and bins of time.
    Summary(Summary),
}

/// Actions and messages one by one.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Detail {
    /// A lane for each rank that is drawn.
    pub lanes: Vec<Lane>,
    /// The shapes of all lanes.
    pub shapes: Vec<Shape>,
    /// The messages between shapes.
    pub messages: Vec<Message>,
    /// The dependencies that are drawn.
    pub dependencies: Vec<Dependency>,
    /// The markers of a simulation.
    pub marks: Vec<Mark>,
}

/// A rank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Lane {
    /// The rank.
    pub rank: u32,
    /// The largest number of shapes that lie beside each other at one moment, at least 1.
    pub slots: u32,
}

/// An action, or a wait between actions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Shape {
    /// The lane, by its place in [`Detail::lanes`].
    pub lane: u32,
    /// The place among shapes of one moment.
    pub slot: u32,
    /// The kind of the action.
    pub kind: Kind,
    /// The beginning.
    pub begin: u64,
    /// The end.
    pub end: u64,
    /// The moment until which a network interface is busy, if that is later than the end.
    pub busy: u64,
    /// The text in the shape: "send 4 B to 1".
    pub label: String,
    /// The text in a narrow shape: "→1".
    pub short: String,
    /// More about it: its name and its line.
    pub tip: String,
    /// The source line, from 1.
    pub line: Option<u32>,
    /// The last state that the action reaches.
    pub state: State,
    /// True on the longest chain.
    pub critical: bool,
}

/// The kinds of shapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Sends a message.
    Send,
    /// Takes a message in.
    Receive,
    /// Combines buffers of the rank.
    Operation,
    /// Computes for a time.
    Calculation,
    /// Does nothing.
    Nop,
    /// Nothing is under way on a rank that has not ended.
    Waiting,
}

/// The last state that an action reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It ends.
    Done,
    /// It starts, and waits for ever.
    Blocked,
    /// It never starts.
    Unstarted,
    /// Its message has no other end.
    Unmatched,
}

/// A message between two shapes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Message {
    /// The send, by its place in [`Detail::shapes`].
    pub from: u32,
    /// The receive.
    pub to: u32,
    /// False if the message is not received in the run that is drawn.
    pub received: bool,
    /// True on the longest chain.
    pub critical: bool,
}

/// A dependency between two shapes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Dependency {
    /// The prerequisite, by its place in [`Detail::shapes`].
    pub from: u32,
    /// The shape that waits.
    pub to: u32,
    /// True if it waits for the start only.
    pub start: bool,
    /// True on the longest chain.
    pub critical: bool,
}

/// A moment that the program marks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mark {
    /// The lane, by its place in [`Detail::lanes`].
    pub lane: u32,
    /// The moment.
    pub at: u64,
    /// More about it.
    pub tip: String,
}

/// A finding about the program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The code and the kind: "G0301 deadlock". Empty for findings that are only counted.
    pub code: String,
    /// The sentence of the finding.
    pub text: String,
    /// The shapes that it is about.
    pub shapes: Vec<u32>,
    /// Pairs of shapes: the first waits for the second.
    pub waits: Vec<[u32; 2]>,
}

/// Sums over groups of ranks and bins of time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// The groups, from rank 0 on.
    pub groups: Vec<Group>,
    /// The length of a bin.
    pub bin: u64,
    /// By group and bin, thousandths of the time: computing, sending, receiving, waiting.
    pub shares: Vec<Vec<[u16; 4]>>,
    /// Thousandths of all time, in that order.
    pub all: [u16; 4],
    /// Ranks that differ from others.
    pub outliers: Vec<Outlier>,
    /// By group, the moments that the program marks.
    pub marks: Vec<Vec<u64>>,
}

/// Ranks that lie side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Group {
    /// The first rank.
    pub first: u32,
    /// The last rank.
    pub last: u32,
}

/// A rank that differs from others.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "reason")]
pub enum Outlier {
    /// It ends last.
    Latest {
        /// The rank.
        rank: u32,
        /// Its end.
        end: u64,
    },
    /// It has most to do.
    Busiest {
        /// The rank.
        rank: u32,
        /// The time of its work.
        busy: u64,
    },
    /// It waits most.
    MostWaiting {
        /// The rank.
        rank: u32,
        /// Thousandths of its time.
        share: u16,
    },
}

impl Summary {
    /// Returns a sentence about the meaning of rows and colours.
    pub(crate) fn rows(&self, axis: Axis) -> String {
        let ranks = match self.groups.first() {
            Some(Group { first, last }) if last > first => format!("{} ranks", last - first + 1),
            _ => "a rank".to_owned(),
        };
        let bin = match axis {
            Axis::Steps if self.bin == 1 => "step".to_owned(),
            Axis::Steps => format!("{} steps", self.bin),
            Axis::Simulated | Axis::Measured => Duration(self.bin).to_string(),
        };
        format!("A row has {ranks}. Its colours stack up to the shares of time in each {bin}.")
    }

    /// Returns sentences about the ranks that differ from others.
    pub(crate) fn outliers(&self, axis: Axis) -> Vec<String> {
        let moment = |moment: u64| match axis {
            Axis::Steps => format!("step {moment}"),
            Axis::Simulated | Axis::Measured => Duration(moment).to_string(),
        };
        let mut sentences = Vec::new();
        let mut named: [Vec<String>; 3] = Default::default();
        for outlier in &self.outliers {
            match *outlier {
                Outlier::Latest { rank, end } => {
                    named[0].push(format!("rank {rank} ({})", moment(end)));
                }
                Outlier::Busiest { rank, busy } => {
                    named[1].push(format!("rank {rank} ({})", Duration(busy)));
                }
                Outlier::MostWaiting { rank, share } => {
                    let percent = decimal(f64::from(share) / 10.0);
                    named[2].push(format!("rank {rank} ({percent} %)"));
                }
            }
        }
        for (ranks, what) in named.iter().zip(["Latest", "Busiest", "Waiting most"]) {
            if !ranks.is_empty() {
                sentences.push(format!("{what}: {}.", ranks.join(", ")));
            }
        }
        sentences
    }
}
