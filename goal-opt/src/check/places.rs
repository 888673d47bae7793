//! How findings name actions, and where these are.

use crate::whole::{Vertex, Whole};
use goal_lang::diag::Diagnostic;
use goal_lang::{Action, Position, SourceMap, Space, Span};
use std::ops::Range;

/// Names and places of a program's actions.
#[derive(Clone, Copy)]
pub(super) struct Places<'a> {
    whole: &'a Whole<'a>,
    sources: Option<&'a SourceMap>,
}

impl<'a> Places<'a> {
    pub(super) fn new(whole: &'a Whole<'a>, sources: Option<&'a SourceMap>) -> Self {
        Self { whole, sources }
    }

    /// The statement of an action, where its text is at hand.
    pub(super) fn span(&self, vertex: Vertex) -> Option<Span> {
        let debug = &self.whole.body(vertex).debug;
        self.sources?.statement(*debug.actions.get(self.whole.id(vertex).index())?)
    }

    /// Where the statement of an action begins, where its text is at hand.
    pub(super) fn position(&self, vertex: Vertex) -> Option<Position> {
        self.sources?;
        self.whole.body(vertex).debug.actions.get(self.whole.id(vertex).index()).copied()
    }

    /// The semicolon at the end of an action's statement, where it has one on its first line.
    pub(super) fn semicolon(&self, vertex: Vertex) -> Option<Position> {
        let Span { start, end } = self.span(vertex)?;
        let source = self.sources?.source_of(start)?;
        let text = source.bytes.get((start - source.base) as usize..)?;
        let (statement, rest) = text.split_at_checked((end - start) as usize)?;
        // The semicolon of a comment is none.
        let is_plain = !statement.iter().any(|byte| matches!(byte, b'#' | b'/'));
        let spaces = rest.len() - rest.trim_ascii_start().len();
        (is_plain && rest.get(spaces) == Some(&b';')).then_some(end + spaces as u64)
    }

    /// The source line of an action (1-based), where it is known.
    pub(super) fn line(&self, vertex: Vertex) -> Option<u64> {
        let (body, id) = (self.whole.body(vertex), self.whole.id(vertex));
        match self.sources.zip(body.debug.actions.get(id.index())) {
            Some((sources, &position)) => Some(sources.line_column(position)?.0),
            None => body.debug.lines.get(id.index()).filter(|&&line| line > 0).map(|&line| u64::from(line)),
        }
    }

    /// An action without its rank: "recv `take` (line 3)", "send 7" where it has no label and no line.
    pub(super) fn action(&self, vertex: Vertex) -> String {
        let (body, id) = (self.whole.body(vertex), self.whole.id(vertex));
        let kind = self.whole.action(vertex).kind().name();
        let name = match body.debug.labels.get(id) {
            Some(label) => format!("{kind} `{label}`"),
            None if self.line(vertex).is_some() => kind.to_owned(),
            None => format!("{kind} {id}"),
        };
        match self.line(vertex) {
            Some(line) => format!("{name} (line {line})"),
            None => name,
        }
    }

    /// "rank 0, recv `take` (line 3)".
    pub(super) fn name(&self, vertex: Vertex) -> String {
        format!("rank {}, {}", self.whole.rank(vertex), self.action(vertex))
    }

    /// Adds the place of an action to a finding, where it is known.
    pub(super) fn label(
        &self,
        diagnostic: Diagnostic,
        vertex: Vertex,
        text: impl Into<String>,
    ) -> Diagnostic {
        match (self.span(vertex), self.line(vertex)) {
            (Some(span), _) => diagnostic.label(span, text),
            (None, Some(line)) => diagnostic.line(line, text),
            (None, None) => diagnostic,
        }
    }

    /// What an action waits for, as a receive or a send says it: "a message from rank 1 with tag 0".
    pub(super) fn message(&self, vertex: Vertex) -> String {
        let any = |number: u32, what: &str| match number {
            goal_lang::ANY => format!("any {what}"),
            number => format!("{what} {number}"),
        };
        match *self.whole.action(vertex) {
            Action::Send { to, tag, .. } => format!("a message to rank {to} with tag {tag}"),
            Action::Recv { from, tag, .. } => {
                format!("a message from {} with {}", any(from, "rank"), any(tag, "tag"))
            }
            _ => self.action(vertex),
        }
    }
}

/// "bytes 4 to 7 of memory".
pub(super) fn in_words(space: Space, range: &Range<u64>) -> String {
    let space = match space {
        Space::Memory => "memory",
        Space::Scratch => "scratch memory",
    };
    match range.end - range.start {
        1 => format!("byte {} of {space}", range.start),
        _ => format!("bytes {} to {} of {space}", range.start, range.end - 1),
    }
}
