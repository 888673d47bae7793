//! Matches receives and messages, as in MPI. The first posted receive that matches a message takes
//! it, and a receive takes the first arrived message that matches.
//!
//! One hash table holds both queues of all instances. Its key is the triple of space, source and
//! tag that a receive names. A key has posted receives or waiting messages, never both, since they
//! would match each other. A receive without wildcards and a message for it cost one look-up each,
//! for any number of peers.
//!
//! **Wildcards.** A receive from any source or with any tag is posted under a key with [`ANY`] in
//! it. While a space has such receives, a message is looked up under the four keys that match it,
//! and the receive that was posted first takes it. A waiting message is also listed under three
//! keys if its space has such receives, or may have them because it is not open yet. All messages
//! of a space are in one more list, for receives with both wildcards. So each operation takes
//! constant time.

mod list;
#[cfg(test)]
mod tests;

use crate::heap::{self, Flat, Heap, Pool, Table, flat};
use goal_lang::ANY;
use list::{Lists, NONE, Way};

/// A matching space: an instance of a communicator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct SpaceId(u32);

#[derive(Debug, Default)]
struct Space {
    /// True if each waiting message is also listed under the keys with a wildcard.
    lists_all: bool,
    /// The number of posted receives with wildcards.
    posted_wildcards: u32,
    /// The number of the next posted receive.
    postings: u64,
    /// The first and the last waiting message, in the order of their arrival; [`NONE`] if no
    /// message waits.
    first: u32,
    last: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Key {
    space: SpaceId,
    source: u32,
    tag: u32,
}

impl heap::Key for Key {
    #[inline(always)]
    fn words(self) -> (u64, u64) {
        (u64::from(self.space.0) << 32 | u64::from(self.source), self.tag.into())
    }
}

impl Key {
    const fn is_wildcard(self) -> bool {
        self.source == ANY || self.tag == ANY
    }

    /// The keys of the receives that match a message of this key, by [`Way`].
    const fn fitting(self) -> [Key; Way::COUNT] {
        let Key { space, source, tag } = self;
        [
            self,
            Key { space, source, tag: ANY },
            Key { space, source: ANY, tag },
            Key { space, source: ANY, tag: ANY },
        ]
    }
}

/// The queue of a key: the first and the last entry of a list of posted receives or of waiting
/// messages.
#[derive(Debug, Clone, Copy, Default)]
enum Queue {
    /// An empty queue. The table does not keep such entries.
    #[default]
    Empty,
    Posted {
        first: u32,
        last: u32,
    },
    Waiting {
        first: u32,
        last: u32,
    },
}

#[derive(Debug, Default)]
struct Posted<R> {
    receive: R,
    number: u64,
    next: u32,
}

#[derive(Debug, Default)]
struct Waiting<M> {
    message: M,
    key: Key,
    lists_all: bool,
}

flat!(struct SpaceId(a));
flat!(struct Space { lists_all, posted_wildcards, postings, first, last });
flat!(struct Key { space, source, tag });
flat!(enum Queue { Empty, Posted { first, last }, Waiting { first, last } });
flat!(struct Posted<R> { receive, number, next });
flat!(struct Waiting<M> { message, key, lists_all });
flat!(struct Matching<R, M> { queues, spaces, posted, waiting, lists });

/// The queues of one rank, in which receives `R` and messages `M` wait for each other.
#[derive(Debug, Default)]
pub(crate) struct Matching<R, M> {
    queues: Table<Key, Queue>,
    spaces: Pool<Space>,
    posted: Pool<Posted<R>>,
    waiting: Pool<Waiting<M>>,
    lists: Lists,
}

impl<R: Flat + Copy, M: Flat + Copy> Matching<R, M> {
    /// Adds a space that accepts messages only. Until [`Self::open_space`] is called, messages are
    /// also listed for receives with wildcards.
    pub(crate) fn add_space(&mut self, heap: &Heap) -> SpaceId {
        let space =
            Space { lists_all: true, posted_wildcards: 0, postings: 0, first: NONE, last: NONE };
        SpaceId(self.spaces.insert(heap, space))
    }

    /// Allows receives to be posted to the space. `has_wildcards` must be true if any of them has
    /// wildcards.
    pub(crate) fn open_space(&mut self, heap: &Heap, space: SpaceId, has_wildcards: bool) {
        self.spaces.get_mut(heap, space.0).lists_all = has_wildcards;
    }

    /// Removes a space without posted receives. Calls `dropped` with each waiting message, in the
    /// order of their arrival.
    pub(crate) fn remove_space(&mut self, heap: &Heap, space: SpaceId, mut dropped: impl FnMut(M)) {
        loop {
            match self.spaces.get(heap, space.0).first {
                NONE => break,
                first => dropped(self.remove_waiting(heap, first)),
            }
        }
        self.spaces.remove(heap, space.0);
    }

    /// Posts a receive. If messages wait that match it, removes and returns the first one instead.
    #[inline]
    pub(crate) fn post(
        &mut self,
        heap: &Heap,
        space: SpaceId,
        source: u32,
        tag: u32,
        receive: R,
    ) -> Option<M> {
        let key = Key { space, source, tag };
        let state = self.spaces.get_mut(heap, space.0);
        if source == ANY && tag == ANY && state.first != NONE {
            let first = state.first;
            return Some(self.remove_waiting(heap, first));
        }
        let queue = self.queues.entry(heap, key);
        if let Queue::Waiting { first, .. } = *queue {
            return Some(self.remove_waiting(heap, first));
        }
        let new = self.posted.insert(heap, Posted { receive, number: state.postings, next: NONE });
        debug_assert_ne!(new, NONE);
        match queue {
            Queue::Posted { last, .. } => {
                self.posted.get_mut(heap, *last).next = new;
                *last = new;
            }
            _ => *queue = Queue::Posted { first: new, last: new },
        }
        state.postings += 1;
        state.posted_wildcards += u32::from(key.is_wildcard());
        None
    }

    /// Removes and returns the first posted receive that matches a message. Returns `None` if none
    /// matches.
    #[inline]
    pub(crate) fn take_posted(
        &mut self,
        heap: &Heap,
        space: SpaceId,
        source: u32,
        tag: u32,
    ) -> Option<R> {
        let key = Key { space, source, tag };
        if self.spaces.get(heap, space.0).posted_wildcards == 0 {
            return self.pop_posted(heap, key);
        }
        let first = |key: &Key| match self.queues.get(heap, *key) {
            Some(&Queue::Posted { first, .. }) => Some(self.posted.get(heap, first).number),
            _ => None,
        };
        let (_, key) = key
            .fitting()
            .into_iter()
            .filter_map(|key| Some((first(&key)?, key)))
            .min_by_key(|best| best.0)?;
        self.spaces.get_mut(heap, space.0).posted_wildcards -= u32::from(key.is_wildcard());
        self.pop_posted(heap, key)
    }

    /// Keeps a message for which [`Self::take_posted`] found no receive.
    pub(crate) fn keep(&mut self, heap: &Heap, space: SpaceId, source: u32, tag: u32, message: M) {
        let key = Key { space, source, tag };
        let state = self.spaces.get_mut(heap, space.0);
        let lists_all = state.lists_all;
        let id = self.waiting.insert(heap, Waiting { message, key, lists_all });
        self.lists.add(heap, id);
        match state.last {
            NONE => state.first = id,
            last => self.lists.append(heap, Way::Any, last, id),
        }
        state.last = id;
        for way in Way::listed(lists_all) {
            match self.queues.entry(heap, key.fitting()[way as usize]) {
                Queue::Waiting { last, .. } => {
                    self.lists.append(heap, way, *last, id);
                    *last = id;
                }
                Queue::Posted { .. } => unreachable!("a posted receive fits the message"),
                queue @ Queue::Empty => *queue = Queue::Waiting { first: id, last: id },
            }
        }
    }

    fn pop_posted(&mut self, heap: &Heap, key: Key) -> Option<R> {
        let Queue::Posted { first, .. } = self.queues.get_mut(heap, key)? else { return None };
        let taken = self.posted.remove(heap, *first);
        *first = taken.next;
        if taken.next == NONE {
            self.queues.remove(heap, key);
        }
        Some(taken.receive)
    }

    fn remove_waiting(&mut self, heap: &Heap, id: u32) -> M {
        let Waiting { message, key, lists_all } = self.waiting.remove(heap, id);
        let state = self.spaces.get_mut(heap, key.space.0);
        let (before, after) = self.lists.unlink(heap, Way::Any, id);
        if before == NONE {
            state.first = after;
        }
        if after == NONE {
            state.last = before;
        }
        for way in Way::listed(lists_all) {
            let key = key.fitting()[way as usize];
            let (before, after) = self.lists.unlink(heap, way, id);
            if before == NONE && after == NONE {
                self.queues.remove(heap, key);
            } else if let Some(Queue::Waiting { first, last }) = self.queues.get_mut(heap, key) {
                if before == NONE {
                    *first = after;
                }
                if after == NONE {
                    *last = before;
                }
            }
        }
        message
    }
}
