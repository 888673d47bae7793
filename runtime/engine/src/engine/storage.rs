//! The storage of an instance: its memory and counters, which the caller provides.
#![allow(unsafe_code)] // references to memory that a storage has to itself

use super::home::Home;
use super::home::Memory;
use super::schedule::{Schedule, StateSizes};
use super::window::Windowed;
use super::{Engine, Handle};
use crate::memory::{Cells, Region, Zeroed};
use crate::transport::Transport;
use goal_asm::Nisa;
use std::any::Any;
use std::fmt;
use std::marker::PhantomData;

/// The parts of a [`Storage`] in memory that the caller provides, a shared segment for example.
#[derive(Debug)]
pub struct Areas {
    /// The rank's memory, if it is one region: at least
    /// [`Nisa::memory_size`](goal_asm::Nisa::memory_size) bytes. Peers may read it directly if the
    /// transport can export it.
    pub memory: Region,
    /// The rank's memory, if it is a table of buffers; otherwise empty. Each buffer has at least
    /// the length that [`Nisa::buffers`](goal_asm::Nisa::buffers) states.
    pub buffers: Vec<Region>,
    /// Scratch memory: at least [`Nisa::scratch_size`](goal_asm::Nisa::scratch_size) bytes.
    pub scratch: Region,
    /// For each action, at its slot, the number of dependencies that it waits for. The slot of an
    /// action is its offset in the section divided by 8.
    pub counters: Cells<u16>,
    /// One bit per action, at its slot, set when the action has ended.
    pub finished: Cells<u64>,
    /// The record of matches: the message of each send and receive. `None` if no record is kept.
    /// The entry at the slot of a send is the number of its message among those of the instance to
    /// that rank, plus 1. The entry of a receive is source rank `<< 32` + number of the message
    /// among those from that rank + 1. Other entries are 0.
    pub matches: Option<Cells<u64>>,
}

/// The panic message of functions that need memory for an instance and return no error.
const IS_ROOM: &str = "memory for an instance";

/// The memory and the counters of an instance. The engine owns it from
/// [`start`](super::Engine::start) until [`finish`](super::Engine::finish) returns it.
pub struct Storage<'m> {
    pub(super) home: Box<Home>,
    lent: PhantomData<&'m mut [u8]>,
}

impl fmt::Debug for Storage<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.home.fmt(f)
    }
}

impl Storage<'static> {
    /// Allocates storage for an instance of `schedule`. The memory starts as the program says:
    /// zeros and its initial values. Buffers lie in it as in
    /// [`flat_offsets`](goal_lang::flat_offsets).
    ///
    /// # Panics
    /// If there is no memory.
    pub fn new(schedule: &Schedule) -> Self {
        Self::try_new(schedule).expect(IS_ROOM)
    }

    /// Allocates storage as [`Storage::new`] does. Returns `None` if there is no memory.
    pub fn try_new(schedule: &Schedule) -> Option<Self> {
        Self::from_schedule(schedule, false)
    }

    /// Allocates storage as [`Storage::new`] does, with a record of matches: see
    /// [`Storage::matches`].
    ///
    /// # Panics
    /// If there is no memory.
    pub fn recording(schedule: &Schedule) -> Self {
        Self::from_schedule(schedule, true).expect(IS_ROOM)
    }

    fn from_schedule(schedule: &Schedule, records: bool) -> Option<Self> {
        let (memory, scratch) = (schedule.memory_size(), schedule.scratch_size());
        let buffers = schedule.buffers();
        let sizes = schedule.state_sizes();
        let mut storage = Self::from_sizes(memory, buffers, scratch, sizes, records)?;
        storage.store_image(schedule.nisa(), schedule.rank());
        Some(storage)
    }

    /// Allocates storage, all zeros, for an instance in a window.
    ///
    /// # Panics
    /// If there is no memory.
    pub fn in_window(windowed: &Windowed) -> Self {
        let sizes = StateSizes::in_window(windowed.size);
        Self::from_sizes(windowed.memory, &[], windowed.place.scratch, sizes, false).expect(IS_ROOM)
    }

    fn from_sizes(
        memory: u64,
        buffers: &[u64],
        scratch: u64,
        sizes: StateSizes,
        records: bool,
    ) -> Option<Self> {
        let zeros = |bytes: u64| Zeroed::try_new(usize::try_from(bytes).ok()?);
        let (memory, scratch) = (zeros(memory)?, zeros(scratch)?);
        let counters = Zeroed::try_new(sizes.counters * size_of::<u16>())?;
        let finished = Zeroed::try_new(sizes.finished * size_of::<u64>())?;
        let matches = Zeroed::try_new(if records { sizes.matches * size_of::<u64>() } else { 0 })?;
        let areas = Areas {
            memory: memory.region(),
            buffers: memory.region().split(buffers),
            scratch: scratch.region(),
            counters: counters.cells(),
            finished: finished.cells(),
            matches: records.then(|| matches.cells()),
        };
        let owner = Box::new([memory, scratch, counters, finished, matches]);
        // SAFETY: the memory is newly allocated, no other code has its address, and the storage
        // owns it.
        Some(unsafe { Self::over(areas, Some(owner)) })
    }
}

impl Schedule {
    /// Sets the memory of an ended instance to what [`Storage::new`] gives it: zeros, and the
    /// initial values of the program.
    ///
    /// # Panics
    /// If the memory is smaller than the program says.
    pub fn reset(&self, memory: &mut [u8]) {
        memory.fill(0);
        store_image(self.nisa(), self.rank(), memory);
    }
}

fn store_image(nisa: &Nisa, rank: u32, memory: &mut [u8]) {
    for value in nisa.image(rank).into_iter().flat_map(|image| image.init) {
        memory[value.addr as usize..][..value.bytes.len()].copy_from_slice(value.bytes);
    }
}

impl<'m> Storage<'m> {
    /// Allocates the counters for an instance of `schedule` that works on memory of the caller.
    /// This is the region `memory`, or `buffers` if the schedule's memory is a table of buffers.
    /// Also allocates scratch memory, unless `scratch` is given. The storage owns `owner` and drops
    /// it last. Returns `None` if there is no memory.
    ///
    /// # Safety
    /// As for [`Storage::over`].
    pub unsafe fn around(
        schedule: &Schedule,
        memory: Region,
        buffers: Vec<Region>,
        scratch: Option<Region>,
        owner: Option<Box<dyn Any + Send>>,
    ) -> Option<Self> {
        let sizes = schedule.state_sizes();
        let counters = Zeroed::try_new(sizes.counters * size_of::<u16>())?;
        let finished = Zeroed::try_new(sizes.finished * size_of::<u64>())?;
        let size = if scratch.is_some() { 0 } else { schedule.scratch_size() };
        let own = Zeroed::try_new(usize::try_from(size).ok()?)?;
        let areas = Areas {
            memory,
            buffers,
            scratch: scratch.unwrap_or(own.region()),
            counters: counters.cells(),
            finished: finished.cells(),
            matches: None,
        };
        // SAFETY: as the caller says; the other areas are newly allocated.
        Some(unsafe { Self::over(areas, Some(Box::new((counters, finished, own, owner)))) })
    }

    /// Creates storage in memory that the caller provides. The storage owns `owner` and drops it
    /// last.
    ///
    /// # Safety
    /// For `'m`, or until `owner` is dropped if that is earlier, the contract of [`Region::new`]
    /// holds and no other code writes the areas. Without an owner this also holds after an engine
    /// with the storage is dropped, while another rank accesses it under an exported name. Other
    /// code may read `memory` and `scratch` through names that a transport exported. Other
    /// processes may read the words of the other areas at any time, this process only while no
    /// engine works on the storage: engines write them plainly.
    pub unsafe fn over(areas: Areas, owner: Option<Box<dyn Any + Send>>) -> Self {
        let Areas { memory, buffers, scratch, counters, finished, matches } = areas;
        let memory = Memory { memory, buffers, scratch };
        Self::at_home(Box::new(Home { memory, counters, finished, matches, owner }))
    }

    /// Turns the home of an instance back into its storage. The caller must choose the lifetime
    /// that the storage had before.
    #[inline]
    pub(super) fn at_home(home: Box<Home>) -> Self {
        Self { home, lent: PhantomData }
    }

    /// Stores the initial values of the program into the memory of `rank`.
    ///
    /// # Panics
    /// If the memory is smaller than the program says.
    pub fn store_image(&mut self, nisa: &Nisa, rank: u32) {
        store_image(nisa, rank, self.memory_mut());
    }

    /// Returns the rank's memory.
    pub fn memory(&self) -> &[u8] {
        // SAFETY: the contract of `over`; no instance works on the memory while `self` is here.
        unsafe { self.home.memory.memory.whole().as_slice() }
    }

    /// Returns the rank's memory, to change it before a start.
    pub fn memory_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `memory`; the exclusive borrow makes it the only reference.
        unsafe { self.home.memory.memory.whole().as_mut_slice() }
    }

    /// Returns the record of matches, by slot: see [`Areas::matches`].
    /// [`MatchesView`](super::MatchesView) decodes its words.
    pub fn matches(&self) -> Option<&[u64]> {
        self.home.matches.as_ref().map(Cells::as_slice)
    }

    /// Returns addresses and sizes of the areas. They are equal for two storages over the same
    /// bytes.
    pub(super) fn place(&self) -> [usize; 7] {
        let Home { memory, counters, finished, matches, .. } = &*self.home;
        let Memory { memory, scratch, .. } = memory;
        [
            memory.whole().address(),
            memory.len(),
            scratch.whole().address(),
            scratch.len(),
            counters.address(),
            finished.address(),
            matches.as_ref().map_or(0, Cells::address),
        ]
    }
}

impl<T: Transport> Engine<'_, T> {
    /// Binds the buffers of an ended instance to other memory, for its [next
    /// start](Engine::start_again). `bind` gets the table of buffers to change, with a region for
    /// each buffer.
    ///
    /// # Safety
    /// The contract of [`Storage::over`] holds for each region in the table.
    ///
    /// # Panics
    /// As [`memory_mut`](Engine::memory_mut). Also if a region is smaller than the schedule's
    /// buffer, or their number has changed.
    pub unsafe fn bind(&mut self, handle: &Handle, bind: impl FnOnce(&mut Vec<Region>)) {
        self.assert_ended(handle);
        let key = handle.key.index();
        let instance = self.core.held.instances.get(&self.core.held.heap, handle.key);
        let schedule = self.codes[instance.code as usize].whole().expect("not in a window");
        let home = &mut self.core.homes[key];
        bind(&mut home.memory.buffers);
        home.check_sizes(schedule.memory_size(), schedule.buffers(), schedule.scratch_size());
    }

    /// Returns the memory of an ended instance.
    ///
    /// # Panics
    /// If the instance has not ended, or is one of another engine. Also if another rank may still
    /// access its memory: only a schedule that was not verified can end while this is so.
    pub fn memory_mut(&mut self, handle: &Handle) -> &mut [u8] {
        self.assert_ended(handle);
        let home = &mut self.core.homes[handle.key.index()];
        // SAFETY: the contract of `over`. The instance has ended and no other rank accesses its
        // memory; it can't start again while this borrow of the engine lasts.
        unsafe { home.memory.memory.whole().as_mut_slice() }
    }
}
