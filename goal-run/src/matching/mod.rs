//! Which receive takes which message, as in MPI: among the posted receives that fit a message the one posted first takes it;
//! among the waiting messages that fit a receive the one that came first is taken.
//!
//! One hash table holds both queues of all instances. Its key is what a receive names: space, source, tag. Under one key there
//! are posted receives or waiting messages, never both, since they would fit each other. A receive without wildcards
//! and a message for it cost one look-up each, whatever the number of peers.
//!
//! **Wildcards.** A receive that names any source or tag is posted under a key with [`ANY`] in it; while a space has such
//! receives a message looks at the four keys that fit it and takes the receive posted first. For receives with wildcards
//! to find messages, a message of a space that has such receives (or that has not been opened, so that nobody
//! knows) is listed under three keys; all messages of a space are in a list, which is what a receive of anything looks at. So each
//! operation takes constant time.

mod list;
#[cfg(test)]
mod tests;

use goal_lang::ANY;
use list::{Lists, Way};
use rustc_hash::FxHashMap;
use slab::Slab;
use std::collections::hash_map::Entry;

/// A matching space: an instance of a communicator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct SpaceId(u32);

#[derive(Debug)]
struct Space {
    /// Messages are listed under the keys with a wildcard too.
    lists_all: bool,
    /// Receives with wildcards that are posted.
    posted_wildcards: u32,
    /// Numbers the posted receives.
    postings: u64,
    /// The ends of the list of messages that wait, in the order in which they came.
    first: u32,
    last: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    space: SpaceId,
    source: u32,
    tag: u32,
}

impl Key {
    const fn is_wildcard(self) -> bool {
        self.source == ANY || self.tag == ANY
    }

    /// The keys of the receives that fit a message of this key, by [`Way`].
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

/// What lies under a key: the ends of a list of posted receives or of waiting messages.
#[derive(Debug, Clone, Copy)]
enum Queue {
    Posted { first: u32, last: u32 },
    Waiting { first: u32, last: u32 },
}

#[derive(Debug)]
struct Posted<R> {
    receive: R,
    number: u64,
    next: u32,
}

#[derive(Debug)]
struct Waiting<M> {
    message: M,
    key: Key,
    lists_all: bool,
}

/// No entry.
const NONE: u32 = u32::MAX;

/// The queues of one rank: receives `R` and messages `M` wait for each other.
#[derive(Debug)]
pub(crate) struct Matching<R, M> {
    queues: FxHashMap<Key, Queue>,
    spaces: Slab<Space>,
    posted: Slab<Posted<R>>,
    waiting: Slab<Waiting<M>>,
    lists: Lists,
}

impl<R, M> Default for Matching<R, M> {
    fn default() -> Self {
        Self {
            queues: FxHashMap::default(),
            spaces: Slab::new(),
            posted: Slab::new(),
            waiting: Slab::new(),
            lists: Lists::default(),
        }
    }
}

impl<R: Copy, M: Copy> Matching<R, M> {
    /// A new space, for messages that come before their receives: it is ready for receives with wildcards.
    pub(crate) fn add_space(&mut self) -> SpaceId {
        let space = Space { lists_all: true, posted_wildcards: 0, postings: 0, first: NONE, last: NONE };
        SpaceId(self.spaces.insert(space) as u32)
    }

    /// From now on receives may be posted to the space; whether some have wildcards is known.
    pub(crate) fn open_space(&mut self, space: SpaceId, has_wildcards: bool) {
        self.spaces[space.0 as usize].lists_all = has_wildcards;
    }

    /// Removes a space to which no receive is posted; gives back the messages that wait in it, in the order in which they
    /// came.
    pub(crate) fn remove_space(&mut self, space: SpaceId, mut dropped: impl FnMut(M)) {
        loop {
            match self.spaces[space.0 as usize].first {
                NONE => break,
                first => dropped(self.remove_waiting(first)),
            }
        }
        self.spaces.remove(space.0 as usize);
    }

    /// Posts a receive. If a message waits that fits it, the first one is taken out and given back.
    #[inline]
    pub(crate) fn post(&mut self, space: SpaceId, source: u32, tag: u32, receive: R) -> Option<M> {
        let key = Key { space, source, tag };
        let state = &mut self.spaces[space.0 as usize];
        if source == ANY && tag == ANY && state.first != NONE {
            let first = state.first;
            return Some(self.remove_waiting(first));
        }
        let number = state.postings;
        let new = match self.queues.entry(key) {
            Entry::Occupied(mut entry) => match entry.get_mut() {
                Queue::Waiting { first, .. } => {
                    let first = *first;
                    return Some(self.remove_waiting(first));
                }
                Queue::Posted { last, .. } => {
                    let new = self.posted.insert(Posted { receive, number, next: NONE }) as u32;
                    self.posted[*last as usize].next = new;
                    *last = new;
                    new
                }
            },
            Entry::Vacant(entry) => {
                let new = self.posted.insert(Posted { receive, number, next: NONE }) as u32;
                entry.insert(Queue::Posted { first: new, last: new });
                new
            }
        };
        debug_assert_ne!(new, NONE);
        state.postings += 1;
        state.posted_wildcards += u32::from(key.is_wildcard());
        None
    }

    /// Takes out the posted receive that a message fits, if there is one.
    #[inline]
    pub(crate) fn take_posted(&mut self, space: SpaceId, source: u32, tag: u32) -> Option<R> {
        let key = Key { space, source, tag };
        if self.spaces[space.0 as usize].posted_wildcards == 0 {
            return self.pop_posted(key);
        }
        let first = |key: &Key| match self.queues.get(key) {
            Some(&Queue::Posted { first, .. }) => Some(self.posted[first as usize].number),
            _ => None,
        };
        let (_, key) = key
            .fitting()
            .into_iter()
            .filter_map(|key| Some((first(&key)?, key)))
            .min_by_key(|best| best.0)?;
        self.spaces[space.0 as usize].posted_wildcards -= u32::from(key.is_wildcard());
        self.pop_posted(key)
    }

    /// Keeps a message for which [`Self::take_posted`] found no receive.
    pub(crate) fn keep(&mut self, space: SpaceId, source: u32, tag: u32, message: M) {
        let key = Key { space, source, tag };
        let state = &mut self.spaces[space.0 as usize];
        let lists_all = state.lists_all;
        let id = self.waiting.insert(Waiting { message, key, lists_all }) as u32;
        self.lists.add(id);
        match state.last {
            NONE => state.first = id,
            last => self.lists.append(Way::Any, last, id),
        }
        state.last = id;
        for way in Way::listed(lists_all) {
            match self.queues.entry(key.fitting()[way as usize]) {
                Entry::Vacant(entry) => {
                    entry.insert(Queue::Waiting { first: id, last: id });
                }
                Entry::Occupied(mut entry) => match entry.get_mut() {
                    Queue::Waiting { last, .. } => {
                        self.lists.append(way, *last, id);
                        *last = id;
                    }
                    Queue::Posted { .. } => unreachable!("a posted receive fits the message"),
                },
            }
        }
    }

    fn pop_posted(&mut self, key: Key) -> Option<R> {
        let Entry::Occupied(mut entry) = self.queues.entry(key) else { return None };
        let Queue::Posted { first, .. } = entry.get_mut() else { return None };
        let taken = self.posted.remove(*first as usize);
        if taken.next == NONE {
            entry.remove();
        } else {
            *first = taken.next;
        }
        Some(taken.receive)
    }

    fn remove_waiting(&mut self, id: u32) -> M {
        let Waiting { message, key, lists_all } = self.waiting.remove(id as usize);
        let state = &mut self.spaces[key.space.0 as usize];
        let (before, after) = self.lists.unlink(Way::Any, id);
        if before == NONE {
            state.first = after;
        }
        if after == NONE {
            state.last = before;
        }
        for way in Way::listed(lists_all) {
            let key = key.fitting()[way as usize];
            let (before, after) = self.lists.unlink(way, id);
            if before == NONE && after == NONE {
                self.queues.remove(&key);
            } else if let Some(Queue::Waiting { first, last }) = self.queues.get_mut(&key) {
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
