//! One run of the whole program in which no rank ever has more under way than a window holds.
//!
//! Actions are taken in the order of the layout, as far as what they wait for allows; a message is sent and received in one
//! step, when both of its ends are ready, so that nothing stays under way. Only where a program gets no further so do ends
//! of messages start alone: those whose start others wait for, and sends that need no receive because they are small. How
//! small a send must be is raised step by step, so that the run finds the least eager limit at which the program ends.

use super::messages::{Messages, NONE};
use super::{Refusal, Why};
use crate::whole::{Vertex, Whole};
use goal_lang::Action;
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
    events: BinaryHeap<Reverse<(u32, Event)>>,
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
        for rank in 0..whole.program.num_ranks() {
            unmet.extend(whole.program.body_of(rank).indegrees());
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
            events: BinaryHeap::new(),
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

    /// Runs to the end: each rank's windows, and the least size that sends must have to need their receive (`None` where
    /// all may).
    pub(super) fn finish(mut self) -> Result<(Vec<Layout>, Option<u64>), Refusal> {
        for vertex in self.whole.vertices() {
            if self.unmet[vertex.index()] == 0 {
                self.ready(vertex);
            }
        }
        loop {
            while let Some(Reverse((_, event))) = self.events.pop() {
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
            self.events.push(Reverse((self.place(vertex), Event::Local(vertex))));
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
            self.events.push(Reverse((self.place(vertex), Event::Gate(number))));
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
        self.events.push(Reverse((key, Event::Message(number))));
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

    /// A send and a receive of the envelope meet, if there are such.
    fn meet(&mut self, envelope: u32) -> Result<(), u32> {
        self.forget_started(envelope);
        let of = &self.messages.envelopes[envelope as usize];
        let (send, has_recv) = (of.sends.front().copied(), !of.recvs.is_empty());
        if has_recv && let Some(&sent) = self.sent.get(&envelope).and_then(|sent| sent.front()) {
            let recv = self.first_ready(sent);
            self.make_room(&[self.rank(recv)])?;
            self.start(recv);
            self.unmatched.remove(&sent);
            self.pass(sent, recv);
        } else if let Some(send) = send
            && !self.messages.families[of.family as usize].is_open_ended
        {
            if let Some((of, recv)) = self.first_posted(send) {
                self.make_room(&[self.rank(send)])?;
                self.start(send);
                self.take_posted(of);
                self.pass(send, recv);
            } else if has_recv {
                let recv = self.first_ready(send);
                self.make_room(&[self.rank(send), self.rank(recv)])?;
                self.start(send);
                self.start(recv);
                self.pass(send, recv);
            } else {
                return Ok(());
            }
        } else {
            return Ok(());
        }
        self.look_at(envelope);
        Ok(())
    }

    /// All sends of a family with several sources start, so that whichever message a receive takes is there.
    fn open(&mut self, number: u32) -> Result<(), u32> {
        let family = &self.open_ended[&number];
        if family.is_open || !family.is_received {
            return Ok(());
        }
        let ready = |vertex: &&Vertex| self.state[vertex.index()] == State::Ready;
        let sends: Vec<Vertex> = family.ready.iter().filter(ready).copied().collect();
        let ranks: Vec<u32> = sends.iter().map(|&send| self.rank(send)).collect();
        self.make_room(&ranks)?;
        self.open_ended.get_mut(&number).expect("there").is_open = true;
        for send in sends {
            self.send_early(send);
        }
        Ok(())
    }

    /// Starts a send without its receive.
    fn send_early(&mut self, send: Vertex) {
        self.start(send);
        let Action::Send { payload, .. } = *self.whole.action(send) else { unreachable!("only sends send") };
        let size = self.whole.body(send).payload_size(payload);
        let is_eager = self.eager_limit.is_some_and(|limit| size <= limit);
        if let Some((envelope, recv)) = self.first_posted(send) {
            self.take_posted(envelope);
            self.pass(send, recv);
            return;
        }
        self.unmatched.insert(send);
        let envelope = self.messages.of[send.index()];
        for i in 0..=self.messages.envelopes[envelope as usize].wider.len() {
            let wider = &self.messages.envelopes[envelope as usize].wider;
            let number = if i == 0 { envelope } else { wider[i - 1] };
            self.sent.entry(number).or_default().push_back(send);
            self.look_at(number);
        }
        if is_eager {
            self.complete(send);
        }
    }

    /// A receive takes a message: the receive is complete, and so is the send if it waited for that.
    fn pass(&mut self, send: Vertex, recv: Vertex) {
        let number = self.family(recv);
        let family = &mut self.messages.families[number as usize];
        family.recvs_left -= 1;
        let is_last = family.recvs_left == 0;
        let is_open_ended = family.is_open_ended;
        self.complete(recv);
        let waits = self.state[send.index()] == State::Started;
        if !is_open_ended {
            if waits {
                self.complete(send);
            }
            return;
        }
        let family = self.open_ended.entry(number).or_default();
        if waits {
            family.held.push(send);
        }
        if is_last {
            for send in std::mem::take(&mut family.held) {
                self.complete(send);
            }
        }
    }

    /// Drops the ends at the front that have started.
    fn forget_started(&mut self, envelope: u32) {
        let Self { messages, state, .. } = self;
        let of = &mut messages.envelopes[envelope as usize];
        let started = |vertex: &Vertex| state[vertex.index()] != State::Ready;
        while of.sends.front().is_some_and(started) {
            of.sends.pop_front();
        }
        while of.recvs.front().is_some_and(|(_, recv)| started(recv)) {
            of.recvs.pop_front();
        }
        if let Some(sent) = self.sent.get_mut(&envelope) {
            while sent.front().is_some_and(|send| !self.unmatched.contains(send)) {
                sent.pop_front();
            }
            if sent.is_empty() {
                self.sent.remove(&envelope);
            }
        }
    }

    /// The receive that was posted first among those that fit a send, and its envelope.
    fn first_posted(&self, send: Vertex) -> Option<(u32, Vertex)> {
        if self.posted.is_empty() {
            return None;
        }
        let own = self.messages.of[send.index()];
        let all = std::iter::once(own).chain(self.messages.envelopes[own as usize].wider.iter().copied());
        let first = all.filter_map(|envelope| {
            let &(number, recv) = self.posted.get(&envelope)?.front()?;
            Some((number, envelope, recv))
        });
        first.min().map(|(_, envelope, recv)| (envelope, recv))
    }

    /// The receive that became ready first among those that fit a send, as one does.
    fn first_ready(&mut self, send: Vertex) -> Vertex {
        let own = self.messages.of[send.index()];
        let mut first = None;
        for i in 0..=self.messages.envelopes[own as usize].wider.len() {
            let wider = &self.messages.envelopes[own as usize].wider;
            let envelope = if i == 0 { own } else { wider[i - 1] };
            self.forget_started(envelope);
            let front = self.messages.envelopes[envelope as usize].recvs.front().copied();
            first = [first, front].into_iter().flatten().min();
        }
        first.expect("a receive fits").1
    }

    fn take_posted(&mut self, envelope: u32) {
        let queue = self.posted.get_mut(&envelope).expect("a receive is posted");
        queue.pop_front();
        if queue.is_empty() {
            self.posted.remove(&envelope);
        }
    }

    /// Makes room for an action of each of the ranks, which may occur several times; the rank that has none otherwise.
    fn make_room(&mut self, ranks: &[u32]) -> Result<(), u32> {
        let fits = |run: &Self, rank: u32, count: usize| {
            let layout = &run.layouts[rank as usize];
            layout.order.len() - layout.window_start() + count <= run.window
        };
        if let [rank] = *ranks
            && fits(self, rank, 1)
        {
            return Ok(());
        }
        if let [a, b] = *ranks
            && a != b
            && fits(self, a, 1)
            && fits(self, b, 1)
        {
            return Ok(());
        }
        let mut sorted = ranks.to_vec();
        sorted.sort_unstable();
        let groups = || sorted.chunk_by(|a, b| a == b).map(|group| (group[0], group.len()));
        for (rank, count) in groups() {
            let can_cut = self.under_way[rank as usize] == 0 && count <= self.window;
            if !fits(self, rank, count) && !can_cut {
                return Err(rank);
            }
        }
        for (rank, count) in groups() {
            if !fits(self, rank, count) {
                let layout = &mut self.layouts[rank as usize];
                layout.cuts.push(layout.order.len() as u32);
            }
        }
        Ok(())
    }

    fn start(&mut self, vertex: Vertex) {
        let (rank, place) = (self.rank(vertex), self.place(vertex));
        self.state[vertex.index()] = State::Started;
        self.under_way[rank as usize] += 1;
        self.pin(vertex, self.messages.of[vertex.index()]);
        self.layouts[rank as usize].order.push(place);
        for waiter in self.whole.irequires(vertex) {
            self.release(waiter);
        }
    }

    /// Keeps the order of this start after the last one of the same side of its family, where that decides which receive
    /// takes which message.
    fn pin(&mut self, vertex: Vertex, envelope: u32) {
        if envelope == NONE {
            return;
        }
        let (rank, action) = (self.rank(vertex), self.place(vertex));
        let family = self.messages.envelopes[envelope as usize].family;
        let family = &mut self.messages.families[family as usize];
        if family.is_open_ended {
            return;
        }
        let side = usize::from(matches!(self.whole.action(vertex), Action::Recv { .. }));
        let layout = &mut self.layouts[rank as usize];
        let place = layout.order.len() as u32;
        let before = std::mem::replace(&mut family.last[side], place);
        if before != NONE && before as usize >= layout.window_start() {
            layout.pins.push((layout.order[before as usize], action));
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
            self.events.extend(parked.drain(..again).map(|event| Reverse((place, event))));
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

    /// Nothing can happen whole: starts an end of a message alone.
    fn start_something(&mut self) -> Result<(), Refusal> {
        let mut without_room = Vec::new();
        let mut started = None;
        while let Some(Reverse((key, vertex))) = self.starters.pop() {
            if self.state[vertex.index()] != State::Ready {
                continue;
            }
            if self.make_room(&[self.rank(vertex)]).is_ok() {
                started = Some(vertex);
                break;
            }
            without_room.push(Reverse((key, vertex)));
        }
        let blocked = without_room.first().map(|Reverse((_, vertex))| *vertex);
        self.starters.extend(without_room);
        if let Some(vertex) = started {
            if matches!(self.whole.action(vertex), Action::Send { .. }) {
                self.send_early(vertex);
            } else {
                self.post(vertex);
            }
            return Ok(());
        }
        if let Some(vertex) = blocked.or_else(|| self.first_parked()) {
            return Err(Refusal { vertex, why: Why::TooSmall });
        }
        let stays_closed = |family: &&OpenEnded| {
            !family.held.is_empty() || !family.is_open && family.is_received && !family.ready.is_empty()
        };
        if let Some(family) = self.open_ended.values().find(stays_closed) {
            let vertex = family.held.first().or(family.ready.first()).copied();
            return Err(Refusal { vertex: vertex.expect("it has a send"), why: Why::OpenEnded });
        }
        self.raise_eager_limit()
    }

    fn post(&mut self, recv: Vertex) {
        let envelope = self.messages.of[recv.index()];
        self.start(recv);
        self.posted.entry(envelope).or_default().push_back((self.postings, recv));
        self.postings += 1;
        self.look_at(envelope);
    }

    /// An action that waits for room; parked events that have become impossible are dropped.
    fn first_parked(&mut self) -> Option<Vertex> {
        let parked = std::mem::take(&mut self.parked);
        for event in parked.into_values().flatten() {
            match event {
                Event::Local(vertex) => return Some(vertex),
                Event::Gate(family) => {
                    let family = &self.open_ended[&family];
                    if !family.is_open {
                        return family.ready.first().copied();
                    }
                }
                Event::Message(number) => {
                    self.forget_started(number);
                    let envelope = &self.messages.envelopes[number as usize];
                    let is_open_ended = self.messages.families[envelope.family as usize].is_open_ended;
                    let (send, recv) = (envelope.sends.front(), envelope.recvs.front().map(|(_, recv)| recv));
                    let is_sent = self.sent.contains_key(&number);
                    if let Some(&recv) = recv.filter(|_| is_sent || send.is_some() && !is_open_ended) {
                        return Some(recv);
                    }
                    if let Some(&send) = send.filter(|&&send| self.first_posted(send).is_some()) {
                        return Some(send);
                    }
                }
            }
        }
        None
    }

    /// Lets the smallest send that waits for its receive do without.
    fn raise_eager_limit(&mut self) -> Result<(), Refusal> {
        if self.by_size.is_none() {
            let ready = self.messages.envelopes.iter().flat_map(|envelope| &envelope.sends);
            let all = ready.filter(|send| self.state[send.index()] == State::Ready);
            let sizes = all.chain(&self.unmatched).map(|&send| {
                let Action::Send { payload, .. } = *self.whole.action(send) else {
                    unreachable!("only sends")
                };
                Reverse((self.whole.body(send).payload_size(payload), send))
            });
            self.by_size = Some(sizes.collect());
        }
        while let Some(Reverse((size, send))) = self.by_size.as_mut().and_then(BinaryHeap::pop) {
            let state = self.state[send.index()];
            if state != State::Ready && !(state == State::Started && self.unmatched.contains(&send)) {
                continue;
            }
            self.eager_limit = self.eager_limit.max(Some(size));
            if state == State::Started {
                self.complete(send);
                return Ok(());
            }
            if self.make_room(&[self.rank(send)]).is_err() {
                return Err(Refusal { vertex: send, why: Why::TooSmall });
            }
            self.send_early(send);
            return Ok(());
        }
        let vertex = self.state.iter().position(|&state| state != State::Complete).map(Vertex::new);
        let vertex = vertex.expect("some are left");
        Err(Refusal { vertex, why: Why::Deadlock })
    }
}
