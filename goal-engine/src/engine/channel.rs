//! Receives and messages of schedules without wildcards: a queue for each source and tag that a
//! receive names.
//!
//! Which channels there are is known when a schedule is made ready, so that a message and a receive
//! cost one look at a table that never changes, and an instance that starts again finds its queues
//! empty.

use super::ids::{ChannelId, MessageKey};
use super::incoming::Incoming;
use super::schedule::Schedule;
use crate::heap::{Block, Heap, Pool, flat};

/// No receive behind.
const NONE: u32 = u32::MAX;

/// What waits on a channel: receives for messages, or messages for receives.
#[derive(Debug, Clone, Copy, Default)]
pub(super) enum Queue {
    #[default]
    Empty,
    /// One receive: its action.
    One(u32),
    /// Several receives, linked among the [`Posted`].
    Posted { first: u32, last: u32 },
    /// Messages, linked among themselves.
    Waiting(Chain),
}

/// Messages in the order in which they came, linked by [`Incoming::next`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Chain {
    first: MessageKey,
    last: MessageKey,
}

impl Default for Chain {
    fn default() -> Self {
        Self { first: MessageKey::NONE, last: MessageKey::NONE }
    }
}

/// A receive that is not alone on its channel.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Posted {
    action: u32,
    next: u32,
}

/// The channels of an instance.
#[derive(Debug, Default)]
pub(super) struct Channels {
    queues: Block<Queue>,
    /// Messages that no receive of the schedule fits.
    strays: Chain,
    /// Messages in the queues and among the strays.
    waiting: u32,
}

flat!(enum Queue { Empty, One(part), Posted { first, last }, Waiting(part) });
flat!(struct Chain { first, last });
flat!(struct Posted { action, next });
flat!(struct Channels { queues, strays, waiting });

impl Chain {
    /// Adds a message behind all others.
    pub(super) fn push(&mut self, heap: &Heap, messages: &mut Pool<Incoming>, key: MessageKey) {
        messages.get_mut(heap, key).next = MessageKey::NONE;
        match self.last {
            MessageKey::NONE => self.first = key,
            last => messages.get_mut(heap, last).next = key,
        }
        self.last = key;
    }

    /// Takes the first message.
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

impl Channels {
    /// Queues for the channels of a schedule.
    pub(super) fn new(heap: &Heap, schedule: &Schedule) -> Self {
        Self { queues: Block::new(heap, schedule.channels()), ..Self::default() }
    }

    /// Posts a receive, whose channel there is. The message that it takes, if one waits.
    #[inline]
    pub(super) fn post(
        &mut self,
        heap: &Heap,
        channel: ChannelId,
        action: u32,
        posted: &mut Pool<Posted>,
        messages: &Pool<Incoming>,
    ) -> Option<MessageKey> {
        let queue = &mut self.queues.values_mut(heap)[channel.index()];
        match queue {
            Queue::Empty => *queue = Queue::One(action),
            Queue::One(alone) => {
                let last = posted.insert(heap, Posted { action, next: NONE });
                let first = posted.insert(heap, Posted { action: *alone, next: last });
                *queue = Queue::Posted { first, last };
            }
            Queue::Posted { last, .. } => {
                let new = posted.insert(heap, Posted { action, next: NONE });
                posted.get_mut(heap, *last).next = new;
                *last = new;
            }
            Queue::Waiting(chain) => {
                let message = chain.pop(heap, messages);
                if chain.first == MessageKey::NONE {
                    *queue = Queue::Empty;
                }
                self.waiting -= 1;
                return message;
            }
        }
        None
    }

    /// What waits on a channel.
    #[inline(always)]
    pub(super) fn queue<'a>(&'a mut self, heap: &'a Heap, channel: ChannelId) -> &'a mut Queue {
        &mut self.queues.values_mut(heap)[channel.index()]
    }

    /// Takes the receive that was posted first to a channel.
    #[inline]
    pub(super) fn take_posted(
        &mut self,
        heap: &Heap,
        channel: ChannelId,
        posted: &mut Pool<Posted>,
    ) -> Option<u32> {
        let queue = &mut self.queues.values_mut(heap)[channel.index()];
        match queue {
            Queue::One(action) => {
                let action = *action;
                *queue = Queue::Empty;
                Some(action)
            }
            Queue::Posted { first, .. } => {
                let Posted { action, next } = posted.remove(heap, *first);
                *first = next;
                if next == NONE {
                    *queue = Queue::Empty;
                }
                Some(action)
            }
            Queue::Empty | Queue::Waiting(_) => None,
        }
    }

    /// Keeps a message for which there is no posted receive; `channel` is `None` if there will
    /// never be one.
    pub(super) fn keep(
        &mut self,
        heap: &Heap,
        channel: Option<ChannelId>,
        messages: &mut Pool<Incoming>,
        key: MessageKey,
    ) {
        self.waiting += 1;
        let Some(channel) = channel else { return self.strays.push(heap, messages, key) };
        let queue = &mut self.queues.values_mut(heap)[channel.index()];
        if !matches!(queue, Queue::Waiting(_)) {
            *queue = Queue::Waiting(Chain::default());
        }
        if let Queue::Waiting(chain) = queue {
            chain.push(heap, messages, key);
        }
    }

    /// Whether no message waits.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// Takes out what no receive has taken.
    pub(super) fn drain(
        &mut self,
        heap: &Heap,
        messages: &Pool<Incoming>,
        mut dropped: impl FnMut(MessageKey),
    ) {
        self.waiting = 0;
        while let Some(key) = self.strays.pop(heap, messages) {
            dropped(key);
        }
        for queue in self.queues.values_mut(heap) {
            if let Queue::Waiting(chain) = queue {
                while let Some(key) = chain.pop(heap, messages) {
                    dropped(key);
                }
                *queue = Queue::Empty;
            }
        }
    }

    /// Gives the memory back.
    pub(super) fn release(&mut self, heap: &Heap) {
        self.queues.release(heap);
    }
}
