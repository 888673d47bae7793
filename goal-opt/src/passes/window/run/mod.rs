//! Runs the whole program so that no rank ever has more actions under way than a window holds.
//!
//! Actions run in the order of the layout, as far as their dependencies allow. A message is sent
//! and received in one step, when both of its ends are ready, so that nothing stays under way. Only
//! if the program gets no further does one end of a message start alone: an end whose start others
//! wait for, or a send that needs no receive because it is small. The limit for small sends is
//! raised step by step, so that the run finds the least eager limit with which the program ends.

mod meet;
mod queue;
mod room;
mod stall;

use super::messages::{Messages, NONE};
use crate::whole::{Vertex, Whole};
use goal_lang::Action;
use queue::Queue;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The order of a rank's actions and their windows.
#[derive(Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Layout {
    /// The actions in the order of their starts.
    pub(super) order: Vec<u32>,
    /// The positions in `order` at which windows other than the first begin. No action of the rank
    /// is under way there.
    pub(super) cuts: Vec<u32>,
    /// Pairs of actions in one window whose starts must keep their order, so that their messages
    /// keep theirs.
    pub(super) pins: Vec<(u32, u32)>,
}

impl Layout {
    /// The position in `order` at which the current window begins.
    fn window_start(&self) -> usize {
        self.cuts.last().copied().unwrap_or(0) as usize
    }
}

/// The reason why a run gets stuck.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    TooSmall,
    OpenEnded,
    Deadlock,
}

/// An action that can't go on, and the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stuck {
    pub(super) vertex: Vertex,
    pub(super) cause: Cause,
}

/// A step that may be possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A local action.
    Local(Vertex),
    /// A match of a send and a receive of this envelope.
    Message(u32),
    /// The start of all sends of a family with several sources.
    Gate(u32),
}

/// The state of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Waiting,
    Ready,
    Started,
    Complete,
}

/// The state of a family of envelopes in which sends of several sources compete.
#[derive(Default)]
struct OpenEnded {
    /// Ready sends. They start together when all sends of the family are ready.
    ready: Vec<Vertex>,
    /// Started sends that end when every receive of the family has its message.
    held: Vec<Vertex>,
    is_received: bool,
    is_open: bool,
}

/// The state of the run.
pub(super) struct Run<'w, 'p> {
    whole: &'w Whole<'p>,
    window: usize,
    messages: Messages,
    state: Vec<State>,
    unmet: Vec<u32>,
    left: usize,
    layouts: Vec<Layout>,
    /// By rank, the number of actions that have started and not ended.
    under_way: Vec<u32>,
    /// Steps that may be possible, by the action's index in its rank. So all ranks advance side by
    /// side.
    events: Queue<Event>,
    /// By rank, steps that wait until no action of the rank is under way.
    parked: FxHashMap<u32, VecDeque<Event>>,
    /// Ready ends of messages for whose start other actions wait.
    starters: BinaryHeap<Reverse<(u32, Vertex)>>,
    open_ended: FxHashMap<u32, OpenEnded>,
    /// Sends that have started and whose message no receive has taken.
    unmatched: FxHashSet<Vertex>,
    /// The sends of `unmatched` by envelope. Sends whose message was taken since are dropped later.
    sent: FxHashMap<u32, VecDeque<Vertex>>,
    /// By envelope, receives that have started before their message was sent, numbered in the order
    /// of their starts.
    posted: FxHashMap<u32, VecDeque<(u32, Vertex)>>,
    postings: u32,
    /// The number of receives that became ready so far.
    receives: u32,
    /// Ready sends by size; some may have started since. `None` until the eager limit matters.
    by_size: Option<BinaryHeap<Reverse<(u64, Vertex)>>>,
    eager_limit: Option<u64>,
}

impl<'w, 'p> Run<'w, 'p> {
    pub(super) fn new(whole: &'w Whole<'p>, window: u32) -> Self {
        let ranks = whole.program.ranks.len();
        let mut unmet = Vec::with_capacity(whole.len());
        let mut longest = 0;
        for rank in 0..whole.program.num_ranks() {
            let body = whole.program.body_of(rank);
            unmet.extend(body.indegrees());
            longest = longest.max(body.len());
        }
        Self {
            whole,
            window: window as usize,
            messages: Messages::new(whole),
            state: vec![State::Waiting; unmet.len()],
            left: unmet.len(),
            unmet,
            layouts: (0..ranks).map(|_| Layout::default()).collect(),
            under_way: vec![0; ranks],
            events: Queue::new(longest),
            parked: FxHashMap::default(),
            starters: BinaryHeap::new(),
            open_ended: FxHashMap::default(),
            unmatched: FxHashSet::default(),
            sent: FxHashMap::default(),
            posted: FxHashMap::default(),
            postings: 0,
            receives: 0,
            by_size: None,
            eager_limit: None,
        }
    }

    /// Runs to the end. Returns each rank's windows and the least eager limit with which the
    /// program ends (`None` if it ends without eager sends).
    pub(super) fn finish(mut self) -> Result<(Vec<Layout>, Option<u64>), Stuck> {
        for vertex in self.whole.vertices() {
            if self.unmet[vertex.index()] == 0 {
                self.ready(vertex);
            }
        }
        loop {
            while let Some(event) = self.events.pop() {
                if let Err(rank) = self.try_event(event) {
                    self.parked.entry(rank).or_default().push_back(event);
                }
            }
            if self.left == 0 {
                return Ok((self.layouts, self.eager_limit));
            }
            self.start_one_end()?;
        }
    }

    /// The index of an action in its rank.
    fn place(&self, vertex: Vertex) -> u32 {
        self.whole.id(vertex).0
    }

    fn rank(&self, vertex: Vertex) -> u32 {
        self.whole.rank(vertex)
    }

    fn family(&self, vertex: Vertex) -> u32 {
        self.messages.envelopes[self.messages.of[vertex.index()] as usize].family
    }

    /// Handles an action whose dependencies are all met.
    fn ready(&mut self, vertex: Vertex) {
        self.state[vertex.index()] = State::Ready;
        let envelope = self.messages.of[vertex.index()];
        if envelope == NONE {
            self.events.push(self.place(vertex), Event::Local(vertex));
            return;
        }
        if self.whole.irequires(vertex).next().is_some() {
            self.starters.push(Reverse((self.place(vertex), vertex)));
        }
        let number = self.messages.envelopes[envelope as usize].family;
        let family = &mut self.messages.families[number as usize];
        let is_open_ended = family.is_open_ended;
        match *self.whole.action(vertex) {
            Action::Send { payload, .. } => {
                if is_open_ended {
                    self.messages.families[number as usize].sends_missing -= 1;
                    self.open_ended.entry(number).or_default().ready.push(vertex);
                }
                if let Some(by_size) = &mut self.by_size {
                    by_size.push(Reverse((self.whole.body(vertex).payload_size(payload), vertex)));
                }
                self.messages.envelopes[envelope as usize].sends.push_back(vertex);
                for i in 0..self.messages.envelopes[envelope as usize].wider.len() {
                    let wider = self.messages.envelopes[envelope as usize].wider[i];
                    self.messages.envelopes[wider as usize].sends.push_back(vertex);
                    self.queue_message(wider);
                }
            }
            _ => {
                if is_open_ended {
                    self.open_ended.entry(number).or_default().is_received = true;
                }
                self.messages.envelopes[envelope as usize].recvs.push_back((self.receives, vertex));
                self.receives += 1;
            }
        }
        self.queue_message(envelope);
        if is_open_ended && self.messages.families[number as usize].sends_missing == 0 {
            self.events.push(self.place(vertex), Event::Gate(number));
        }
    }

    /// Queues a match of this envelope if a send and a receive may be there.
    fn queue_message(&mut self, number: u32) {
        let envelope = &self.messages.envelopes[number as usize];
        let key = match (envelope.sends.front(), envelope.recvs.front()) {
            (Some(&send), Some(&(_, recv))) => self.place(send).max(self.place(recv)),
            (Some(&send), None) if self.posted.contains_key(&number) => self.place(send),
            (None, Some(&(_, recv))) if self.sent.contains_key(&number) => self.place(recv),
            _ => return,
        };
        self.events.push(key, Event::Message(number));
    }

    /// Executes a step. If a rank has no room for it, returns this rank as the error.
    fn try_event(&mut self, event: Event) -> Result<(), u32> {
        match event {
            Event::Local(vertex) => {
                self.make_room(&[self.rank(vertex)])?;
                self.start(vertex);
                self.complete(vertex);
                Ok(())
            }
            Event::Message(envelope) => self.match_ends(envelope),
            Event::Gate(family) => self.open_family(family),
        }
    }

    /// Ends an action. When nothing of its rank is under way any more, parked steps are tried
    /// again.
    fn complete(&mut self, vertex: Vertex) {
        let (rank, place) = (self.rank(vertex), self.place(vertex));
        self.state[vertex.index()] = State::Complete;
        self.left -= 1;
        self.under_way[rank as usize] -= 1;
        if self.under_way[rank as usize] == 0
            && let Some(parked) = self.parked.get_mut(&rank)
        {
            // No more steps than a window has actions can succeed before something is under way
            // again.
            let again = parked.len().min(self.window);
            parked.drain(..again).for_each(|event| self.events.push(place, event));
            if parked.is_empty() {
                self.parked.remove(&rank);
            }
        }
        for waiter in self.whole.requires(vertex) {
            self.release(waiter);
        }
    }

    /// Removes one unmet dependency of an action.
    fn release(&mut self, vertex: Vertex) {
        self.unmet[vertex.index()] -= 1;
        if self.unmet[vertex.index()] == 0 {
            self.ready(vertex);
        }
    }
}
