//! Checks for actions that can never end, and for programs that end only because messages are
//! buffered.

use crate::analysis::Analysis;
use crate::cycles::{
    REPORTED_MAX, cycle_in_words, distinct_cycles, label_cycle, others_awaited, suggestion,
};
use crate::pairing::Pairing;
use crate::timing::{self, Delay};
use crate::waits::Waits;
use goal_lang::diag::{Code, Diagnostic, Report};
use goal_lang::{ANY, Action};
use goal_opt::whole::{Room, Run, Trace, Turn, Vertex, Whole};
use std::convert::identity;

/// The help for a program that gets stuck in one order of events and ends in another.
const ORDER_HELP: &str =
    "give the messages different tags, or order their sends, and the receives that may take them";
/// The most labels of a finding about a stuck run without a cycle. Half are for waiting actions,
/// half for receives that took messages and the sends of these messages.
const SHOWN_MAX: usize = 512;
/// The most waiting actions for which [`takers`] searches receives that took a fitting message.
const SEARCHED_MAX: usize = 32;
/// The most actions that [`check_orders`] executes again to try delays, over all runs.
const RERUN_ACTIONS_MAX: usize = 1 << 22;

/// Reports why a run is stuck. Reports nothing if there is no cycle of waits and some send or
/// receive can never match: the check of matches reports that.
pub(crate) fn check(analysis: &Analysis<'_>, pairing: &Pairing, report: &mut Report) {
    report_stuck(analysis, pairing, &Cause::Waits, report);
}

/// The circumstances in which a run gets stuck. The text is appended to the note of the finding.
pub(crate) enum Cause {
    Waits,
    /// A rank lacks room to keep messages that arrive before their receive is posted.
    Room(String),
    /// This run gets stuck, and runs in another order of events end. The finding is a warning, as
    /// programs rely on the order in which runtimes start actions.
    Order(String),
}

/// Reports why a run is stuck, with its cycles of waits. Does nothing if every action has ended.
pub(crate) fn report_stuck(
    analysis: &Analysis<'_>,
    pairing: &Pairing,
    cause: &Cause,
    report: &mut Report,
) {
    let (grade, reported_max, why): (fn(Diagnostic) -> Diagnostic, usize, &str) = match cause {
        Cause::Waits => (identity, REPORTED_MAX, ""),
        Cause::Room(why) => (identity, REPORTED_MAX, why),
        Cause::Order(why) => (Diagnostic::doubtful, 1, why),
    };
    let Analysis { whole, trace, options, .. } = analysis;
    if trace.is_complete() {
        return;
    }
    let cycles = distinct_cycles(analysis, Waits::new(analysis, pairing).cycles());
    if cycles.is_empty() && !pairing.unmatched.is_empty() {
        return;
    }
    let mut note = unfinished(analysis);
    let needed = Run::new(whole).finish(u64::MAX);
    if needed.least_eager_limit > options.eager_limit && needed.is_complete() {
        note.push_str(&format!(
            "; messages above {} bytes wait for their receives here, and the program would end if those of {} bytes did not",
            options.eager_limit, needed.least_eager_limit
        ));
    }
    note.push_str(why);
    if trace.has_wildcards {
        note.push_str(
            "; this is one order of events: as there are receives with wildcards, others may end",
        );
    }
    if cycles.is_empty() {
        let waiting: Vec<Vertex> = whole
            .vertices()
            .filter(|&vertex| trace.has_started(vertex) && !trace.has_ended(vertex))
            .collect();
        let takers = takers(whole, trace, &waiting);
        report.push(grade(without_cycle(analysis, &waiting, &takers).note(note)));
        if let Some(&first) = takers.first()
            && !report.diagnostics.iter().any(|found| found.code == Code::TimingDependentMatch)
        {
            let rank = whole.rank(first);
            let group: Vec<Vertex> = takers
                .iter()
                .chain(&waiting)
                .copied()
                .filter(|&vertex| whole.rank(vertex) == rank)
                .collect();
            report.push(timing::finding(analysis, &group, 1));
        }
        return;
    }
    for cycle in cycles.into_iter().take(reported_max) {
        let when = if matches!(cause, Cause::Order(_)) { "in one order of events " } else { "" };
        let message = format!("{when}no rank can go on: {}", cycle_in_words(analysis, &cycle));
        let mut diagnostic =
            label_cycle(analysis, Diagnostic::new(Code::Deadlock, message), &cycle);
        for (recv, send) in others_awaited(analysis, &cycle) {
            let text = format!(
                "{} would also take this, which rank {} does not start either",
                analysis.places.name(recv),
                whole.rank(send)
            );
            diagnostic = analysis.places.label(diagnostic, send, text);
        }
        let help = match cause {
            Cause::Order(_) => ORDER_HELP.to_owned(),
            _ => suggestion(analysis, &cycle),
        };
        report.push(grade(diagnostic.note(note.clone()).help(help)));
    }
}

/// Warns if a program ends only when messages are sent before their receives are posted. If
/// `has_room` is false, the note says that ranks also need a higher limit for such messages than
/// the options grant.
pub(crate) fn check_buffering(analysis: &Analysis<'_>, has_room: bool, report: &mut Report) {
    let Analysis { whole, trace, places, options } = analysis;
    let least = trace.least_eager_limit;
    if least == 0 {
        return;
    }
    let unbuffered = Run::new(whole).finish(0);
    let analysis = Analysis { whole, trace: &unbuffered, places: *places, options };
    let pairing = Pairing::new(&analysis);
    let cycles = distinct_cycles(&analysis, Waits::new(&analysis, &pairing).cycles());
    let plural = if least == 1 { "" } else { "s" };
    let message = format!(
        "the program ends only where messages of {least} byte{plural} are sent before their receives are there"
    );
    let mut diagnostic = Diagnostic::new(Code::ReliesOnBuffering, message);
    let names = options.names;
    let provided = match has_room {
        true => String::new(),
        false => format!("given a higher {}, ", names.unexpected_limit),
    };
    let mut note = format!("{provided}the least {} at which it ends is {least}", names.eager_limit);
    if let Some(cycle) = cycles.first() {
        note.push_str(&format!("; at 0, {}", cycle_in_words(&analysis, cycle)));
        diagnostic = label_cycle(&analysis, diagnostic, cycle).help(suggestion(&analysis, cycle));
    }
    report.push(diagnostic.note(note));
}

/// Reports a program that gets stuck, or may get stuck, if a rank keeps at most `unexpected_limit`
/// bytes of messages without a receive. Returns false if a run with this limit gets stuck,
/// otherwise true.
pub(crate) fn check_room(analysis: &Analysis<'_>, report: &mut Report) -> bool {
    let Analysis { whole, places, options, .. } = analysis;
    let Some(room) = Room::new(whole, options.eager_limit, options.unexpected_limit) else {
        return true;
    };
    let run = |room| Run::new(whole).finish_with_room(options.eager_limit, room);
    let Some(without) = Some(run(room.clone().none())).filter(|trace| !trace.is_complete()) else {
        return true;
    };
    let (limit, most) = (options.unexpected_limit, room.bytes_max());
    let unexpected_limit = options.names.unexpected_limit;
    let others = match room.scarce().len() {
        1 => String::new(),
        length => format!(" and {} more", length - 1),
    };
    let ranks = format!("rank {}{others}", room.scarce()[0]);
    let with = Some(run(room)).filter(|trace| !trace.is_complete());
    let is_error = with.is_some();
    let trace = &with.unwrap_or(without);
    let analysis = Analysis { whole, trace, places: *places, options };
    let pairing = Pairing::new(&analysis);
    if is_error {
        let why = format!(
            "; {ranks} may keep at most {limit} bytes of messages without a receive, and a send that finds no room waits for its \
             receive: raise {unexpected_limit} to {most}, or post receives earlier"
        );
        report_stuck(&analysis, &pairing, &Cause::Room(why), report);
        return false;
    }
    let message = format!(
        "{ranks} may get more messages without a receive than the {limit} bytes that are kept"
    );
    let mut diagnostic = Diagnostic::new(Code::ReliesOnBuffering, message);
    let mut note = format!(
        "timing decides whether there is room when it is needed; there always is from {unexpected_limit} {most} on"
    );
    if let Some(cycle) = Waits::new(&analysis, &pairing).cycles().first() {
        note.push_str(&format!("; without, {}", cycle_in_words(&analysis, cycle)));
        diagnostic = label_cycle(&analysis, diagnostic, cycle).help(suggestion(&analysis, cycle));
    }
    report.push(diagnostic.note(note));
    true
}

/// Tries some orders of events when there are too many to visit all: two orders of starts, and one
/// run for each of `delays`. [`RERUN_ACTIONS_MAX`] limits the number of delays. Reports the first
/// order in which the program gets stuck. Returns true if there is one.
pub(crate) fn check_orders(analysis: &Analysis<'_>, delays: &[Delay], report: &mut Report) -> bool {
    let Analysis { whole, places, options, .. } = analysis;
    let limit = options.eager_limit;
    let turns = [Turn::FirstFirst, Turn::LastFirst].into_iter();
    let turned = turns.map(|turn| Run::new(whole).finish_eagerly(limit, turn));
    let late = delays.iter().take(RERUN_ACTIONS_MAX / whole.len().max(1));
    let delayed = late.map(|delay| Run::new(whole).finish_late(limit, delay));
    for trace in &mut turned.chain(delayed) {
        if !trace.is_complete() {
            let analysis = Analysis { whole, trace: &trace, places: *places, options };
            let why = "; in another order of events the program ends".to_owned();
            report_stuck(&analysis, &Pairing::default(), &Cause::Order(why), report);
            return true;
        }
    }
    false
}

/// Returns the number of unfinished actions in words: "4 actions of 2 ranks had not ended".
fn unfinished(analysis: &Analysis<'_>) -> String {
    let Analysis { whole, trace, .. } = analysis;
    let mut ranks = 0;
    let mut last = None;
    let left = whole.vertices().filter(|&vertex| !trace.has_ended(vertex));
    let actions = left
        .inspect(|&vertex| {
            let rank = Some(whole.rank(vertex));
            ranks += u32::from(last != rank);
            last = rank;
        })
        .count();
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    format!(
        "{actions} action{} of {ranks} rank{} had not ended",
        plural(actions),
        plural(ranks as usize)
    )
}

/// Makes the finding about a stuck run that has no cycle of waits although every message has a
/// receive. In such a run, a receive with a wildcard took a message that another receive needed.
fn without_cycle(analysis: &Analysis<'_>, waiting: &[Vertex], takers: &[Vertex]) -> Diagnostic {
    let Analysis { whole, trace, places, .. } = analysis;
    let awaited = |vertex: Vertex| match *whole.action(vertex) {
        Action::Send { to, .. } => format!("rank {to} to receive its message"),
        _ => places.message(vertex),
    };
    let first = waiting.first().map_or_else(String::new, |&vertex| {
        format!(": {} waits for {}", places.name(vertex), awaited(vertex))
    });
    let message = format!("no rank can go on, as receives took messages that others need{first}");
    let mut diagnostic = Diagnostic::new(Code::Deadlock, message);
    for &vertex in waiting.iter().take(SHOWN_MAX / 2) {
        let text = format!("rank {} waits for {}", whole.rank(vertex), awaited(vertex));
        diagnostic = places.label(diagnostic, vertex, text);
    }
    for &taker in takers.iter().take(SHOWN_MAX / 4) {
        let (rank, send) = (whole.rank(taker), trace.partner[taker.index()]);
        let text = format!("rank {rank} took the message of {} here", places.name(send));
        diagnostic = places.label(diagnostic, taker, text);
        let text = format!(
            "rank {} sends what rank {rank} took by {}",
            whole.rank(send),
            places.action(taker)
        );
        diagnostic = places.label(diagnostic, send, text);
    }
    diagnostic.help(
        "name the source and the tag in receives, or order them so that the ones with wildcards come last",
    )
}

/// Returns receives with wildcards whose message would also fit a receive in `waiting`.
fn takers(whole: &Whole<'_>, trace: &Trace, waiting: &[Vertex]) -> Vec<Vertex> {
    let mut takers = Vec::new();
    for &recv in waiting.iter().take(SEARCHED_MAX) {
        if !whole.is_recv(recv) {
            continue;
        }
        let rank = whole.rank(recv);
        takers.extend(whole.vertices_of(rank).filter(|&other| {
            let send = trace.partner[other.index()];
            let is_wild = matches!(*whole.action(other), Action::Recv { from, tag, .. }
                if from == ANY || tag == ANY);
            is_wild && send != Vertex::NONE && whole.envelope_fits(send, recv)
        }));
    }
    takers.sort_unstable();
    takers.dedup();
    takers
}
