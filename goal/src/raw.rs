//! Schedules on memory that the caller answers for: the layer below the safe one, for bindings to
//! other languages.
#![allow(unsafe_code)] // instances work on memory of the program

use crate::communicator::Communicator;
use crate::compile::{self, Compiled, NO_LIMITS};
use crate::error::{Error, ErrorCode, Result};
use crate::group::Group;
use crate::heap::Block;
use crate::progress::{Core, error_of, no_run};
use crate::slots::{Known, OnEnd, Sleeper};
use crate::thread;
use goal_asm::Nisa;
use goal_engine::memory::Region;
use goal_engine::{Handle, Schedule as Code, Storage};
use goal_run::progress::Member;
use parking_lot::Mutex;
use smallvec::SmallVec;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub use crate::graph::{Data, Graph, Vertex, memory, scratch};
pub use crate::slots::{EndFunction, Ticket};
pub use crate::thread::is_in_function;

/// The memory that a schedule works on.
enum Memory {
    /// A table of buffers with these default addresses. The first `declared` may be replaced.
    Table { bases: Vec<u64>, declared: usize },
    /// One region of the program.
    Region(Region),
    /// A region of each instance itself, which starts with the initial values of the schedule.
    Own,
}

/// A compiled schedule and its instances.
pub(crate) struct Inner {
    group: Group,
    code: Arc<Code>,
    communicator: Communicator,
    memory: Memory,
    /// The slots of its instances.
    slots: Mutex<Vec<u32>>,
    /// The number of its starts, in the segment, if the launcher reports it.
    starts: Option<&'static AtomicU64>,
}

/// A schedule that this process can start any number of times, also while it runs.
pub struct Schedule {
    inner: Arc<Inner>,
}

impl fmt::Debug for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a schedule of {} actions", self.inner.code.actions())
    }
}

// SAFETY: a region is an address; whoever starts a schedule answers for its memory.
unsafe impl Sync for Memory {}

impl Schedule {
    /// Compiles a graph. The graph stays as it is and can be compiled again.
    ///
    /// # Errors
    /// Dependencies form a circle, a limit is exceeded, or declared buffers don't fit the actions.
    pub fn compile(graph: &Graph) -> Result<Self> {
        let group = Group::current()?;
        let seed = group.shared().attached.job().seed();
        let compiled = compile::compile(graph, group.rank(), group.size(), seed)?;
        let Compiled { schedule, bases, declared } = compiled;
        let memory = Memory::Table { bases, declared };
        Ok(Self::new(group, schedule, graph.communicator().clone(), memory))
    }

    /// Creates a schedule of compiled actions on a table of buffers, which all count as declared.
    /// Its starts are counted.
    pub(crate) fn of_table(
        code: Arc<Code>,
        communicator: Communicator,
        bases: Vec<u64>,
        starts: &'static AtomicU64,
    ) -> Result<Self> {
        let declared = bases.len();
        let memory = Memory::Table { bases, declared };
        let mut schedule = Self::new(Group::current()?, code, communicator, memory);
        Arc::get_mut(&mut schedule.inner).expect("it is new").starts = Some(starts);
        Ok(schedule)
    }

    fn new(group: Group, code: Arc<Code>, communicator: Communicator, memory: Memory) -> Self {
        let slots = Mutex::default();
        Self { inner: Arc::new(Inner { group, code, communicator, memory, slots, starts: None }) }
    }

    /// Loads the schedule of this process's rank from the bytes of a NISA file, which are verified.
    /// The file has as many ranks as the communicator. The schedule works on `memory`, or, without
    /// it, on memory of its own that starts with the file's initial values.
    ///
    /// # Errors
    /// The file is not valid, is for another number of ranks, or needs more memory.
    pub fn load(
        bytes: Vec<u8>,
        communicator: &Communicator,
        memory: Option<Region>,
    ) -> Result<Self> {
        let group = Group::current()?;
        let seed = group.shared().attached.job().seed();
        let file = |text: String| Error::new(ErrorCode::File, text);
        let nisa =
            Nisa::load(Arc::new(bytes), &NO_LIMITS).map_err(|error| file(error.to_string()))?;
        let (ranks, size) = (nisa.num_ranks(), communicator.size());
        if ranks != size {
            return Err(file(format!(
                "the schedule is for {ranks} ranks, and the communicator has {size}"
            )));
        }
        let own = communicator.rank();
        let (needed, buffers) = (nisa.memory_size(own), nisa.buffers(own).collect::<Vec<_>>());
        if let Some(memory) = memory
            && (memory.len() as u64) < needed
        {
            let text = format!(
                "the schedule needs {needed} bytes of memory, and the buffer has {}",
                memory.len()
            );
            return Err(Error::new(ErrorCode::Buffer, text));
        }
        let is_group = communicator.is_same(group.world());
        let code = if is_group {
            Arc::new(Code::new(Arc::new(nisa), own, seed))
        } else {
            let mut body = nisa.decode().body_of(own).clone();
            compile::renumber(&mut body, communicator);
            compile::schedule(body, group.rank(), group.size(), seed)?
        };
        let memory = match memory {
            Some(region) if buffers.is_empty() || !is_group => Memory::Region(region),
            Some(region) => {
                let bases: Vec<u64> = region
                    .split(&buffers)
                    .iter()
                    .map(|part| part.whole().address() as u64)
                    .collect();
                Memory::Table { declared: bases.len(), bases }
            }
            None => Memory::Own,
        };
        Ok(Self::new(group, code, communicator.clone(), memory))
    }

    /// The communicator that it runs on.
    pub fn communicator(&self) -> &Communicator {
        &self.inner.communicator
    }

    /// The length of each buffer of its table; the declared ones come first.
    pub fn buffers(&self) -> &[u64] {
        self.inner.code.buffers()
    }

    /// The number of its actions.
    pub fn actions(&self) -> u32 {
        self.inner.code.actions()
    }

    /// The bytes of its binary form.
    pub fn nisa(&self) -> &Nisa {
        self.inner.code.nisa()
    }

    /// Returns the program of this process's rank as text, after all passes. Buffers lie one behind
    /// the other there. The other ranks of the group have no action.
    pub fn text(&self) -> String {
        let (rank, size) = (self.inner.group.rank(), self.inner.group.size());
        let body = self.inner.code.nisa().decode().body_of(rank).clone();
        compile::text(body, rank, size)
    }

    /// Starts the schedule, as the next run of its communicator, and executes the part of it that
    /// can be done at once. All ranks of the communicator start its schedules in the same order.
    ///
    /// # Errors
    /// The job can't go on.
    ///
    /// # Safety
    /// Until the run has ended, the memory that the graph names stays readable and writable, nobody
    /// else writes what its actions read, and nobody accesses what they write.
    #[inline]
    pub unsafe fn start(&self) -> Result<Ticket> {
        // SAFETY: as the caller says.
        unsafe { self.start_on(None) }
    }

    /// Starts the schedule on other buffers: each address replaces that of the declared buffer at
    /// its place. The buffer there must have at least the declared size.
    ///
    /// # Errors
    /// There is another number of declared buffers, or the job can't go on.
    ///
    /// # Safety
    /// As for [`start`](Self::start), for the given buffers.
    #[inline]
    pub unsafe fn start_on(&self, buffers: Option<&[usize]>) -> Result<Ticket> {
        let inner = &self.inner;
        if let Some(buffers) = buffers {
            inner.check_binding(buffers)?;
        }
        inner.group.shared().with(|core| {
            let mut own = inner.slots.lock();
            // An instance whose end nobody has looked at yet.
            if let Some(&first) = own.first() {
                core.settle(first)?;
            }
            if let Some(ticket) = inner.start_again(core, &own, buffers)? {
                return Ok(ticket);
            }
            // A new instance is dear, so all others are looked at first.
            let mut any = false;
            for &number in own.iter() {
                any |= core.settle(number)?;
            }
            if any && let Some(ticket) = inner.start_again(core, &own, buffers)? {
                return Ok(ticket);
            }
            core.release_orphans()?;
            let (member, slots) = core.parts()?;
            // SAFETY: as the caller says.
            let storage = unsafe { inner.storage(buffers)? };
            let started = member.start_in(&inner.code, inner.communicator.id(), storage);
            let handle = started.map_err(|error| error_of(&error))?;
            let ticket = slots.add(handle, Arc::clone(inner) as _);
            own.push(crate::slots::Slots::number(ticket));
            inner.count();
            Ok(ticket)
        })
    }

    /// Frees the schedule.
    ///
    /// # Errors
    /// [`ErrorCode::Busy`] while it runs; it is returned then.
    pub fn free(self) -> std::result::Result<(), (Error, Self)> {
        match self.release() {
            Ok(true) => Ok(()),
            Ok(false) => {
                let text = "the schedule runs: wait for it first (GOAL_Wait)";
                Err((Error::new(ErrorCode::Busy, text), self))
            }
            Err(_) => Ok(()),
        }
    }

    /// Gives back the instances that have ended. Returns true if none is left.
    fn release(&self) -> Result<bool> {
        let inner = &self.inner;
        inner.group.shared().with(|core| {
            let mut own = inner.slots.lock();
            let mut left = Vec::new();
            for number in own.drain(..) {
                if !core.release(number)? {
                    left.push(number);
                }
            }
            *own = left;
            Ok(own.is_empty())
        })
    }
}

impl Drop for Schedule {
    fn drop(&mut self) {
        if !matches!(self.release(), Ok(false)) {
            return;
        }
        // Instances that still run keep what they need.
        let inner = &self.inner;
        let _ = inner.group.shared().with(|core| {
            core.adopt(inner.slots.lock().drain(..));
            Ok(())
        });
    }
}

impl Inner {
    #[inline]
    fn is_table(&self) -> bool {
        matches!(self.memory, Memory::Table { .. }) && !self.code.buffers().is_empty()
    }

    /// Counts a start. The caller holds the core's lock, so a load and a store are enough.
    #[inline]
    fn count(&self) {
        if let Some(starts) = self.starts {
            starts.store(starts.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        }
    }

    fn check_binding(&self, buffers: &[usize]) -> Result<()> {
        let declared = match self.memory {
            Memory::Table { declared, .. } => declared,
            Memory::Region(_) | Memory::Own => 0,
        };
        if buffers.len() != declared {
            let text = format!(
                "the schedule has {declared} declared buffers, and {} are given",
                buffers.len()
            );
            return Err(Error::new(ErrorCode::Buffer, text));
        }
        let missing = |(&address, &length): (&usize, &u64)| address == 0 && length > 0;
        if let Some(at) = buffers.iter().zip(self.code.buffers()).position(missing) {
            return Err(Error::new(ErrorCode::Buffer, format!("buffer {at} is NULL")));
        }
        match (buffers, self.code.buffers()) {
            // Nothing that it could overlap.
            ([] | [_], [] | [_]) => Ok(()),
            _ => self.check_overlap(buffers),
        }
    }

    /// Checks that buffers which replace declared ones are the same or have no byte in common, as
    /// the engine needs it of operands, and that they lie apart from buffers that stay.
    fn check_overlap(&self, buffers: &[usize]) -> Result<()> {
        let Memory::Table { bases, declared } = &self.memory else { return Ok(()) };
        let lengths = self.code.buffers();
        let stay = bases.iter().enumerate().skip(*declared);
        let stay = stay.map(|(at, &base)| (base as usize, lengths[at] as usize, at));
        let given = buffers.iter().zip(lengths).enumerate();
        let given = given.map(|(at, (&start, &length))| (start, length as usize, at));
        let mut all: SmallVec<[_; 4]> =
            given.chain(stay).filter(|&(_, bytes, _)| bytes > 0).collect();
        all.sort_unstable();
        // Of buffers with one start, the longest is the last.
        let overlap = |pair: &[(usize, usize, usize)]| {
            let [(start, length, _), (next, next_length, _)] = [pair[0], pair[1]];
            let is_same = start == next && length == next_length;
            !is_same && start.saturating_add(length) > next
        };
        match all.windows(2).find(|pair| overlap(pair)) {
            None => Ok(()),
            Some(pair) => {
                let text = format!("buffers {} and {} overlap", pair[0].2, pair[1].2);
                Err(Error::new(ErrorCode::Buffer, text))
            }
        }
    }

    /// Starts one of the instances that have ended again.
    #[inline]
    fn start_again(
        &self,
        core: &mut Core,
        own: &[u32],
        buffers: Option<&[usize]>,
    ) -> Result<Option<Ticket>> {
        let (member, slots) = core.parts()?;
        for &number in own {
            let Some(handle) = slots.parked(number) else { continue };
            if self.is_table() {
                // SAFETY: as the caller of `Schedule::start_on` says, and only it calls this.
                unsafe { self.bind(member, handle, buffers)? };
            }
            member.start_again(handle).map_err(|error| error_of(&error))?;
            self.count();
            return Ok(Some(slots.restarted(number)));
        }
        Ok(None)
    }

    /// Returns the regions of the table, with the first ones replaced.
    fn regions<'a>(&'a self, buffers: Option<&'a [usize]>) -> impl Iterator<Item = Region> + 'a {
        let bases = match &self.memory {
            Memory::Table { bases, .. } => bases.as_slice(),
            Memory::Region(_) | Memory::Own => &[],
        };
        let replaced = buffers.unwrap_or_default();
        let address = |at: usize| replaced.get(at).copied().unwrap_or(bases[at] as usize);
        self.code.buffers().iter().enumerate().map(move |(at, &length)| {
            let start = std::ptr::with_exposed_provenance_mut::<u8>(address(at));
            // A buffer without bytes may be NULL, which no slice may be.
            if length == 0 {
                return Region::EMPTY;
            }
            // SAFETY: whoever starts the schedule answers for it.
            unsafe { Region::new(start, length as usize) }
        })
    }

    /// Binds the buffers of an instance that has ended.
    ///
    /// # Safety
    /// As for [`Schedule::start_on`].
    #[inline]
    unsafe fn bind(
        &self,
        member: &mut Member<'static>,
        handle: &Handle,
        buffers: Option<&[usize]>,
    ) -> Result<()> {
        let bind = |table: &mut Vec<Region>| {
            for (bound, region) in table.iter_mut().zip(self.regions(buffers)) {
                *bound = region;
            }
        };
        // SAFETY: as the caller says.
        unsafe { member.bind(handle, bind) }.map_err(|error| error_of(&error))
    }

    /// Returns the storage of a new instance.
    ///
    /// # Safety
    /// As for [`Schedule::start_on`].
    unsafe fn storage(&self, buffers: Option<&[usize]>) -> Result<Storage<'static>> {
        let code = &self.code;
        if matches!(self.memory, Memory::Own) {
            return Ok(Storage::new(code));
        }
        let table: Vec<Region> =
            if self.is_table() { self.regions(buffers).collect() } else { Vec::new() };
        let memory = match self.memory {
            Memory::Region(region) => region,
            Memory::Table { .. } | Memory::Own => Region::EMPTY,
        };
        let bytes = usize::try_from(code.scratch_size()).ok();
        let bytes = bytes
            .ok_or_else(|| Error::new(ErrorCode::Memory, "more scratch memory than there is"))?;
        // In the segment, where peers read it in place; elsewhere if there is no room.
        let block =
            if bytes > 0 { Block::new(&self.group.shared().heap, bytes).ok() } else { None };
        let scratch = block.as_ref().map(Block::region);
        // SAFETY: as the caller says; the storage keeps the block.
        Ok(unsafe {
            Storage::around(code, memory, table, scratch, block.map(|block| Box::new(block) as _))
        })
    }
}

/// Returns true if a run has ended. Makes a bounded amount of progress if it has not.
///
/// # Errors
/// There was no such run, or the job can't go on.
#[inline]
pub fn test(ticket: Ticket) -> Result<bool> {
    Group::current()?.shared().test(ticket)
}

/// Waits until a run has ended. `call` is the name of the caller's call, for a report on a rank
/// that waits for ever.
///
/// # Errors
/// There was no such run, or the job can't go on.
pub fn wait(ticket: Ticket, call: &str) -> Result<()> {
    Group::current()?.shared().wait(ticket, call)
}

/// Waits until one of several runs has ended, and returns its place among them. `call` is as for
/// [`wait`].
///
/// # Errors
/// There is no run, there was no such run, or the job can't go on.
pub fn wait_any(tickets: &[Ticket], call: &str) -> Result<usize> {
    Group::current()?.shared().wait_any(tickets, call)
}

/// Calls `on_end` with true when a run has ended: at once if it has, else in the call of this
/// library that notices it. If the job can't go on meanwhile, calls it with false.
///
/// # Errors
/// There was no such run, or the job can't go on.
pub fn when_ended(ticket: Ticket, on_end: EndFunction) -> Result<()> {
    watch(ticket, OnEnd::Call(on_end))
}

/// Wakes the task in `sleeper` when a run has ended, or can't go on.
pub(crate) fn wake_when_ended(ticket: Ticket, sleeper: Arc<Sleeper>) -> Result<()> {
    watch(ticket, OnEnd::Wake(sleeper))
}

/// Calls `f`, and the functions of ends that it notices only when it has returned: for callers that
/// hold locks which such functions may take.
pub fn put_off<R>(f: impl FnOnce() -> R) -> R {
    match Group::current() {
        Ok(group) => thread::put_off(group.shared(), f),
        Err(_) => f(),
    }
}

fn watch(ticket: Ticket, on_end: OnEnd) -> Result<()> {
    Group::current()?.shared().with(|core| {
        if matches!(core.slots.known(ticket), Known::Never) {
            return Err(no_run());
        }
        core.watch(ticket, on_end)
    })
}
