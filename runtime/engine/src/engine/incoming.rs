//! The records of messages that have arrived and are not delivered to a receive yet.

use super::ids::{ActionRef, InstanceKey, MessageKey};
use crate::heap::{Block, Heap, Pool, flat};
use crate::transport::Header;

/// A message that has arrived and is not delivered yet.
#[derive(Debug, Default)]
pub(super) struct Incoming {
    /// Its envelope.
    pub(super) header: Header,
    /// The number of bytes that have arrived.
    pub(super) arrived: u64,
    pub(super) place: PayloadPlace,
    pub(super) asked: Asked,
    /// The end of the bytes that the sender was asked for in parts.
    pub(super) until: u64,
    /// The next message in the same [`Chain`].
    pub(super) next: MessageKey,
}

/// The way in which the sender of a request was asked for the payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Asked {
    /// The sender was not asked.
    #[default]
    No,
    /// The sender was asked to send the payload in parts.
    Parts,
    /// The sender was asked to write the payload to the buffer of the receive.
    Put,
}

impl Incoming {
    /// Returns the instance whose buffer the sender was asked to write to; `None` if it was not
    /// asked for that.
    pub(super) fn put_into(&self) -> Option<InstanceKey> {
        match self.place {
            PayloadPlace::Receive(receive) if self.asked == Asked::Put => Some(receive.instance),
            _ => None,
        }
    }
}

/// The place of a message's bytes.
#[derive(Debug, Default)]
pub(super) enum PayloadPlace {
    /// With the sender, until a receive is posted.
    #[default]
    Sender,
    /// In a copy here, as there is no receive yet.
    Kept(Block<u8>),
    /// In the buffer of a receive.
    Receive(ActionRef),
    /// Nowhere: the instance is finished, so the bytes are dropped.
    Dropped,
}

/// Messages in the order of their arrival, linked by [`Incoming::next`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Chain {
    pub(super) first: MessageKey,
    last: MessageKey,
}

impl Default for Chain {
    fn default() -> Self {
        Self { first: MessageKey::NONE, last: MessageKey::NONE }
    }
}

flat!(struct Incoming { header, arrived, place, asked, until, next });
flat!(
    enum Asked {
        No,
        Parts,
        Put,
    }
);
flat!(
    enum PayloadPlace {
        Sender,
        Kept(part),
        Receive(part),
        Dropped,
    }
);
flat!(struct Chain { first, last });

impl Chain {
    /// Appends a message.
    pub(super) fn push(&mut self, heap: &Heap, messages: &mut Pool<Incoming>, key: MessageKey) {
        messages.get_mut(heap, key).next = MessageKey::NONE;
        match self.last {
            MessageKey::NONE => self.first = key,
            last => messages.get_mut(heap, last).next = key,
        }
        self.last = key;
    }

    /// Removes and returns the first message.
    pub(super) fn pop(&mut self, heap: &Heap, messages: &Pool<Incoming>) -> Option<MessageKey> {
        let first = self.first;
        if first == MessageKey::NONE {
            return None;
        }
        self.first = messages.get(heap, first).next;
        if self.first == MessageKey::NONE {
            self.last = MessageKey::NONE;
        }
        Some(first)
    }
}
