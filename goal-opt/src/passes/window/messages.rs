//! The sends and receives of a program, grouped by which of them may match.

use crate::whole::{Vertex, Whole};
use goal_lang::{ANY, Action};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// Stands for "none" among the numbers of this module.
pub(super) const NONE: u32 = u32::MAX;

/// The sends and receives of one receiver, source and tag. Source and tag are wildcards for
/// receives with wildcards.
#[derive(Debug, Default)]
pub(super) struct Envelope {
    /// Sends that fit and became ready, in order. Sends that have started since are dropped later.
    pub(super) sends: VecDeque<Vertex>,
    /// Receives that became ready, numbered in this order. Receives that have started since are
    /// dropped later.
    pub(super) recvs: VecDeque<(u32, Vertex)>,
    /// The number of the [`Family`].
    pub(super) family: u32,
    /// Envelopes with wildcards whose receives accept a send with this envelope, too.
    pub(super) wider: Vec<u32>,
}

/// Envelopes that compete for messages, directly or through others. A message never matches a
/// receive of another family.
#[derive(Debug)]
pub(super) struct Family {
    /// True if sends of several sources compete, so that no order of starts decides the matches.
    pub(super) is_open_ended: bool,
    /// The number of sends that are not ready yet.
    pub(super) sends_missing: u32,
    /// The number of receives without a message.
    pub(super) recvs_left: u32,
    /// The positions of the last send and the last receive that started, in the layouts of their
    /// ranks.
    pub(super) last: [u32; 2],
}

/// All messages of a program.
pub(super) struct Messages {
    pub(super) envelopes: Vec<Envelope>,
    pub(super) families: Vec<Family>,
    /// By vertex, the envelope of a send or a receive; [`NONE`] for other actions.
    pub(super) of: Vec<u32>,
}

impl Messages {
    pub(super) fn new(whole: &Whole<'_>) -> Self {
        let mut index: FxHashMap<(u32, u32, u32), u32> = FxHashMap::default();
        let mut of = Vec::with_capacity(whole.len());
        let mut counts: Vec<[u32; 2]> = Vec::new();
        let mut keys = Vec::new();
        let mut has_wildcards = false;
        for rank in 0..whole.program.num_ranks() {
            for action in &whole.program.body_of(rank).actions {
                let (key, side) = match *action {
                    Action::Send { to, tag, .. } => ((to, rank, tag), 0),
                    Action::Recv { from, tag, .. } => ((rank, from, tag), 1),
                    _ => {
                        of.push(NONE);
                        continue;
                    }
                };
                let envelope = *index.entry(key).or_insert_with(|| {
                    counts.push([0; 2]);
                    keys.push(key);
                    has_wildcards |= key.1 == ANY || key.2 == ANY;
                    keys.len() as u32 - 1
                });
                counts[envelope as usize][side] += 1;
                of.push(envelope);
            }
        }
        let mut envelopes: Vec<Envelope> = Vec::new();
        envelopes.resize_with(keys.len(), Envelope::default);
        let mut parents: Vec<u32> = (0..keys.len() as u32).collect();
        if has_wildcards {
            for (envelope, &(to, from, tag)) in
                keys.iter().enumerate().filter(|(i, _)| counts[*i][0] > 0)
            {
                let wider = [(to, from, ANY), (to, ANY, tag), (to, ANY, ANY)];
                envelopes[envelope].wider =
                    wider.iter().filter_map(|key| index.get(key).copied()).collect();
                for &other in &envelopes[envelope].wider {
                    let (a, b) = (root(&mut parents, envelope as u32), root(&mut parents, other));
                    parents[a as usize] = b;
                }
            }
        }
        let mut families: Vec<Family> = Vec::new();
        let mut numbers = vec![NONE; keys.len()];
        let mut sources: Vec<u32> = Vec::new();
        for (envelope, &(_, from, _)) in keys.iter().enumerate() {
            let root = root(&mut parents, envelope as u32) as usize;
            if numbers[root] == NONE {
                numbers[root] = families.len() as u32;
                families.push(Family {
                    is_open_ended: false,
                    sends_missing: 0,
                    recvs_left: 0,
                    last: [NONE; 2],
                });
                sources.push(NONE);
            }
            let number = numbers[root] as usize;
            envelopes[envelope].family = number as u32;
            let family = &mut families[number];
            let [sends, recvs] = counts[envelope];
            family.sends_missing += sends;
            family.recvs_left += recvs;
            if sends > 0 {
                family.is_open_ended |= sources[number] != NONE && sources[number] != from;
                sources[number] = from;
            }
        }
        Self { envelopes, families, of }
    }
}

/// The representative of a set of envelopes (union-find with path halving).
fn root(parents: &mut [u32], mut at: u32) -> u32 {
    while parents[at as usize] != at {
        let above = parents[parents[at as usize] as usize];
        parents[at as usize] = above;
        at = above;
    }
    at
}
