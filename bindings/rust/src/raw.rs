//! The unsafe layer below the safe interface, for bindings to other languages: schedules on any
//! memory of the process. The caller answers for this memory.
#![allow(unsafe_code)] // instances work on memory of the program

mod ends;
mod instances;

use crate::communicator::Communicator;
use crate::compile::{self, Compiled};
use crate::error::{Error, ErrorCode, Result};
use crate::file;
use crate::group::Group;
use crate::offload::{KEPT, NOT_ASKED, OF_GRAPH, Way};
use crate::progress::{Core, name_collectives};
use goal_asm::Nisa;
use goal_asm::nisa::MAGIC;
use goal_engine::Schedule as Code;
use goal_engine::memory::Region;
use goal_job::limits::NISA_BYTES_MAX;
use instances::{Inner, Memory};
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::sync::{Arc, OnceLock};

pub use crate::graph::{Data, Graph, Vertex, memory, scratch};
pub use crate::slots::{EndFunction, Ticket};
pub use crate::thread::is_in_function;
pub(crate) use ends::wake_when_ended;
pub use ends::{has_ended, has_waiter, progress, put_off, test, tidy, wait, wait_any, when_ended};

/// Reads a NISA file for [`Schedule::load`]: a regular one of at most 4 GiB. Of another
/// regular file the result has the first bytes only, which no schedule loads from.
///
/// # Errors
/// The system's error, or the file is larger or of another kind.
pub fn read_nisa(path: &Path) -> io::Result<Vec<u8>> {
    file::read(path, &MAGIC, NISA_BYTES_MAX)
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

impl Schedule {
    /// Compiles a graph. The graph stays as it is and can be compiled again.
    ///
    /// # Errors
    /// Dependencies form a circle, a limit is exceeded, or declared buffers don't fit the actions.
    pub fn compile(graph: &Graph) -> Result<Self> {
        let group = Group::current()?;
        let seed = group.shared().attached.job().seed();
        let compiled = compile::compile(graph, group.in_job(), group.num_ranks(), seed)?;
        let Compiled { schedule, bases, declared } = compiled;
        let memory = Memory::table(bases, declared);
        Ok(Self::new(group, schedule, graph.communicator().clone(), memory, OF_GRAPH))
    }

    /// Creates a schedule of compiled actions on a table of buffers, which all count as declared.
    pub(crate) fn from_table(
        code: Arc<Code>,
        communicator: Communicator,
        bases: Vec<u64>,
    ) -> Result<Self> {
        let declared = bases.len();
        let memory = Memory::table(bases, declared);
        Ok(Self::new(Group::current()?, code, communicator, memory, KEPT))
    }

    /// Lets the starts of a new schedule, which is a collective, be counted.
    pub(crate) fn count_starts(&mut self, collective: &'static str, starts: &'static AtomicU64) {
        let inner = Arc::get_mut(&mut self.inner).expect("it is new");
        (inner.collective, inner.starts) = (Some(collective), Some(starts));
    }

    /// Lets a new schedule run another way.
    pub(crate) fn go(&mut self, way: Way) {
        Arc::get_mut(&mut self.inner).expect("it is new").way = way;
    }

    /// Creates a schedule that processes run, for the stated reason if the kernel runs any.
    fn new(
        group: Group,
        code: Arc<Code>,
        communicator: Communicator,
        memory: Memory,
        why: &'static str,
    ) -> Self {
        let shared = group.shared();
        let why = match &shared.offload {
            Some(_) => why,
            None => shared.attached.not_in_kernel().unwrap_or(NOT_ASKED),
        };
        let (first, way, initial) = (AtomicU32::default(), Err(why.into()), OnceLock::new());
        let (collective, starts) = (None, None);
        Self {
            inner: Arc::new(Inner {
                group,
                code,
                communicator,
                memory,
                first,
                collective,
                starts,
                way,
                initial,
            }),
        }
    }

    /// Returns `Ok` if the kernels of the job's hosts run the schedule, and otherwise the reason
    /// why the processes of its ranks do.
    ///
    /// # Errors
    /// The reason.
    pub fn offload(&self) -> std::result::Result<(), &str> {
        self.inner.way.as_ref().map(drop).map_err(|why| &**why)
    }

    /// Loads the schedule of this process's rank from a NISA file, for processes to run.
    ///
    /// # Errors
    /// The file is for another number of ranks, or needs more memory.
    pub(crate) fn from_file(
        nisa: Arc<Nisa>,
        communicator: &Communicator,
        memory: Option<Region>,
    ) -> Result<Self> {
        let group = Group::current()?;
        let seed = group.shared().attached.job().seed();
        let (ranks, size) = (nisa.num_ranks(), communicator.size());
        if ranks != size {
            return Err(Error::new(
                ErrorCode::File,
                format!("the schedule is for {ranks} ranks, and the communicator has {size}"),
            ));
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
        let is_group = communicator.is_same(group.world()) && communicator.is_start();
        let code = if is_group {
            Arc::new(Code::new(nisa, own, seed))
        } else {
            let program = nisa.decode();
            let (mut body, image) = (program.body_of(own).clone(), program.image_of(own).cloned());
            compile::renumber(&mut body, communicator);
            compile::schedule_from(body, image, group.in_job(), group.num_ranks(), seed)?
        };
        let memory = match memory {
            Some(region) if buffers.is_empty() || !is_group => Memory::Region(region),
            Some(region) => {
                let parts = region.split(&buffers);
                let bases: Vec<usize> = parts.iter().map(|part| part.whole().address()).collect();
                Memory::Table { declared: bases.len(), bases }
            }
            None => Memory::Own,
        };
        Ok(Self::new(group, code, communicator.clone(), memory, NOT_ASKED))
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
        let (rank, size) = (self.inner.group.in_job(), self.inner.code.nisa().num_ranks());
        let body = self.inner.code.nisa().decode().body_of(rank).clone();
        compile::text(body, rank, size)
    }

    /// Returns the addresses of all declared buffers. If only those are given that this rank uses,
    /// as no buffer for a barrier, the others are 0.
    pub fn with_unused(&self, given: Vec<usize>) -> Vec<usize> {
        let lengths = &self.buffers()[..self.inner.num_declared()];
        let used = lengths.iter().filter(|&&length| length > 0).count();
        if given.len() == lengths.len() || given.len() != used {
            return given;
        }
        let mut given = given.into_iter();
        let address = |&length: &u64| if length > 0 { given.next().unwrap_or(0) } else { 0 };
        lengths.iter().map(address).collect()
    }

    /// Checks that the schedule can be started on these buffers, without a start.
    ///
    /// # Errors
    /// There is another number of declared buffers, one that is needed is missing, or two overlap.
    pub fn check_buffers(&self, buffers: &[usize]) -> Result<()> {
        self.inner.check_binding(buffers)
    }

    /// Starts the schedule, as the next run of its communicator, and executes the part of it that
    /// can be done at once. All ranks of the communicator start its schedules in the same order.
    ///
    /// # Errors
    /// The job can't go on.
    ///
    /// # Safety
    /// Until the run has ended, the memory that the graph names stays readable and writable. Nobody
    /// else writes bytes that its actions read, and nobody accesses bytes that they write.
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
        // SAFETY: as the caller says.
        self.inner.group.shared().with(|core| unsafe { self.start_with(core, buffers) })
    }

    /// Starts the schedule as [`start_on`](Self::start_on) does, for a caller that holds the engine
    /// lock.
    ///
    /// # Errors
    /// As for [`start_on`](Self::start_on).
    ///
    /// # Safety
    /// As for [`start_on`](Self::start_on).
    #[inline]
    pub(crate) unsafe fn start_with(
        &self,
        core: &mut Core,
        buffers: Option<&[usize]>,
    ) -> Result<Ticket> {
        // SAFETY: as the caller says.
        let started = unsafe { self.inner.start(core, buffers) };
        started.map_err(|error| name_collectives(core, self.inner.collective, error))
    }

    /// Starts the schedule as [`start_on`](Self::start_on) does, and waits until it has ended.
    /// `call` is the name of the caller's call, for a report on a rank that waits for ever.
    ///
    /// # Errors
    /// As for [`start_on`](Self::start_on) and [`wait`].
    ///
    /// # Safety
    /// As for [`start_on`](Self::start_on).
    pub unsafe fn run_on(&self, buffers: Option<&[usize]>, call: &str) -> Result<()> {
        // SAFETY: as the caller says.
        let start = |core: &mut Core| unsafe { self.start_with(core, buffers) };
        self.inner.group.shared().run(|core| start(core).map(Some), call).map(drop)
    }

    /// Frees the schedule.
    ///
    /// # Errors
    /// [`ErrorCode::Busy`] while it runs, or this process is a fork of the rank; it is returned
    /// then.
    pub fn free(self) -> std::result::Result<(), (Error, Self)> {
        if let Err(error) = self.inner.group.own() {
            return Err((error, self));
        }
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
            let mut slots = inner.take_slots(core).into_iter();
            while let Some(number) = slots.next() {
                match core.release(number) {
                    Ok(true) => {}
                    Ok(false) => inner.add_slot(core, number),
                    Err(error) => {
                        // They are freed if the job goes on after a loss.
                        core.adopt(std::iter::once(number).chain(slots));
                        return Err(error);
                    }
                }
            }
            Ok(inner.first().is_none())
        })
    }
}

impl Graph {
    /// Returns the program of this process's rank as text, before any pass. Bytes that actions name
    /// lie in buffers of their own there, one behind the other. Other ranks of the group have no
    /// action.
    ///
    /// # Errors
    /// An action names more scratch memory than there is, or declared buffers don't fit actions.
    pub fn text(&self) -> Result<String> {
        let group = Group::current()?;
        let mut body = self.body()?;
        body.make_table(self.declared())
            .map_err(|error| Error::new(ErrorCode::Buffer, error.to_string()))?;
        Ok(compile::text(body, group.in_job(), group.num_ranks()))
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
            let left = inner.take_slots(core);
            core.adopt(left.into_iter());
            Ok(())
        });
    }
}
