//! Checks of a whole program: what is wrong with it that only all ranks together show.

mod datatypes;
mod deadlock;
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
use goal_lang::diag::Report;
use goal_lang::limits::{EAGER_LIMIT, UNEXPECTED_LIMIT};
use goal_lang::{Program, SourceMap};
use pairing::Pairing;
use places::Places;

/// What the runtime is like that a program is checked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Largest message in bytes that is sent before its receive is there. 0 asks whether the program is safe on any machine.
    pub eager_limit: u64,
    /// Most bytes of messages that a rank keeps for receives to come.
    pub unexpected_limit: u64,
    /// What the program is meant to compute.
    pub collective: Option<Collective>,
}

impl Default for Options {
    /// What goal-run does where nobody says.
    fn default() -> Self {
        Self { eager_limit: EAGER_LIMIT, unexpected_limit: UNEXPECTED_LIMIT, collective: None }
    }
}

/// What all checks share.
struct Analysis<'a> {
    whole: &'a Whole<'a>,
    trace: &'a Trace,
    places: Places<'a>,
    options: Options,
}

/// Looks for everything that is wrong with a valid program. Without texts findings have no places but name rank, action and
/// line.
pub fn check(program: &Program, sources: Option<&SourceMap>, options: &Options) -> Report {
    let mut report = Report::default();
    let whole = match Whole::new(program) {
        Ok(whole) => whole,
        Err(_) => return report,
    };
    let trace = Run::new(&whole).finish(options.eager_limit);
    let analysis =
        Analysis { whole: &whole, trace: &trace, places: Places::new(&whole, sources), options: *options };
    let pairing = Pairing::new(&analysis);
    let mut order = SharedOrder::new(&whole, &trace);
    matching::check_sizes(&analysis, &mut report);
    matching::check_ends(&analysis, &pairing, &mut report);
    deadlock::check(&analysis, &pairing, &mut report);
    if pairing.unmatched.is_empty() && trace.is_complete() {
        let delays = timing::check(&analysis, &mut order, &mut report);
        patterns::check(&analysis, &mut order, &mut report);
        deadlock::check_orders(&analysis, &delays, &mut report);
        let has_room = deadlock::check_room(&analysis, &mut report);
        deadlock::check_buffering(&analysis, has_room, &mut report);
    }
    races::check(&analysis, &mut order, &mut report);
    datatypes::check(&analysis, &mut order, &mut report);
    if let Some(collective) = options.collective {
        postcondition::check(&analysis, &mut order, collective, &mut report);
    }
    report
}
