//! Bounded room for messages without a receive, and what is held up where there is none.

use super::{Vertex, Whole};
use goal_lang::limits::KEPT_OVERHEAD;
use goal_lang::{ANY, Action};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// Held-up rings of a rank that are looked at when it has room again.
const LOOKS: usize = 4;

/// What travels from one rank to another, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Item {
    /// The message of a send, or the request to send it.
    Message(Vertex),
    /// The word that a request has its receive.
    Answer(Vertex),
    /// The bytes that were asked for.
    Data(Vertex),
}

/// The room of each rank for messages that no receive waits for, and the rings between ranks. What finds neither receive nor
/// room stays at the head of its ring.
#[derive(Debug)]
pub struct Room {
    /// By rank, most bytes that it keeps.
    limits: Vec<u64>,
    bytes_max: u64,
    is_worst: bool,
    /// By rank, bytes kept.
    kept: Vec<u64>,
    /// Bytes of each message that is kept.
    bytes: FxHashMap<Vertex, u64>,
    /// By source and destination.
    rings: FxHashMap<(u32, u32), VecDeque<Item>>,
    /// Rings whose head was not taken.
    held: FxHashSet<(u32, u32)>,
    /// The message that holds up a ring, or that held it up before.
    heads: FxHashMap<(u32, u32), Vertex>,
    /// By destination, the sources of such rings in the order of their turns, and of some that are no more.
    turns: FxHashMap<u32, VecDeque<u32>>,
    /// Rings to be looked at.
    todo: VecDeque<(u32, u32)>,
    /// Such rings to ranks without room: they come last, when all is on its way that may hold something up.
    last: VecDeque<(u32, u32)>,
}

impl Room {
    /// Room for `limit` bytes, an overhead for each message included, at each rank that more may come to in all with messages
    /// of at most `eager_limit` bytes arriving whole; `None` if there is none. The other ranks never lack room.
    pub fn new(whole: &Whole<'_>, eager_limit: u64, limit: u64) -> Option<Self> {
        let mut bytes = vec![0u64; whole.program.ranks.len()];
        for vertex in whole.vertices() {
            if let Action::Send { payload, to, .. } = *whole.action(vertex) {
                let size = whole.body(vertex).payload_size(payload);
                let bytes = &mut bytes[to as usize];
                *bytes = bytes.saturating_add(kept_bytes(size, eager_limit));
            }
        }
        if bytes.iter().all(|&bytes| bytes <= limit) {
            return None;
        }
        let limit_of = |bytes| if bytes > limit { limit } else { u64::MAX };
        Some(Self {
            kept: vec![0; bytes.len()],
            is_worst: false,
            bytes_max: bytes.iter().copied().max().unwrap_or(0),
            limits: bytes.into_iter().map(limit_of).collect(),
            bytes: FxHashMap::default(),
            rings: FxHashMap::default(),
            held: FxHashSet::default(),
            heads: FxHashMap::default(),
            turns: FxHashMap::default(),
            todo: VecDeque::new(),
            last: VecDeque::new(),
        })
    }

    /// The same with no room at all where it may lack, and with messages on their way in the order that holds up most, those
    /// aside that start one after the other in every run.
    #[must_use]
    pub fn worst(mut self) -> Self {
        self.is_worst = true;
        self.limits.iter_mut().filter(|limit| **limit < u64::MAX).for_each(|limit| *limit = 0);
        self
    }

    /// The ranks that may lack room.
    pub fn scarce(&self) -> Vec<u32> {
        (0..self.limits.len() as u32).filter(|&rank| self.limits[rank as usize] < u64::MAX).collect()
    }

    /// Most bytes that may come to a rank in all: with room for so many no rank ever lacks it.
    pub fn bytes_max(&self) -> u64 {
        self.bytes_max
    }

    /// Whether a rank has no room, and messages to it come in the order that holds up most.
    pub(super) fn is_worst(&self, rank: u32) -> bool {
        self.is_worst && self.limits[rank as usize] == 0
    }

    /// What is in a ring, which is put back.
    pub(super) fn items(&mut self, ring: (u32, u32)) -> VecDeque<Item> {
        self.rings.get_mut(&ring).map(std::mem::take).unwrap_or_default()
    }

    pub(super) fn put(&mut self, ring: (u32, u32), items: VecDeque<Item>) {
        self.rings.insert(ring, items);
    }

    /// The same with one of the items at the head.
    pub(super) fn put_first(&mut self, ring: (u32, u32), mut items: VecDeque<Item>, place: usize) {
        if let Some(item) = items.remove(place) {
            items.push_front(item);
        }
        self.put(ring, items);
    }

    /// The next ring to be looked at.
    pub(super) fn next_ring(&mut self) -> Option<(u32, u32)> {
        self.todo.pop_front().or_else(|| self.last.pop_front())
    }

    /// A ring is to be looked at.
    pub(super) fn look_again(&mut self, ring: (u32, u32)) {
        let rings = if self.is_worst(ring.1) { &mut self.last } else { &mut self.todo };
        rings.push_back(ring);
    }

    pub(super) fn front(&self, ring: (u32, u32)) -> Option<Item> {
        self.rings.get(&ring)?.front().copied()
    }

    pub(super) fn pop(&mut self, ring: (u32, u32)) {
        if let Some(items) = self.rings.get_mut(&ring) {
            items.pop_front();
        }
    }

    pub(super) fn push(&mut self, ring: (u32, u32), item: Item) {
        let items = self.rings.entry(ring).or_default();
        items.push_back(item);
        if items.len() == 1 {
            self.look_again(ring);
        }
    }

    /// What is in a ring stays there, behind the message of `head`.
    pub(super) fn hold(&mut self, ring: (u32, u32), head: Vertex) {
        self.heads.insert(ring, head);
        if self.held.insert(ring) {
            self.turns.entry(ring.1).or_default().push_back(ring.0);
        }
    }

    /// Whether a rank has room for a message, which then is kept.
    pub(super) fn keep(&mut self, rank: u32, send: Vertex, size: u64, eager_limit: u64) -> bool {
        let (kept, bytes) = (&mut self.kept[rank as usize], kept_bytes(size, eager_limit));
        let has_room = kept.saturating_add(bytes) <= self.limits[rank as usize];
        if has_room {
            *kept += bytes;
            self.bytes.insert(send, bytes);
        }
        has_room
    }

    /// A message that was kept has its receive.
    pub(super) fn free(&mut self, rank: u32, send: Vertex) {
        self.kept[rank as usize] -= self.bytes.remove(&send).unwrap_or(0);
        let mut looks = LOOKS;
        while looks > 0
            && let Some(source) = self.turns.get_mut(&rank).and_then(VecDeque::pop_front)
        {
            if self.held.remove(&(source, rank)) {
                self.look_again((source, rank));
                looks -= 1;
            }
        }
    }

    /// A receive is posted that may take the head of a ring.
    pub(super) fn look_at(&mut self, source: u32, rank: u32) {
        if source != ANY {
            if self.held.remove(&(source, rank)) {
                self.look_again((source, rank));
            }
            return;
        }
        for source in self.turns.remove(&rank).unwrap_or_default() {
            if self.held.remove(&(source, rank)) {
                self.look_again((source, rank));
            }
        }
    }

    pub(super) fn look_at_all(&mut self) {
        let mut held: Vec<_> = self.held.drain().collect();
        held.sort_unstable();
        self.turns.clear();
        held.into_iter().for_each(|ring| self.look_again(ring));
    }

    /// The sends whose messages are behind the head of a ring, with the head's, and receives that wait for such a message.
    pub(super) fn behind(self, partner: &[Vertex]) -> FxHashMap<Vertex, Vertex> {
        let mut behind = FxHashMap::default();
        for (ring, items) in self.rings {
            let Some(&head) = self.heads.get(&ring) else { continue };
            for item in items {
                match item {
                    Item::Message(send) if send == head => {}
                    Item::Message(send) => drop(behind.insert(send, head)),
                    Item::Answer(send) | Item::Data(send) => {
                        behind.insert(send, head);
                        behind.insert(partner[send.index()], head);
                    }
                }
            }
        }
        behind
    }
}

/// What a message counts that is kept: a request counts without its bytes.
fn kept_bytes(size: u64, eager_limit: u64) -> u64 {
    let payload = if size <= eager_limit { size } else { 0 };
    payload.saturating_add(KEPT_OVERHEAD)
}
