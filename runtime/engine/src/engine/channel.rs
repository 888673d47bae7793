//! Matching for schedules without wildcards: one queue for each source and tag that a receive
//! names.
//!
//! The channels are computed once per schedule. So a message or a receive costs one look-up in a
//! constant table, and an instance that starts again reuses its empty queues.

use super::ids::{Action, ChannelId, MessageKey};
use super::incoming::{Chain, Incoming};
use super::routes::Routes;
use crate::heap::{Block, Heap, Pool, flat};

/// The end of a list of posted receives.
const NONE: u32 = u32::MAX;

/// The queue of a channel: posted receives, or messages that arrived first.
#[derive(Debug, Clone, Copy, Default)]
pub(super) enum Queue {
    #[default]
    Empty,
    /// One receive: its action.
    One(Action),
    /// Several receives, linked by [`Posted::next`].
    Posted { first: u32, last: u32 },
    /// Messages that wait for a receive.
    Waiting(Chain),
}

/// A posted receive on a channel that has several.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Posted {
    action: Action,
    next: u32,
}

/// The channels of an instance.
#[derive(Debug, Default)]
pub(super) struct Channels {
    queues: Block<Queue>,
    /// Messages that no receive of the schedule matches.
    strays: Chain,
    /// The number of messages in the queues and among the strays.
    waiting: u32,
    /// The channel that was looked up last. Most often the next message is on the same channel.
    last: Known,
}

/// A channel that was looked up.
#[derive(Debug, Clone, Copy, Default)]
struct Known {
    source: u32,
    tag: u32,
    /// `None` if nothing was looked up yet.
    channel: Option<ChannelId>,
}

flat!(enum Queue { Empty, One(part), Posted { first, last }, Waiting(part) });
flat!(struct Posted { action, next });
flat!(struct Channels { queues, strays, waiting, last });
flat!(struct Known { source, tag, channel });

impl Channels {
    /// Creates the queues for the channels of a schedule.
    pub(super) fn new(heap: &Heap, channels: usize) -> Self {
        Self { queues: Block::new(heap, channels), ..Self::default() }
    }

    /// Posts a receive to its channel. Returns the message that it takes, if one waits.
    #[inline]
    pub(super) fn post(
        &mut self,
        heap: &Heap,
        channel: ChannelId,
        action: Action,
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

    /// Returns the number of the channel with this source and tag; `None` if no receive names them.
    /// `routes` must belong to the schedule of the instance.
    #[inline(always)]
    pub(super) fn number(&mut self, routes: &Routes, source: u32, tag: u32) -> Option<ChannelId> {
        if self.last.source != source || self.last.tag != tag || self.last.channel.is_none() {
            self.last = Known { source, tag, channel: routes.channel(source, tag) };
        }
        self.last.channel
    }

    /// Returns the queue of a channel.
    #[inline(always)]
    pub(super) fn queue<'a>(&'a mut self, heap: &'a Heap, channel: ChannelId) -> &'a mut Queue {
        &mut self.queues.values_mut(heap)[channel.index()]
    }

    /// Removes and returns the receive that was posted first to a channel.
    #[inline]
    pub(super) fn take_posted(
        &mut self,
        heap: &Heap,
        channel: ChannelId,
        posted: &mut Pool<Posted>,
    ) -> Option<Action> {
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

    /// Keeps a message for which no receive is posted. `channel` is `None` if no receive of the
    /// schedule matches it.
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

    /// Returns true if no message waits.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// Removes all messages that no receive has taken, and calls `dropped` with each.
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

    /// Frees the memory.
    pub(super) fn release(&mut self, heap: &Heap) {
        self.queues.release(heap);
    }
}
