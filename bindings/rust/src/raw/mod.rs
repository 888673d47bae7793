//! Contains the unsafe layer below the safe interface, for bindings to other languages. Its
//! schedules work on any memory of the process, and the caller answers for this memory.
#![allow(unsafe_code)] // instances work on memory of the program

mod ends;
mod fast;
mod instances;
mod link;

use crate::communicator::Communicator;
use crate::compile::{self, Compiled};
use crate::error::{Error, ErrorCode, Result};
use crate::file;
use crate::group::Group;
use crate::offload::{KEPT, NOT_ASKED, OF_GRAPH, Way};
use crate::progress::RankCore;
use crate::recent::Starts;
use crate::report::name_collectives;
use crate::rotation::Rotation;
use goal_asm::Nisa;
use goal_asm::nisa::MAGIC;
use goal_engine::Schedule as Code;
use goal_engine::linked::{Link, Linked, Unlinkable};
use goal_engine::memory::Region;
use goal_job::limits::NISA_BYTES_MAX;
use instances::{BoundSchedule, LinkedForm, Memory};
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};

pub use crate::graph::{Data, Graph, Vertex, memory, scratch};
pub use crate::recent::RawCall;
pub use crate::slots::{EndFunction, Ticket};
pub use crate::thread::is_in_function;
pub(crate) use ends::wake_when_ended;
pub use ends::{
    forget_calls, has_ended, has_waiter, progress, put_off, test, tidy, wait, wait_any, when_ended,
};
pub use fast::{Fast, fast, start as start_fast, wait as wait_fast};
pub use link::{Linking, link};

/// Reads a NISA file for [`Schedule::load`]. It must be a regular file of at most 4 GiB. If it is
/// no NISA file, returns only its first bytes, which [`Schedule::load`] refuses.
///
/// # Errors
/// The system's error, or the file is larger or of another kind.
pub fn read_nisa(path: &Path) -> io::Result<Vec<u8>> {
    file::read(path, &MAGIC, NISA_BYTES_MAX)
}

/// A schedule that this process can start any number of times, even while earlier runs of it have
/// not ended.
pub struct Schedule {
    bound: Arc<BoundSchedule>,
}

impl fmt::Debug for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a schedule of {} actions", self.bound.code.actions())
    }
}

impl Schedule {
    /// Compiles a graph. The graph is unchanged, and can be compiled again.
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

    /// Creates a schedule from compiled actions on a table of buffers at the addresses `bases`. All
    /// buffers count as declared.
    pub(crate) fn from_table(
        code: Arc<Code>,
        communicator: Communicator,
        bases: Vec<u64>,
    ) -> Result<Self> {
        let declared = bases.len();
        let memory = Memory::table(bases, declared);
        Ok(Self::new(Group::current()?, code, communicator, memory, KEPT))
    }

    /// Lets `starts` count the starts of a new schedule, which is the collective with the name
    /// `collective`.
    pub(crate) fn count_starts(&mut self, collective: &'static str, starts: &'static AtomicU64) {
        let bound = Arc::get_mut(&mut self.bound).expect("it is new");
        (bound.collective, bound.starts) = (Some(collective), Starts(Some(starts)));
    }

    /// Returns the linked form of the schedule. `identity` is that of its link.
    ///
    /// # Errors
    /// `places` are not those of this schedule.
    pub(crate) fn linked_form(
        &self,
        places: &Link,
        (signature, identity): (u16, u64),
        set: u8,
    ) -> std::result::Result<LinkedForm, Unlinkable> {
        let BoundSchedule { code, communicator, .. } = &*self.bound;
        let (ranks, me) = (communicator.all_in_group(), communicator.rank());
        let (linked, bindings) = Linked::new(Arc::clone(code), places, &ranks, me, signature, set)?;
        Ok((Arc::new(linked), bindings, identity))
    }

    /// Sets the linked form of a schedule without instances, unless it has one.
    pub(crate) fn set_linked(&self, linked: LinkedForm) {
        // Two threads may link a schedule at a time, against the contract. The first one counts.
        let _ = self.bound.linked.set(linked);
    }

    /// Sets the way in which a new schedule runs.
    pub(crate) fn go(&mut self, way: Way) {
        Arc::get_mut(&mut self.bound).expect("it is new").way = way;
    }

    /// Creates a schedule that processes run. `why` is the reason why the kernels do not run this
    /// schedule, if they run others.
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
        let (instances, way, initial) = (Rotation::default(), Err(why.into()), OnceLock::new());
        let (collective, starts) = (None, Starts(None));
        Self {
            bound: Arc::new(BoundSchedule {
                group,
                code,
                communicator,
                memory,
                instances,
                collective,
                starts,
                linked: OnceLock::new(),
                way,
                initial,
            }),
        }
    }

    /// Returns `Ok` if the kernels of the job's hosts run the schedule, and an error if the
    /// processes of its ranks do.
    ///
    /// # Errors
    /// The reason why processes run the schedule.
    pub fn offload(&self) -> std::result::Result<(), &str> {
        self.bound.way.as_ref().map(drop).map_err(|why| &**why)
    }

    /// Loads the schedule of this process's rank from a NISA file. Processes run the schedule,
    /// unless the caller changes that by [`Schedule::go`].
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

    /// Returns the communicator on which the schedule runs.
    pub fn communicator(&self) -> &Communicator {
        &self.bound.communicator
    }

    /// Returns the length in bytes of each buffer of the schedule's table. The declared buffers
    /// come first.
    pub fn buffers(&self) -> &[u64] {
        self.bound.code.buffers()
    }

    /// Returns the number of actions.
    pub fn actions(&self) -> u32 {
        self.bound.code.actions()
    }

    /// Returns the binary form of the schedule.
    pub fn nisa(&self) -> &Nisa {
        self.bound.code.nisa()
    }

    /// Returns the program of this process's rank as GOAL text, after all passes. In the text
    /// buffers follow each other, and the other ranks of the group have no actions.
    pub fn text(&self) -> String {
        let (rank, size) = (self.bound.group.in_job(), self.bound.code.nisa().num_ranks());
        let body = self.bound.code.nisa().decode().body_of(rank).clone();
        compile::text(body, rank, size)
    }

    /// Returns the addresses of all declared buffers. `given` has either all of them, or only those
    /// of the buffers that this rank uses. In the second case, the addresses of unused buffers are
    /// 0.
    pub fn with_unused(&self, given: Vec<usize>) -> Vec<usize> {
        let lengths = &self.buffers()[..self.bound.num_declared()];
        let used = lengths.iter().filter(|&&length| length > 0).count();
        if given.len() == lengths.len() || given.len() != used {
            return given;
        }
        let mut given = given.into_iter();
        let address = |&length: &u64| if length > 0 { given.next().unwrap_or(0) } else { 0 };
        lengths.iter().map(address).collect()
    }

    /// Checks that the schedule can be started on these buffers, but does not start it.
    ///
    /// # Errors
    /// The number of buffers differs from that of the declared ones, a needed buffer is missing, or
    /// two buffers overlap.
    pub fn check_buffers(&self, buffers: &[usize]) -> Result<()> {
        self.bound.check_binding(buffers)
    }

    /// Starts the schedule as the next run of its communicator, and executes those actions that
    /// need not wait. All ranks of the communicator must start its schedules in the same order.
    /// `buffers` has a new address for each declared buffer. The memory there must have at least
    /// the declared size.
    ///
    /// # Errors
    /// The number of buffers differs from that of the declared ones, or the job can't go on.
    ///
    /// # Safety
    /// Until the run has ended, the memory that the graph names, or the given buffers instead,
    /// stays readable and writable. Meanwhile nobody else writes bytes that actions read, and
    /// nobody accesses bytes that actions write.
    #[inline]
    pub unsafe fn start(&self, buffers: Option<&[usize]>) -> Result<Ticket> {
        // SAFETY: as the caller says.
        self.bound.group.shared().with(|core| unsafe { self.start_with(core, buffers) })
    }

    /// Starts the schedule as [`start`](Self::start) does, for a caller that holds the engine lock.
    /// The run uses an instance that has ended, or a new one.
    ///
    /// # Errors
    /// As for [`start`](Self::start).
    ///
    /// # Safety
    /// As for [`start`](Self::start).
    #[inline]
    pub(crate) unsafe fn start_with(
        &self,
        core: &mut RankCore,
        buffers: Option<&[usize]>,
    ) -> Result<Ticket> {
        let bound = &self.bound;
        let start = |core: &mut RankCore| {
            if core.generation() > 0 {
                bound.group.check_complete(&bound.communicator, core.generation())?;
            }
            let ended = bound.ended_slot(core)?;
            // SAFETY: as the caller says.
            unsafe {
                match (&bound.way, ended) {
                    (Ok(part), ended) => bound.start_in_kernel(core, part, buffers, ended),
                    // All survivors of a loss have regrouped, so they decide alike.
                    (Err(_), ended)
                        if bound.linked.get().is_some() && core.links_on(&bound.communicator) =>
                    {
                        bound.start_linked(core, buffers, ended)
                    }
                    (Err(_), Some(ended)) if !core.slots.is_gone(ended) => {
                        bound.start_again(core, ended, buffers)
                    }
                    (Err(_), gone) => bound.start_new(core, buffers, gone),
                }
            }
        };
        start(core).map_err(|error| name_collectives(core, Some(bound.collective), error))
    }

    /// Starts the schedule as [`start`](Self::start) does, and waits until the run has ended.
    /// `call` names the caller's function in reports about a rank that waits for ever.
    ///
    /// # Errors
    /// As for [`start`](Self::start) and [`wait`].
    ///
    /// # Safety
    /// As for [`start`](Self::start).
    pub unsafe fn run(&self, buffers: Option<&[usize]>, call: &str) -> Result<()> {
        // SAFETY: as the caller says.
        let start = |core: &mut RankCore| unsafe { self.start_with(core, buffers) };
        self.bound.group.shared().run(|core| start(core).map(Some), call).map(drop)
    }

    /// Returns the slot of the schedule's first linked instance, and the counter of its starts.
    /// Returns `None` if the schedule is not linked or never ran.
    pub(crate) fn linked_slot(&self) -> Option<(u32, Starts)> {
        let first = self.bound.instances.last().filter(|_| self.bound.linked.get().is_some())?;
        Some((first, self.bound.starts))
    }

    /// Frees the schedule.
    ///
    /// # Errors
    /// [`ErrorCode::Busy`] while the schedule runs; or this process is a fork of the rank. The
    /// error contains the schedule.
    pub fn free(self) -> std::result::Result<(), (Error, Self)> {
        if let Err(error) = self.bound.group.own() {
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

    /// Frees the instances that have ended. Returns true if no instance is left.
    fn release(&self) -> Result<bool> {
        let bound = &self.bound;
        bound.group.shared().with(|core| {
            core.recent.clear();
            let mut slots = bound.instances.take(core).into_iter();
            while let Some(number) = slots.next() {
                match core.release(number) {
                    Ok(true) => {}
                    Ok(false) => bound.instances.add(core, number),
                    Err(error) => {
                        // The remaining instances are freed later, if the job goes on after a loss.
                        core.adopt(std::iter::once(number).chain(slots));
                        return Err(error);
                    }
                }
            }
            Ok(bound.instances.last().is_none())
        })
    }
}

impl Graph {
    /// Returns the program of this process's rank as GOAL text, before any pass. In the text the
    /// memory that actions name lies in buffers that follow each other. The other ranks of the
    /// group have no actions.
    ///
    /// # Errors
    /// An action names more scratch memory than was allocated, or declared buffers don't fit the
    /// actions.
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
        // Instances that still run keep the memory and the code that they need.
        let bound = &self.bound;
        let _ = bound.group.shared().with(|core| {
            let left = bound.instances.take(core);
            core.adopt(left.into_iter());
            Ok(())
        });
    }
}
