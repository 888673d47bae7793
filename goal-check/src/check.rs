//! All checks in turn.

use crate::analysis::Analysis;
use crate::options::Options;
use crate::order::SharedOrder;
use crate::pairing::Pairing;
use crate::places::Places;
use crate::{datatypes, deadlock, endings, matching, patterns, postcondition, races, timing};
use goal_lang::diag::Report;
use goal_lang::{Program, SourceMap};
use goal_opt::whole::{Run, Whole};

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
