//! Proves that no rank can end before every rank has started, or shows why not.

mod broken;
mod needs;
mod silence;
mod started;

use super::explain::unknown;
use super::ranks::Ranks;
use crate::analysis::Analysis;
use broken::Search;
use goal_lang::Action;
use goal_lang::CollectiveKind;
use goal_lang::diag::{Code, Diagnostic, Report};
use goal_opt::whole::Vertex;
use needs::{Needs, TooMuchWork, Work};
use silence::Silence;
use started::{Started, started_ranks};
use std::rc::Rc;

/// Compares a program with a barrier, for all messages that its receives may take. `partner` has,
/// by vertex, the other end of each message that every run matches alike.
pub(super) fn check(analysis: &Analysis<'_>, partner: &[Vertex], report: &mut Report) {
    let ranks = analysis.whole.program.num_ranks();
    if ranks >= 2 && find(analysis, partner, report).is_err() {
        let reason =
            "what its receives from any source or with any tag may take is too much to go through";
        report.push(unknown(CollectiveKind::Barrier, reason));
    }
}

/// Adds a finding for each rank that can end before some other rank has started.
fn find(
    analysis: &Analysis<'_>,
    partner: &[Vertex],
    report: &mut Report,
) -> Result<(), TooMuchWork> {
    let whole = analysis.whole;
    let ranks = whole.program.num_ranks();
    let mut work = Work::default();
    let needs = Needs::new(analysis, partner, &mut work)?;
    let silence = Silence::new(analysis, partner, &needs);
    let mut started = started_ranks(whole, partner);
    if needs.has_open() {
        add_by_counting(&silence, &mut started, ranks, &mut work)?;
    }
    let mut search = Search::new(analysis);
    for (rank, started) in (0..).zip(started) {
        let silent = match &started {
            Some(started) => started.first_missing(ranks),
            // A rank without actions has ended before any other starts.
            None => Some(u32::from(rank == 0)),
        };
        let Some(silent) = silent else { continue };
        let others = started.map_or(0, |started| started.count() - 1);
        report.add(Code::Postcondition, || {
            let diagnostic = describe(analysis, rank, silent, others);
            search.explain(diagnostic, &silence, [rank, silent])
        });
    }
    Ok(())
}

/// Adds to `started` the ranks whose start follows from counting: without their messages, too few
/// would be left for the receives of another rank.
fn add_by_counting(
    silence: &Silence<'_>,
    started: &mut [Started],
    ranks: u32,
    work: &mut Work,
) -> Result<(), TooMuchWork> {
    for silent in 0..ranks {
        work.add(started.len())?;
        let misses =
            |started: &Started| started.as_ref().is_some_and(|started| !started.contains(silent));
        if !started.iter().any(misses) {
            continue;
        }
        let mut without = silence.without(silent, work)?;
        for (rank, started) in (0..).zip(&mut *started) {
            if let Some(known) = started
                && !known.contains(silent)
                && !silence.ends(&mut without, rank, work)?
            {
                *started = Some(Rc::new(known.union(&Ranks::one(silent), ranks)));
            }
        }
    }
    Ok(())
}

/// Makes the finding that `rank` can end before `silent` has started, without the explanation of
/// the broken chain. `others` is the number of other ranks that `rank` waits for.
fn describe(analysis: &Analysis<'_>, rank: u32, silent: u32, others: u32) -> Diagnostic {
    let Analysis { whole, places, .. } = analysis;
    let message = format!(
        "the program is no barrier: rank {rank} can end before rank {silent} has started; it waits for {others} of the {} other ranks",
        whole.program.num_ranks() - 1
    );
    let mut diagnostic = Diagnostic::new(Code::Postcondition, message);
    let last =
        whole.vertices_of(rank).filter(|&vertex| whole.requires(vertex).next().is_none()).last();
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
        None => {
            diagnostic.note(format!("rank {silent} sends nothing, so nobody learns of its start"))
        }
    };
    diagnostic.help("let a message, or a chain of messages, lead from every rank to every other")
}
