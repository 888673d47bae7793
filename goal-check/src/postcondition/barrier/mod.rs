//! Whether no rank can end before every rank has started.

mod broken;
mod heard;
mod needs;
mod silence;

use super::explain::unknown;
use super::ranks::Ranks;
use crate::analysis::Analysis;
use crate::options::CollectiveKind;
use broken::Search;
use goal_lang::Action;
use goal_lang::diag::{Code, Diagnostic, Report};
use goal_opt::whole::Vertex;
use heard::{Heard, heard};
use needs::{Needs, TooMuchWork, Work};
use silence::Silence;
use std::rc::Rc;

/// Holds a program against a barrier, whatever messages its receives take. `partner` has the other
/// end of each message that every run matches alike.
pub(super) fn check(analysis: &Analysis<'_>, partner: &[Vertex], report: &mut Report) {
    let ranks = analysis.whole.program.num_ranks();
    if ranks >= 2 && find(analysis, partner, report).is_err() {
        let reason =
            "what its receives from any source or with any tag may take is too much to go through";
        report.push(unknown(CollectiveKind::Barrier, reason));
    }
}

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
    let mut heard = heard(whole, partner);
    if needs.has_open() {
        listen(&silence, &mut heard, ranks, &mut work)?;
    }
    let mut search = Search::new(analysis);
    for (rank, heard) in (0..).zip(heard) {
        let silent = match &heard {
            Some(heard) => heard.first_missing(ranks),
            // A rank without actions has ended before anything starts.
            None => Some(u32::from(rank == 0)),
        };
        let Some(silent) = silent else { continue };
        let others = heard.map_or(0, |heard| heard.count() - 1);
        report.add(Code::Postcondition, || {
            let diagnostic = describe(analysis, rank, silent, others);
            search.explain(diagnostic, &silence, [rank, silent])
        });
    }
    Ok(())
}

/// Adds the ranks that must have started because too few messages are left for a rank's receives
/// without theirs.
fn listen(
    silence: &Silence<'_>,
    heard: &mut [Heard],
    ranks: u32,
    work: &mut Work,
) -> Result<(), TooMuchWork> {
    for silent in 0..ranks {
        work.add(heard.len())?;
        let misses = |heard: &Heard| heard.as_ref().is_some_and(|heard| !heard.contains(silent));
        if !heard.iter().any(misses) {
            continue;
        }
        let mut without = silence.without(silent, work)?;
        for (rank, heard) in (0..).zip(&mut *heard) {
            if let Some(known) = heard
                && !known.contains(silent)
                && !silence.ends(&mut without, rank, work)?
            {
                *heard = Some(Rc::new(known.union(&Ranks::one(silent), ranks)));
            }
        }
    }
    Ok(())
}

/// The finding without what is broken in between.
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
