//! A state that some order of events leads to, and the steps out of it.

use super::scene::{Completion, Scene};
use goal_lang::ActionKind;
use goal_opt::whole::{Trace, Vertex, Whole};
use std::collections::{BTreeMap, VecDeque};
use std::hash::{Hash, Hasher};

const STARTED: u8 = 1;
const ARRIVED: u8 = 2;
const ENDED: u8 = 4;

/// Source and destination of messages.
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
    /// Messages that have not arrived, in order; no pair without any.
    pub(super) streams: BTreeMap<Pair, VecDeque<Vertex>>,
    /// By rank, competing receives without a message in the order in which they were posted.
    posted: BTreeMap<u32, Vec<Vertex>>,
    /// By rank, competing messages that are kept in the order of their arrivals.
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

    /// Starts an action that was taken from the ready ones.
    pub(super) fn start(&mut self, scene: &Scene<'_, '_>, vertex: Vertex) {
        let whole = scene.whole;
        self.flags[vertex.index()] |= STARTED;
        whole.irequires(vertex).for_each(|waiter| self.release(waiter));
        let Some((rank, _)) = scene.end(vertex) else { return self.end(whole, vertex) };
        if whole.is_recv(vertex) {
            return self.post(scene, vertex, rank);
        }
        self.streams.entry((whole.rank(vertex), rank)).or_default().push_back(vertex);
        if scene.completion(vertex) == Completion::AtStart {
            self.end(whole, vertex);
        }
    }

    fn post(&mut self, scene: &Scene<'_, '_>, recv: Vertex, rank: u32) {
        if scene.is_fixed[recv.index()] {
            let send = scene.partner[recv.index()];
            if self.has_arrived(send) {
                self.meet(scene, send, recv);
            }
            return;
        }
        let kept = self.kept.entry(rank).or_default();
        match kept.iter().position(|&send| scene.whole.envelope_fits(send, recv)) {
            Some(at) => {
                let send = kept.remove(at);
                self.meet(scene, send, recv);
            }
            None => self.posted.entry(rank).or_default().push(recv),
        }
    }

    /// Lets the next message of a pair arrive.
    pub(super) fn arrive(&mut self, scene: &Scene<'_, '_>, pair: Pair) {
        let Some(stream) = self.streams.get_mut(&pair) else { return };
        let Some(send) = stream.pop_front() else { return };
        if stream.is_empty() {
            self.streams.remove(&pair);
        }
        self.flags[send.index()] |= ARRIVED;
        if scene.is_fixed[send.index()] {
            let recv = scene.partner[send.index()];
            if self.has_started(recv) {
                self.meet(scene, send, recv);
            }
            return;
        }
        let posted = self.posted.entry(pair.1).or_default();
        match posted.iter().position(|&recv| scene.whole.envelope_fits(send, recv)) {
            Some(at) => {
                let recv = posted.remove(at);
                self.meet(scene, send, recv);
            }
            None => self.kept.entry(pair.1).or_default().push(send),
        }
    }

    /// Lets a send that may end before its message is taken do so.
    pub(super) fn end_early(&mut self, whole: &Whole<'_>, send: Vertex) {
        self.end(whole, send);
    }

    fn meet(&mut self, scene: &Scene<'_, '_>, send: Vertex, recv: Vertex) {
        self.partner[send.index()] = recv;
        self.partner[recv.index()] = send;
        if scene.whole.message_size(send) != scene.whole.message_size(recv) {
            self.differs = Some(recv);
        }
        self.end(scene.whole, recv);
        if !self.has_ended(send) {
            self.end(scene.whole, send);
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

    /// 128 bits that two states share only where the same can follow, but for a chance that is
    /// none. `alike` names one of the ends that may stand for each other, where there are several:
    /// which of them met is all the same, only how many.
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

    /// The run that led here.
    pub(super) fn into_trace(self, has_wildcards: bool, eager_limit: u64) -> Trace {
        let flag = |mask: u8| self.flags.iter().map(|flags| flags & mask != 0).collect();
        let (started, ended) = (flag(STARTED), flag(ENDED));
        Trace::of(self.ended, self.partner, [started, ended], has_wildcards, eager_limit)
    }

    /// Sends that have started and may end before their message is taken, or after.
    pub(super) fn undecided<'s>(
        &'s self,
        scene: &'s Scene<'_, '_>,
    ) -> impl Iterator<Item = Vertex> + 's {
        let is_undecided = |&vertex: &Vertex| {
            self.has_started(vertex)
                && !self.has_ended(vertex)
                && scene.whole.action(vertex).kind() == ActionKind::Send
                && scene.completion(vertex) == Completion::Either
        };
        scene.whole.vertices().filter(is_undecided)
    }
}
