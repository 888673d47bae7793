//! Compares receives of a rank, and the sends whose messages they took, in pairs.

use crate::analysis::Analysis;
use crate::disjoint::DisjointSets;
use crate::groups::statement;
use crate::order::Order;
use goal_lang::{ANY, Action, Payload, Piece};
use goal_opt::whole::{Event, Ordered, Vertex};
use rustc_hash::FxHashMap;

/// The most earlier receives of the same source and tag with which a receive is compared.
const NEIGHBOURS_MAX: usize = 16;
/// Bound on the delays that are collected.
const DELAYS_MAX: usize = 16;

/// A group of receives of a rank, connected by pairs that may take each other's messages.
pub(super) type Competitors = Vec<Vertex>;

/// A send and a receive that both start late. Then another receive takes the message that the late
/// receive takes in the traced run. The late receive is left without a message, as the late send
/// does not fit it.
pub(crate) type Delay = [Vertex; 2];

/// The comparison in progress, and its results.
pub(super) struct Search<'s, 'a> {
    pub(super) analysis: &'a Analysis<'a>,
    pub(super) order: &'s mut Order<'a, 'a>,
    /// The rest of the bound on compared pairs.
    pub(super) left: u64,
    /// True if the bound was reached.
    pub(super) is_cut: bool,
    /// The delays by which a receive may be left without a message.
    pub(super) delays: Vec<Delay>,
}

impl Search<'_, '_> {
    /// Groups the receives of a rank that may take each other's messages. `recvs` is in the order
    /// of the traced run. Of each pair, at least one receive must be open: different runs may match
    /// it with different sends.
    pub(super) fn competing(
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

    /// Returns `recv` with all receives that may take one of its messages, if `recv` stores
    /// different bytes in different orders of events. No two of them need to be able to exchange
    /// their messages: it may take three.
    pub(super) fn competitors_of(
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

    /// Returns the delay after which one of two receives takes the message of the other, while the
    /// other can't take its message in turn. Returns `None` if both or neither fit, if a delay of
    /// the same statements is known, or if [`DELAYS_MAX`] delays are known.
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

    /// Returns true if no action writes the bytes of two sends between the two, or if this is
    /// unknown. Both sends must send the same bytes of memory.
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
