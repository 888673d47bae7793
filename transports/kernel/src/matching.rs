//! Matches sends and receives before a run, so that the kernel need not match messages.
//!
//! The matching is the result of a simulated run of all ranks. Ready actions start in the order in
//! which they became ready, and every message arrives at once. The first posted receive that
//! accepts a message takes it, and a receive takes the first message that it accepts. A real run
//! may have this result too, also with receives from any source or with any tag. The simulated run
//! obeyed all dependencies and matches, so they have no cycle together. A run with this matching
//! therefore always ends.

use crate::graph::{Graph, Work};
use crate::reason::Reason;
use goal_lang::ANY;
use goal_lang::pattern::MessageKey;
use std::collections::{HashMap, VecDeque};

/// The matching receive of a send, or the matching send of a receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Match {
    pub rank: u32,
    pub action: u32,
    pub key: MessageKey,
}

/// The matches of all ranks.
#[derive(Debug)]
pub(crate) struct Matching {
    /// By rank and action; `None` for actions that are no messages.
    pub matches: Vec<Vec<Option<Match>>>,
    /// By rank, ascending: the ranks that must have begun a run once this rank has ended it.
    pub begun: Vec<Vec<u32>>,
}

/// The most ranks of a job for which precedence is followed through all actions. In larger jobs
/// [`Matching::begun`] has only the senders of a rank's messages.
const EXACT_RANKS: usize = 256;

/// The source, the destination and the tag that a receive asks for. Source and tag may be [`ANY`].
type Envelope = (u32, u32, u32);

/// A posted receive: the number of its posting, then its rank and action.
type Posting = (u64, (u32, u32));

struct Message {
    from: (u32, u32),
    key: MessageKey,
}

struct Run<'a> {
    graphs: &'a [Graph],
    left: Vec<Vec<u32>>,
    ready: VecDeque<(u32, u32)>,
    /// By rank, true if it has receives from any source or with any tag.
    has_wildcards: Vec<bool>,
    /// Messages for which no receive was posted when they were sent; `None` once a receive has
    /// taken the message.
    messages: Vec<Option<Message>>,
    /// By envelope that a receive may ask for, indices of `messages` in order. The index of a taken
    /// message stays until it is the first.
    sent: HashMap<Envelope, VecDeque<usize>>,
    /// By envelope, the posted receives that have no message yet, in order.
    posted: HashMap<Envelope, VecDeque<Posting>>,
    postings: u64,
    sequences: HashMap<(u32, u32), u64>,
    matches: Vec<Vec<Option<Match>>>,
    /// By rank and action, one bit for each rank: set if an action of that rank precedes this
    /// action.
    before: Vec<Vec<Vec<u64>>>,
    done: Vec<Vec<bool>>,
}

/// A rank, an action of it, and the reason why the kernel cannot execute it.
pub(crate) type Misfit = (u32, u32, Reason);

/// Matches the messages of all ranks.
///
/// # Errors
/// The actions whose messages do not match.
pub(crate) fn matching(graphs: &[Graph]) -> Result<Matching, Vec<Misfit>> {
    let words = if graphs.len() <= EXACT_RANKS { graphs.len().div_ceil(64) } else { 0 };
    let mut run = Run {
        graphs,
        left: graphs.iter().map(|g| g.nodes.iter().map(|node| node.sources).collect()).collect(),
        ready: VecDeque::new(),
        has_wildcards: graphs.iter().map(has_wildcards).collect(),
        messages: Vec::new(),
        sent: HashMap::new(),
        posted: HashMap::new(),
        postings: 0,
        sequences: HashMap::new(),
        matches: graphs.iter().map(|g| vec![None; g.nodes.len()]).collect(),
        before: graphs.iter().map(|g| vec![vec![0; words]; g.nodes.len()]).collect(),
        done: graphs.iter().map(|g| vec![false; g.nodes.len()]).collect(),
    };
    for (rank, graph) in graphs.iter().enumerate() {
        for (action, node) in graph.nodes.iter().enumerate() {
            if words > 0 {
                run.before[rank][action][rank / 64] |= 1 << (rank % 64);
            }
            if node.sources == 0 {
                run.ready.push_back((rank as u32, action as u32));
            }
        }
    }
    while let Some(vertex) = run.ready.pop_front() {
        run.start(vertex);
    }
    run.finish()
}

fn has_wildcards(graph: &Graph) -> bool {
    let is_wildcard =
        |work: &Work| matches!(*work, Work::Recv { peer, tag, .. } if peer == ANY || tag == ANY);
    graph.nodes.iter().any(|node| is_wildcard(&node.work))
}

impl Run<'_> {
    /// Returns the envelopes of all receives that would accept a message.
    fn envelopes(
        &self,
        source: u32,
        destination: u32,
        tag: u32,
    ) -> impl Iterator<Item = Envelope> + use<> {
        let all = [(source, tag), (source, ANY), (ANY, tag), (ANY, ANY)];
        let count = if self.has_wildcards[destination as usize] { all.len() } else { 1 };
        all.into_iter().take(count).map(move |(source, tag)| (source, destination, tag))
    }

    /// Removes and returns the first posted receive that accepts a message; `None` if there is
    /// none.
    fn taker(&mut self, source: u32, destination: u32, tag: u32) -> Option<(u32, u32)> {
        let first = |envelope| Some((self.posted.get(&envelope)?.front()?.0, envelope));
        let (_, envelope) = self.envelopes(source, destination, tag).filter_map(first).min()?;
        self.posted.get_mut(&envelope)?.pop_front().map(|(_, receive)| receive)
    }

    /// Removes and returns the first sent message that a receive accepts; `None` if there is none.
    fn message(&mut self, envelope: Envelope) -> Option<Message> {
        let queue = self.sent.get_mut(&envelope)?;
        std::iter::from_fn(|| queue.pop_front()).find_map(|number| self.messages[number].take())
    }

    fn start(&mut self, vertex: (u32, u32)) {
        let (rank, action) = vertex;
        let node = &self.graphs[rank as usize].nodes[action as usize];
        for &waiter in &node.start_dependents {
            self.release(vertex, waiter);
        }
        match node.work {
            Work::Send { peer, tag, .. } => {
                let next = self.sequences.entry((rank, peer)).or_default();
                let key = MessageKey { source: rank, destination: peer, tag, sequence: *next };
                *next += 1;
                let message = Message { from: vertex, key };
                match self.taker(rank, peer, tag) {
                    Some(receive) => self.meet(message, receive),
                    None => {
                        for envelope in self.envelopes(rank, peer, tag) {
                            let queue = self.sent.entry(envelope).or_default();
                            queue.push_back(self.messages.len());
                        }
                        self.messages.push(Some(message));
                    }
                }
                self.complete(vertex);
            }
            Work::Recv { peer, tag, .. } => {
                let envelope = (peer, rank, tag);
                match self.message(envelope) {
                    Some(message) => self.meet(message, vertex),
                    None => {
                        let queue = self.posted.entry(envelope).or_default();
                        queue.push_back((self.postings, vertex));
                        self.postings += 1;
                    }
                }
            }
            Work::Exec(_) | Work::Nothing | Work::Handed(_) | Work::Refused(_) => {
                self.complete(vertex);
            }
        }
    }

    fn meet(&mut self, message: Message, receive: (u32, u32)) {
        let Message { from, key } = message;
        self.matches[from.0 as usize][from.1 as usize] =
            Some(Match { rank: receive.0, action: receive.1, key });
        self.matches[receive.0 as usize][receive.1 as usize] =
            Some(Match { rank: from.0, action: from.1, key });
        self.follows(from, receive);
        self.complete(receive);
    }

    fn complete(&mut self, vertex: (u32, u32)) {
        let (rank, action) = vertex;
        self.done[rank as usize][action as usize] = true;
        for &waiter in &self.graphs[rank as usize].nodes[action as usize].dependents {
            self.release(vertex, waiter);
        }
    }

    fn release(&mut self, vertex: (u32, u32), waiter: u32) {
        self.follows(vertex, (vertex.0, waiter));
        let left = &mut self.left[vertex.0 as usize][waiter as usize];
        *left -= 1;
        if *left == 0 {
            self.ready.push_back((vertex.0, waiter));
        }
    }

    /// Notes that action `first`, and everything that precedes it, precedes action `second`.
    fn follows(&mut self, first: (u32, u32), second: (u32, u32)) {
        let earlier = self.before[first.0 as usize][first.1 as usize].clone();
        let later = &mut self.before[second.0 as usize][second.1 as usize];
        later.iter_mut().zip(&earlier).for_each(|(later, earlier)| *later |= earlier);
    }

    fn finish(self) -> Result<Matching, Vec<Misfit>> {
        let mut misfits = Vec::new();
        for (rank, graph) in self.graphs.iter().enumerate() {
            for (action, node) in graph.nodes.iter().enumerate() {
                let at = (rank as u32, action as u32);
                let other = self.matches[rank][action];
                match &node.work {
                    _ if !self.done[rank][action] => misfits.push((at.0, at.1, Reason::Stuck)),
                    Work::Send { .. } if other.is_none() => {
                        misfits.push((at.0, at.1, Reason::NoReceive));
                    }
                    Work::Recv { payload, .. } => {
                        let send = other.expect("a complete receive has a message");
                        let sender = &self.graphs[send.rank as usize].nodes[send.action as usize];
                        let Work::Send { payload: sent, .. } = &sender.work else {
                            unreachable!("receives match sends")
                        };
                        let (sent, received) = (sent.bytes(), payload.bytes());
                        if sent != received {
                            misfits.push((at.0, at.1, Reason::OtherSize { sent, received }));
                        }
                    }
                    _ => {}
                }
            }
        }
        if misfits.is_empty() { Ok(self.matched()) } else { Err(misfits) }
    }

    fn matched(self) -> Matching {
        let begun = (0..self.graphs.len()).map(|rank| {
            let receives = self.graphs[rank].nodes.iter().zip(&self.matches[rank]);
            let mut begun: Vec<u32> = receives
                .filter(|(node, _)| matches!(node.work, Work::Recv { .. }))
                .map(|(_, other)| other.expect("checked").rank)
                .collect();
            let known = (0..self.graphs.len()).filter(|&other| {
                self.before[rank].iter().any(|bits| {
                    bits.get(other / 64).is_some_and(|word| word >> (other % 64) & 1 > 0)
                })
            });
            begun.extend(known.map(|other| other as u32));
            begun.sort_unstable();
            begun.dedup();
            begun
        });
        Matching { begun: begun.collect(), matches: self.matches }
    }
}
