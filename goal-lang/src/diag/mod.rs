//! Diagnostics: findings about an input, their places and remedies, and the forms in which reports
//! are written.

mod addition;
mod excerpt;
mod fix;
mod json;
mod margin;
mod quote;
mod registry;
mod render;
mod report;
mod sarif;
mod silence;

pub use addition::{dependency, line_after, spelling};
pub use fix::{Fix, Insertion, apply};
pub use json::{render_json, render_json_error};
pub use quote::quote;
pub use registry::{Code, Severity};
pub use render::{render, render_rest};
pub use report::Report;
pub use sarif::render_sarif;
pub use silence::Silence;

use crate::ActionId;
use crate::limits::Limit;
use crate::source::Span;

/// One finding about an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The kind of finding.
    pub code: Code,
    /// One sentence with the particulars.
    pub message: String,
    /// The places involved, the most important one first; empty if there is no text.
    pub labels: Vec<Label>,
    /// Places with a known line and no column, the most important one first. A binary has such
    /// places if it states the source lines of its actions. They lie in the only file of the source
    /// map.
    pub lines: Vec<LineLabel>,
    /// The actions that a check names, each with its rank, in the order of the labels. Pictures
    /// show them. They are there without a text, too.
    pub actions: Vec<(u32, ActionId)>,
    /// The reason for the finding.
    pub note: Option<String>,
    /// A remedy.
    pub help: Option<String>,
    /// A change to the text that removes the finding.
    pub fix: Option<Fix>,
    /// The limit that the input exceeds. A command line adds the flag that raises it.
    pub limit: Option<Limit>,
    /// True if the analysis is not certain. An error is then only a warning.
    pub is_doubtful: bool,
}

/// A place with its part in the finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// Its part in the finding.
    pub text: String,
}

/// A line with its part in the finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineLabel {
    /// The line, 1-based.
    pub line: u64,
    /// Its part in the finding.
    pub text: String,
}

impl Diagnostic {
    /// Returns a finding that has no places yet.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            labels: Vec::new(),
            lines: Vec::new(),
            actions: Vec::new(),
            note: None,
            help: None,
            fix: None,
            limit: None,
            is_doubtful: false,
        }
    }

    /// Adds a place.
    #[must_use]
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// Adds a place that is known by its line alone.
    #[must_use]
    pub fn line(mut self, line: u64, text: impl Into<String>) -> Self {
        self.lines.push(LineLabel { line, text: text.into() });
        self
    }

    /// Adds an action of a rank.
    #[must_use]
    pub fn action(mut self, rank: u32, id: ActionId) -> Self {
        self.actions.push((rank, id));
        self
    }

    /// Adds the reason for the finding.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }

    /// Adds a remedy.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds a change to the text that removes the finding.
    #[must_use]
    pub fn fix(mut self, fix: Fix) -> Self {
        self.fix = Some(fix);
        self
    }

    /// Names the limit that the input exceeds.
    #[must_use]
    pub fn limit(mut self, limit: Limit) -> Self {
        self.limit = Some(limit);
        match limit {
            Limit::Tag => self.help("use a smaller number, or `wrap_tags`: tags modulo 2^32"),
            limit => self.help(format!("raise the limit `{limit}`")),
        }
    }

    /// Makes the finding a warning, because the analysis is not certain or because only some orders
    /// of events lead to the finding.
    #[must_use]
    pub fn doubtful(mut self) -> Self {
        self.is_doubtful = true;
        self
    }

    /// Returns the severity of the finding. A doubtful finding is a warning; any other has the
    /// severity of its code.
    pub fn severity(&self) -> Severity {
        if self.is_doubtful { Severity::Warning } else { self.code.severity() }
    }
}
