//! Checks for stored patterns whose bytes depend on which of several sends starts first.
//!
//! A message without an address carries a pattern. The pattern contains the number of the message
//! among all messages from its source to its destination, whatever their tags. If a receive stores
//! the pattern, memory shows the order in which the sends started, even if tags decide the matches.

use crate::analysis::Analysis;
use crate::groups::{Groups, more, statement};
use crate::order::{Order, SharedOrder};
use goal_lang::diag::{Code, Diagnostic, Report};
use goal_lang::{Action, Payload};
use goal_opt::whole::{Event, Ordered, Vertex};
use rustc_hash::FxHashSet;

/// The most questions about the order of two sends, with the default effort.
const QUESTIONS_MAX: u64 = 1 << 22;

/// A receive that stores a pattern, the send of the pattern, and another send that may start before
/// or after it.
type Finding = [Vertex; 3];

/// Reports stored patterns that depend on timing. Messages that the same receive may take are left
/// out: the check of timing reports these.
pub(crate) fn check<'a>(
    analysis: &'a Analysis<'a>,
    order: &mut SharedOrder<'a, 'a>,
    report: &mut Report,
) {
    let stored = stored(analysis);
    if stored.is_empty() {
        return;
    }
    let partner = order.partners();
    let Ok(order) = order.order() else { return };
    let mut search = Search {
        analysis,
        partner: &partner,
        order,
        left: QUESTIONS_MAX.saturating_mul(analysis.options.effort),
        is_cut: false,
    };
    let found = search.found(&stored);
    let groups =
        Groups::from_pairs(found.into_iter().map(|found| (statement(analysis, found[0]), found)));
    for (_, found, count) in groups.order {
        report.add(Code::TimingDependentMatch, || finding(analysis, found, count));
    }
    if search.is_cut {
        report.add(Code::CheckIncomplete, || {
            let message =
                "not all sends were looked at whose order may show in the patterns that receives store";
            let found = Diagnostic::new(Code::CheckIncomplete, message)
                .note("the work of comparing pairs of sends is bounded");
            analysis.with_effort_help(found)
        });
    }
}

/// Returns the sends of patterns whose receives store the pattern in memory.
fn stored(analysis: &Analysis<'_>) -> Vec<Vertex> {
    let Analysis { whole, trace, .. } = analysis;
    let is_stored = |&send: &Vertex| {
        let Action::Send { payload: Payload::Pattern { size: 1.. }, .. } = *whole.action(send)
        else {
            return false;
        };
        trace.partner[send.index()].some().is_some_and(|recv| {
            let payload = match *whole.action(recv) {
                Action::Recv { payload, .. } => Some(payload),
                _ => None,
            };
            analysis.whole.message_size(recv) > 0
                && !matches!(payload, Some(Payload::Pattern { .. }))
        })
    };
    whole.vertices().filter(is_stored).collect()
}

struct Search<'s, 'a> {
    analysis: &'a Analysis<'a>,
    order: &'s mut Order<'a, 'a>,
    /// By vertex of a send or receive, the matching receive or send, if every run matches these
    /// two. Otherwise [`Vertex::NONE`].
    partner: &'s [Vertex],
    /// The number of questions that may still be asked.
    left: u64,
    is_cut: bool,
}

impl Search<'_, '_> {
    /// Finds those of the sends `stored` whose stored pattern depends on timing.
    fn found(&mut self, stored: &[Vertex]) -> Vec<Finding> {
        let pair = |send: Vertex| match *self.analysis.whole.action(send) {
            Action::Send { to, .. } => Some((self.analysis.whole.rank(send), to)),
            _ => None,
        };
        let stored: FxHashSet<Vertex> = stored.iter().copied().collect();
        let pairs: FxHashSet<(u32, u32)> = stored.iter().filter_map(|&send| pair(send)).collect();
        let mut sends: Vec<((u32, u32), u32, Vertex)> = self
            .analysis
            .whole
            .vertices()
            .filter_map(|send| Some((pair(send)?, self.order.position(Event::Start(send)), send)))
            .filter(|(pair, ..)| pairs.contains(pair))
            .collect();
        sends.sort_unstable();
        let mut found = Vec::new();
        for sends in sends.chunk_by(|a, b| a.0 == b.0) {
            let sends: Vec<Vertex> = sends.iter().map(|&(.., send)| send).collect();
            self.of_pair(&sends, &stored, &mut found);
        }
        found
    }

    /// Looks for sends of stored patterns that may start before or after another send. `sends` has
    /// all sends from one rank to another, in an order in which they may start.
    ///
    /// A chain of sends that start one after the other needs two questions only. An action that
    /// starts before the first starts before all of them. An action that starts after the last
    /// starts after all.
    fn of_pair(&mut self, sends: &[Vertex], stored: &FxHashSet<Vertex>, found: &mut Vec<Finding>) {
        let chains: Vec<&[Vertex]> = sends.chunk_by(|&a, &b| self.starts_before(a, b)).collect();
        if chains.len() == 1 {
            return;
        }
        for (at, chain) in chains.iter().enumerate() {
            for send in chain.iter().copied().filter(|send| stored.contains(send)) {
                let before = chains[..at].iter().rev().map(|chain| [chain[chain.len() - 1], send]);
                let after = chains[at + 1..].iter().map(|chain| [send, chain[0]]);
                let recv = self.analysis.trace.partner[send.index()];
                let mut pairs = before.chain(after);
                let unordered = pairs.find_map(|pair| {
                    let other = if pair[0] == send { pair[1] } else { pair[0] };
                    let may_take = self.analysis.whole.envelope_fits(other, recv)
                        && self.partner[recv.index()] == Vertex::NONE;
                    (!may_take && !self.starts_before(pair[0], pair[1])).then_some(other)
                });
                found.extend(unordered.map(|other| [recv, send, other]));
            }
        }
    }

    /// Returns true if one send certainly starts before another, or if this is unknown.
    fn starts_before(&mut self, first: Vertex, second: Vertex) -> bool {
        if self.left == 0 {
            self.is_cut = true;
            return true;
        }
        self.left -= 1;
        let ordered = self.order.happens_before(Event::Start(first), Event::Start(second));
        self.is_cut |= ordered == Ordered::Unknown;
        // An unknown answer must not lead to a finding.
        ordered != Ordered::No
    }
}

/// Makes the finding about a stored pattern. It stands for `count` patterns whose receives have the
/// same statement.
fn finding(analysis: &Analysis<'_>, [recv, send, other]: Finding, count: u64) -> Diagnostic {
    let Analysis { whole, places, .. } = analysis;
    let (source, destination) = (whole.rank(send), whole.rank(recv));
    let message = format!(
        "{} stores the pattern of {}, which may be sent before or after {}: timing decides what it is",
        places.name(recv),
        places.name(send),
        places.action(other)
    );
    let diagnostic = Diagnostic::new(Code::TimingDependentMatch, message);
    let diagnostic =
        places.label(diagnostic, recv, format!("rank {destination} stores the pattern"));
    let diagnostic = places.label(diagnostic, send, format!("rank {source} sends it"));
    places
        .label(diagnostic, other, "this may be sent before or after it".to_owned())
        .note(format!(
            "the pattern of a message without an address has the message's number among all from rank {source} to rank \
             {destination}, whatever their tags{}",
            more(count)
        ))
        .help("let one send wait for the start of the other (`irequires`), or receive without an address")
}
