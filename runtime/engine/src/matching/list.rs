//! The doubly linked lists that contain a waiting message: one for each kind of receive that may
//! take it.

use crate::heap::{Block, Heap, flat};

/// No entry.
pub(super) const NONE: u32 = u32::MAX;

/// The kinds of receives that match a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// The receive names the source and the tag.
    Exact = 0,
    /// The receive names the source and takes any tag.
    AnyTag = 1,
    /// The receive names the tag and takes any source.
    AnySource = 2,
    /// The receive takes any message. This list has all messages of a space.
    Any = 3,
}

impl Way {
    pub(super) const COUNT: usize = 4;

    /// Returns the lists by key that contain a message: the exact list, and with `all` also the two
    /// with one wildcard. The list of its space contains the message too.
    pub(super) fn listed(all: bool) -> impl Iterator<Item = Way> {
        [Way::Exact, Way::AnyTag, Way::AnySource].into_iter().take(if all { 3 } else { 1 })
    }
}

#[derive(Debug, Clone, Copy)]
struct Links {
    before: u32,
    after: u32,
}

impl Default for Links {
    fn default() -> Self {
        Self { before: NONE, after: NONE }
    }
}

/// The links of all waiting messages, by the number of the message.
#[derive(Debug, Default)]
pub(super) struct Lists(Block<[Links; Way::COUNT]>);

flat!(struct Links { before, after });
flat!(struct Lists(a));

impl Lists {
    /// Adds the links of a message that is in no list.
    pub(super) fn add(&mut self, heap: &Heap, id: u32) {
        let id = id as usize;
        if id >= self.0.len() {
            self.0.grow(heap, 2 * id + 1);
        }
        self.0.values_mut(heap)[id] = Default::default();
    }

    /// Puts message `id` behind message `last` in the list `way`.
    pub(super) fn append(&mut self, heap: &Heap, way: Way, last: u32, id: u32) {
        let links = self.0.values_mut(heap);
        links[last as usize][way as usize].after = id;
        links[id as usize][way as usize].before = last;
    }

    /// Removes message `id` from the list `way`, and returns its former neighbours in it.
    pub(super) fn unlink(&mut self, heap: &Heap, way: Way, id: u32) -> (u32, u32) {
        let links = self.0.values_mut(heap);
        let Links { before, after } = links[id as usize][way as usize];
        if before != NONE {
            links[before as usize][way as usize].after = after;
        }
        if after != NONE {
            links[after as usize][way as usize].before = before;
        }
        (before, after)
    }
}
