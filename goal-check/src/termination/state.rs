//! A state that an order of events leads to, and the steps that are possible in it.

use super::facts::{Completion, Facts};
use goal_lang::ActionKind;
use goal_opt::whole::{Trace, Vertex, Whole};
use std::collections::{BTreeMap, VecDeque};
use std::hash::{Hash, Hasher};

const STARTED: u8 = 1;
const ARRIVED: u8 = 2;
const ENDED: u8 = 4;

/// The source and the destination of messages.
pub(super) type Pair = (u32, u32);

/// The state of a run after the steps so far.
#[derive(Debug, Clone)]
pub(super) struct State {
    missing: Vec<u32>,
    flags: Vec<u8>,
    pub(super) partner: Vec<Vertex>,
    /// The actions that ended, in the order of their ends.
    pub(super) ended: Vec<Vertex>,
    /// Actions that may start.
    pub(super) ready: Vec<Vertex>,
    /// By source and destination, the messages that have not arrived, in the order of their sends.
    /// Pairs without such messages have no entry.
    pub(super) streams: BTreeMap<Pair, VecDeque<Vertex>>,
    /// By rank, the competing receives without a message, in the order in which they were posted.
    posted: BTreeMap<u32, Vec<Vertex>>,
    /// By rank, the competing messages that are kept, in the order of their arrivals.
    kept: BTreeMap<u32, Vec<Vertex>>,
    /// A receive that took a message of another size.
    pub(super) differs: Option<Vertex>,
}

impl State {
    /// The state before the first step.
    pub(super) fn new(whole: &Whole<'_>) -> Self {
        let mut missing = vec![0; whole.len()];
        for vertex in whole.vertices() {
            for waiter in whole.requires(vertex).chain(whole.irequires(vertex)) {
                missing[waiter.index()] += 1;
            }
        }
        Self {
            ready: whole.vertices().filter(|vertex| missing[vertex.index()] == 0).collect(),
            missing,
            flags: vec![0; whole.len()],
            partner: vec![Vertex::NONE; whole.len()],
            ended: Vec::new(),
            streams: BTreeMap::new(),
            posted: BTreeMap::new(),
            kept: BTreeMap::new(),
            differs: None,
        }
    }

    pub(super) fn has_started(&self, vertex: Vertex) -> bool {
        self.flags[vertex.index()] & STARTED != 0
    }

    /// Returns true if an action has started or may start.
    pub(super) fn is_available(&self, vertex: Vertex) -> bool {
        self.missing[vertex.index()] == 0
    }

    pub(super) fn has_arrived(&self, vertex: Vertex) -> bool {
        self.flags[vertex.index()] & ARRIVED != 0
    }

    pub(super) fn has_ended(&self, vertex: Vertex) -> bool {
        self.flags[vertex.index()] & ENDED != 0
    }

    /// Starts an action. The caller must have removed it from `ready`.
    pub(super) fn start(&mut self, facts: &Facts<'_, '_>, vertex: Vertex) {
        let whole = facts.whole;
        self.flags[vertex.index()] |= STARTED;
        whole.irequires(vertex).for_each(|waiter| self.release(waiter));
        let Some((rank, _)) = facts.end(vertex) else { return self.end(whole, vertex) };
        if whole.is_recv(vertex) {
            return self.post(facts, vertex, rank);
        }
        self.streams.entry((whole.rank(vertex), rank)).or_default().push_back(vertex);
        if facts.completion(vertex) == Completion::AtStart {
            self.end(whole, vertex);
        }
    }

    /// Handles a receive that starts: it takes a kept message or is posted.
    fn post(&mut self, facts: &Facts<'_, '_>, recv: Vertex, rank: u32) {
        if facts.is_fixed[recv.index()] {
            let send = facts.partner[recv.index()];
            if self.has_arrived(send) {
                self.meet(facts, send, recv);
            }
            return;
        }
        let kept = self.kept.entry(rank).or_default();
        match kept.iter().position(|&send| facts.whole.envelope_fits(send, recv)) {
            Some(at) => {
                let send = kept.remove(at);
                self.meet(facts, send, recv);
            }
            None => self.posted.entry(rank).or_default().push(recv),
        }
    }

    /// Lets the next message between a pair of ranks arrive.
    pub(super) fn arrive(&mut self, facts: &Facts<'_, '_>, pair: Pair) {
        let Some(stream) = self.streams.get_mut(&pair) else { return };
        let Some(send) = stream.pop_front() else { return };
        if stream.is_empty() {
            self.streams.remove(&pair);
        }
        self.flags[send.index()] |= ARRIVED;
        if facts.is_fixed[send.index()] {
            let recv = facts.partner[send.index()];
            if self.has_started(recv) {
                self.meet(facts, send, recv);
            }
            return;
        }
        let posted = self.posted.entry(pair.1).or_default();
        match posted.iter().position(|&recv| facts.whole.envelope_fits(send, recv)) {
            Some(at) => {
                let recv = posted.remove(at);
                self.meet(facts, send, recv);
            }
            None => self.kept.entry(pair.1).or_default().push(send),
        }
    }

    /// Ends a send before its message is taken, which must be possible.
    pub(super) fn end_early(&mut self, whole: &Whole<'_>, send: Vertex) {
        self.end(whole, send);
    }

    /// Gives the message of a send to a receive.
    fn meet(&mut self, facts: &Facts<'_, '_>, send: Vertex, recv: Vertex) {
        self.partner[send.index()] = recv;
        self.partner[recv.index()] = send;
        if facts.whole.message_size(send) != facts.whole.message_size(recv) {
            self.differs = Some(recv);
        }
        self.end(facts.whole, recv);
        if !self.has_ended(send) {
            self.end(facts.whole, send);
        }
    }

    fn end(&mut self, whole: &Whole<'_>, vertex: Vertex) {
        self.flags[vertex.index()] |= ENDED;
        self.ended.push(vertex);
        whole.requires(vertex).for_each(|waiter| self.release(waiter));
    }

    fn release(&mut self, vertex: Vertex) {
        self.missing[vertex.index()] -= 1;
        if self.missing[vertex.index()] == 0 {
            self.ready.push(vertex);
        }
    }

    /// A hash of 128 bits that two states have in common only if the same steps can follow;
    /// collisions are neglected. `alike` names one of the interchangeable actions for each of them:
    /// only the number of those that took part counts.
    pub(super) fn fingerprint(&self, alike: &[Option<Vertex>]) -> (u64, u64) {
        let with_flags = || alike.iter().zip(&self.flags);
        let met = with_flags().filter_map(|(&alike, &flags)| alike.filter(|_| flags & ENDED != 0));
        let mut met: Vec<Vertex> = met.collect();
        met.sort_unstable();
        let half = |salt: u64| {
            let mut hasher = std::hash::DefaultHasher::new();
            (salt, &met).hash(&mut hasher);
            for (alike, &flags) in with_flags() {
                (if alike.is_some() { flags & STARTED } else { flags }).hash(&mut hasher);
            }
            let mut list = |list: &mut dyn Iterator<Item = Vertex>| {
                for vertex in list {
                    (alike[vertex.index()].unwrap_or(vertex), self.has_ended(vertex))
                        .hash(&mut hasher);
                }
                Vertex::NONE.hash(&mut hasher);
            };
            self.streams.values().for_each(|stream| list(&mut stream.iter().copied()));
            self.posted.values().for_each(|posted| list(&mut posted.iter().copied()));
            self.kept.values().for_each(|kept| list(&mut kept.iter().copied()));
            hasher.finish()
        };
        (half(0), half(1))
    }

    /// The run that led to this state.
    pub(super) fn into_trace(self, has_wildcards: bool, eager_limit: u64) -> Trace {
        let flag = |mask: u8| self.flags.iter().map(|flags| flags & mask != 0).collect();
        let (started, ended) = (flag(STARTED), flag(ENDED));
        Trace::from_parts(self.ended, self.partner, [started, ended], has_wildcards, eager_limit)
    }

    /// Sends that have started, have not ended, and may end before or after their message is taken.
    pub(super) fn undecided<'s>(
        &'s self,
        facts: &'s Facts<'_, '_>,
    ) -> impl Iterator<Item = Vertex> + 's {
        let is_undecided = |&vertex: &Vertex| {
            self.has_started(vertex)
                && !self.has_ended(vertex)
                && facts.whole.action(vertex).kind() == ActionKind::Send
                && facts.completion(vertex) == Completion::Either
        };
        facts.whole.vertices().filter(is_undecided)
    }
}
