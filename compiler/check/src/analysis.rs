//! The input that all checks share.

use crate::options::Options;
use crate::places::Places;
use goal_lang::diag::Diagnostic;
use goal_opt::whole::{Trace, Whole};

/// The input of every check: a program, one abstract run of it, and the options.
pub(crate) struct Analysis<'a> {
    pub(crate) whole: &'a Whole<'a>,
    /// The abstract run that the checks start from. It goes on until no further action can start or
    /// end.
    pub(crate) trace: &'a Trace,
    /// Names and places of actions, for findings.
    pub(crate) places: Places<'a>,
    pub(crate) options: &'a Options,
}

impl Analysis<'_> {
    /// Adds a help to a finding about a reached bound: raise the option `effort` by a factor of
    /// eight.
    pub(crate) fn with_effort_help(&self, found: Diagnostic) -> Diagnostic {
        let Options { effort, names, .. } = self.options;
        let more = effort.saturating_mul(8);
        found.help(format!("`{} {more}` lets it do eight times as much work", names.effort))
    }
}
