//! Sends and receives that a run left unmatched. Some would match if the run went on, others never
//! can.

use crate::analysis::Analysis;
use goal_lang::{ANY, Action};
use goal_opt::whole::Vertex;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, VecDeque};

/// The most comparisons of a send with a receive that has wildcards, over all ranks.
const LOOKS_MAX: usize = 1 << 22;

/// An unmatched send or receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct End {
    destination: u32,
    source: u32,
    tag: u32,
    is_recv: bool,
    /// True if the action has not started. Started actions sort first, as they would match first.
    is_unstarted: bool,
    vertex: Vertex,
}

/// Numbers of sends and receives with a destination, a source and a tag. Source and tag may be
/// [`ANY`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) sends: u64,
    pub(crate) recvs: u64,
}

/// The result of pairing the unmatched sends and receives of a run.
#[derive(Debug, Default)]
pub(crate) struct Pairing {
    /// By unmatched send or receive, the other end that it would match if the run went on.
    pub(crate) expected: FxHashMap<Vertex, Vertex>,
    /// Sends that no receive can take, and receives that no message can match.
    pub(crate) unmatched: Vec<Vertex>,
    /// By destination, source and tag, the numbers of sends and receives, for the destinations of
    /// unmatched messages. Sends to a rank with wildcard receives are also counted under [`ANY`] as
    /// the source, as the tag, and as both.
    counts: BTreeMap<(u32, u32, u32), Count>,
}

/// The destination, the source and the tag of a send or a receive; `None` for other actions.
pub(crate) fn channel(analysis: &Analysis<'_>, vertex: Vertex) -> Option<(u32, u32, u32)> {
    let rank = analysis.whole.rank(vertex);
    match *analysis.whole.action(vertex) {
        Action::Send { to, tag, .. } => Some((to, rank, tag)),
        Action::Recv { from, tag, .. } => Some((rank, from, tag)),
        _ => None,
    }
}

impl Pairing {
    /// Pairs the sends and receives that the run left unmatched. Linear in actions but for sorting
    /// the unmatched sends and receives.
    pub(crate) fn new(analysis: &Analysis<'_>) -> Self {
        let mut ends = left(analysis);
        let mut pairing = Self::default();
        if ends.is_empty() {
            return pairing;
        }
        ends.sort_unstable();
        pairing.count(analysis, &ends);
        let mut looks = LOOKS_MAX;
        for rank in ends.chunk_by(|a, b| a.destination == b.destination) {
            pairing.pair(rank, analysis.trace.is_complete(), &mut looks);
        }
        pairing.unmatched.sort_unstable();
        pairing
    }

    /// The numbers of sends and receives with a destination, a source and a tag.
    pub(crate) fn counted(&self, channel: (u32, u32, u32)) -> Count {
        self.counts.get(&channel).copied().unwrap_or_default()
    }

    /// Counts the sends and receives at the destinations of `ends`.
    fn count(&mut self, analysis: &Analysis<'_>, ends: &[End]) {
        let whole = analysis.whole;
        let is_wild = |vertex: Vertex| matches!(*whole.action(vertex), Action::Recv { from, tag, .. } if from == ANY || tag == ANY);
        let ranks =
            ends.chunk_by(|a, b| a.destination == b.destination).map(|same| same[0].destination);
        let wild: FxHashMap<u32, bool> = ranks
            .map(|rank| {
                (rank, whole.program.num_ranks() > rank && whole.vertices_of(rank).any(is_wild))
            })
            .collect();
        for vertex in whole.vertices() {
            let Some((destination, source, tag)) = channel(analysis, vertex) else { continue };
            let Some(&is_wild) = wild.get(&destination) else { continue };
            if whole.is_recv(vertex) {
                self.counts.entry((destination, source, tag)).or_default().recvs += 1;
                continue;
            }
            let kinds = [(source, tag), (ANY, tag), (source, ANY), (ANY, ANY)];
            for &(source, tag) in &kinds[..if is_wild { 4 } else { 1 }] {
                self.counts.entry((destination, source, tag)).or_default().sends += 1;
            }
        }
    }

    /// Pairs the unmatched ends of messages to one destination: first those without wildcards, then
    /// each receive with wildcards with the first send that fits. Adds ends that can never match to
    /// `unmatched`.
    fn pair(&mut self, rank: &[End], is_complete: bool, looks: &mut usize) {
        let destination = rank[0].destination;
        let mut sends: VecDeque<End> = VecDeque::new();
        let mut recvs: Vec<End> = Vec::new();
        for channel in rank.chunk_by(|a, b| (a.source, a.tag) == (b.source, b.tag)) {
            let (to, at) = channel.split_at(channel.partition_point(|end| !end.is_recv));
            for (send, recv) in to.iter().zip(at) {
                self.expect_match(send, recv);
            }
            sends.extend(&to[to.len().min(at.len())..]);
            recvs.extend(&at[at.len().min(to.len())..]);
        }
        recvs.retain(|recv| {
            let fits = |send: &End| {
                (recv.source == ANY || recv.source == send.source)
                    && (recv.tag == ANY || recv.tag == send.tag)
            };
            if *looks == 0 || (recv.source != ANY && recv.tag != ANY) {
                return true;
            }
            let found = sends.iter().position(fits);
            *looks = looks.saturating_sub(found.unwrap_or(sends.len()) + 1);
            let send = found.and_then(|at| sends.remove(at));
            send.inspect(|send| self.expect_match(send, recv)).is_none()
        });
        let all_received = recvs.is_empty();
        for same in sends.make_contiguous().chunk_by(|a, b| (a.source, a.tag) == (b.source, b.tag))
        {
            let (source, tag) = (same[0].source, same[0].tag);
            let takers = [(source, tag), (ANY, tag), (source, ANY), (ANY, ANY)];
            let takers: u64 =
                takers.iter().map(|&(s, t)| self.counted((destination, s, t)).recvs).sum();
            let missing = self.counted((destination, source, tag)).sends.saturating_sub(takers);
            let missing = if is_complete || all_received { same.len() } else { missing as usize };
            self.unmatched
                .extend(same[same.len() - missing.min(same.len())..].iter().map(|end| end.vertex));
        }
        let demands = self.demands(destination, &recvs);
        for (same, demand) in
            recvs.chunk_by(|a, b| (a.source, a.tag) == (b.source, b.tag)).zip(demands)
        {
            let there = self.counted((destination, same[0].source, same[0].tag)).sends;
            let missing = demand.saturating_sub(there) as usize;
            self.unmatched
                .extend(same[same.len() - missing.min(same.len())..].iter().map(|end| end.vertex));
        }
    }

    /// Returns, for each source and tag of the unmatched `recvs`, the number of fitting messages
    /// that are certainly taken. They are taken by the receives with this source and tag, and by
    /// receives that accept only a part of the same messages.
    fn demands(&self, destination: u32, recvs: &[End]) -> Vec<u64> {
        let kinds: Vec<(u32, u32)> = recvs
            .chunk_by(|a, b| (a.source, a.tag) == (b.source, b.tag))
            .map(|same| (same[0].source, same[0].tag))
            .collect();
        let mut demands: Vec<u64> =
            kinds.iter().map(|&(s, t)| self.counted((destination, s, t)).recvs).collect();
        if kinds.iter().all(|&(source, tag)| source != ANY && tag != ANY) {
            return demands;
        }
        let all = (destination, 0, 0)..=(destination, ANY, ANY);
        for (&(_, source, tag), count) in
            self.counts.range(all).filter(|(_, count)| count.recvs > 0)
        {
            for (kind, demand) in kinds.iter().zip(&mut demands) {
                let within =
                    (kind.0 == ANY || kind.0 == source) && (kind.1 == ANY || kind.1 == tag);
                if within && *kind != (source, tag) {
                    *demand += count.recvs.min(count.sends);
                }
            }
        }
        demands
    }

    /// Records that a send and a receive would match.
    fn expect_match(&mut self, send: &End, recv: &End) {
        self.expected.insert(send.vertex, recv.vertex);
        self.expected.insert(recv.vertex, send.vertex);
    }
}

/// The sends and receives that the run left unmatched.
fn left(analysis: &Analysis<'_>) -> Vec<End> {
    let trace = analysis.trace;
    let end = |vertex: Vertex| {
        if trace.partner[vertex.index()] != Vertex::NONE {
            return None;
        }
        let (destination, source, tag) = channel(analysis, vertex)?;
        let is_recv = analysis.whole.is_recv(vertex);
        let is_unstarted = !trace.has_started(vertex);
        Some(End { destination, source, tag, is_recv, is_unstarted, vertex })
    };
    analysis.whole.vertices().filter_map(end).collect()
}
