//! Checks for receives that may take each other's messages, so that timing decides where bytes end
//! up.
//!
//! Messages with the same source and tag are received in the order of their sends (paper II; MPI's
//! rule). So if the sends start one after the other, and the receives too, every run matches them
//! alike. This check looks at the rest: starts without an order, and wildcards.

use crate::analysis::Analysis;
use crate::disjoint::DisjointSets;
use crate::groups::{Groups, more, statement};
use crate::order::{Order, SharedOrder};
use crate::termination::{stores, taken};
use goal_lang::diag::{Code, Diagnostic, Report};
use goal_lang::{ANY, Action, Payload, Piece};
use goal_opt::whole::{Event, Ordered, Vertex};
use rustc_hash::{FxHashMap, FxHashSet};

/// Bound on the pairs of receives that are compared.
const PAIRS_MAX: u64 = 1 << 22;
/// Bound on the earlier receives of the same source and tag that a receive is compared with.
const NEIGHBOURS_MAX: usize = 16;
/// Bound on the receives and sends that a finding shows.
const SHOWN_MAX: usize = 512;
/// Bound on the delays that are collected.
const DELAYS_MAX: usize = 16;

/// Receives of a rank that are connected by pairs which may take each other's messages.
type Competitors = Vec<Vertex>;

/// A send and a receive which, if both start late, let another receive take the message of the
/// first pair and leave the late receive without one.
pub(crate) type Delay = [Vertex; 2];

/// Reports receives that may take each other's messages. Returns the delays by which one of them
/// may be left without a message, one for each pair of statements.
pub(crate) fn check<'a>(
    analysis: &'a Analysis<'a>,
    order: &mut SharedOrder<'a, 'a>,
    report: &mut Report,
) -> Vec<Delay> {
    let Analysis { whole, trace, .. } = analysis;
    let unique = order.partners();
    let open =
        |&vertex: &Vertex| is_received(analysis, vertex) && unique[vertex.index()] == Vertex::NONE;
    let mut ranks: Vec<u32> =
        whole.vertices().filter(open).map(|vertex| whole.rank(vertex)).collect();
    ranks.dedup();
    if ranks.is_empty() {
        return Vec::new();
    }
    let kept = |&vertex: &Vertex| open(&vertex) && stores(whole.action(vertex));
    let taken = match whole.vertices().any(|vertex| kept(&vertex)) {
        true => taken(whole, trace, order, analysis.options.eager_limit, analysis.options.effort),
        false => None,
    };
    let Ok(order) = order.order() else { return Vec::new() };
    let mut place = vec![0; whole.len()];
    for (at, vertex) in trace.order.iter().enumerate() {
        place[vertex.index()] = at as u32;
    }
    let mut search = Search {
        analysis,
        order,
        left: PAIRS_MAX.saturating_mul(analysis.options.effort),
        is_cut: false,
        delays: Vec::new(),
    };
    let mut found = Vec::new();
    for rank in ranks {
        let mut recvs: Vec<Vertex> =
            whole.vertices_of(rank).filter(|&vertex| is_received(analysis, vertex)).collect();
        recvs.sort_unstable_by_key(|recv| place[recv.index()]);
        found.extend(search.competing(&recvs, |vertex| unique[vertex.index()] == Vertex::NONE));
    }
    if let Some(taken) = taken {
        let known: FxHashSet<Vertex> = found.iter().flatten().copied().collect();
        let others = whole.vertices().filter(|recv| kept(recv) && !known.contains(recv));
        for recv in others {
            found.extend(search.competitors_of(recv, &taken));
        }
    }
    let groups = Groups::of(found.iter().map(|group| (statement(analysis, group[0]), group)));
    for (_, group, count) in groups.order {
        report.add(Code::TimingDependentMatch, || finding(analysis, group, count));
    }
    if search.is_cut {
        report.add(Code::CheckIncomplete, || {
            let message = "not all receives were looked at that may take each other's messages";
            let found = Diagnostic::new(Code::CheckIncomplete, message)
                .note("the work of comparing pairs of receives is bounded");
            analysis.with_effort_help(found)
        });
    }
    search.delays
}

/// Returns true for a receive that took a message in the traced run.
fn is_received(analysis: &Analysis<'_>, vertex: Vertex) -> bool {
    analysis.whole.is_recv(vertex) && analysis.trace.partner[vertex.index()] != Vertex::NONE
}

struct Search<'s, 'a> {
    analysis: &'a Analysis<'a>,
    order: &'s mut Order<'a, 'a>,
    /// The rest of the bound on compared pairs.
    left: u64,
    is_cut: bool,
    delays: Vec<Delay>,
}

impl Search<'_, '_> {
    /// Groups the receives of a rank that may take each other's messages. `recvs` is in the order
    /// of the run; of each pair, one receive at least must be open: not every run matches it alike.
    fn competing(
        &mut self,
        recvs: &[Vertex],
        is_open: impl Fn(Vertex) -> bool,
    ) -> Vec<Competitors> {
        let whole = self.analysis.whole;
        let is_wild = recvs.iter().any(|&recv| {
            matches!(*whole.action(recv), Action::Recv { from, tag, .. } if from == ANY || tag == ANY)
        });
        let mut groups = DisjointSets::new(recvs.len());
        if is_wild {
            for distance in 1..recvs.len() {
                for first in 0..recvs.len() - distance {
                    if self.left == 0 {
                        self.is_cut = true;
                        break;
                    }
                    self.left -= 1;
                    let second = first + distance;
                    let concerns = is_open(recvs[first]) || is_open(recvs[second]);
                    let delay = self.delay(recvs[first], recvs[second]);
                    if concerns
                        && (delay.is_some() || groups.root(first) != groups.root(second))
                        && self.may_exchange(recvs[first], recvs[second])
                    {
                        groups.join(first, second);
                        self.delays.extend(delay);
                    }
                }
            }
        } else {
            // Without wildcards a receive competes only with receives of the same source and tag,
            // and most of all with the nearest ones. The search goes on past a neighbour that can't
            // be exchanged: that exchange may be harmless while one further back is not.
            let mut last: FxHashMap<_, Vec<usize>> = FxHashMap::default();
            for (at, &recv) in recvs.iter().enumerate().filter(|(_, recv)| is_open(**recv)) {
                let Action::Recv { from, tag, .. } = *whole.action(recv) else { continue };
                let before = last.entry((from, tag)).or_default();
                for &other in before.iter().rev().take(NEIGHBOURS_MAX) {
                    if self.may_exchange(recvs[other], recv) {
                        groups.join(other, at);
                    }
                }
                before.push(at);
            }
        }
        groups
            .of_several()
            .into_iter()
            .map(|group| group.into_iter().map(|at| recvs[at]).collect())
            .collect()
    }

    /// If a receive stores different bytes in different orders of events, returns it with all
    /// receives that may take one of its messages. No two of them need to exchange their messages:
    /// it may take three.
    fn competitors_of(
        &mut self,
        recv: Vertex,
        taken: &FxHashMap<Vertex, Vec<Vertex>>,
    ) -> Option<Competitors> {
        let whole = self.analysis.whole;
        let sends = taken.get(&recv)?;
        if !sends.iter().skip(1).any(|&send| !self.is_harmless([recv, recv], [sends[0], send])) {
            return None;
        }
        let takes_one = |&other: &Vertex| taken[&other].iter().any(|send| sends.contains(send));
        let of_rank = whole.vertices_of(whole.rank(recv)).filter(|other| taken.contains_key(other));
        Some(of_rank.filter(takes_one).collect())
    }

    /// The delay after which one of two receives takes the message of the other, while the other
    /// can't take its message in turn. `None` if both or neither fit, or if a delay of the same
    /// statements is known.
    fn delay(&self, first: Vertex, second: Vertex) -> Option<Delay> {
        if self.delays.len() == DELAYS_MAX {
            return None;
        }
        let sends = [first, second].map(|recv| self.analysis.trace.partner[recv.index()]);
        let delay = match [
            self.analysis.whole.envelope_fits(sends[0], second),
            self.analysis.whole.envelope_fits(sends[1], first),
        ] {
            [true, false] => [sends[1], first],
            [false, true] => [sends[0], second],
            _ => return None,
        };
        let statements = |delay: Delay| delay.map(|vertex| statement(self.analysis, vertex));
        let is_known = self.delays.iter().any(|&known| statements(known) == statements(delay));
        (!is_known).then_some(delay)
    }

    /// Returns true if another run may give one of two receives the message of the other, and this
    /// makes a difference. In this run `first` takes its message before `second` does.
    fn may_exchange(&mut self, first: Vertex, second: Vertex) -> bool {
        let Analysis { whole, trace, .. } = self.analysis;
        let (sent_first, sent_second) =
            (trace.partner[first.index()], trace.partner[second.index()]);
        let takes_first = self.analysis.whole.envelope_fits(sent_first, second);
        let takes_second = self.analysis.whole.envelope_fits(sent_second, first);
        if !(takes_first || takes_second) {
            return false;
        }
        // If only one of the receives can take both messages, the other may be left without one,
        // which is never harmless.
        if takes_first
            && takes_second
            && self.is_harmless([first, second], [sent_first, sent_second])
        {
            return false;
        }
        let posted = takes_first && !self.is_ordered(Event::Start(first), Event::Start(second));
        let arrives = takes_second
            && !(whole.rank(sent_first) == whole.rank(sent_second)
                && self.is_ordered(Event::Start(sent_first), Event::Start(sent_second)))
            && !self.is_ordered(Event::End(first), Event::Start(sent_second));
        posted || arrives
    }

    /// Returns true if one event certainly happens before another, or if this is unknown.
    fn is_ordered(&mut self, first: Event, second: Event) -> bool {
        let ordered = self.order.happens_before(first, second);
        self.is_cut |= ordered == Ordered::Unknown;
        // An unknown answer must not lead to a finding.
        ordered != Ordered::No
    }

    /// Returns true if the memory at the end does not depend on which of two receives takes which
    /// of two messages.
    fn is_harmless(&mut self, recvs: [Vertex; 2], sends: [Vertex; 2]) -> bool {
        let whole = self.analysis.whole;
        let [bytes, other] = sends.map(|send| self.analysis.whole.message_size(send));
        if bytes != other {
            return false;
        }
        let payload = |vertex: Vertex| match *whole.action(vertex) {
            Action::Send { payload, .. } | Action::Recv { payload, .. } => Some(payload),
            _ => None,
        };
        let store_nothing =
            recvs.iter().all(|&recv| matches!(payload(recv), Some(Payload::Pattern { .. })));
        let [one, two] = sends.map(payload);
        let are_same = whole.rank(sends[0]) == whole.rank(sends[1])
            && match (one, two) {
                (Some(Payload::Buffer(one)), Some(Payload::Buffer(two))) => one == two,
                (Some(Payload::Vector(_)), Some(Payload::Vector(_))) => {
                    pieces(self.analysis, sends[0]) == pieces(self.analysis, sends[1])
                }
                _ => false,
            };
        bytes == 0 || store_nothing || (are_same && self.is_unchanged_between(sends))
    }

    /// Returns true if no action writes the bytes of two sends, which are the same, between the
    /// two.
    fn is_unchanged_between(&mut self, sends: [Vertex; 2]) -> bool {
        let whole = self.analysis.whole;
        let sent = pieces(self.analysis, sends[0]);
        let body = whole.body(sends[0]);
        let looks = body.len() as u64 * sent.len() as u64;
        if looks > self.left {
            self.is_cut = true;
            return true;
        }
        self.left -= looks;
        whole.vertices_of(whole.rank(sends[0])).all(|writer| {
            let mut writes = false;
            body.visit_accesses(whole.action(writer), |piece, access| {
                writes |= access.writes() && sent.iter().any(|sent| overlap(sent, piece));
            });
            !writes
                || sends.iter().all(|&send| self.is_ordered(Event::End(writer), Event::Start(send)))
                || sends.iter().all(|&send| self.is_ordered(Event::End(send), Event::Start(writer)))
        })
    }
}

/// The buffers that a message is made of.
fn pieces(analysis: &Analysis<'_>, vertex: Vertex) -> Vec<Piece> {
    let mut pieces = Vec::new();
    analysis
        .whole
        .body(vertex)
        .visit_pieces(analysis.whole.action(vertex), |&piece| pieces.push(piece));
    pieces
}

/// Returns true if two pieces have a byte in common.
fn overlap(a: &Piece, b: &Piece) -> bool {
    a.space == b.space
        && a.addr < b.addr.saturating_add(b.size)
        && b.addr < a.addr.saturating_add(a.size)
}

/// The unmatched sends whose message one of `recvs`, all of one rank, may take.
fn unmatched_for(analysis: &Analysis<'_>, recvs: &[Vertex]) -> impl Iterator<Item = Vertex> {
    let Analysis { whole, trace, .. } = *analysis;
    let rank = whole.rank(recvs[0]);
    whole.vertices().filter(move |&send| {
        matches!(*whole.action(send), Action::Send { to, .. } if to == rank)
            && trace.partner[send.index()] == Vertex::NONE
            && recvs.iter().any(|&recv| analysis.whole.envelope_fits(send, recv))
    })
}

/// Makes the finding about receives of a rank that may take each other's messages. Some of them may
/// be left without a message.
pub(crate) fn finding(analysis: &Analysis<'_>, group: &[Vertex], count: u64) -> Diagnostic {
    let Analysis { whole, trace, places, .. } = analysis;
    let is_wild = group.iter().any(
        |&recv| matches!(*whole.action(recv), Action::Recv { from, tag, .. } if from == ANY || tag == ANY),
    );
    let others = match group.len() {
        2 => places.action(group[1]),
        length => format!("{} other receives", length - 1),
    };
    let message = format!(
        "{} and {others} may take each other's messages: timing decides",
        places.name(group[0])
    );
    let mut diagnostic = Diagnostic::new(Code::TimingDependentMatch, message);
    for &recv in group.iter().take(SHOWN_MAX) {
        let text = match trace.partner[recv.index()].some() {
            Some(send) => format!("in one run this takes the message of {}", places.name(send)),
            None => "in one run nothing is left for this".to_owned(),
        };
        diagnostic = places.label(diagnostic, recv, text);
    }
    let mut sends: Vec<Vertex> =
        group.iter().filter_map(|recv| trace.partner[recv.index()].some()).collect();
    if sends.len() < group.len() {
        // A send that this run leaves unmatched shows what other runs may match.
        sends.extend(unmatched_for(analysis, group));
    }
    sends.sort_unstable();
    for &send in sends.iter().take(SHOWN_MAX) {
        let text = format!("rank {} sends one of the messages", whole.rank(send));
        diagnostic = places.label(diagnostic, send, text);
    }
    let sizes_differ = sends
        .windows(2)
        .any(|pair| analysis.whole.message_size(pair[0]) != analysis.whole.message_size(pair[1]));
    let why = if is_wild {
        "a receive from any source or with any tag takes what comes first"
    } else {
        "messages of a source and a tag are taken in the order in which their sends and receives start, which nothing orders here"
    };
    let worse =
        if sizes_differ { "; as their sizes differ, some runs end with an error" } else { "" };
    diagnostic
        .note(format!("{why}{worse}{}", more(count)))
        .help("give the messages different tags, name the source, or let one wait for the other")
}
