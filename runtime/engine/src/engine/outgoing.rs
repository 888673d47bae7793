//! The queues of outgoing messages. A message waits there for room at its peer, for its receive, or
//! for the messages before it.

use super::ids::{Cookie, InstanceKey, Rank};
use crate::heap::{Heap, Pool, Queue, Table, flat};
use crate::transport::Header;

/// A message that waits for room: its header, and the instance of its send if it has a payload.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Outgoing {
    pub(super) header: Header,
    /// The instance of the send at `header.action`. Control messages do not use it.
    pub(super) instance: InstanceKey,
    /// The bytes of a long message that have left; `None` until its envelope has left.
    pub(super) left: Option<u64>,
}

/// A send whose payload waits for its receive.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Rendezvous {
    pub(super) instance: InstanceKey,
    pub(super) to: Rank,
    /// True if the receiver has asked for the bytes.
    pub(super) is_cleared: bool,
    pub(super) header: Header,
}

/// A payload that the receiver has asked for. It is sent in parts, or written to the receiver's
/// buffer.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Stream {
    /// The number of the [`Rendezvous`] whose payload is sent.
    pub(super) send: Cookie,
    /// The receiver's number for the message.
    pub(super) cookie: u32,
    /// The number of bytes that have left.
    pub(super) left: u64,
    /// The end of the bytes that the receiver has asked for, as an offset in the payload.
    pub(super) until: u64,
    /// The exported name of the receiver's buffer, if the payload shall be written there; `None` if
    /// it is sent in parts.
    pub(super) target: Option<u64>,
}

/// All messages that wait to leave.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    /// Messages that wait for room, by destination, in the order of their sends.
    queues: Table<Rank, Queue<Outgoing>>,
    /// The destinations of `queues`, each once, in the order of their turns.
    turns: Queue<Rank>,
    pub(super) rendezvous: Pool<Rendezvous>,
    pub(super) streams: Queue<Stream>,
    /// The most messages to one destination that waited at a time.
    longest: u32,
}

flat!(struct Header { kind, flags, communicator_upper, source, communicator, instance, tag, sequence, action, cookie, size, offset });
flat!(struct Outgoing { header, instance, left });
flat!(struct Rendezvous { instance, to, is_cleared, header });
flat!(struct Stream { send, cookie, left, until, target });
flat!(struct Outbox { queues, turns, rendezvous, streams, longest });

impl Outbox {
    /// Returns true if a message to `to` waits for room, so that later messages must queue behind
    /// it.
    #[inline]
    pub(super) fn is_blocked(&self, heap: &Heap, to: Rank) -> bool {
        !self.queues.is_empty() && self.queues.get(heap, to).is_some()
    }

    /// Returns true if nothing waits to leave.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.queues.is_empty() && self.streams.is_empty()
    }

    /// Returns the instance of the send `number`, if the receiver may read the payload in place.
    pub(super) fn exported(&mut self, heap: &Heap, number: u32) -> Option<InstanceKey> {
        let send = self.rendezvous.find(heap, number)?;
        (!send.is_cleared && send.header.flags & Header::DIRECT != 0).then_some(send.instance)
    }

    /// Appends a message to the queue of `to`.
    pub(super) fn push(&mut self, heap: &Heap, to: Rank, outgoing: Outgoing) {
        let queue = self.queues.entry(heap, to);
        if queue.is_empty() {
            self.turns.push(heap, to);
        }
        queue.push(heap, outgoing);
        self.longest = self.longest.max(queue.len() as u32);
    }

    /// Returns the most messages to one destination that waited for room at a time.
    pub(super) fn longest(&self) -> u64 {
        self.longest.into()
    }

    /// Returns the number of destinations with waiting messages.
    pub(super) fn destinations(&self) -> usize {
        self.turns.len()
    }

    /// Removes and returns the next destination in turn, with its queue. The caller must end the
    /// turn with [`Self::put_back`].
    pub(super) fn take_turn(&mut self, heap: &Heap) -> Option<(Rank, Queue<Outgoing>)> {
        let to = self.turns.pop(heap)?;
        Some((to, self.queues.remove(heap, to).expect("each turn has its queue")))
    }

    /// Puts back the rest of a queue after its turn.
    pub(super) fn put_back(&mut self, heap: &Heap, to: Rank, mut queue: Queue<Outgoing>) {
        if queue.is_empty() {
            queue.release(heap);
        } else {
            self.turns.push(heap, to);
            *self.queues.entry(heap, to) = queue;
        }
    }
}
