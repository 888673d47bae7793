//! The communicators of a rank.

use crate::tags::Ids;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

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
    /// The non-blocking collectives that have not ended.
    pub(crate) outstanding: AtomicU32,
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

    /// Ends a non-blocking collective.
    pub(crate) fn end_one(&self) {
        self.outstanding.fetch_sub(1, Ordering::Relaxed);
    }
}

struct Entry {
    communicator: Arc<Communicator>,
    /// The collectives so far.
    sequence: u64,
}

/// The communicators by MPI's handle. Operations that are under way keep theirs after it is freed.
pub(crate) struct Communicators {
    entries: FxHashMap<u64, Entry>,
    ids: Ids,
}

impl Communicators {
    pub(crate) fn new(ids_max: u32) -> Self {
        Self { entries: FxHashMap::default(), ids: Ids::new(ids_max) }
    }

    /// Returns the numbers that are free at this rank.
    pub(crate) fn free_ids(&self) -> &[u64] {
        self.ids.words()
    }

    /// Adds a communicator whose members agreed on `id`. `world` has the rank of each member in
    /// `MPI_COMM_WORLD`.
    pub(crate) fn add(&mut self, handle: u64, id: u32, me: u32, world: &[u32]) {
        self.ids.take(id);
        let is_world = world.iter().enumerate().all(|(at, &rank)| at as u32 == rank);
        let size = world.len() as u32;
        let world = (!is_world).then(|| world.into());
        let outstanding = AtomicU32::new(0);
        let communicator = Arc::new(Communicator { id, me, world, size, outstanding });
        self.entries.insert(handle, Entry { communicator, sequence: 0 });
    }

    /// Forgets a communicator that is being freed.
    pub(crate) fn remove(&mut self, handle: u64) {
        if let Some(entry) = self.entries.remove(&handle) {
            self.ids.give_back(entry.communicator.id);
        }
    }

    pub(crate) fn find(&self, handle: u64) -> Option<&Arc<Communicator>> {
        self.entries.get(&handle).map(|entry| &entry.communicator)
    }

    /// Returns a communicator and the number of the collective that begins on it.
    pub(crate) fn begin(&mut self, handle: u64) -> Option<(Arc<Communicator>, u64)> {
        let entry = self.entries.get_mut(&handle)?;
        entry.sequence += 1;
        Some((Arc::clone(&entry.communicator), entry.sequence - 1))
    }
}
