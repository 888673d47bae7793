//! A rank's section, made ready to be started any number of times.

use super::ids::{ChannelId, DestinationId, Rank};
use super::lookup::Lookup;
use super::steps::Steps;
use super::window::Board;
use crate::seed::Seed;
use goal_asm::Nisa;
use goal_asm::nisa::{Operation, Section};
use goal_lang::ANY;
use std::ops::Range;
use std::sync::Arc;

/// One rank's verified schedule. It is immutable: any number of instances can run it, also at the
/// same time.
#[derive(Debug)]
pub struct Schedule {
    nisa: Arc<Nisa>,
    rank: u32,
    /// The place of its section in the file.
    range: Range<usize>,
    /// Bytes of memory and of scratch memory.
    memory: u64,
    scratch: u64,
    /// The initial values of an instance's counters.
    counters: Vec<u16>,
    actions: u32,
    has_wildcards: bool,
    asks_time: bool,
    calls_functions: bool,
    /// Numbers each pair of source and tag that a receive names.
    channels: Lookup,
    /// Numbers each rank that a send names.
    destinations: Lookup,
    /// Its actions, decoded, if it is short.
    steps: Option<Steps>,
}

/// The sizes of the state of one instance, in elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StateSizes {
    /// Counters, `u16` each.
    pub counters: usize,
    /// Words of the bitmap of ended actions, `u64` each.
    pub finished: usize,
    /// Entries of the record of matches, `u64` each.
    pub matches: usize,
}

impl StateSizes {
    /// The sizes for an instance of a section.
    pub fn of(section: Section<'_>) -> Self {
        let slots = section.bytes().len().div_ceil(SLOT_BYTES as usize);
        Self { counters: slots, finished: slots.div_ceil(64), matches: slots }
    }

    /// The sizes for an instance in a window of `size` actions.
    pub fn in_window(size: u32) -> Self {
        Self { counters: size as usize, finished: Board::new(size).words(), matches: 0 }
    }
}

/// The smallest action, a `nop` without dependents, takes 8 bytes: no two actions share a slot.
const SLOT_BYTES: u32 = 8;

/// The index of the action at `offset` in the counters, in the bitmap and in the record of matches.
#[inline]
pub(super) const fn slot(offset: u32) -> usize {
    (offset / SLOT_BYTES) as usize
}

impl Schedule {
    /// Prepares the schedule of `rank` in one walk over its section. `seed` is for its hash tables,
    /// like [`Options::seed`](super::Options::seed).
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn new(nisa: Arc<Nisa>, rank: u32, seed: Seed) -> Self {
        let section = nisa.section(rank);
        let mut counters = vec![0; section.bytes().len().div_ceil(SLOT_BYTES as usize)];
        let (mut has_wildcards, mut asks_time, mut calls_functions) = (false, false, false);
        let (mut channels, mut destinations) = (Lookup::new(seed), Lookup::new(seed));
        for (offset, record) in section.records() {
            counters[slot(offset)] = record.sources;
            match record.operation() {
                Operation::Recv { peer, tag, .. } => {
                    has_wildcards |= peer == ANY || tag == ANY;
                    channels.add(channel_key(peer, tag));
                }
                Operation::Send { peer, .. } => destinations.add(peer.into()),
                Operation::Calc { .. } | Operation::Wtime { .. } => asks_time = true,
                Operation::User { .. } => calls_functions = true,
                _ => {}
            }
        }
        let actions = nisa.num_actions(nisa.section_id(rank));
        let range = nisa.section_range(nisa.section_id(rank));
        let (memory, scratch) = (nisa.memory_size(rank), nisa.scratch_size(rank));
        if has_wildcards {
            channels = Lookup::new(seed);
        }
        let mut schedule = Self {
            nisa,
            rank,
            range,
            memory,
            scratch,
            counters,
            actions,
            has_wildcards,
            asks_time,
            calls_functions,
            channels,
            destinations,
            steps: None,
        };
        schedule.steps = Steps::new(&schedule);
        schedule
    }

    /// The same schedule without decoded actions, even if it is short.
    #[cfg(test)]
    pub(super) fn in_place(self) -> Self {
        Self { steps: None, ..self }
    }

    /// The rank that it is for.
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// The file that it is from.
    pub fn nisa(&self) -> &Arc<Nisa> {
        &self.nisa
    }

    /// The section.
    #[inline]
    pub fn section(&self) -> Section<'_> {
        self.nisa.section_in(self.range.clone())
    }

    /// Bytes of memory that an instance needs.
    pub fn memory_size(&self) -> u64 {
        self.memory
    }

    /// Bytes of scratch memory that an instance needs.
    pub fn scratch_size(&self) -> u64 {
        self.scratch
    }

    /// Number of actions.
    pub fn actions(&self) -> u32 {
        self.actions
    }

    /// Returns true if an action depends on the time that is passed to
    /// [`poll`](super::Engine::poll).
    pub fn asks_time(&self) -> bool {
        self.asks_time
    }

    /// Returns true if an action calls a registered function, which only its own process has.
    pub(super) fn calls_functions(&self) -> bool {
        self.calls_functions
    }

    /// A number that is equal for two schedules only if they are the same (a hash). It is not 0.
    pub(super) fn name(&self) -> u64 {
        let mut hasher = blake3::Hasher::new();
        for number in [self.rank.into(), self.memory, self.scratch] {
            hasher.update(&number.to_le_bytes());
        }
        let hash = *hasher.update(self.section().bytes()).finalize().as_bytes();
        u64::from_le_bytes(*hash.first_chunk().expect("32 bytes")) | 1
    }

    /// The sizes of the state of an instance.
    pub fn state_sizes(&self) -> StateSizes {
        StateSizes::of(self.section())
    }

    /// The number of channels; 0 if a receive has wildcards.
    pub(super) fn channels(&self) -> usize {
        self.channels.len()
    }

    /// The number of the channel with this source and tag; `None` if no receive names them.
    #[inline]
    pub(super) fn channel(&self, source: u32, tag: u32) -> Option<ChannelId> {
        self.channels.get(channel_key(source, tag)).map(ChannelId)
    }

    /// Number of ranks that sends name.
    pub(super) fn destinations(&self) -> usize {
        self.destinations.len()
    }

    /// The number of a rank that a send names.
    #[inline]
    pub(super) fn destination(&self, to: Rank) -> Option<DestinationId> {
        self.destinations.get(to.0.into()).map(DestinationId)
    }

    /// Its decoded actions; `None` if it is long, or if a receive has wildcards.
    #[inline]
    pub(super) fn steps(&self) -> Option<&Steps> {
        self.steps.as_ref()
    }

    #[inline]
    pub(super) fn initial_counters(&self) -> &[u16] {
        &self.counters
    }

    /// Returns true if a receive takes any source or any tag.
    pub(super) fn has_wildcards(&self) -> bool {
        self.has_wildcards
    }
}

/// The key of a channel in its table.
#[inline]
const fn channel_key(source: u32, tag: u32) -> u64 {
    (source as u64) << 32 | tag as u64
}
