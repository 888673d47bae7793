//! Names and places of actions in findings.

use goal_lang::diag::{Diagnostic, dependency, spelling};
use goal_lang::{Action, Position, Source, SourceMap, Space, Span, Style};
use goal_opt::whole::{Vertex, Whole};
use std::ops::Range;

/// Names and places of a program's actions.
#[derive(Clone, Copy)]
pub(crate) struct Places<'a> {
    whole: &'a Whole<'a>,
    sources: Option<&'a SourceMap>,
}

impl<'a> Places<'a> {
    pub(crate) fn new(whole: &'a Whole<'a>, sources: Option<&'a SourceMap>) -> Self {
        Self { whole, sources }
    }

    /// Returns the span of an action's statement in the source text; `None` without the text.
    pub(crate) fn span(&self, vertex: Vertex) -> Option<Span> {
        let debug = &self.whole.body(vertex).debug;
        self.sources?.statement(*debug.actions.get(self.whole.id(vertex).index())?)
    }

    /// Returns the position at which the statement of an action begins; `None` without the source
    /// text.
    pub(crate) fn position(&self, vertex: Vertex) -> Option<Position> {
        self.sources?;
        self.whole.body(vertex).debug.actions.get(self.whole.id(vertex).index()).copied()
    }

    /// Returns the source text that contains a position.
    pub(crate) fn source(&self, position: Position) -> Option<&'a Source> {
        self.sources?.source_of(position)
    }

    /// Returns the statement that `waiter` requires `prerequisite`, in the spelling of the source
    /// text of `vertex`. `waiter` is the label of `vertex`.
    pub(crate) fn dependency(&self, vertex: Vertex, waiter: &str, prerequisite: &str) -> String {
        let source = self.position(vertex).and_then(|position| self.source(position));
        let style = source.map_or(Style::Schedgen, spelling);
        let end = if style == Style::Paper2009 { ";" } else { "" };
        let [waiter, prerequisite] =
            [waiter, prerequisite].map(|name| name.escape_debug().to_string());
        format!("{}{end}", dependency(style, &waiter, &prerequisite))
    }

    /// The source line of an action (1-based), if it is known.
    pub(crate) fn line(&self, vertex: Vertex) -> Option<u64> {
        let (body, id) = (self.whole.body(vertex), self.whole.id(vertex));
        match self.sources.zip(body.debug.actions.get(id.index())) {
            Some((sources, &position)) => Some(sources.line_column(position)?.0),
            None => body
                .debug
                .lines
                .get(id.index())
                .filter(|&&line| line > 0)
                .map(|&line| u64::from(line)),
        }
    }

    /// An action without its rank: "recv `take` (line 3)", or "send 7" if it has neither label nor
    /// line.
    pub(crate) fn action(&self, vertex: Vertex) -> String {
        let (body, id) = (self.whole.body(vertex), self.whole.id(vertex));
        let kind = self.whole.action(vertex).kind().name();
        let name = match body.debug.labels.get(id) {
            // A NISA file's labels may be any text.
            Some(label) => format!("{kind} `{}`", label.escape_debug()),
            None if self.line(vertex).is_some() => kind.to_owned(),
            None => format!("{kind} {id}"),
        };
        match self.line(vertex) {
            Some(line) => format!("{name} (line {line})"),
            None => name,
        }
    }

    /// An action with its rank: "rank 0, recv `take` (line 3)".
    pub(crate) fn name(&self, vertex: Vertex) -> String {
        format!("rank {}, {}", self.whole.rank(vertex), self.action(vertex))
    }

    /// Adds an action to a finding, with a label at its place if that is known.
    pub(crate) fn label(
        &self,
        diagnostic: Diagnostic,
        vertex: Vertex,
        text: impl Into<String>,
    ) -> Diagnostic {
        let diagnostic = diagnostic.action(self.whole.rank(vertex), self.whole.id(vertex));
        match (self.span(vertex), self.line(vertex)) {
            (Some(span), _) => diagnostic.label(span, text),
            (None, Some(line)) => diagnostic.line(line, text),
            (None, None) => diagnostic,
        }
    }

    /// The message of a send or a receive: "a message from rank 1 with tag 0".
    pub(crate) fn message(&self, vertex: Vertex) -> String {
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

/// A range in words: "bytes 4 to 7 of memory".
pub(crate) fn in_words(space: Space, range: &Range<u64>) -> String {
    let space = match space {
        Space::Memory => "memory",
        Space::Scratch => "scratch memory",
    };
    match range.end - range.start {
        1 => format!("byte {} of {space}", range.start),
        _ => format!("bytes {} to {} of {space}", range.start, range.end - 1),
    }
}
