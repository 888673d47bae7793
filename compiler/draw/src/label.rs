//! The texts of actions.

use crate::diagram::{Kind, State};
use crate::limits::LABEL_CHARS_MAX;
use crate::unit::{Bytes, Duration, shortened};
use goal_lang::{
    ANY, Action, ActionId, Body, LineCounters, Lines, Program, SourceMap, Style, statement,
};

/// A program that is drawn.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// The name of its file.
    pub name: &'a str,
    /// The program.
    pub program: &'a Program,
    /// The texts that it was read from.
    pub sources: Option<&'a SourceMap>,
}

/// The texts of an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Texts {
    pub(crate) kind: Kind,
    pub(crate) label: String,
    pub(crate) short: String,
    pub(crate) tip: String,
    pub(crate) line: Option<u32>,
}

/// Makes the texts of a program's actions.
pub(crate) struct Names<'a> {
    subject: Subject<'a>,
    counters: LineCounters<'a>,
}

impl<'a> Names<'a> {
    pub(crate) fn new(subject: Subject<'a>) -> Self {
        Self { subject, counters: LineCounters::default() }
    }

    /// Returns the texts of an action.
    pub(crate) fn of(&mut self, rank: u32, id: ActionId) -> Texts {
        let body = self.subject.program.body_of(rank);
        let action = body.action(id);
        let line = Lines::new(&body.debug, self.subject.sources).line(id, &mut self.counters);
        let line = (line > 0).then_some(line);
        let (label, short) = labels(body, action);
        let name = body.debug.labels.get(id);
        let name = name.map(|name| format!("{}: ", shortened(name, LABEL_CHARS_MAX)));
        let place = line.map_or(String::new(), |line| format!(", line {line}"));
        let statement = shortened(&statement(body, action, Style::Paper2009), 3 * LABEL_CHARS_MAX);
        let tip = format!("rank {rank}{place}\n{}{statement}", name.unwrap_or_default());
        Texts { kind: kind(action), label, short, tip, line }
    }
}

/// Returns the kind of an action's shape.
pub(crate) fn kind(action: &Action) -> Kind {
    match action {
        Action::Send { .. } => Kind::Send,
        Action::Recv { .. } => Kind::Receive,
        Action::Calc { .. } => Kind::Calculation,
        Action::Exec { .. } | Action::ExecVector { .. } | Action::User { .. } => Kind::Operation,
        Action::Wtime { .. } | Action::Nop | Action::Marker { .. } => Kind::Nop,
    }
}

/// Returns the long and the short text of an action.
fn labels(body: &Body, action: &Action) -> (String, String) {
    match *action {
        Action::Send { payload, to, .. } => send(body.payload_size(payload), to),
        Action::Recv { payload, from, .. } => receive(body.payload_size(payload), from),
        Action::Calc { nanos, .. } => {
            let time = Duration(nanos.saturating_mul(1000));
            (format!("calc {time}"), "calc".to_owned())
        }
        Action::Exec { op, datatype, size, .. } => {
            let count = size / datatype.width().max(1);
            (format!("{} {count} x {}", op.name(), datatype.name()), op.name().to_owned())
        }
        Action::ExecVector { op, datatype, .. } => {
            (format!("{} {}", op.name(), datatype.name()), op.name().to_owned())
        }
        Action::User { function, .. } => (format!("user {function}"), "f".to_owned()),
        ref other => (other.kind().name().to_owned(), String::new()),
    }
}

/// Returns the texts of a send.
pub(crate) fn send(bytes: u64, to: u32) -> (String, String) {
    (format!("send {} to {to}", Bytes(bytes)), format!("\u{2192}{to}"))
}

/// Returns the texts of a receive.
pub(crate) fn receive(bytes: u64, from: u32) -> (String, String) {
    match from {
        ANY => (format!("recv {} from any", Bytes(bytes)), "\u{2190}any".to_owned()),
        from => (format!("recv {} from {from}", Bytes(bytes)), format!("\u{2190}{from}")),
    }
}

/// Returns what a shape's state adds to its text.
pub(crate) fn of_state(state: State) -> &'static str {
    match state {
        State::Done => "",
        State::Blocked => "\nwaits for ever",
        State::Unstarted => "\nnever starts",
        State::Unmatched => "\nits message has no other end",
    }
}
