//! Whether a program computes what MPI defines a collective to: every byte is followed through it as an expression over the ranks'
//! inputs, and what memory holds in the end is compared with the definition, range by range.

mod agreement;
mod barrier;
mod collective;
mod compare;
mod contributions;
mod execute;
mod explain;
mod follow;
mod instead;
mod lost;
mod memory;
mod ranks;
mod start;
#[cfg(test)]
mod tests;
mod trail;
mod value;

pub use collective::{Collective, CollectiveKind};

use super::Analysis;
use crate::whole::Vertex;
use collective::Layout;
use compare::Comparison;
use execute::{Execution, TooManyRanges};
use explain::Explainer;
use goal_lang::Action;
use goal_lang::diag::{Code, Diagnostic, Report};
use goal_lang::limits::{COUNTED_OPERANDS_MAX, FOLLOWED_RANGES_MAX};

/// Holds a program against a collective. It must be free of races and deadlocks: other checks come first.
///
/// With wildcards this is about the matching of the one run that was traced.
pub(super) fn check(analysis: &Analysis<'_>, collective: Collective, report: &mut Report) {
    let kind = collective.kind;
    if report.has_errors() {
        let message = format!(
            "the program was not held against {kind}: that can be done only when the other errors are gone"
        );
        report.push(Diagnostic::new(Code::Postcondition, message));
        return;
    }
    let layout = match Layout::new(collective, analysis.whole.program) {
        Ok(layout) => layout,
        Err(unfit) => {
            let message = format!("the program is no {kind}: {unfit}");
            let help =
                "say with --in, --out, --count, --type and --root what the program is meant to compute";
            report.push(Diagnostic::new(Code::Postcondition, message).help(help));
            return;
        }
    };
    if kind == CollectiveKind::Barrier {
        check_barrier(analysis, report);
    } else {
        check_data(analysis, &layout, report);
    }
}

fn check_data(analysis: &Analysis<'_>, layout: &Layout, report: &mut Report) {
    let Analysis { whole, trace, places, .. } = analysis;
    let mut execution = match Execution::run(whole, trace, layout) {
        Ok(execution) => execution,
        Err(TooManyRanges) => {
            let reason = format!("its actions read more than {FOLLOWED_RANGES_MAX} separate ranges of bytes");
            report.push(unknown(layout, &reason));
            return;
        }
    };
    let explainer = Explainer { whole, trace, places, layout };
    let mut comparison = Comparison::new(layout);
    for rank in 0..layout.ranks {
        let wrong = comparison.rank(&mut execution, rank);
        if comparison.contributions.is_exhausted() {
            let reason = format!("its combinations have more than {COUNTED_OPERANDS_MAX} operands");
            report.push(unknown(layout, &reason));
            return;
        }
        if let Some(wrong) = wrong {
            report.add(Code::Postcondition, || explainer.wrong(&wrong, &execution, &mut comparison));
        }
    }
    if !report.has_errors()
        && let Some(finding) = agreement::check(&mut execution, layout, places)
    {
        report.push(finding);
    }
}

/// The finding that a program is too large to be followed.
fn unknown(layout: &Layout, reason: &str) -> Diagnostic {
    let kind = layout.collective.kind;
    Diagnostic::new(
        Code::Postcondition,
        format!("the program was not held against {kind} to the end: {reason}"),
    )
}

fn check_barrier(analysis: &Analysis<'_>, report: &mut Report) {
    let Analysis { whole, trace, places, .. } = analysis;
    let ranks = whole.program.num_ranks();
    if ranks < 2 {
        return;
    }
    for (rank, heard) in (0..).zip(barrier::heard(whole, trace)) {
        let silent = match &heard {
            Some(heard) => heard.first_missing(ranks),
            // A rank without actions has ended before anything starts.
            None => Some(u32::from(rank == 0)),
        };
        let Some(silent) = silent else { continue };
        report.add(Code::Postcondition, || {
            let others = heard.as_ref().map_or(0, |heard| heard.count() - 1);
            let message = format!(
                "the program is no barrier: rank {rank} can end before rank {silent} has started; it waits for {others} of the {} other ranks",
                ranks - 1
            );
            let mut diagnostic = Diagnostic::new(Code::Postcondition, message);
            let last = whole.vertices_of(rank).filter(|&vertex| whole.requires(vertex).next().is_none()).last();
            if let Some(last) = last {
                let text = format!(
                    "rank {rank} has ended when this has, and nothing that it waits for comes from rank {silent}"
                );
                diagnostic = places.label(diagnostic, last, text);
            }
            let sends = |&vertex: &Vertex| matches!(whole.action(vertex), Action::Send { .. });
            diagnostic = match whole.vertices_of(silent).find(sends) {
                Some(send) => {
                    let text = format!(
                        "rank {silent} tells of its start here first, and it never reaches rank {rank}"
                    );
                    places.label(diagnostic, send, text)
                }
                None => diagnostic.note(format!("rank {silent} sends nothing, so nobody learns of its start")),
            };
            diagnostic.help("let a message, or a chain of messages, lead from every rank to every other")
        });
    }
}
