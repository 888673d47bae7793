//! Keeps the communicators of a rank, and the places of their collectives.

use crate::tags::{Ids, PLACES, WINDOW};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of `MPI_COMM_WORLD`.
pub const COMM_WORLD: u32 = 0;
/// The number of `MPI_COMM_SELF`.
pub const COMM_SELF: u32 = 1;

/// A communicator whose messages are recorded.
#[derive(Debug)]
pub(crate) struct Communicator {
    /// The number that its members agreed on.
    pub(crate) id: u32,
    /// The rank of this process in the communicator.
    pub(crate) me: u32,
    /// The rank in `MPI_COMM_WORLD` of each member. `None` if the ranks are equal.
    world: Option<Box<[u32]>>,
    size: u32,
    /// A bit for each place, set while a collective has the place.
    taken: [AtomicU64; PLACES as usize / 64],
}

/// The place of a collective among the tags of its communicator. Dropping this frees the place.
#[derive(Debug)]
pub(crate) struct CollectivePlace {
    pub(crate) communicator: Arc<Communicator>,
    number: u32,
}

impl CollectivePlace {
    /// Takes a place. Returns `None` if a collective that has not ended has it.
    fn take(communicator: &Arc<Communicator>, number: u32) -> Option<Self> {
        let bit = 1 << (number % 64);
        // Relaxed: the recorder's lock protects all calls.
        let before = communicator.taken[number as usize / 64].fetch_or(bit, Ordering::Relaxed);
        (before & bit == 0).then(|| Self { communicator: Arc::clone(communicator), number })
    }

    pub(crate) fn number(&self) -> u32 {
        self.number
    }
}

impl Drop for CollectivePlace {
    fn drop(&mut self) {
        let bit = 1 << (self.number % 64);
        let word = &self.communicator.taken[self.number as usize / 64];
        word.fetch_and(!bit, Ordering::Relaxed);
    }
}

impl Communicator {
    pub(crate) fn size(&self) -> u32 {
        self.size
    }

    /// Returns the rank in `MPI_COMM_WORLD` of a member. Returns `None` if there is no such member.
    pub(crate) fn world(&self, rank: u32) -> Option<u32> {
        match &self.world {
            Some(world) => world.get(rank as usize).copied(),
            None => (rank < self.size).then_some(rank),
        }
    }
}

struct Entry {
    communicator: Arc<Communicator>,
    /// The numbers of persistent and of other collectives so far.
    persistent: u64,
    others: u64,
}

/// The reason why a collective has no place.
pub(crate) enum NoPlace {
    /// The communicator is not recorded.
    Communicator,
    /// An earlier collective that has not ended has the place.
    Taken,
}

/// The communicators by their MPI handles. An operation in progress keeps its communicator after it
/// is freed.
pub(crate) struct Communicators {
    entries: FxHashMap<u64, Entry>,
    /// The communicators that are freed but may have operations in progress.
    freed: Vec<Arc<Communicator>>,
    ids: Ids,
}

impl Communicators {
    pub(crate) fn new(ids_max: u32) -> Self {
        Self { entries: FxHashMap::default(), freed: Vec::new(), ids: Ids::new(ids_max) }
    }

    /// Returns the set of numbers that are free at this rank. The number of a communicator becomes
    /// free when the communicator is freed and its operations have ended.
    pub(crate) fn free_ids(&mut self) -> &[u64] {
        let ids = &mut self.ids;
        self.freed.retain(|communicator| {
            let is_used = Arc::strong_count(communicator) > 1;
            if !is_used {
                ids.give_back(communicator.id);
            }
            is_used
        });
        self.ids.words()
    }

    pub(crate) fn is_free(&self, id: u32) -> bool {
        self.ids.has(id)
    }

    /// Adds a communicator whose members agreed on `id`. `world` has the rank of each member in
    /// `MPI_COMM_WORLD`.
    pub(crate) fn add(&mut self, handle: u64, id: u32, me: u32, world: &[u32]) {
        self.ids.take(id);
        let is_world = world.iter().enumerate().all(|(at, &rank)| at as u32 == rank);
        let size = world.len() as u32;
        let world = (!is_world).then(|| world.into());
        let taken = Default::default();
        let communicator = Arc::new(Communicator { id, me, world, size, taken });
        let entry = Entry { communicator, persistent: 0, others: 0 };
        // A communicator that another thread is freeing may still have this handle.
        if let Some(before) = self.entries.insert(handle, entry) {
            self.freed.push(before.communicator);
        }
    }

    /// Forgets a communicator that is being freed.
    pub(crate) fn remove(&mut self, handle: u64) {
        if let Some(entry) = self.entries.remove(&handle) {
            self.freed.push(entry.communicator);
        }
    }

    pub(crate) fn find(&self, handle: u64) -> Option<&Arc<Communicator>> {
        self.entries.get(&handle).map(|entry| &entry.communicator)
    }

    /// Counts a collective that begins on a communicator, or is prepared as persistent. Returns its
    /// place.
    pub(crate) fn begin(
        &mut self,
        handle: u64,
        is_persistent: bool,
    ) -> Result<CollectivePlace, NoPlace> {
        let entry = self.entries.get_mut(&handle).ok_or(NoPlace::Communicator)?;
        let (count, first) = match is_persistent {
            false => (&mut entry.others, 0),
            true => (&mut entry.persistent, WINDOW),
        };
        let number = first + (*count % u64::from(WINDOW)) as u32;
        *count += 1;
        CollectivePlace::take(&entry.communicator, number).ok_or(NoPlace::Taken)
    }
}
