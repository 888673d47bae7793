//! Selects the actions to split: messages on paths of at least two, and the local operations
//! between them.

use super::bytes::Facts;
use super::cut::Cut;
use super::slice;
use crate::whole::{Trace, Vertex, Whole, unique_partners};
use goal_lang::{ANY, Action, ActionId, BodyId, Payload};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// Ranks with the same body whose actions are split in the same way.
pub(super) struct Group {
    pub(super) body: BodyId,
    pub(super) ranks: Vec<u32>,
    /// The actions to split, in ascending order.
    pub(super) splits: Vec<(ActionId, Cut)>,
    /// The number of segments of a rank.
    pub(super) segments: u64,
}

/// The splits of all ranks: ranks with the same body and the same splits share one entry.
type Splits = BTreeMap<(BodyId, Vec<(ActionId, Cut)>), Vec<u32>>;

/// The numbers of messages that the bytes of each action pass through.
pub(super) struct Paths<'a, 'p> {
    whole: &'a Whole<'p>,
    facts: &'a [Option<Facts>],
    /// By vertex, the other end of a message that may be split; else [`Vertex::NONE`].
    partner: Vec<Vertex>,
    /// By vertex, the largest number of messages on a path that ends with it, including its own.
    before: Vec<u32>,
    /// By vertex, the largest number of messages on a path that begins with it. A send counts its
    /// message, a receive does not.
    after: Vec<u32>,
}

impl<'a, 'p> Paths<'a, 'p> {
    /// Computes the paths. Linear in actions and dependencies, but for sorting the messages. With
    /// `rows_stay`, messages that are segments already are not split again.
    pub(super) fn new(
        whole: &'a Whole<'p>,
        trace: &Trace,
        facts: &'a [Option<Facts>],
        rows_stay: bool,
    ) -> Self {
        let mut partner = partners(whole, trace, facts);
        if rows_stay {
            without_rows(whole, &mut partner);
        }
        let nothing = vec![0; whole.len()];
        let mut paths = Self { whole, facts, partner, before: nothing.clone(), after: nothing };
        for &vertex in &trace.order {
            let mut most = paths.most(vertex, &paths.before, |facts, id| facts.writers.row(id));
            if let Some(partner) = paths.partner[vertex.index()].some() {
                let send = if paths.is_send(vertex) { vertex } else { partner };
                most = most
                    .max(1 + paths.most(send, &paths.before, |facts, id| facts.writers.row(id)));
            }
            paths.before[vertex.index()] = most;
        }
        for &vertex in trace.order.iter().rev() {
            let mut most = paths.most(vertex, &paths.after, |facts, id| facts.readers.row(id));
            if let Some(recv) =
                paths.partner[vertex.index()].some().filter(|_| paths.is_send(vertex))
            {
                most =
                    most.max(1 + paths.most(recv, &paths.after, |facts, id| facts.readers.row(id)));
            }
            paths.after[vertex.index()] = most;
        }
        paths
    }

    fn is_send(&self, vertex: Vertex) -> bool {
        matches!(self.whole.action(vertex), Action::Send { .. })
    }

    /// Returns the maximum of `table` over the `neighbours` of an action: the actions that wrote
    /// its bytes, or those that read them. Actions that can't be split do not count.
    fn most<'f>(
        &self,
        vertex: Vertex,
        table: &[u32],
        neighbours: impl Fn(&'f Facts, ActionId) -> &'f [ActionId],
    ) -> u32
    where
        'a: 'f,
    {
        let rank = self.whole.rank(vertex);
        let Some(facts) = &self.facts[self.whole.program.ranks[rank as usize].body.index()] else {
            return 0;
        };
        let neighbours = neighbours(facts, self.whole.id(vertex)).iter();
        neighbours.map(|&id| table[self.whole.vertex(rank, id).index()]).max().unwrap_or(0)
    }

    /// Selects the actions to split, for each rank. `cut` gets the bytes of an action and the
    /// number of messages on its path, and decides how to split it.
    pub(super) fn splits(&self, cut: impl Fn(u64, u32) -> Cut) -> Vec<Group> {
        let whole = self.whole;
        let mut splits = Splits::new();
        for rank in 0..whole.program.num_ranks() {
            let mut of_rank = Vec::new();
            for vertex in whole.vertices_of(rank) {
                let bytes = slice::size(whole.body(vertex), whole.action(vertex));
                let hops = match (whole.action(vertex), self.partner[vertex.index()].some()) {
                    (Action::Send { .. }, Some(recv)) => self.hops(vertex, recv),
                    (Action::Recv { .. }, Some(send)) => self.hops(send, vertex),
                    (Action::Exec { .. }, _) => {
                        self.before[vertex.index()] + self.after[vertex.index()]
                    }
                    _ => 0,
                };
                if hops >= 2 && bytes > 0 {
                    let cut = cut(bytes, hops);
                    of_rank.extend((cut.parts > 1).then(|| (whole.id(vertex), cut)));
                }
            }
            if !of_rank.is_empty() {
                let body = whole.program.ranks[rank as usize].body;
                splits.entry((body, of_rank)).or_default().push(rank);
            }
        }
        let mut groups = Vec::new();
        for ((body, splits), ranks) in splits {
            let segments = splits.iter().map(|(_, cut)| cut.parts).sum();
            groups.push(Group { body, ranks, splits, segments });
        }
        groups
    }

    /// The largest number of messages on a path through a message.
    fn hops(&self, send: Vertex, recv: Vertex) -> u32 {
        self.before[send.index()].max(self.before[recv.index()]) + self.after[recv.index()]
    }
}

/// Returns, by vertex of a send or receive, the other end of its message, if the message can be
/// split at both ends. Otherwise [`Vertex::NONE`].
fn partners(whole: &Whole<'_>, trace: &Trace, facts: &[Option<Facts>]) -> Vec<Vertex> {
    let mut partner = unique_partners(whole, trace);
    let mut has_wildcard = vec![false; whole.program.ranks.len()];
    // Pairs of ranks between which a receive may store a pattern. Their messages stay whole, as a
    // pattern depends on the number of messages before it.
    let mut stores_pattern = FxHashSet::default();
    for vertex in whole.vertices() {
        let rank = whole.rank(vertex);
        match *whole.action(vertex) {
            Action::Recv { from, tag, .. } if from == ANY || tag == ANY => {
                has_wildcard[rank as usize] = true
            }
            Action::Send { payload: Payload::Pattern { .. }, to, .. } => {
                let recv = trace.partner[vertex.index()]
                    .some()
                    .filter(|_| partner[vertex.index()] != Vertex::NONE);
                let counts_only = recv.is_some_and(|recv| is_pattern(whole.action(recv)));
                if !counts_only {
                    stores_pattern.insert((rank, to));
                }
            }
            _ => {}
        }
    }
    for vertex in whole.vertices() {
        let Some(recv) = partner[vertex.index()].some() else { continue };
        let Action::Send { to, .. } = *whole.action(vertex) else { continue };
        let rank = whole.rank(vertex);
        let size = |vertex| slice::size(whole.body(vertex), whole.action(vertex));
        let is_known = |rank: u32| facts[whole.program.ranks[rank as usize].body.index()].is_some();
        let stays = rank == to
            || !(is_known(rank) && is_known(to))
            || has_wildcard[to as usize]
            || stores_pattern.contains(&(rank, to))
            || size(vertex) != size(recv);
        if stays {
            (partner[vertex.index()], partner[recv.index()]) = (Vertex::NONE, Vertex::NONE);
        }
    }
    partner
}

/// Removes from `partner` the messages whose bytes adjoin those of another message with the same
/// source, destination and tag. Such messages are segments already.
fn without_rows(whole: &Whole<'_>, partner: &mut [Vertex]) {
    // By channel and address, true if a message begins there, and true if one ends there.
    let mut borders: FxHashMap<_, [bool; 2]> = FxHashMap::default();
    let ends = |vertex: Vertex| {
        let Action::Send { to, tag, .. } = *whole.action(vertex) else { return None };
        let touched = slice::touched(whole.body(vertex), whole.action(vertex));
        let (first, last) = (touched.first()?.piece, touched.last()?.piece);
        let key = |space, at| (whole.rank(vertex), to, tag, space, at);
        Some([key(first.space, first.addr), key(last.space, last.addr + last.size)])
    };
    let messages = || {
        whole
            .vertices()
            .filter(|vertex| slice::size(whole.body(*vertex), whole.action(*vertex)) > 0)
    };
    for [start, end] in messages().filter_map(ends) {
        borders.entry(start).or_default()[0] = true;
        borders.entry(end).or_default()[1] = true;
    }
    for vertex in messages() {
        let in_row =
            ends(vertex).is_some_and(|ends| ends.iter().any(|end| borders[end] == [true; 2]));
        if let Some(recv) = partner[vertex.index()].some().filter(|_| in_row) {
            (partner[vertex.index()], partner[recv.index()]) = (Vertex::NONE, Vertex::NONE);
        }
    }
}

fn is_pattern(action: &Action) -> bool {
    matches!(action, Action::Recv { payload: Payload::Pattern { .. }, .. })
}
