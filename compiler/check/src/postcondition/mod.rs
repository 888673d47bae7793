//! Proves that a program computes a collective as MPI defines it, or shows why not. Every byte is
//! followed through the program as an expression over the ranks' inputs. The memory at the end is
//! then compared with the definition, range by range.

mod agreement;
mod barrier;
mod causes;
mod compare;
mod contributions;
mod execute;
mod explain;
mod follow;
mod layout;
mod memory;
mod near_misses;
mod ranks;
mod start;
#[cfg(test)]
mod tests;
mod trail;
mod value;

use crate::analysis::Analysis;
use crate::limits::{COUNTED_OPERANDS_MAX, FOLLOWED_RANGES_MAX};
use crate::options::Collective;
use crate::order::SharedOrder;
use compare::Comparison;
use execute::{Execution, TooManyRanges};
use explain::{Explainer, unknown};
use goal_lang::CollectiveKind;
use goal_lang::diag::{Code, Diagnostic, Report};
use layout::Layout;

/// Compares a program with a collective. The program must be free of races and deadlocks, so other
/// checks come first.
///
/// With wildcards, the result holds for the matches of the traced run. Returns a text that states
/// what was proved; `None` if a difference was found or the comparison was not possible.
pub(super) fn check(
    analysis: &Analysis<'_>,
    order: &mut SharedOrder<'_, '_>,
    collective: Collective,
    report: &mut Report,
) -> Option<String> {
    let kind = collective.kind;
    if report.has_errors() {
        let message = format!(
            "the program was not held against {kind}: that can be done only when the other errors are gone"
        );
        report.push(Diagnostic::new(Code::Postcondition, message));
        return None;
    }
    let layout = match Layout::new(collective, analysis.whole.program) {
        Ok(layout) => layout,
        Err(unfit) => {
            let message = format!("the program is no {kind}: {unfit}");
            let buffers = analysis.options.names.buffers;
            let help = format!("say with {buffers} what the program is meant to compute");
            report.push(Diagnostic::new(Code::Postcondition, message).help(help));
            return None;
        }
    };
    // A separate report, as the verdict must not depend on the findings that the caller's report
    // drops.
    let mut found = Report::default();
    let partners = order.partners();
    if kind == CollectiveKind::Barrier {
        barrier::check(analysis, &partners, &mut found);
    } else {
        check_data(analysis, &layout, &mut found);
    }
    let holds = !found.has_errors();
    report.append(found);
    let of_one_run =
        if *partners == analysis.trace.partner { "" } else { ", in one order of events" };
    holds.then(|| format!("{layout}{of_one_run}"))
}

/// Executes the program on expressions and compares the memory of all ranks with the definition.
fn check_data(analysis: &Analysis<'_>, layout: &Layout, report: &mut Report) {
    let Analysis { whole, trace, places, .. } = analysis;
    let mut execution = match Execution::run(whole, trace, layout) {
        Ok(execution) => execution,
        Err(TooManyRanges) => {
            let reason = format!(
                "its actions read more than {FOLLOWED_RANGES_MAX} separate ranges of bytes"
            );
            report.push(unknown(layout.collective.kind, &reason));
            return;
        }
    };
    let names = analysis.options.names;
    let explainer = Explainer { whole, trace, places, layout, names };
    let mut comparison = Comparison::new(layout);
    for rank in 0..layout.ranks {
        let wrong = comparison.rank(&mut execution, rank);
        if comparison.contributions.is_exhausted() {
            let reason = format!("its combinations have more than {COUNTED_OPERANDS_MAX} operands");
            report.push(unknown(layout.collective.kind, &reason));
            return;
        }
        if let Some(wrong) = wrong {
            report
                .add(Code::Postcondition, || explainer.wrong(&wrong, &execution, &mut comparison));
        }
    }
    if !report.has_errors()
        && let Some(finding) = agreement::check(&mut execution, layout, places)
    {
        report.push(finding);
    }
}
