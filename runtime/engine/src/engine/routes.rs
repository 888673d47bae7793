//! The numbers of a schedule's channels and destinations, computed once per schedule.

use super::ids::{ChannelId, DestinationId, Rank};
use super::lookup::Lookup;
use crate::seed::Seed;
use goal_lang::ANY;

/// Numbers the pairs of source and tag that receives name, and the ranks that sends name.
#[derive(Debug)]
pub(super) struct Routes {
    /// The numbers of the pairs of source and tag; empty if a receive has wildcards.
    channels: Lookup,
    destinations: Lookup,
    has_wildcards: bool,
}

impl Routes {
    /// Creates a table without routes.
    pub(super) fn new(seed: Seed) -> Self {
        let (channels, destinations) = (Lookup::new(seed), Lookup::new(seed));
        Self { channels, destinations, has_wildcards: false }
    }

    /// Adds the channel of a receive.
    pub(super) fn add_receive(&mut self, source: u32, tag: u32) {
        if !self.has_wildcards && (source == ANY || tag == ANY) {
            self.has_wildcards = true;
            self.channels.clear();
        }
        if !self.has_wildcards {
            self.channels.add(channel_key(source, tag));
        }
    }

    /// Adds the destination of a send.
    pub(super) fn add_send(&mut self, Rank(to): Rank) {
        self.destinations.add(to.into());
    }

    /// Returns true if a receive takes any source or any tag.
    pub(super) fn has_wildcards(&self) -> bool {
        self.has_wildcards
    }

    /// Returns the number of channels; 0 if a receive has wildcards.
    pub(super) fn channels(&self) -> usize {
        self.channels.len()
    }

    /// Returns the number of the channel with this source and tag; `None` if no receive names them.
    #[inline]
    pub(super) fn channel(&self, source: u32, tag: u32) -> Option<ChannelId> {
        self.channels.get(channel_key(source, tag)).map(ChannelId)
    }

    /// Returns the number of ranks that sends name.
    pub(super) fn destinations(&self) -> usize {
        self.destinations.len()
    }

    /// Returns the number of a destination; `None` if no send names this rank.
    #[inline]
    pub(super) fn destination(&self, to: Rank) -> Option<DestinationId> {
        self.destinations.get(to.0.into()).map(DestinationId)
    }
}

/// Returns the key of a channel in the table of channels.
#[inline]
const fn channel_key(source: u32, tag: u32) -> u64 {
    (source as u64) << 32 | tag as u64
}
