//! Starts, ends and configures the group of ranks that a process belongs to. A process has one
//! group.

use crate::biased::BiasedMutex;
use crate::communicator::{Communicator, Communicators};
use crate::error::error_of;
use crate::error::{Error, ErrorCode, Result};
use crate::heap::Heap;
use crate::join_message::await_list;
use crate::links::Links;
use crate::offload::Offload;
use crate::process::{self, GroupState, is_fork, of_fork};
use crate::progress::RankCore;
use crate::shared::{Entered, SharedGroup};
use crate::slots::wake;
use crate::table;
use crate::thread::{is_in_function, within_function};
use goal_engine::UserFunction;
use goal_job::Mode;
use goal_lang::Neighbors;
use goal_launch::{Common, Exchange, attach, attach_among};
use goal_rank::program::{AttachError, Attached, FinalizeError};
use goal_rank::progress::{Member, StartError};
use parking_lot::{Condvar, Mutex};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The group of ranks that this process belongs to. Copies name the same group.
#[derive(Debug, Clone, Copy)]
pub struct Group(&'static SharedGroup);

static GROUP: OnceLock<SharedGroup> = OnceLock::new();
static STARTING: Mutex<()> = Mutex::new(());

/// The longest time for which [`Group::abort`] waits for the engine lock.
const ABORT_PATIENCE: Duration = Duration::from_millis(100);

impl Group {
    /// Joins the group: the ranks that a launcher started together with this process, or this
    /// process alone if it has no launcher. Returns when all ranks have called this. A process may
    /// call this once.
    ///
    /// # Errors
    /// The process has called this before, or it can't attach to its job.
    pub fn init() -> Result<Self> {
        Self::start(attach)
    }

    /// Joins a group of `size` processes that another launcher has started, as rank `rank`. All of
    /// these processes call this once, instead of [`Group::init`]. It returns when all have called
    /// it. `exchange` is an allgather between the processes: it gives each rank the blobs of all
    /// ranks.
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
        // In a fork, the copied lock may be held for ever.
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
        // A rank that fails here still takes part in the exchange, because the other ranks wait for
        // it there.
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
        let links = Links::new(&attached);
        let events = offload.as_ref().map(|offload| Arc::clone(&offload.events));
        let shared = SharedGroup {
            world,
            attached,
            communicators: Mutex::new(communicators),
            heap,
            offload,
            core: BiasedMutex::new(RankCore::new(member, links, events), process::bias()),
            wanted: AtomicU32::new(0),
            mode: AtomicU8::new(0),
            has_waiter: AtomicBool::new(false),
            is_watched: AtomicBool::new(false),
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

    /// Takes the engine lock of this process's group if this thread owns its bias, and does not
    /// have the lock.
    #[inline(always)]
    pub(crate) fn enter() -> Option<Entered> {
        GROUP.get()?.core.enter()
    }

    /// Takes the engine lock of this process's group, if no other thread has or wants it. Returns
    /// `None` otherwise, and if this thread has the lock already.
    #[cold]
    pub(crate) fn enter_by_mutex() -> Option<Entered> {
        let shared = GROUP.get()?;
        if GroupState::Used.is() { shared.core.try_lock() } else { None }
    }

    /// Returns true if another thread wants the engine lock.
    pub(crate) fn is_wanted() -> bool {
        GROUP.get().is_some_and(|shared| shared.wanted.load(Ordering::Relaxed) > 0)
    }

    /// Returns the group of this process.
    ///
    /// # Errors
    /// The group is not initialized, or is finalized.
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

    /// Returns true if the group was initialized, even if it is finalized by now.
    pub fn is_initialized() -> bool {
        GROUP.get().is_some()
    }

    /// Returns true if the group is finalized.
    pub fn is_finalized() -> bool {
        GroupState::Finalized.is()
    }

    /// Returns true if this process is a fork of a rank. A fork is no rank.
    pub fn is_fork() -> bool {
        is_fork()
    }

    /// Returns the state of the group, for a call that uses the state without the engine lock.
    ///
    /// # Errors
    /// This process is a fork of a rank.
    pub(crate) fn own(self) -> Result<&'static SharedGroup> {
        if is_fork() { Err(of_fork()) } else { Ok(self.0) }
    }

    pub(crate) fn shared(self) -> &'static SharedGroup {
        self.0
    }

    /// Returns the rank of this process in [`world`](Self::world), from 0 on.
    pub fn rank(self) -> u32 {
        self.0.world.rank()
    }

    /// Returns the number of ranks of [`world`](Self::world).
    pub fn size(self) -> u32 {
        self.0.world.size()
    }

    /// Returns the rank of this process in the job. The launcher and its errors use this number.
    pub(crate) fn in_job(self) -> u32 {
        self.0.attached.rank()
    }

    /// Returns the number of ranks that the job has had so far.
    pub(crate) fn num_ranks(self) -> u32 {
        self.0.attached.num_ranks()
    }

    /// Returns the communicator of all ranks that the job started with. In a process that joined
    /// later, returns the communicator that accepted the process.
    pub fn world(self) -> &'static Communicator {
        &self.0.world
    }

    /// Returns the mode of progress: how schedules go on while the program computes. [`Mode::Node`]
    /// is the same as [`Mode::Caller`] here, because other ranks don't have the schedules that a
    /// program builds.
    #[inline]
    pub fn progress(self) -> Mode {
        self.0.mode()
    }

    /// Changes the mode of progress to [`Mode::Caller`] or [`Mode::Thread`].
    ///
    /// # Errors
    /// [`ErrorCode::Unsupported`] for [`Mode::Node`], which can only be chosen when a job starts.
    /// [`ErrorCode::System`] if the system starts no thread.
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
            // A new thread gets the engine and the words that it waits for.
            core.progress()?;
            Ok(core.slots.sleepers())
        })?;
        // The rank's thread does not wake these tasks any more, so they must make progress
        // themselves. To wake a task may call the library, so it happens without the engine lock.
        sleepers.iter().for_each(|sleeper| wake(sleeper));
        Ok(())
    }

    /// Makes a communicator of `ranks`, which are ranks of `parent`. Each rank in the list calls
    /// this with the same list. If several communicators have the same list, all ranks make them in
    /// the same order. No message is exchanged.
    ///
    /// # Errors
    /// The list has a rank twice, has a rank that `parent` does not have, or lacks the rank of this
    /// process.
    pub fn communicator(self, parent: &Communicator, ranks: &[u32]) -> Result<Communicator> {
        self.own()?.make_communicator(|made| made.make(parent, ranks))
    }

    /// Makes a communicator of all ranks of `parent` for neighbourhood collectives, as
    /// `MPI_Dist_graph_create_adjacent` does. This rank receives from `sources` and sends to
    /// `destinations`. All ranks of `parent` call this, each with its own lists. They do so in the
    /// same order as they make other communicators of the same ranks. No message is exchanged.
    ///
    /// The lists may name a rank several times, and may name the rank itself. Several edges between
    /// two ranks are matched in order. The first edge in the sender's list of destinations is the
    /// first one in the receiver's list of sources. If the lists of two ranks do not fit, a
    /// collective waits for ever, and the launcher reports that.
    ///
    /// # Errors
    /// A list has a rank that `parent` does not have, or an edge of this rank to itself is in only
    /// one of the lists.
    pub fn graph_communicator(
        self,
        parent: &Communicator,
        sources: &[u32],
        destinations: &[u32],
    ) -> Result<Communicator> {
        let neighbors = Neighbors { sources: sources.into(), destinations: destinations.into() };
        self.own()?.make_communicator(|made| made.make_graph(parent, neighbors))
    }

    /// Registers the function that actions call by `number`. It replaces an earlier function with
    /// this number. The function gets both buffers of an action, and may change them. If it calls
    /// this library, it gets [`ErrorCode::Unsupported`]. If it panics, the job ends.
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
        // The drop of a function is code of the program, which may call the library. So it happens
        // without the engine lock.
        replaced.map(drop)
    }

    /// Allocates memory that peers on this host can read in place. The memory is aligned to 64
    /// bytes. Its content is not defined.
    ///
    /// # Errors
    /// There is no room.
    pub fn allocate(self, bytes: usize) -> Result<NonNull<u8>> {
        self.own()?.heap.allocate(bytes)
    }

    /// Frees memory of [`allocate`](Self::allocate). No run may use this memory any more.
    ///
    /// # Errors
    /// [`allocate`](Self::allocate) did not return the address, or the memory was freed before.
    pub fn free(self, address: usize) -> Result<()> {
        self.own()?.heap.free(address)
    }

    /// Ends the job because this rank can't do its part. `why` states the reason. From now on the
    /// calls of all ranks return an error, and the launcher reports the reason.
    pub fn abort(self, why: &str) {
        let Ok(own) = self.own() else { return };
        // In a signal handler, this thread itself may hold the engine lock already. A function of
        // the program that this library has called can't take it.
        if is_in_function() || own.core.try_lock_for(ABORT_PATIENCE).is_none() {
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

    /// Ends this rank's part in the job by a call of `end`.
    pub(crate) fn end(
        self,
        end: fn(&Attached, Member<'static>) -> std::result::Result<(), FinalizeError>,
    ) -> Result<()> {
        Self::current()?;
        let Some(_alone) = STARTING.try_lock() else { return Err(is_starting()) };
        Self::current()?;
        // `leave` notices ends of runs. `with` calls the functions for these ends, and so before
        // the group is finalized.
        let is_broken = self.0.attached.await_verdict();
        let member = self.0.with(|core| core.leave(is_broken))?;
        GroupState::Finalized.enter();
        // From now on no thread gets the lock without a look at the state.
        drop(self.0.core.lock_by_mutex());
        let finalized = end(&self.0.attached, member);
        // The kept collectives are dropped, because Valgrind would report them as leaks of the
        // program. This happens without the engine lock.
        let kept = self.0.with(|core| Ok(core.kept.take()));
        drop(kept);
        finalized.map_err(|error| Error::new(ErrorCode::Stopped, error.to_string()))
    }
}

#[cold]
fn is_starting() -> Error {
    Error::new(ErrorCode::Busy, "another thread initializes or finalizes")
}
