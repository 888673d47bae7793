//! Defines a compiled schedule with the memory that it works on, and starts its instances.
#![allow(unsafe_code)] // instances work on memory of the program

use crate::communicator::Communicator;
use crate::error::error_of;
use crate::error::{Error, ErrorCode, Result};
use crate::group::Group;
use crate::heap::Block;
use crate::offload::{Backing, KernelPart, Segment, Way};
use crate::progress::RankCore;
use crate::recent::Starts;
use crate::rotation::Rotation;
use crate::slots::{Instance, Named, Slots, Ticket};
use goal_engine::linked::{Bindings, Linked, Run};
use goal_engine::memory::Region;
use goal_engine::{Handle, Schedule as Code, Storage};
use goal_lang::flat_offsets;
use goal_rank::progress::Member;
use smallvec::SmallVec;
use std::sync::{Arc, OnceLock};

/// The memory that a schedule works on.
pub(super) enum Memory {
    /// A table of buffers at the addresses `bases`. A run may replace the first `declared` of them
    /// by others.
    Table { bases: Vec<usize>, declared: usize },
    /// A single region of the program's memory.
    Region(Region),
    /// Memory that each instance has for itself. Each run starts with the initial values of the
    /// schedule.
    Own,
}

impl Memory {
    /// Returns a table of buffers at the addresses `bases`.
    pub(super) fn table(bases: Vec<u64>, declared: usize) -> Self {
        Self::Table { bases: bases.into_iter().map(|base| base as usize).collect(), declared }
    }
}

/// A linked schedule, the places of its operands, and the identity of its link. Of two links of a
/// communicator, the identities differ.
pub(crate) type LinkedForm = (Arc<Linked>, Bindings, u64);

/// A compiled schedule, with the memory that it works on and its instances.
pub(super) struct BoundSchedule {
    pub(super) group: Group,
    pub(super) code: Arc<Code>,
    pub(super) communicator: Communicator,
    pub(super) memory: Memory,
    /// The instances.
    pub(super) instances: Rotation,
    /// The counter of starts.
    pub(super) starts: Starts,
    /// The name of the collective; `None` if the schedule is not a counted collective.
    pub(super) collective: Option<&'static str>,
    /// The linked form of the schedule; empty if the engine runs it. It is set once: under the
    /// engine lock, or before the first use.
    pub(super) linked: OnceLock<LinkedForm>,
    /// The way in which the schedule runs: in the kernel, or by processes.
    pub(super) way: Way,
    /// The initial values of [`Memory::Own`], for runs in the kernel.
    pub(super) initial: OnceLock<Arc<[u8]>>,
}

// SAFETY: a region is an address; whoever starts a schedule answers for its memory.
unsafe impl Sync for Memory {}

impl Named for BoundSchedule {
    fn collective(&self) -> Option<&'static str> {
        self.collective
    }
}

impl BoundSchedule {
    #[inline]
    fn is_table(&self) -> bool {
        matches!(self.memory, Memory::Table { .. }) && !self.code.buffers().is_empty()
    }

    /// Counts a start, for a caller that holds the engine lock.
    #[inline]
    pub(super) fn count(&self) {
        self.starts.count();
    }

    /// Returns the number of declared buffers.
    pub(super) fn num_declared(&self) -> usize {
        match self.memory {
            Memory::Table { declared, .. } => declared,
            Memory::Region(_) | Memory::Own => 0,
        }
    }

    pub(super) fn check_binding(&self, buffers: &[usize]) -> Result<()> {
        let declared = self.num_declared();
        if buffers.len() != declared {
            let text = format!(
                "the schedule has {declared} declared buffers, and {} are given",
                buffers.len()
            );
            return Err(Error::new(ErrorCode::Buffer, text));
        }
        let missing = |(&address, &length): (&usize, &u64)| address == 0 && length > 0;
        if let Some(at) = buffers.iter().zip(self.code.buffers()).position(missing) {
            let text = format!("{} is NULL", self.buffer_name(at));
            return Err(Error::new(ErrorCode::Buffer, text));
        }
        match (buffers, self.code.buffers()) {
            // There are no two buffers that could overlap.
            ([] | [_], [] | [_]) => Ok(()),
            _ => self.check_overlap(buffers),
        }
    }

    /// Returns the name of the buffer with the number `at`, for errors. The last declared buffer of
    /// a collective is its output, and the one before, if any, its input.
    #[cold]
    fn buffer_name(&self, at: usize) -> String {
        match (self.starts.0, &self.memory) {
            (Some(_), Memory::Table { declared, .. }) if at + 1 == *declared => "the output".into(),
            (Some(_), _) => "the input".into(),
            (None, _) => format!("buffer {at}"),
        }
    }

    /// Checks the buffers that replace declared ones. Two of them must be the same or have no byte
    /// in common, as the engine demands of operands. The same holds for a replaced and an unchanged
    /// buffer. The input and the output of a collective must have no byte in common. A collective
    /// in place has one buffer only.
    fn check_overlap(&self, buffers: &[usize]) -> Result<()> {
        let Memory::Table { bases, declared } = &self.memory else { return Ok(()) };
        let lengths = self.code.buffers();
        let stay = bases.iter().enumerate().skip(*declared);
        let stay = stay.map(|(at, &base)| (base, lengths[at] as usize, at));
        let given = buffers.iter().zip(lengths).enumerate();
        let given = given.map(|(at, (&start, &length))| (start, length as usize, at));
        let mut all: SmallVec<[_; 4]> =
            given.chain(stay).filter(|&(_, bytes, _)| bytes > 0).collect();
        all.sort_unstable();
        // If several buffers have the same start, the longest comes last.
        let overlap = |pair: &[(usize, usize, usize)]| {
            let [(start, length, _), (next, next_length, _)] = [pair[0], pair[1]];
            let is_same = self.starts.0.is_none() && start == next && length == next_length;
            !is_same && start.saturating_add(length) > next
        };
        match all.windows(2).find(|pair| overlap(pair)) {
            None => Ok(()),
            Some(pair) => {
                let (first, second) = (pair[0].2.min(pair[1].2), pair[0].2.max(pair[1].2));
                let [first, second] = [first, second].map(|at| self.buffer_name(at));
                let text = format!(
                    "{first} and {second} overlap, from their first byte that is used to the last"
                );
                Err(Error::new(ErrorCode::Buffer, text))
            }
        }
    }

    /// Returns the slot of an instance that has ended; `None` if none was found.
    #[inline]
    pub(super) fn ended_slot(&self, core: &mut RankCore) -> Result<Option<u32>> {
        self.instances.find(core, RankCore::settle)
    }

    /// Starts the ended instance in slot `number` again.
    ///
    /// # Safety
    /// As for [`Schedule::start`](super::Schedule::start).
    #[inline]
    pub(super) unsafe fn start_again(
        &self,
        core: &mut RankCore,
        number: u32,
        buffers: Option<&[usize]>,
    ) -> Result<Ticket> {
        let (member, slots) = core.parts()?;
        let mut instance = slots.parked(number).expect("it has ended");
        let addresses = buffers.unwrap_or(self.defaults());
        if !instance.is_bound(addresses) {
            if buffers.is_some() {
                self.check_binding(addresses)?;
            }
            // SAFETY: as the caller says.
            unsafe { self.bind(member, instance.handle(), addresses)? };
            instance.note_bound(addresses);
        }
        self.refresh(member, instance.handle())?;
        member.start_again(instance.handle()).map_err(|error| error_of(&error))?;
        self.count();
        Ok(instance.restarted())
    }

    /// Starts a new instance. If `gone` is given, the instance takes this slot, whose instance a
    /// loss has ended.
    ///
    /// # Safety
    /// As for [`Schedule::start`](super::Schedule::start).
    #[cold]
    pub(super) unsafe fn start_new(
        self: &Arc<Self>,
        core: &mut RankCore,
        buffers: Option<&[usize]>,
        gone: Option<u32>,
    ) -> Result<Ticket> {
        if let Some(buffers) = buffers {
            self.check_binding(buffers)?;
        }
        // Only new instances are checked, because the start of an instance again must be fast.
        self.communicator.refuse_left(&self.group.shared().attached)?;
        core.release_orphans()?;
        let addresses = buffers.unwrap_or(self.defaults());
        let (member, slots) = core.parts()?;
        // SAFETY: as the caller says.
        let storage = unsafe { self.storage(addresses)? };
        let started = member.start_in(&self.code, self.communicator.id(), storage);
        let handle = started.map_err(|error| error_of(&error))?;
        let instance = Instance::Process(handle);
        let ticket = match gone {
            Some(number) => slots.revive(number, instance, addresses),
            None => {
                let ticket = slots.add(instance, Arc::clone(self) as _, addresses);
                self.instances.add(core, Slots::number(ticket));
                ticket
            }
        };
        self.count();
        Ok(ticket)
    }

    /// Starts the linked form of the schedule. It uses the slot `ended` if given. Otherwise it uses
    /// a new slot.
    ///
    /// # Safety
    /// As for [`Schedule::start`](super::Schedule::start).
    #[inline]
    pub(super) unsafe fn start_linked(
        self: &Arc<Self>,
        core: &mut RankCore,
        buffers: Option<&[usize]>,
        ended: Option<u32>,
    ) -> Result<Ticket> {
        let addresses = buffers.unwrap_or(self.defaults());
        let number = match ended {
            Some(number) => number,
            // SAFETY: as the caller says.
            None => unsafe { self.add_linked(core)? },
        };
        core.parts()?;
        if core.links.has_relays() {
            core.advance_linked()?;
        }
        let RankCore { slots, links, .. } = core;
        let mut parked = slots.parked(number).expect("it has ended");
        if !parked.is_bound(addresses) {
            self.check_binding(addresses)?;
            let regions: SmallVec<[Region; 4]> = match self.memory {
                Memory::Region(region) => [region].into_iter().collect(),
                _ => self.regions(addresses).collect(),
            };
            // SAFETY: as the caller says.
            unsafe { parked.linked().bind(&regions) };
            parked.note_bound(addresses);
        }
        links.start(parked.linked());
        let ticket = parked.restarted();
        self.count();
        // The run's error, if any, is that of the function that waits for it.
        let _ = core.settle(number);
        Ok(ticket)
    }

    /// Adds a slot for an instance of the linked form, which is bound to no buffers.
    #[cold]
    unsafe fn add_linked(self: &Arc<Self>, core: &mut RankCore) -> Result<u32> {
        self.communicator.refuse_left(&self.group.shared().attached)?;
        core.release_orphans()?;
        let (linked, bindings, _) = self.linked.get().expect("the schedule is linked");
        let run = Run::new(Arc::clone(linked), bindings.clone()).ok_or_else(|| self.no_memory())?;
        let number = core.slots.park(Instance::Linked(Box::new(run)), Arc::clone(self) as _);
        self.instances.add(core, number);
        Ok(number)
    }

    /// Starts a run of the schedule's part in the kernel. It uses the slot `ended` if given, and
    /// otherwise a new one.
    ///
    /// # Safety
    /// As for [`Schedule::start`](super::Schedule::start).
    pub(super) unsafe fn start_in_kernel(
        self: &Arc<Self>,
        core: &mut RankCore,
        part: &Arc<KernelPart>,
        buffers: Option<&[usize]>,
        ended: Option<u32>,
    ) -> Result<Ticket> {
        let addresses = buffers.unwrap_or(self.defaults());
        let (_, slots) = core.parts()?;
        let bound = ended.and_then(|number| slots.parked(number));
        let is_bound = bound.is_some_and(|bound| bound.is_bound(addresses));
        if buffers.is_some() && !is_bound {
            self.check_binding(addresses)?;
        }
        let ticket = match ended {
            Some(number) => {
                let mut parked = slots.parked(number).expect("it has ended");
                parked.note_bound(addresses);
                parked.restarted()
            }
            None => {
                core.release_orphans()?;
                let (_, slots) = core.parts()?;
                let instance = Instance::Kernel(Arc::clone(part));
                let ticket = slots.add(instance, Arc::clone(self) as _, addresses);
                self.instances.add(core, Slots::number(ticket));
                ticket
            }
        };
        let memory = self.backing(addresses);
        core.follow_part(part);
        // SAFETY: as the caller says.
        let waits = unsafe { part.start(Slots::number(ticket), memory)? };
        // If the rank's thread fell asleep while no run was in the kernel, it would not look at
        // this run.
        if waits || part.hands_over() {
            self.group.shared().look_at_kernel();
        }
        self.count();
        Ok(ticket)
    }

    /// Returns the memory for a run in the kernel: the program's memory by its offsets in the
    /// part's memory, where buffers follow each other. `declared` has the addresses of the declared
    /// buffers.
    fn backing(&self, declared: &[usize]) -> Backing {
        match &self.memory {
            Memory::Own => Backing::Own(Arc::clone(self.initial.get_or_init(|| {
                let mut initial = vec![0; self.code.memory_size() as usize];
                self.code.reset(&mut initial);
                initial.into()
            }))),
            Memory::Region(region) => {
                let (address, bytes) = (region.whole().address(), region.len());
                Backing::Program([Segment { at: 0, address, bytes }].into_iter().collect())
            }
            Memory::Table { bases, .. } => {
                let lengths = self.code.buffers();
                let (places, _) = flat_offsets(lengths.iter().copied()).expect("it was verified");
                let address = |at: usize| declared.get(at).copied().unwrap_or(bases[at]);
                let all = places.into_iter().zip(lengths).enumerate();
                let all = all.filter(|(_, (_, bytes))| **bytes > 0);
                let segment = |(at, (place, &bytes)): (usize, (u64, &u64))| Segment {
                    at: place as usize,
                    address: address(at),
                    bytes: bytes as usize,
                };
                Backing::Program(all.map(segment).collect())
            }
        }
    }

    /// Returns the default addresses of the declared buffers.
    #[inline]
    pub(super) fn defaults(&self) -> &[usize] {
        match &self.memory {
            Memory::Table { bases, declared } => &bases[..*declared],
            Memory::Region(_) | Memory::Own => &[],
        }
    }

    /// Returns the regions of the table of buffers. `declared` has the addresses of the declared
    /// buffers.
    fn regions<'a>(&'a self, declared: &'a [usize]) -> impl Iterator<Item = Region> + 'a {
        let bases = match &self.memory {
            Memory::Table { bases, .. } => bases.as_slice(),
            Memory::Region(_) | Memory::Own => &[],
        };
        let address = move |at: usize| declared.get(at).copied().unwrap_or(bases[at]);
        self.code.buffers().iter().enumerate().map(move |(at, &length)| {
            let start = std::ptr::with_exposed_provenance_mut::<u8>(address(at));
            // A buffer without bytes may be NULL, but a region must not be.
            if length == 0 {
                return Region::EMPTY;
            }
            // SAFETY: whoever starts the schedule answers for it.
            unsafe { Region::new(start, length as usize) }
        })
    }

    /// Binds the declared buffers of an ended instance to `addresses`.
    ///
    /// # Safety
    /// As for [`Schedule::start`](super::Schedule::start).
    unsafe fn bind(
        &self,
        member: &mut Member<'static>,
        handle: &Handle,
        addresses: &[usize],
    ) -> Result<()> {
        if !self.is_table() {
            return Ok(());
        }
        let bind = |table: &mut Vec<Region>| {
            for (bound, region) in table.iter_mut().zip(self.regions(addresses)) {
                *bound = region;
            }
        };
        // SAFETY: as the caller says.
        unsafe { member.bind(handle, bind) }.map_err(|error| error_of(&error))
    }

    /// Resets the memory of an ended instance to the initial values, if it is [`Memory::Own`].
    #[inline]
    fn refresh(&self, member: &mut Member<'static>, handle: &Handle) -> Result<()> {
        if !matches!(self.memory, Memory::Own) {
            return Ok(());
        }
        let reset = |memory: &mut [u8]| self.code.reset(memory);
        member.with_memory(handle, reset).map_err(|error| error_of(&error))
    }

    /// Returns the storage of a new instance. `addresses` are those of the declared buffers.
    ///
    /// # Safety
    /// As for [`Schedule::start`](super::Schedule::start).
    unsafe fn storage(&self, addresses: &[usize]) -> Result<Storage<'static>> {
        let code = &self.code;
        if matches!(self.memory, Memory::Own) {
            return Storage::try_new(code).ok_or_else(|| self.no_memory());
        }
        let table: Vec<Region> =
            if self.is_table() { self.regions(addresses).collect() } else { Vec::new() };
        let memory = match self.memory {
            Memory::Region(region) => region,
            Memory::Table { .. } | Memory::Own => Region::EMPTY,
        };
        let bytes = usize::try_from(code.scratch_size()).map_err(|_| self.no_memory())?;
        // Scratch memory lies in the segment, where peers read it in place. If there is no room, it
        // lies elsewhere.
        let block =
            if bytes > 0 { Block::new(&self.group.shared().heap, bytes).ok() } else { None };
        let scratch = block.as_ref().map(Block::region);
        // SAFETY: as the caller says; the storage keeps the block.
        let storage = unsafe {
            Storage::around(code, memory, table, scratch, block.map(|block| Box::new(block) as _))
        };
        storage.ok_or_else(|| self.no_memory())
    }

    #[cold]
    fn no_memory(&self) -> Error {
        let own = if matches!(self.memory, Memory::Own) { self.code.memory_size() } else { 0 };
        let text = format!(
            "there is no memory for a run: the schedule needs {own} bytes of its own and {} bytes of scratch memory",
            self.code.scratch_size()
        );
        Error::new(ErrorCode::Memory, text)
    }
}
