//! The names of actions in files.

use crate::source::Subject;
use goal_lang::{ActionId, LineCounters, Lines};
use goal_loggops::{Kind, Record, Workload};
use goalc::driver::Loaded;
use std::fmt;

/// The labels and lines of a program's actions. A LogGOPSim binary has none.
pub(crate) struct Names<'a> {
    loaded: Option<&'a Loaded>,
    workload: &'a Workload,
    counters: LineCounters<'a>,
}

/// An action's names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Name<'a> {
    pub(crate) kind: &'static str,
    /// The place among the actions of the rank.
    pub(crate) number: u32,
    pub(crate) label: Option<&'a str>,
    /// The line in the text, from 1.
    pub(crate) line: Option<u32>,
}

impl<'a> Names<'a> {
    pub(crate) fn new(subject: &'a Subject) -> Self {
        Self {
            loaded: subject.loaded(),
            workload: &subject.workload,
            counters: LineCounters::default(),
        }
    }

    /// Returns the names of an action of a rank.
    pub(crate) fn of(&mut self, rank: u32, action: u32) -> Name<'a> {
        let number = action - self.workload.actions(rank).start;
        let Some(loaded) = self.loaded else {
            let kind = kind_name(self.workload.record(action));
            return Name { kind, number, label: None, line: None };
        };
        let (body, id) = (loaded.program.body_of(rank), ActionId(number));
        let lines = Lines::new(&body.debug, Some(&loaded.findings.sources));
        let line = lines.line(id, &mut self.counters);
        Name {
            kind: body.action(id).kind().name(),
            number,
            label: body.debug.labels.get(id),
            line: (line > 0).then_some(line),
        }
    }
}

/// Returns the name of a kind of a binary's actions.
fn kind_name(record: &Record) -> &'static str {
    match record.kind {
        Kind::Dummy if record.is_marker() => "marker",
        Kind::Send => "send",
        Kind::Recv => "recv",
        Kind::Calc => "calc",
        Kind::Local => "exec",
        Kind::Dummy => "nop",
    }
}

/// Writes the label, or else the kind and the number.
impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.label {
            Some(label) => f.write_str(label),
            None => write!(f, "{} {}", self.kind, self.number),
        }
    }
}
