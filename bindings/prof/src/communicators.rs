//! The communicators of a rank.

use crate::tags::{Ids, PLACES, WINDOW};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of `MPI_COMM_WORLD`.
pub const COMM_WORLD: u32 = 0;
/// The number of `MPI_COMM_SELF`.
pub const COMM_SELF: u32 = 1;

/// A communicator that is followed.
#[derive(Debug)]
pub(crate) struct Communicator {
    /// The number that its members agreed on.
    pub(crate) id: u32,
    /// The rank of this process in it.
    pub(crate) me: u32,
    /// The ranks of its members in `MPI_COMM_WORLD`; `None` if they are the same.
    world: Option<Box<[u32]>>,
    size: u32,
    /// The places of collectives that are taken, a bit each.
    taken: [AtomicU64; PLACES as usize / 64],
}

/// The place of a collective among the tags of its communicator. Dropping this gives it back.
#[derive(Debug)]
pub(crate) struct CollectivePlace {
    pub(crate) communicator: Arc<Communicator>,
    number: u32,
}

impl CollectivePlace {
    /// Returns `None` if a collective has the place that has not ended.
    fn take(communicator: &Arc<Communicator>, number: u32) -> Option<Self> {
        let bit = 1 << (number % 64);
        // Relaxed: all calls have the lock of the recorder.
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

    /// Returns the rank in `MPI_COMM_WORLD`; `None` for one that there is not.
    pub(crate) fn world(&self, rank: u32) -> Option<u32> {
        match &self.world {
            Some(world) => world.get(rank as usize).copied(),
            None => (rank < self.size).then_some(rank),
        }
    }
}

struct Entry {
    communicator: Arc<Communicator>,
    /// The collectives so far: the persistent ones, and the others.
    persistent: u64,
    others: u64,
}

/// The reason why a collective has no place.
pub(crate) enum NoPlace {
    /// The communicator is not followed.
    Communicator,
    /// A collective that has not ended has the place.
    Taken,
}

/// The communicators by MPI's handle. Operations that are under way keep theirs after it is freed.
pub(crate) struct Communicators {
    entries: FxHashMap<u64, Entry>,
    /// Those that are freed, and whose operations may be under way.
    freed: Vec<Arc<Communicator>>,
    ids: Ids,
}

impl Communicators {
    pub(crate) fn new(ids_max: u32) -> Self {
        Self { entries: FxHashMap::default(), freed: Vec::new(), ids: Ids::new(ids_max) }
    }

    /// Returns the numbers that are free at this rank. That of a communicator is free when it is
    /// freed and its operations have ended.
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
        // One that another thread frees may still have the handle.
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

    /// Counts a collective that begins on a communicator, or is prepared. Returns its place.
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
