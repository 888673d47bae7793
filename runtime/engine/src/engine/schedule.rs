//! A schedule: a rank's section, prepared once so that it can be started any number of times.

use super::board::WindowState;
use super::ids::{Action, Rank, SLOT_BYTES};
use super::routes::Routes;
use super::steps::{self, Steps};

use crate::seed::Seed;
use goal_asm::Nisa;
use goal_asm::nisa::{Operation, Section};
use std::ops::Range;
use std::sync::Arc;

/// One rank's verified schedule. It is immutable: any number of instances can run it, also at the
/// same time.
///
/// Buffers are checked against the instance's memory, and against each other, where they become
/// slices. Counters and records are slices, whose indices are checked in release builds too. The
/// verifier guarantees that each action starts and ends once. So bytes that no verifier has seen
/// need the unsafe [`Nisa::load_trusted`].
#[derive(Debug)]
pub struct Schedule {
    nisa: Arc<Nisa>,
    rank: u32,
    /// The place of the rank's section in the file.
    range: Range<usize>,
    /// The bytes of memory, and of scratch memory, that an instance needs.
    memory: u64,
    scratch: u64,
    /// The lengths of the buffers in memory; empty if memory is one region.
    buffers: Vec<u64>,
    /// The initial values of an instance's counters.
    counters: Vec<u16>,
    actions: u32,
    asks_time: bool,
    calls_functions: bool,
    /// The numbers of the schedule's channels and destinations.
    routes: Routes,
    /// The decoded actions; `None` if the schedule runs from its section.
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
    /// Returns the sizes for an instance of a whole section.
    pub fn from_section(section: Section<'_>) -> Self {
        let slots = section.bytes().len().div_ceil(SLOT_BYTES as usize);
        Self { counters: slots, finished: slots.div_ceil(64), matches: slots }
    }

    /// Returns the sizes for an instance in a window of `size` actions.
    pub fn in_window(size: u32) -> Self {
        Self { counters: size as usize, finished: WindowState::new(size).words(), matches: 0 }
    }
}

impl Schedule {
    /// Prepares the schedule of `rank`. `seed` is for its hash tables,
    /// like [`Options::seed`](super::Options::seed).
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn new(nisa: Arc<Nisa>, rank: u32, seed: Seed) -> Self {
        Self::prepare(nisa, rank, seed, steps::BYTES_MAX)
    }

    /// Prepares the schedule of `rank` for another process, which acts for that rank. A long
    /// schedule then takes less memory and executes more slowly, because a process may act for many
    /// ranks.
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn for_helper(nisa: Arc<Nisa>, rank: u32, seed: Seed) -> Self {
        Self::prepare(nisa, rank, seed, steps::HELPER_BYTES_MAX)
    }

    /// Prepares the schedule of `rank`. Its actions are decoded if the section has at most
    /// `decoded_max` bytes.
    fn prepare(nisa: Arc<Nisa>, rank: u32, seed: Seed, decoded_max: usize) -> Self {
        let section = nisa.section(rank);
        let mut counters = vec![0; section.bytes().len().div_ceil(SLOT_BYTES as usize)];
        let (mut asks_time, mut calls_functions) = (false, false);
        let mut routes = Routes::new(seed);
        for (offset, record) in section.records() {
            counters[Action(offset).slot()] = record.sources;
            match record.operation() {
                Operation::Recv { peer, tag, .. } => routes.add_receive(peer, tag),
                Operation::Send { peer, .. } => routes.add_send(Rank(peer)),
                Operation::Calc { .. } | Operation::Wtime { .. } => asks_time = true,
                Operation::User { .. } => calls_functions = true,
                _ => {}
            }
        }
        let actions = nisa.num_actions(nisa.section_id(rank));
        let range = nisa.section_range(nisa.section_id(rank));
        let (memory, scratch) = (nisa.memory_size(rank), nisa.scratch_size(rank));
        let steps = (section.bytes().len() <= decoded_max)
            .then(|| Steps::new(section, actions, &routes))
            .flatten();
        let buffers = nisa.buffers(rank).collect();
        Self {
            nisa,
            rank,
            range,
            memory,
            scratch,
            buffers,
            counters,
            actions,
            asks_time,
            calls_functions,
            routes,
            steps,
        }
    }

    /// Returns the schedule without its decoded actions: it runs from its section.
    #[cfg(test)]
    pub(super) fn in_place(self) -> Self {
        Self { steps: None, ..self }
    }

    /// Returns the rank that executes the schedule.
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// Returns the NISA file that the schedule is from.
    pub fn nisa(&self) -> &Arc<Nisa> {
        &self.nisa
    }

    /// Returns the rank's section of the file.
    #[inline]
    pub fn section(&self) -> Section<'_> {
        self.nisa.section_in(self.range.clone())
    }

    /// Returns the bytes of memory that an instance needs.
    pub fn memory_size(&self) -> u64 {
        self.memory
    }

    /// Returns the length of each buffer that an instance needs, by number. Returns an empty list
    /// if memory is one region.
    pub fn buffers(&self) -> &[u64] {
        &self.buffers
    }

    /// Returns the bytes of scratch memory that an instance needs.
    pub fn scratch_size(&self) -> u64 {
        self.scratch
    }

    /// Returns the number of actions.
    pub fn actions(&self) -> u32 {
        self.actions
    }

    /// Returns true if an action depends on the time that is passed to
    /// [`poll`](super::Engine::poll).
    pub fn asks_time(&self) -> bool {
        self.asks_time
    }

    /// Returns true if an action calls a registered function. Only the process of the rank has
    /// these functions.
    pub(super) fn calls_functions(&self) -> bool {
        self.calls_functions
    }

    /// Returns a hash of the schedule, which is not 0. Two schedules with the same hash are the
    /// same.
    pub(super) fn name(&self) -> u64 {
        let mut hasher = blake3::Hasher::new();
        for number in [self.rank.into(), self.memory, self.scratch, self.buffers.len() as u64] {
            hasher.update(&number.to_le_bytes());
        }
        for length in &self.buffers {
            hasher.update(&length.to_le_bytes());
        }
        let hash = *hasher.update(self.section().bytes()).finalize().as_bytes();
        u64::from_le_bytes(*hash.first_chunk().expect("32 bytes")) | 1
    }

    /// Returns the sizes of the state of an instance.
    pub fn state_sizes(&self) -> StateSizes {
        StateSizes::from_section(self.section())
    }

    /// Returns the numbers of the schedule's channels and destinations.
    #[inline]
    pub(super) fn routes(&self) -> &Routes {
        &self.routes
    }

    /// Returns the decoded actions; `None` if the schedule is very long, or if a receive has
    /// wildcards.
    #[inline]
    pub(super) fn steps(&self) -> Option<&Steps> {
        self.steps.as_ref()
    }

    #[inline]
    pub(super) fn initial_counters(&self) -> &[u16] {
        &self.counters
    }
}
