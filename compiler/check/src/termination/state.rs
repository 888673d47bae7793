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

/// A step that is possible in a state.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    /// A send ends before its message is taken.
    EndEarly(Vertex),
    /// The action at this index of [`State::ready`] starts.
    Start(u32),
    /// The next message between these ranks arrives.
    Arrive(Pair),
}

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
    /// A receive that took a message of another size, if there is one.
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
        let send = self.message_for(facts, recv, rank);
        if !facts.is_fixed[recv.index()] {
            let kept = self.kept.entry(rank).or_default();
            match send {
                Some(send) => kept.retain(|&other| other != send),
                None => self.posted.entry(rank).or_default().push(recv),
            }
        }
        if let Some(send) = send {
            self.meet(facts, send, recv);
        }
    }

    /// Returns the send whose message a receive of `rank` takes if it starts now.
    fn message_for(&self, facts: &Facts<'_, '_>, recv: Vertex, rank: u32) -> Option<Vertex> {
        if facts.is_fixed[recv.index()] {
            return Some(facts.partner[recv.index()]).filter(|&send| self.has_arrived(send));
        }
        let mut kept = self.kept.get(&rank)?.iter().copied();
        kept.find(|&send| facts.whole.envelope_fits(send, recv))
    }

    /// Returns the receive of `rank` that takes the message of a send if it arrives now.
    fn receive_for(&self, facts: &Facts<'_, '_>, send: Vertex, rank: u32) -> Option<Vertex> {
        if facts.is_fixed[send.index()] {
            return Some(facts.partner[send.index()]).filter(|&recv| self.has_started(recv));
        }
        let mut posted = self.posted.get(&rank)?.iter().copied();
        posted.find(|&recv| facts.whole.envelope_fits(send, recv))
    }

    /// Lets the next message between a pair of ranks arrive.
    pub(super) fn arrive(&mut self, facts: &Facts<'_, '_>, pair: Pair) {
        let Some(stream) = self.streams.get_mut(&pair) else { return };
        let Some(send) = stream.pop_front() else { return };
        if stream.is_empty() {
            self.streams.remove(&pair);
        }
        self.flags[send.index()] |= ARRIVED;
        let recv = self.receive_for(facts, send, pair.1);
        if !facts.is_fixed[send.index()] {
            let posted = self.posted.entry(pair.1).or_default();
            match recv {
                Some(recv) => posted.retain(|&other| other != recv),
                None => self.kept.entry(pair.1).or_default().push(send),
            }
        }
        if let Some(recv) = recv {
            self.meet(facts, send, recv);
        }
    }

    /// Takes a step, which must be possible.
    pub(super) fn take(&mut self, facts: &Facts<'_, '_>, step: Step) {
        match step {
            Step::EndEarly(send) => self.end(facts.whole, send),
            Step::Start(at) => {
                let vertex = self.ready.swap_remove(at as usize);
                self.start(facts, vertex);
            }
            Step::Arrive(pair) => self.arrive(facts, pair),
        }
    }

    /// Returns the send and the receive that a step brings together, if it does.
    pub(super) fn match_of(&self, facts: &Facts<'_, '_>, step: Step) -> Option<[Vertex; 2]> {
        match step {
            Step::EndEarly(_) => None,
            Step::Start(at) => {
                let recv = self.ready[at as usize];
                let (rank, _) = facts.end(recv).filter(|_| facts.whole.is_recv(recv))?;
                self.message_for(facts, recv, rank).map(|send| [send, recv])
            }
            Step::Arrive(pair) => {
                let send = self.streams[&pair][0];
                self.receive_for(facts, send, pair.1).map(|recv| [send, recv])
            }
        }
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

    /// Returns a hash of 128 bits. Two states have the same hash only if the same steps can follow;
    /// collisions are neglected. `alike` has, by vertex, one action that stands for all that are
    /// interchangeable with it: only the number of those that took part counts.
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
