//! The abstract run: the schedule is carried out without data, so that what is stuck and what meets
//! what shows.

use super::channels::Channels;
use super::room::Room;
use super::{Vertex, Whole};
use goal_lang::Action;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// What an abstract run found out.
///
/// Without wildcards, whether the program ends does not depend on the order that the run chose;
/// with them this is one of the possible runs.
#[derive(Debug)]
pub struct Trace {
    /// The actions that ended, in the order of their ends: each comes after all that it waits for,
    /// a receive after its send has started. A rendezvous send ends with its receive, right after
    /// it.
    pub order: Vec<Vertex>,
    /// By vertex, the other end of a message that was received; [`Vertex::NONE`] for the rest.
    pub partner: Vec<Vertex>,
    /// The least eager limit in bytes at which the run got this far: messages up to this size had
    /// to be sent before their receives were there.
    pub least_eager_limit: u64,
    /// Whether a rank receives from any source or with any tag.
    pub has_wildcards: bool,
    started: Vec<bool>,
    ended: Vec<bool>,
}

impl Trace {
    /// The trace of a run that was made elsewhere: what ended in order, who met whom, what started
    /// and what ended.
    pub fn of(
        order: Vec<Vertex>,
        partner: Vec<Vertex>,
        [started, ended]: [Vec<bool>; 2],
        has_wildcards: bool,
        least_eager_limit: u64,
    ) -> Self {
        Self { order, partner, least_eager_limit, has_wildcards, started, ended }
    }

    /// Whether an action started.
    pub fn has_started(&self, vertex: Vertex) -> bool {
        self.started[vertex.index()]
    }

    /// Whether an action ended.
    pub fn has_ended(&self, vertex: Vertex) -> bool {
        self.ended[vertex.index()]
    }

    /// Whether every action ended.
    pub fn is_complete(&self) -> bool {
        self.order.len() == self.ended.len()
    }
}

/// Which of the actions that can start does so next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// The one that could first.
    FirstFirst,
    /// The one that could last.
    LastFirst,
}

/// An abstract run under way.
#[derive(Debug)]
pub struct Run<'w, 'p> {
    whole: &'w Whole<'p>,
    channels: Channels,
    /// By vertex, dependencies of both kinds that are not met yet.
    missing: Vec<u32>,
    ready: VecDeque<Vertex>,
    /// By channel, sends whose receive has not started, in order.
    messages: Vec<Queue>,
    /// By channel, receives whose send has not started, in order.
    posted: Vec<Queue>,
    /// By vertex, the next in its queue. For ranks without wildcards, where an entry is in one
    /// queue only.
    next: Vec<Vertex>,
    /// By channel that has to do with wildcards, the entries of its queue; those that met elsewhere
    /// are dropped on sight.
    shared: Vec<VecDeque<Vertex>>,
    /// By vertex, when a message arrived or a receive was posted, where a wildcard has to know. 0
    /// is never.
    arrival: Vec<u32>,
    arrivals: u32,
    /// Started sends that wait for their receive, the smallest first.
    waiting: BinaryHeap<Reverse<(u64, Vertex)>>,
    /// Where messages without a receive have bounded room.
    room: Option<Room>,
    trace: Trace,
}

/// A queue linked through `next`.
#[derive(Debug, Clone, Copy)]
struct Queue {
    head: Vertex,
    tail: Vertex,
}

impl Queue {
    const EMPTY: Queue = Queue { head: Vertex::NONE, tail: Vertex::NONE };

    fn push(&mut self, vertex: Vertex, next: &mut [Vertex]) {
        match self.tail.some() {
            Some(tail) => next[tail.index()] = vertex,
            None => self.head = vertex,
        }
        self.tail = vertex;
    }

    fn pop(&mut self, next: &[Vertex]) -> Option<Vertex> {
        let head = self.head.some()?;
        self.head = next[head.index()];
        if self.head == Vertex::NONE {
            self.tail = Vertex::NONE;
        }
        Some(head)
    }
}

impl<'w, 'p> Run<'w, 'p> {
    /// A run of which nothing has happened yet.
    pub fn new(whole: &'w Whole<'p>) -> Self {
        let mut missing = vec![0; whole.len()];
        for vertex in whole.vertices() {
            for waiter in whole.requires(vertex).chain(whole.irequires(vertex)) {
                missing[waiter.index()] += 1;
            }
        }
        let channels = Channels::new(whole);
        let has_wildcards = channels.any_is_wild();
        Self {
            whole,
            ready: whole.vertices().filter(|vertex| missing[vertex.index()] == 0).collect(),
            missing,
            messages: vec![Queue::EMPTY; channels.len()],
            posted: vec![Queue::EMPTY; channels.len()],
            next: vec![Vertex::NONE; whole.len()],
            shared: if has_wildcards {
                vec![VecDeque::new(); 2 * channels.len()]
            } else {
                Vec::new()
            },
            arrival: if has_wildcards { vec![0; whole.len()] } else { Vec::new() },
            arrivals: 0,
            waiting: BinaryHeap::new(),
            room: None,
            channels,
            trace: Trace {
                order: Vec::with_capacity(whole.len()),
                partner: vec![Vertex::NONE; whole.len()],
                least_eager_limit: 0,
                has_wildcards,
                started: vec![false; whole.len()],
                ended: vec![false; whole.len()],
            },
        }
    }

    /// Goes on until nothing can, with every send waiting for its receive that the run can do
    /// without: each time it is stuck the smallest of the waiting sends is let go, as long as it
    /// has at most `eager_limit` bytes. So the limit that the run ends with is the least at which
    /// the program gets as far. Linear in actions and edges, but for a logarithm where sends wait.
    pub fn finish(mut self, eager_limit: u64) -> Trace {
        loop {
            while let Some(vertex) = self.ready.pop_front() {
                self.start(vertex);
            }
            let Some(Reverse((size, send))) = self.waiting.pop() else { break };
            if self.trace.ended[send.index()] {
                continue;
            }
            if size > eager_limit {
                break;
            }
            self.trace.least_eager_limit = self.trace.least_eager_limit.max(size);
            self.end(send);
        }
        self.trace
    }

    /// Like [`finish`](Self::finish), but with sends of at most `eager_limit` bytes ending at once,
    /// and with the actions that can start taking turns as `turn` says. With wildcards other
    /// messages may be taken.
    pub fn finish_eagerly(mut self, eager_limit: u64, turn: Turn) -> Trace {
        self.trace.least_eager_limit = eager_limit;
        let next = match turn {
            Turn::FirstFirst => VecDeque::pop_front,
            Turn::LastFirst => VecDeque::pop_back,
        };
        while let Some(vertex) = next(&mut self.ready) {
            self.start(vertex);
        }
        self.trace
    }

    /// Like [`finish_eagerly`](Self::finish_eagerly) with the first first, but the actions in
    /// `late` start only when nothing else can go on, one at a time.
    pub fn finish_late(mut self, eager_limit: u64, late: &[Vertex]) -> Trace {
        self.trace.least_eager_limit = eager_limit;
        let mut held = VecDeque::new();
        loop {
            while let Some(vertex) = self.ready.pop_front() {
                match late.contains(&vertex) {
                    true => held.push_back(vertex),
                    false => self.start(vertex),
                }
            }
            let Some(vertex) = held.pop_front() else { break };
            self.start(vertex);
        }
        self.trace
    }

    /// Like [`finish_eagerly`](Self::finish_eagerly) with the first first, but with bounded room
    /// for messages without a receive: what finds none waits for its receive, whatever its size.
    pub fn finish_with_room(mut self, eager_limit: u64, room: Room) -> Trace {
        self.room = Some(room);
        self.finish_eagerly(eager_limit, Turn::FirstFirst)
    }

    fn start(&mut self, vertex: Vertex) {
        self.trace.started[vertex.index()] = true;
        for waiter in self.whole.irequires(vertex) {
            self.release(waiter);
        }
        match *self.whole.action(vertex) {
            Action::Send { to, tag, .. } => match self.take_posted(vertex, to, tag) {
                Some(recv) => self.meet(vertex, recv),
                None => {
                    let size = self.whole.message_size(vertex);
                    let is_eager = size <= self.trace.least_eager_limit;
                    if is_eager && self.room.as_mut().is_none_or(|room| room.keep(to, size)) {
                        self.end(vertex);
                    } else {
                        self.waiting.push(Reverse((size, vertex)));
                    }
                }
            },
            Action::Recv { .. } => {
                if let Some(send) = self.take_message(vertex) {
                    let (rank, size) = (self.whole.rank(vertex), self.whole.message_size(send));
                    if let Some(room) =
                        self.room.as_mut().filter(|_| self.trace.ended[send.index()])
                    {
                        room.free(rank, size);
                    }
                    self.meet(send, vertex);
                }
            }
            _ => self.end(vertex),
        }
    }

    /// The receive that takes the message of `send`, or else the message waits.
    fn take_posted(&mut self, send: Vertex, to: u32, tag: u32) -> Option<Vertex> {
        let recv = self.find_posted(send, to, tag);
        if recv.is_none() {
            self.keep_message(send, to, tag);
        }
        recv
    }

    /// The posted receive that takes the message of `send`.
    fn find_posted(&mut self, send: Vertex, to: u32, tag: u32) -> Option<Vertex> {
        if !self.channels.is_wild(to) {
            return self.posted[self.channels.of(send)].pop(&self.next);
        }
        let candidates = self.channels.candidates(send, to, self.whole.rank(send), tag);
        let posted: Vec<Vertex> =
            candidates.iter().filter_map(|channel| self.front(2 * channel + 1)).collect();
        posted.into_iter().min_by_key(|recv| self.arrival[recv.index()])
    }

    /// A message waits for its receive.
    fn keep_message(&mut self, send: Vertex, to: u32, tag: u32) {
        if !self.channels.is_wild(to) {
            return self.messages[self.channels.of(send)].push(send, &mut self.next);
        }
        self.note_arrival(send);
        for channel in self.channels.candidates(send, to, self.whole.rank(send), tag).iter() {
            self.shared[2 * channel].push_back(send);
        }
    }

    /// The message that `recv` takes, or else it waits for one.
    fn take_message(&mut self, recv: Vertex) -> Option<Vertex> {
        let channel = self.channels.of(recv);
        if !self.channels.is_wild(self.whole.rank(recv)) {
            let send = self.messages[channel].pop(&self.next);
            if send.is_none() {
                self.posted[channel].push(recv, &mut self.next);
            }
            return send;
        }
        let send = self.front(2 * channel);
        if send.is_none() {
            self.note_arrival(recv);
            self.shared[2 * channel + 1].push_back(recv);
        }
        send
    }

    /// The first entry of a queue that has not met yet.
    fn front(&mut self, queue: usize) -> Option<Vertex> {
        while let Some(&vertex) = self.shared[queue].front() {
            if self.trace.partner[vertex.index()] == Vertex::NONE {
                return Some(vertex);
            }
            self.shared[queue].pop_front();
        }
        None
    }

    fn note_arrival(&mut self, vertex: Vertex) {
        self.arrivals += 1;
        self.arrival[vertex.index()] = self.arrivals;
    }

    fn meet(&mut self, send: Vertex, recv: Vertex) {
        self.trace.partner[send.index()] = recv;
        self.trace.partner[recv.index()] = send;
        self.end(recv);
        if !self.trace.ended[send.index()] {
            self.end(send);
        }
    }

    fn end(&mut self, vertex: Vertex) {
        self.trace.ended[vertex.index()] = true;
        self.trace.order.push(vertex);
        for waiter in self.whole.requires(vertex) {
            self.release(waiter);
        }
    }

    fn release(&mut self, vertex: Vertex) {
        self.missing[vertex.index()] -= 1;
        if self.missing[vertex.index()] == 0 {
            self.ready.push_back(vertex);
        }
    }
}
