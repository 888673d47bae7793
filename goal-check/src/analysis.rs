//! The view of a program that all checks share.

use crate::places::Places;
use crate::postcondition::Collective;
use goal_lang::diag::Diagnostic;
use goal_lang::limits::{EAGER_LIMIT, UNEXPECTED_LIMIT};
use goal_opt::whole::{Trace, Whole};

/// What the runtime is like that a program is checked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Largest message in bytes that is sent before its receive is there. 0 asks if the program
    /// ends where every message waits for its receive.
    pub eager_limit: u64,
    /// Most bytes of messages that a rank keeps for receives to come.
    pub unexpected_limit: u64,
    /// Most work that a check does before it gives up, as a multiple of the usual.
    pub effort: u64,
    /// What the program is meant to compute.
    pub collective: Option<Collective>,
}

impl Default for Options {
    /// What goal-run does where nobody says.
    fn default() -> Self {
        Self {
            eager_limit: EAGER_LIMIT,
            unexpected_limit: UNEXPECTED_LIMIT,
            effort: 1,
            collective: None,
        }
    }
}

/// Adds the way out of a bound that a check came to.
pub(crate) fn more_effort(analysis: &Analysis<'_>, found: Diagnostic) -> Diagnostic {
    let effort = analysis.options.effort;
    found.help(format!(
        "`--effort {}` lets it do eight times as much work",
        effort.saturating_mul(8)
    ))
}

/// What all checks share.
pub(crate) struct Analysis<'a> {
    pub(crate) whole: &'a Whole<'a>,
    pub(crate) trace: &'a Trace,
    pub(crate) places: Places<'a>,
    pub(crate) options: Options,
}
