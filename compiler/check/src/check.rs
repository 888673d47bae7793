//! Runs all checks, one after the other.

use crate::analysis::Analysis;
use crate::options::Options;
use crate::order::SharedOrder;
use crate::pairing::Pairing;
use crate::places::Places;
use crate::{datatypes, deadlock, endings, matching, patterns, postcondition, races, timing};
use goal_lang::diag::Report;
use goal_lang::{Program, SourceMap};
use goal_opt::whole::{Run, Whole};

/// Runs all checks on a valid program and returns their findings. Without `sources`, a finding
/// shows no source text. It names the rank, the action and the line.
pub fn check(program: &Program, sources: Option<&SourceMap>, options: &Options) -> Report {
    let mut report = Report::default();
    check_into(program, sources, options, &mut report);
    report
}

/// Like [`check`], but adds the findings to `report`, which may be set up to drop some of them. If
/// the program computes `options.collective`, returns a text that states what was proved; otherwise
/// `None`.
pub fn check_into(
    program: &Program,
    sources: Option<&SourceMap>,
    options: &Options,
    report: &mut Report,
) -> Option<String> {
    let Ok(whole) = Whole::new(program) else { return None };
    let trace = Run::new(&whole).finish(options.eager_limit);
    let analysis =
        Analysis { whole: &whole, trace: &trace, places: Places::new(&whole, sources), options };
    let pairing = Pairing::new(&analysis);
    let mut order = SharedOrder::new(&whole, &trace).with_effort(options.effort);
    matching::check_sizes(&analysis, report);
    matching::check_ends(&analysis, &pairing, report);
    deadlock::check(&analysis, &pairing, report);
    if pairing.unmatched.is_empty() && trace.is_complete() {
        let endings = endings::find(&analysis, &mut order);
        let delays = timing::check(&analysis, &mut order, report);
        patterns::check(&analysis, &mut order, report);
        if !endings::report_verdicts(&analysis, &endings, report)
            && !deadlock::check_orders(&analysis, &delays, report)
        {
            endings::report_unknown(&analysis, report);
        }
        let has_room = deadlock::check_room(&analysis, report);
        deadlock::check_buffering(&analysis, has_room, report);
    }
    races::check(&analysis, &mut order, report);
    datatypes::check(&analysis, &mut order, report);
    postcondition::check(&analysis, &mut order, options.collective.clone()?, report)
}
