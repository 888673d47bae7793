//! One run of the whole program in which no rank ever has more under way than a window holds.
//!
//! Actions are taken in the order of the layout, as far as what they wait for allows; a message is
//! sent and received in one step, when both of its ends are ready, so that nothing stays under way.
//! Only where a program gets no further so do ends of messages start alone: those whose start
//! others wait for, and sends that need no receive because they are small. How small a send must be
//! is raised step by step, so that the run finds the least eager limit at which the program ends.

mod meet;
mod queue;
mod room;
mod stall;

use super::Refusal;
use super::messages::{Messages, NONE};
use crate::whole::{Vertex, Whole};
use goal_lang::Action;
use queue::Queue;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// How a rank's actions come in windows.
#[derive(Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Layout {
    /// The actions in the order of their starts.
    pub(super) order: Vec<u32>,
    /// Where windows but the first begin in `order`; nothing is under way there.
    pub(super) cuts: Vec<u32>,
    /// Pairs of the same window whose starts must keep their order, so that their messages do.
    pub(super) pins: Vec<(u32, u32)>,
}

impl Layout {
    fn window_start(&self) -> usize {
        self.cuts.last().copied().unwrap_or(0) as usize
    }
}

/// What may happen next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A local action.
    Local(Vertex),
    /// A message of this envelope.
    Message(u32),
    /// All sends of a family with several sources.
    Gate(u32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Waiting,
    Ready,
    Started,
    Complete,
}

/// What open-ended families need beside the others.
#[derive(Default)]
struct OpenEnded {
    /// Sends that are ready, until all of the family are and start at once.
    ready: Vec<Vertex>,
    /// Sends that are complete when every receive of the family has its message.
    held: Vec<Vertex>,
    is_received: bool,
    is_open: bool,
}

pub(super) struct Run<'w, 'p> {
    whole: &'w Whole<'p>,
    window: usize,
    messages: Messages,
    state: Vec<State>,
    unmet: Vec<u32>,
    left: usize,
    layouts: Vec<Layout>,
    /// For each rank, actions that have started and are not complete.
    under_way: Vec<u32>,
    /// By index of the action in its rank, so that ranks advance side by side.
    events: Queue<Event>,
    /// What waits until nothing of a rank is under way.
    parked: FxHashMap<u32, VecDeque<Event>>,
    /// Ready ends of messages for whose start others wait.
    starters: BinaryHeap<Reverse<(u32, Vertex)>>,
    open_ended: FxHashMap<u32, OpenEnded>,
    /// Messages whose send has started and whose receive has not.
    unmatched: FxHashSet<Vertex>,
    /// The same by envelope, with some that were matched since.
    sent: FxHashMap<u32, VecDeque<Vertex>>,
    /// Receives that have started before their message was sent, with their number, by envelope.
    posted: FxHashMap<u32, VecDeque<(u32, Vertex)>>,
    postings: u32,
    /// Receives that became ready so far.
    receives: u32,
    /// Ready sends by size, some of them no longer waiting; kept once the eager limit matters.
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

    /// Runs to the end: each rank's windows, and the least size that sends must have to need their
    /// receive (`None` where all may).
    pub(super) fn finish(mut self) -> Result<(Vec<Layout>, Option<u64>), Refusal> {
        for vertex in self.whole.vertices() {
            if self.unmet[vertex.index()] == 0 {
                self.ready(vertex);
            }
        }
        loop {
            while let Some(event) = self.events.pop() {
                if let Err(rank) = self.happen(event) {
                    self.parked.entry(rank).or_default().push_back(event);
                }
            }
            if self.left == 0 {
                return Ok((self.layouts, self.eager_limit));
            }
            self.start_something()?;
        }
    }

    /// Its number in its rank, by which ranks advance side by side.
    fn place(&self, vertex: Vertex) -> u32 {
        self.whole.id(vertex).0
    }

    fn rank(&self, vertex: Vertex) -> u32 {
        self.whole.rank(vertex)
    }

    fn family(&self, vertex: Vertex) -> u32 {
        self.messages.envelopes[self.messages.of[vertex.index()] as usize].family
    }

    /// Everything that the action waits for has happened.
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
                    self.look_at(wider);
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
        self.look_at(envelope);
        if is_open_ended && self.messages.families[number as usize].sends_missing == 0 {
            self.events.push(self.place(vertex), Event::Gate(number));
        }
    }

    /// Notes that a message of this envelope may be possible.
    fn look_at(&mut self, number: u32) {
        let envelope = &self.messages.envelopes[number as usize];
        let key = match (envelope.sends.front(), envelope.recvs.front()) {
            (Some(&send), Some(&(_, recv))) => self.place(send).max(self.place(recv)),
            (Some(&send), None) if self.posted.contains_key(&number) => self.place(send),
            (None, Some(&(_, recv))) if self.sent.contains_key(&number) => self.place(recv),
            _ => return,
        };
        self.events.push(key, Event::Message(number));
    }

    /// Lets an event happen; the rank that has no room for it otherwise.
    fn happen(&mut self, event: Event) -> Result<(), u32> {
        match event {
            Event::Local(vertex) => {
                self.make_room(&[self.rank(vertex)])?;
                self.start(vertex);
                self.complete(vertex);
                Ok(())
            }
            Event::Message(envelope) => self.meet(envelope),
            Event::Gate(family) => self.open(family),
        }
    }

    fn complete(&mut self, vertex: Vertex) {
        let (rank, place) = (self.rank(vertex), self.place(vertex));
        self.state[vertex.index()] = State::Complete;
        self.left -= 1;
        self.under_way[rank as usize] -= 1;
        if self.under_way[rank as usize] == 0
            && let Some(parked) = self.parked.get_mut(&rank)
        {
            // No more can start before something else is under way.
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

    fn release(&mut self, vertex: Vertex) {
        self.unmet[vertex.index()] -= 1;
        if self.unmet[vertex.index()] == 0 {
            self.ready(vertex);
        }
    }
}
