//! Checks of a whole program: what is wrong with it that only all ranks together show.

mod datatypes;
mod deadlock;
mod endings;
mod matching;
mod pairing;
mod patterns;
mod places;
mod postcondition;
mod races;
mod ranges;
#[cfg(test)]
mod tests;
mod timing;
mod waits;

pub use postcondition::{Collective, CollectiveKind};

use crate::whole::{Run, SharedOrder, Trace, Whole};
use goal_lang::diag::{Diagnostic, Report};
use goal_lang::limits::{EAGER_LIMIT, UNEXPECTED_LIMIT};
use goal_lang::{Program, SourceMap};
use pairing::Pairing;
use places::Places;

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
fn more_effort(analysis: &Analysis<'_>, found: Diagnostic) -> Diagnostic {
    let effort = analysis.options.effort;
    found.help(format!(
        "`--effort {}` lets it do eight times as much work",
        effort.saturating_mul(8)
    ))
}

/// What all checks share.
struct Analysis<'a> {
    whole: &'a Whole<'a>,
    trace: &'a Trace,
    places: Places<'a>,
    options: Options,
}

/// Looks for everything that is wrong with a valid program. Without texts findings have no places
/// but name rank, action and line.
pub fn check(program: &Program, sources: Option<&SourceMap>, options: &Options) -> Report {
    let mut report = Report::default();
    check_into(program, sources, options, &mut report);
    report
}

/// Like [`check`], but adds to a report, which may have been told to leave some findings out.
/// Returns what was proved of the collective that the program is meant to be, where that is asked
/// and holds.
pub fn check_into(
    program: &Program,
    sources: Option<&SourceMap>,
    options: &Options,
    report: &mut Report,
) -> Option<String> {
    let Ok(whole) = Whole::new(program) else { return None };
    let trace = Run::new(&whole).finish(options.eager_limit);
    let analysis = Analysis {
        whole: &whole,
        trace: &trace,
        places: Places::new(&whole, sources),
        options: *options,
    };
    let pairing = Pairing::new(&analysis);
    let mut order = SharedOrder::new(&whole, &trace).with_effort(options.effort);
    matching::check_sizes(&analysis, report);
    matching::check_ends(&analysis, &pairing, report);
    deadlock::check(&analysis, &pairing, report);
    if pairing.unmatched.is_empty() && trace.is_complete() {
        let endings = endings::find(&analysis, &mut order);
        let delays = timing::check(&analysis, &mut order, report);
        patterns::check(&analysis, &mut order, report);
        if !endings::tell(&analysis, &endings, report)
            && !deadlock::check_orders(&analysis, &delays, report)
        {
            endings::tell_unknown(&analysis, report);
        }
        let has_room = deadlock::check_room(&analysis, report);
        deadlock::check_buffering(&analysis, has_room, report);
    }
    races::check(&analysis, &mut order, report);
    datatypes::check(&analysis, &mut order, report);
    postcondition::check(&analysis, &mut order, options.collective?, report)
}
