//! The abstract run: an execution of the schedule without data. It shows the actions that get stuck
//! and the receive of each message.

use super::channels::Channels;
use super::room::Room;
use super::vertices::{Vertex, Whole};
use goal_lang::Action;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The result of an abstract run.
///
/// Without wildcards, all runs with the same eager limit agree on whether the program ends. With
/// wildcards, this is one of the possible runs.
#[derive(Debug)]
pub struct Trace {
    /// The actions that ended, in the order of their ends: each comes after its prerequisites, a
    /// receive after the start of its send. A send that waits for its receive ends right after it.
    pub order: Vec<Vertex>,
    /// By vertex, the other end of a message that was received; else [`Vertex::NONE`].
    pub partner: Vec<Vertex>,
    /// The least eager limit in bytes with which the run gets this far: messages up to this size
    /// had to be sent before their receives were posted.
    pub least_eager_limit: u64,
    /// True if some receive has a wildcard.
    pub has_wildcards: bool,
    started: Vec<bool>,
    ended: Vec<bool>,
}

impl Trace {
    /// The trace of a run that was executed elsewhere: the actions in the order of their ends, the
    /// other ends of messages, and by vertex if it started and if it ended.
    pub fn from_parts(
        order: Vec<Vertex>,
        partner: Vec<Vertex>,
        [started, ended]: [Vec<bool>; 2],
        has_wildcards: bool,
        least_eager_limit: u64,
    ) -> Self {
        Self { order, partner, least_eager_limit, has_wildcards, started, ended }
    }

    /// Returns true if an action started.
    pub fn has_started(&self, vertex: Vertex) -> bool {
        self.started[vertex.index()]
    }

    /// Returns true if an action ended.
    pub fn has_ended(&self, vertex: Vertex) -> bool {
        self.ended[vertex.index()]
    }

    /// Returns true if every action ended.
    pub fn is_complete(&self) -> bool {
        self.order.len() == self.ended.len()
    }
}

/// The rule by which a run chooses among the actions that may start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// The one that could start first is next.
    FirstFirst,
    /// The one that could start last is next.
    LastFirst,
}

/// An abstract run in progress.
#[derive(Debug)]
pub struct Run<'w, 'p> {
    whole: &'w Whole<'p>,
    channels: Channels,
    /// By vertex, the number of unmet dependencies of both kinds.
    missing: Vec<u32>,
    ready: VecDeque<Vertex>,
    /// By channel, the started sends without a receive, in order.
    messages: Vec<Queue>,
    /// By channel, the posted receives without a message, in order.
    posted: Vec<Queue>,
    /// By vertex, the next one in its queue. Used for ranks without wildcards, where a send or a
    /// receive is in one queue only.
    next: Vec<Vertex>,
    /// For ranks with wildcards, two queues for each channel: sends and receives. Entries that
    /// matched through another queue are dropped when they come to the front.
    shared: Vec<VecDeque<Vertex>>,
    /// For ranks with wildcards, by vertex, the number of its arrival or posting; 0 before.
    arrival: Vec<u32>,
    arrivals: u32,
    /// Started sends that wait for their receive, the smallest first.
    waiting: BinaryHeap<Reverse<(u64, Vertex)>>,
    /// The room for messages without a receive, if it is bounded.
    room: Option<Room>,
    trace: Trace,
}

/// A queue whose entries are linked through `next`.
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
    /// A run in which nothing has happened yet.
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

    /// Runs until nothing can happen any more. Sends wait for their receives, except as needed:
    /// each time the run is stuck, the smallest waiting send of at most `eager_limit` bytes ends.
    /// So [`Trace::least_eager_limit`] is the least limit with which the program gets as far.
    /// Linear in actions and edges, but for a logarithm if sends wait.
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

    /// Like [`finish`](Self::finish), but sends of at most `eager_limit` bytes end at once, and
    /// `turn` chooses among the actions that may start. With wildcards, receives may take other
    /// messages.
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

    /// Like [`finish_eagerly`](Self::finish_eagerly) with [`Turn::FirstFirst`], but the actions in
    /// `late` start only when nothing else can happen, one at a time.
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

    /// Like [`finish_eagerly`](Self::finish_eagerly) with [`Turn::FirstFirst`], but with bounded
    /// room for messages without a receive. A message that finds no room waits for its receive,
    /// whatever its size.
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

    /// Removes and returns the posted receive that takes the message of `send`. If there is none,
    /// the message is kept.
    fn take_posted(&mut self, send: Vertex, to: u32, tag: u32) -> Option<Vertex> {
        let recv = self.find_posted(send, to, tag);
        if recv.is_none() {
            self.keep_message(send, to, tag);
        }
        recv
    }

    /// Finds the posted receive that takes the message of `send`.
    fn find_posted(&mut self, send: Vertex, to: u32, tag: u32) -> Option<Vertex> {
        if !self.channels.is_wild(to) {
            return self.posted[self.channels.of(send)].pop(&self.next);
        }
        let candidates = self.channels.candidates(send, to, self.whole.rank(send), tag);
        let posted: Vec<Vertex> =
            candidates.iter().filter_map(|channel| self.front(2 * channel + 1)).collect();
        posted.into_iter().min_by_key(|recv| self.arrival[recv.index()])
    }

    /// Keeps a message for a later receive.
    fn keep_message(&mut self, send: Vertex, to: u32, tag: u32) {
        if !self.channels.is_wild(to) {
            return self.messages[self.channels.of(send)].push(send, &mut self.next);
        }
        self.note_arrival(send);
        for channel in self.channels.candidates(send, to, self.whole.rank(send), tag).iter() {
            self.shared[2 * channel].push_back(send);
        }
    }

    /// Removes and returns the kept message that `recv` takes. If there is none, the receive is
    /// posted.
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

    /// The first entry of a queue that is not matched yet.
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
