//! Messages on their way in: matching, and what is kept of messages without a receive.

use super::communicator::Communicator;
use crate::matching::{Matching, SpaceId};
use crate::transport::{Header, Kind};
use goal_lang::limits::KEPT_OVERHEAD;
use rustc_hash::FxHashMap;
use slab::Slab;
use std::collections::VecDeque;

/// A posted receive: an action of an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Receive {
    pub(super) instance: usize,
    pub(super) action: u32,
}

/// A message that is not delivered yet.
#[derive(Debug)]
pub(super) struct Incoming {
    /// Its envelope.
    pub(super) header: Header,
    /// Bytes that have arrived.
    pub(super) arrived: u64,
    pub(super) place: Place,
}

/// Where the bytes of a message are or go.
#[derive(Debug)]
pub(super) enum Place {
    /// With the sender, who waits for a receive.
    Sender,
    /// Here, as there is no receive yet.
    Kept(Vec<u8>),
    /// Into the buffer of a receive.
    Receive(Receive),
    /// Nowhere: the instance is over.
    Dropped,
}

/// All that came in and is not done with.
#[derive(Debug, Default)]
pub(super) struct Arrivals {
    pub(super) matching: Matching<Receive, u32>,
    communicators: FxHashMap<u32, Communicator>,
    pub(super) messages: Slab<Incoming>,
    /// The message whose parts come next from a source.
    pub(super) long: FxHashMap<u32, u32>,
    /// Messages to be read from the memory of their senders.
    pub(super) direct: VecDeque<u32>,
    /// Bytes kept of messages that did not wait with their senders, with an overhead for each.
    kept: u64,
}

impl Arrivals {
    /// The number and the space of an instance that starts now.
    pub(super) fn open(&mut self, communicator: u32, has_wildcards: bool) -> (u32, SpaceId) {
        let communicator = self.communicators.entry(communicator).or_default();
        let (number, space) = communicator.open(|| self.matching.add_space());
        self.matching.open_space(space, has_wildcards);
        (number, space)
    }

    /// Forgets an instance. Tells how many messages for it were left.
    pub(super) fn close(&mut self, communicator: u32, number: u32, space: SpaceId) -> u64 {
        self.communicators.entry(communicator).or_default().close(number);
        let mut left = Vec::new();
        self.matching.remove_space(space, |message| left.push(message));
        for &message in &left {
            let incoming = &mut self.messages[message as usize];
            self.kept -= counted(&incoming.header);
            if is_long_underway(incoming) {
                incoming.place = Place::Dropped;
            } else {
                self.messages.remove(message as usize);
            }
        }
        left.len() as u64
    }

    /// The space that a message belongs to; `None` if its instance is over.
    #[inline]
    pub(super) fn space(&mut self, header: &Header) -> Option<SpaceId> {
        let communicator = self.communicators.entry(header.communicator).or_default();
        communicator.space(header.instance, || self.matching.add_space())
    }

    /// Keeps a message that no receive fits.
    pub(super) fn keep(&mut self, space: SpaceId, header: &Header, place: Place, arrived: u64) -> u32 {
        self.kept += counted(header);
        let key = self.messages.insert(Incoming { header: *header, arrived, place }) as u32;
        self.matching.keep(space, header.source, header.tag, key);
        key
    }

    /// A kept message has found its receive.
    pub(super) fn release(&mut self, header: &Header) {
        self.kept -= counted(header);
    }

    /// Bytes kept now.
    pub(super) fn kept(&self) -> u64 {
        self.kept
    }
}

/// What a message of `size` bytes counts that is kept.
pub(super) fn kept_bytes(size: u64) -> u64 {
    size.saturating_add(KEPT_OVERHEAD)
}

/// What a message counts: nothing where its payload stays with its sender.
fn counted(header: &Header) -> u64 {
    match header.kind() {
        Kind::Rts => 0,
        _ => kept_bytes(header.size),
    }
}

fn is_long_underway(incoming: &Incoming) -> bool {
    matches!(incoming.place, Place::Kept(_)) && incoming.arrived < incoming.header.size
}
