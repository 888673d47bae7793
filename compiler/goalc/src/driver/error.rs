//! The errors of the driver, and the exit statuses.

use goal_lang::SourceMap;
use goal_lang::diag::{Code, Diagnostic, Report, Severity};
use std::fmt;
use std::io;

/// The findings about the inputs, with the texts that they point into.
#[derive(Default)]
pub struct Findings {
    /// The findings.
    pub report: Report,
    /// The texts.
    pub sources: SourceMap,
}

impl Findings {
    /// Returns true if an input was too large to be held in memory.
    fn is_input_limit(&self) -> bool {
        self.report.diagnostics.iter().any(|found| found.code == Code::InputLimit)
    }

    /// Returns the message of the first error, or else of the first warning.
    fn first_message(&self) -> &str {
        let all = &self.report.diagnostics;
        let first = all.iter().find(|found| found.severity() == Severity::Error).or(all.first());
        first.map_or("the input is wrong", |first| &first.message)
    }
}

impl fmt::Debug for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.report.fmt(f)
    }
}

impl From<Diagnostic> for Findings {
    fn from(diagnostic: Diagnostic) -> Self {
        let mut findings = Self::default();
        findings.report.push(diagnostic);
        findings
    }
}

/// The reason why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The input is wrong. The findings have at least one error, or a warning if warnings are
    /// denied.
    #[error("{}", .0.first_message())]
    Input(Box<Findings>),
    /// The command asks for something that can't be done.
    #[error("{0}")]
    Usage(String),
    /// A file could not be read or written.
    #[error("{name}: {source}")]
    Io {
        /// The file.
        name: String,
        /// The system's error.
        source: io::Error,
    },
}

/// The exit status of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Status {
    /// Done; warnings don't change that.
    Success = 0,
    /// The input is wrong.
    Input = 1,
    /// The command line is wrong, the system failed, or an input is too large.
    System = 2,
}

impl Error {
    /// Creates the error of a failure to read or write the file `name`.
    pub fn io(name: impl Into<String>, source: io::Error) -> Self {
        Self::Io { name: name.into(), source }
    }

    /// Returns the exit status for the error.
    pub fn status(&self) -> Status {
        match self {
            Error::Input(findings) if findings.is_input_limit() => Status::System,
            Error::Input(_) => Status::Input,
            Error::Usage(_) | Error::Io { .. } => Status::System,
        }
    }

    /// Returns true if the reader of the output has closed it, which is no failure.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Error::Io { source, .. } if source.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl From<Diagnostic> for Error {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::Input(Box::new(diagnostic.into()))
    }
}

impl From<Findings> for Error {
    fn from(findings: Findings) -> Self {
        Self::Input(Box::new(findings))
    }
}
