//! The group of ranks that a process belongs to: its start, its end and its settings. A process has
//! one group.

use crate::communicator::{Communicator, Communicators};
use crate::error::error_of;
use crate::error::{Error, ErrorCode, Result};
use crate::heap::Heap;
use crate::join_message::await_list;
use crate::offload::Offload;
use crate::process::{self, GroupState, is_fork, of_fork};
use crate::progress::RankCore;
use crate::shared::SharedGroup;
use crate::slots::wake;
use crate::table;
use crate::thread::within_function;
use goal_engine::UserFunction;
use goal_job::Mode;
use goal_lang::Neighbors;
use goal_launch::{Common, Exchange, attach, attach_among};
use goal_rank::program::{AttachError, Attached, FinalizeError};
use goal_rank::progress::{Member, StartError};
use parking_lot::{Condvar, Mutex};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The group of ranks that this process belongs to. Copies name the same group.
#[derive(Debug, Clone, Copy)]
pub struct Group(&'static SharedGroup);

static GROUP: OnceLock<SharedGroup> = OnceLock::new();
static STARTING: Mutex<()> = Mutex::new(());

/// The time that an end of the job waits for the core.
const ABORT_PATIENCE: Duration = Duration::from_millis(100);

impl Group {
    /// Joins the group: the ranks that a launcher started together with this process, or this
    /// process alone if it has no launcher. Returns when all ranks have called this. Once in a
    /// process.
    ///
    /// # Errors
    /// It was called before, or the process can't attach to its job.
    pub fn init() -> Result<Self> {
        Self::start(attach)
    }

    /// Joins a group of `size` processes that another launcher has started, as rank `rank`. All of
    /// these processes call this once, instead of [`Group::init`]. It returns when all have called
    /// it. `exchange` is an allgather between them: it gives each rank the blobs of all ranks.
    ///
    /// # Errors
    /// As for [`Group::init`], or the exchange failed.
    pub fn init_among(rank: u32, size: u32, exchange: &mut Exchange<'_>) -> Result<Self> {
        Self::start(|common| attach_among(rank, size, exchange, common))
    }

    #[allow(unsafe_code)] // the rank's part of the segment becomes its heap
    fn start(
        attach: impl FnOnce(Common) -> std::result::Result<Attached, AttachError>,
    ) -> Result<Self> {
        if is_fork() {
            return Err(of_fork());
        }
        // A fork may have the lock as it was, taken.
        let Some(_alone) = STARTING.try_lock() else { return Err(is_starting()) };
        if GroupState::Finalized.is() {
            return Err(Error::new(
                ErrorCode::Finalized,
                "the group is finalized and can't start again",
            ));
        }
        if GROUP.get().is_some() {
            return Err(Error::new(ErrorCode::Init, "the group is initialized already"));
        }
        // A rank that fails here still takes part in the exchange, where the others wait for it.
        let own = process::begin().and_then(|()| table::read());
        let common = match &own {
            Ok(digest) => Ok(format!("{}={digest:016x}", table::VARIABLE)),
            Err(error) => Err(error.to_string()),
        };
        let attached = attach(common);
        own?;
        let attached = attached.map_err(|error| {
            let code = match &error {
                AttachError::Stopped => ErrorCode::Stopped,
                AttachError::Again => ErrorCode::Init,
                _ => ErrorCode::System,
            };
            Error::new(code, error.to_string())
        })?;
        let mut member =
            attached.member().map_err(|error| Error::new(ErrorCode::System, error.to_string()))?;
        let mut communicators = Communicators::default();
        let world = match attached.has_joined() {
            true => {
                communicators.make_first(attached.rank(), await_list(&attached, &mut member)?)?
            }
            false => Communicator::world(attached.rank(), attached.size(), attached.hosts()),
        };
        // SAFETY: the region is this rank's for the life of the process, and is taken once.
        let heap = unsafe { Heap::new(attached.heap()) };
        let offload = attached.tables();
        let offload = offload.map(|tables| Offload::new(tables, attached.job().calc()));
        let events = offload.as_ref().map(|offload| Arc::clone(&offload.events));
        let shared = SharedGroup {
            world,
            attached,
            communicators: Mutex::new(communicators),
            heap,
            offload,
            core: Mutex::new(RankCore::new(member, events)),
            wanted: AtomicU32::new(0),
            mode: AtomicU8::new(0),
            has_waiter: AtomicBool::new(false),
            has_missed: AtomicBool::new(false),
            turned: Condvar::new(),
        };
        shared.set_mode(shared.attached.progress());
        let group = Self(GROUP.get_or_init(|| shared));
        GroupState::Used.enter();
        group.0.with(|core| {
            core.follow_thread(move || group.0.after_progress());
            Ok(())
        })?;
        Ok(group)
    }

    /// Returns the group of this process.
    ///
    /// # Errors
    /// It is not initialized, or is finalized.
    #[inline]
    pub fn current() -> Result<Self> {
        match GROUP.get() {
            Some(shared) if GroupState::Used.is() => Ok(Self(shared)),
            _ if is_fork() => Err(of_fork()),
            Some(_) => Err(Error::new(ErrorCode::Finalized, "the group is finalized")),
            None => Err(Error::new(
                ErrorCode::Init,
                "the group is not initialized: call GOAL_Init first",
            )),
        }
    }

    /// Returns true if the group was initialized, also when it is finalized by now.
    pub fn is_initialized() -> bool {
        GROUP.get().is_some()
    }

    /// Returns true if the group is finalized.
    pub fn is_finalized() -> bool {
        GroupState::Finalized.is()
    }

    /// Returns true if this process is a fork of a rank. It is no rank itself.
    pub fn is_fork() -> bool {
        is_fork()
    }

    /// Returns the state of the group, for a call that uses it without the core.
    ///
    /// # Errors
    /// This process is a fork of a rank.
    pub(crate) fn own(self) -> Result<&'static SharedGroup> {
        if is_fork() { Err(of_fork()) } else { Ok(self.0) }
    }

    pub(crate) fn shared(self) -> &'static SharedGroup {
        self.0
    }

    /// This process's rank in [`world`](Self::world), from 0 on.
    pub fn rank(self) -> u32 {
        self.0.world.rank()
    }

    /// The number of ranks of [`world`](Self::world).
    pub fn size(self) -> u32 {
        self.0.world.size()
    }

    /// This process's rank in the job, which the launcher and its errors call it by.
    pub(crate) fn in_job(self) -> u32 {
        self.0.attached.rank()
    }

    /// The number of ranks that the job has now.
    pub(crate) fn num_ranks(self) -> u32 {
        self.0.attached.num_ranks()
    }

    /// The communicator of all ranks that the job started with. In a process that joined later, it
    /// is the communicator that accepted the process.
    pub fn world(self) -> &'static Communicator {
        &self.0.world
    }

    /// Returns how schedules make progress while the program computes. In [`Mode::Node`] they make
    /// none, as in [`Mode::Caller`]: other ranks don't have the schedules that a program builds.
    #[inline]
    pub fn progress(self) -> Mode {
        self.0.mode()
    }

    /// Changes how schedules make progress while the program computes: [`Mode::Caller`] or
    /// [`Mode::Thread`].
    ///
    /// # Errors
    /// [`ErrorCode::Unsupported`] for [`Mode::Node`], which is chosen when a job starts; the system
    /// starts no thread.
    pub fn set_progress(self, mode: Mode) -> Result<()> {
        let sleepers = self.0.with(|core| {
            let (member, _) = core.parts()?;
            member.set_progress(mode).map_err(|error| {
                let code = match error {
                    StartError::Fixed => ErrorCode::Unsupported,
                    _ => ErrorCode::System,
                };
                Error::new(code, error.to_string())
            })?;
            core.follow_thread(move || self.0.after_progress());
            self.0.set_mode(mode);
            Ok(core.slots.sleepers())
        })?;
        // Tasks that the rank's thread would have woken make progress themselves. To wake one may
        // call the library, so this is done without the core.
        sleepers.iter().for_each(|sleeper| wake(sleeper));
        Ok(())
    }

    /// Makes a communicator of ranks of `parent`. Each rank in the list calls this with the same
    /// list, in the same order as the others if several lists are the same. No message is
    /// exchanged.
    ///
    /// # Errors
    /// The list has a rank twice, or one that `parent` has not, or lacks this process's rank.
    pub fn communicator(self, parent: &Communicator, ranks: &[u32]) -> Result<Communicator> {
        self.own()?.make_communicator(|made| made.make(parent, ranks))
    }

    /// Makes a communicator of all ranks of `parent` in which this process's rank has these
    /// neighbours, for collectives of neighbours (`MPI_Dist_graph_create_adjacent`). All ranks of
    /// `parent` call this, each with its own lists, in the same order as they make other
    /// communicators of the same ranks. No message is exchanged.
    ///
    /// The lists may name a rank several times, and may name the rank itself. Several edges between
    /// two ranks are matched in order: the first one in the list of destinations is the first one
    /// in the list of sources. If the lists of two ranks do not fit, a collective waits for ever,
    /// which the job reports.
    ///
    /// # Errors
    /// A list has a rank that `parent` has not, or edges of this rank to itself are in one list
    /// only.
    pub fn graph_communicator(
        self,
        parent: &Communicator,
        sources: &[u32],
        destinations: &[u32],
    ) -> Result<Communicator> {
        let neighbors = Neighbors { sources: sources.into(), destinations: destinations.into() };
        self.own()?.make_communicator(|made| made.make_graph(parent, neighbors))
    }

    /// Registers the function that actions call by this number, in the place of an earlier one. It
    /// gets both buffers, and may change them. Its calls of this library return
    /// [`ErrorCode::Unsupported`], and a panic ends the job.
    ///
    /// # Errors
    /// The job can't go on.
    pub fn register(
        self,
        number: u32,
        mut function: impl FnMut(&mut [u8], &mut [u8]) + Send + 'static,
    ) -> Result<()> {
        let guarded = move |a: &mut [u8], b: &mut [u8]| within_function(|| function(a, b));
        let mut guarded: Option<UserFunction> = Some(Box::new(guarded));
        let replaced = self.0.with(|core| {
            let (member, _) = core.parts()?;
            let function = guarded.take().expect("it is taken once");
            member.register(number, function).map_err(|error| error_of(&error))
        });
        // To drop a function is code of the program, which may call the library: without the core.
        replaced.map(drop)
    }

    /// Allocates memory that the peers of this host read in place, aligned to 64 bytes. Its content
    /// is not defined.
    ///
    /// # Errors
    /// There is no room.
    pub fn allocate(self, bytes: usize) -> Result<NonNull<u8>> {
        self.own()?.heap.allocate(bytes)
    }

    /// Takes memory of [`allocate`](Self::allocate) back. No run may use it.
    ///
    /// # Errors
    /// The address is not one of such memory.
    pub fn free(self, address: usize) -> Result<()> {
        self.own()?.heap.free(address)
    }

    /// Ends the job because this rank can't do its part. The text says why. The calls of all ranks
    /// return an error from now on, and the launcher tells of the text.
    pub fn abort(self, why: &str) {
        let Ok(own) = self.own() else { return };
        // In a handler of a signal, this thread itself may hold the core.
        if own.core.try_lock_for(ABORT_PATIENCE).is_none() {
            return own.attached.fail(&format!("rank {}: {why}", own.attached.rank()));
        }
        let _ = own.with(|_| Err::<(), Error>(Error::new(ErrorCode::Failed, why)));
    }

    /// Leaves the group. Returns when all ranks have called this. Every run must have ended.
    ///
    /// # Errors
    /// A run has not ended; the group goes on. Or the job can't end as it should.
    pub fn finalize(self) -> Result<()> {
        self.end(Attached::finalize)
    }

    /// Ends this rank's part by `end`.
    pub(crate) fn end(
        self,
        end: fn(&Attached, Member<'static>) -> std::result::Result<(), FinalizeError>,
    ) -> Result<()> {
        Self::current()?;
        let Some(_alone) = STARTING.try_lock() else { return Err(is_starting()) };
        Self::current()?;
        // Functions of ends that were noticed now are called before the group is finalized.
        let is_broken = self.0.attached.await_verdict();
        let member = self.0.with(|core| core.leave(is_broken))?;
        GroupState::Finalized.enter();
        let finalized = end(&self.0.attached, member);
        // Valgrind tells of what a program leaves, and the schedules of collectives are not its
        // own. They are dropped without the core.
        let kept = self.0.with(|core| Ok(core.kept.take()));
        drop(kept);
        finalized.map_err(|error| Error::new(ErrorCode::Stopped, error.to_string()))
    }
}

#[cold]
fn is_starting() -> Error {
    Error::new(ErrorCode::Busy, "another thread initializes or finalizes")
}
