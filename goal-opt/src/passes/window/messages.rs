//! Which sends and receives of a program may meet.

use crate::whole::{Vertex, Whole};
use goal_lang::{ANY, Action};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// What stands for "none" among the numbers below.
pub(super) const NONE: u32 = u32::MAX;

/// One receiver, source and tag as receives name them; source and tag may be wildcards.
#[derive(Debug, Default)]
pub(super) struct Envelope {
    /// Ready sends that fit, those that have started since among them.
    pub(super) sends: VecDeque<Vertex>,
    /// Ready receives, those that have started since among them, numbered in the order in which
    /// they became ready.
    pub(super) recvs: VecDeque<(u32, Vertex)>,
    /// The [`Family`].
    pub(super) family: u32,
    /// Envelopes with wildcards that a send with this one fits too.
    pub(super) wider: Vec<u32>,
}

/// Envelopes that compete for messages, directly or through others: a message of one family meets
/// no receive of another.
#[derive(Debug)]
pub(super) struct Family {
    /// Whether several sources compete, so that no order of starts decides which receive takes
    /// which message.
    pub(super) is_open_ended: bool,
    /// Sends that are not ready yet.
    pub(super) sends_missing: u32,
    /// Receives that have not met a message.
    pub(super) recvs_left: u32,
    /// The last send and the last receive that started.
    pub(super) last: [u32; 2],
}

/// All messages of a program.
pub(super) struct Messages {
    pub(super) envelopes: Vec<Envelope>,
    pub(super) families: Vec<Family>,
    /// The envelope of each send and receive, by number of the action in the whole program;
    /// [`NONE`] for others.
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

/// The representative of a set of envelopes, with the way to it halved.
fn root(parents: &mut [u32], mut at: u32) -> u32 {
    while parents[at as usize] != at {
        let above = parents[parents[at as usize] as usize];
        parents[at as usize] = above;
        at = above;
    }
    at
}
