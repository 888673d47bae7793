//! Messages on their way out: what waits for room in a peer's ring, for a receive, for its turn.

use super::ids::{Cookie, InstanceKey};
use crate::heap::{Fifo, Heap, Pool, Table, flat};
use crate::transport::Header;

/// A header that waits for room, with the payload of a send if it carries one.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Outgoing {
    pub(super) header: Header,
    /// The instance of the send at `header.action`; of no meaning for other kinds.
    pub(super) instance: InstanceKey,
    /// Bytes of a long message that have left; `None` until its envelope has.
    pub(super) left: Option<u64>,
}

/// A send whose payload waits for its receive.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Rendezvous {
    pub(super) instance: InstanceKey,
    pub(super) to: u32,
    /// The receiver has asked for the bytes.
    pub(super) is_cleared: bool,
    pub(super) header: Header,
}

/// A payload that was cleared and leaves in parts.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Stream {
    /// The [`Rendezvous`].
    pub(super) send: Cookie,
    /// The receiver's name for the message.
    pub(super) cookie: u32,
    /// Bytes that have left.
    pub(super) left: u64,
}

/// All that has to go out.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    /// What waits for room, by destination, in order: the order of messages between two ranks is
    /// that of their sends.
    queues: Table<u32, Fifo<Outgoing>>,
    /// The destinations of `queues`, each once: they take turns.
    turns: Fifo<u32>,
    pub(super) rendezvous: Pool<Rendezvous>,
    pub(super) streams: Fifo<Stream>,
    /// Most messages that a queue had at a time.
    longest: u32,
}

flat!(struct Header { kind, flags, reserved, source, communicator, instance, tag, sequence, action, cookie, size, offset });
flat!(struct Outgoing { header, instance, left });
flat!(struct Rendezvous { instance, to, is_cleared, header });
flat!(struct Stream { send, cookie, left });
flat!(struct Outbox { queues, turns, rendezvous, streams, longest });

impl Outbox {
    /// Whether something waits for room to `to`, so that later messages must queue behind it.
    #[inline]
    pub(super) fn is_blocked(&self, heap: &Heap, to: u32) -> bool {
        !self.queues.is_empty() && self.queues.get(heap, to).is_some()
    }

    /// Whether nothing has to leave.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.queues.is_empty() && self.streams.is_empty()
    }

    /// Puts a message behind all others to `to`.
    pub(super) fn push(&mut self, heap: &Heap, to: u32, outgoing: Outgoing) {
        let queue = self.queues.entry(heap, to);
        if queue.is_empty() {
            self.turns.push(heap, to);
        }
        queue.push(heap, outgoing);
        self.longest = self.longest.max(queue.len() as u32);
    }

    /// Most messages to one destination that waited for room at a time.
    pub(super) fn longest(&self) -> u64 {
        self.longest.into()
    }

    /// Number of destinations for which something waits.
    pub(super) fn destinations(&self) -> usize {
        self.turns.len()
    }

    /// The next destination in turn, with its queue; [`Self::put_back`] ends the turn.
    pub(super) fn take_turn(&mut self, heap: &Heap) -> Option<(u32, Fifo<Outgoing>)> {
        let to = self.turns.pop(heap)?;
        Some((to, self.queues.remove(heap, to).expect("each turn has its queue")))
    }

    /// What is left of a queue after its turn.
    pub(super) fn put_back(&mut self, heap: &Heap, to: u32, mut queue: Fifo<Outgoing>) {
        if queue.is_empty() {
            queue.release(heap);
        } else {
            self.turns.push(heap, to);
            *self.queues.entry(heap, to) = queue;
        }
    }
}
