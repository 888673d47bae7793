//! The engine: the paper's Listing 1 over verified sections, for any number of instances at once.
//!
//! Started schedules make progress in [`Engine::poll`], which does a bounded amount of work and
//! never waits. An action is ready when its counter of unmet dependencies reaches zero. Of the
//! ready actions, the first in the section starts first. An action that does not end at its start
//! passes through a queue when it ends (thesis 4.2.3). So the engine does not recurse along a chain
//! of dependencies.
//!
//! The instances of a communicator are numbered in the order of their starts; all ranks must start
//! them in the same order. Every instance has its own matching space, so a message for a later
//! instance may arrive early.
#![allow(unsafe_code)] // `Engine::attach`

mod actions;
mod again;
mod arrivals;
mod board;
mod channel;
mod code;
mod combined;
mod common;
mod communicator;
mod deliver;
mod error;
mod fetch;
mod home;
pub(crate) mod ids;
mod incoming;
mod instance;
mod lifecycle;
mod local;
mod lookup;
mod options;
mod outgoing;
mod parts;
mod poll;
mod ready;
mod receive;
mod requests;
mod routes;
mod run;
mod schedule;
mod send;
mod shared;
mod short;
mod start;
mod state;
mod steps;
mod storage;
#[cfg(test)]
pub(crate) mod tests;
mod traced;
mod transmit;
mod underway;
mod view;
mod window;

pub use crate::heap::{OutOfMemory, within};
pub use arrivals::kept_bytes;
pub use error::{Cause, Failure, Fault};
pub use instance::Handle;
pub use local::UserFunction;
pub use options::{Calc, Depths, Options, Stats};
pub use requests::sends;
pub use schedule::{Schedule, StateSizes};
pub use state::state_bytes;
pub use storage::{Areas, Storage};
pub use transmit::ELEMENT_BYTES_MAX;
pub use underway::{Underway, Work};
pub use view::{Countdown, InstanceView, MatchesView, Met, WindowView};
pub use window::{WindowStats, Windowed};

use crate::heap::Heap;
use crate::memory::{Region, Zeroed};
use crate::trace::Recorder;
use crate::transport::Transport;
use code::Code;
use goal_asm::nisa::Record;
use home::InstanceMemory;
use ids::{ActionRef, InstanceKey, Rank};
use local::LocalOps;
use requests::Bound;
use state::HeldState;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};

/// The communicator of all ranks of a job.
pub const WORLD: u64 = 0;

/// The bits of a communicator's number that messages carry.
pub const COMMUNICATOR_BITS: u32 = 48;

/// One rank's engine over its end of a transport.
#[derive(Debug)]
pub struct Engine<'m, T> {
    transport: T,
    core: Core,
    /// The schedules in use, indexed by `Instance::code`.
    codes: Vec<Code>,
    /// The engine holds the storages of its instances for `'m`.
    lent: PhantomData<&'m mut [u8]>,
}

/// The parts of an engine other than its transport and its schedules.
#[derive(Debug)]
struct Core {
    /// A number that no other engine of the process has. Handles name their engine by it.
    id: u64,
    rank: Rank,
    options: Options,
    held: HeldState,
    /// The memory and counters of each instance, by its key.
    homes: InstanceMemory,
    /// Ended instances that can be started again: the index of the schedule in `Engine::codes`, and
    /// the instance's key.
    ended: Vec<(u32, InstanceKey)>,
    locals: LocalOps,
    /// The schedule and storage that other processes know, if they may act for the rank.
    common: Option<Common>,
    /// True if a started schedule depends on the time.
    asks_time: bool,
    /// A buffer for a part of a payload that the transport copies from its sender's memory.
    staged: Vec<u8>,
    /// The receiver of trace events; `None` if nothing is traced.
    recorder: Option<Box<dyn Recorder>>,
    /// The bound on the waiting rendezvous requests of each other rank; `None` if there is no
    /// bound.
    bound: Option<Bound>,
}

/// The schedule and the storage that are known to every process that may act for the rank.
#[derive(Debug)]
struct Common {
    /// The addresses and sizes of the storage's areas.
    place: [usize; 7],
    /// [`Schedule::name`].
    name: u64,
    /// The index of the storage in `homes`, in an engine of another process than the rank's; `None`
    /// in the rank's own engine.
    home: Option<InstanceKey>,
}

impl Drop for Core {
    /// Leaks the storages of all instances if other ranks may still access one of them.
    fn drop(&mut self) {
        if self.held.is_exposed() {
            std::mem::forget(std::mem::take(&mut self.homes));
        }
    }
}

impl Core {
    #[inline]
    fn heap(&self) -> Heap {
        self.held.heap
    }

    /// Reads an action of a running instance. In a window, it must not have ended.
    #[inline]
    fn record_of<'c>(&self, codes: &'c [Code], at: ActionRef) -> Record<'c> {
        let instance = self.held.instances.get(&self.held.heap, at.instance);
        codes[instance.code as usize].record(at.action)
    }
}

/// The result of a poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// True if the poll made progress. If not, another poll helps only after the event that
    /// `waiting` names.
    pub worked: bool,
    /// The next event that the engine needs. It is exact only if `worked` is false.
    pub waiting: Waiting,
}

/// The event that an engine waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiting {
    /// Nothing: every action of every instance has ended, and every message has left.
    Nothing,
    /// A message.
    Messages,
    /// Room on the way to a peer, or chunks of an operation that other ranks work on. No wakeup
    /// announces either, so the caller must poll again.
    Room,
    /// The caller's clock, or a message.
    Until {
        /// The time in nanoseconds at which something can be done.
        time_ns: u64,
        /// True if the engine also waits for room, which may appear at any time.
        room: bool,
    },
}

impl<'m, T: Transport> Engine<'m, T> {
    /// Creates the engine of `rank`. It keeps its instances and messages in `state`, which does not
    /// grow: [`state_bytes`] returns a size that suffices for the usual schedules under
    /// [`Options::unexpected_limit`]. Other ranks send it no eager messages until it exists.
    pub fn new(rank: u32, transport: T, options: Options, state: Zeroed) -> Self {
        Self::with(rank, transport, options, HeldState::alone(state, options.seed))
    }

    /// Creates an engine of `rank` over the state in `state`. This state is all zeros, or another
    /// engine of that rank left it there. [`Engine::adopt`] names the schedule of an instance that
    /// another process has started.
    ///
    /// # Safety
    /// The contract of [`Region::new`] holds. While a method of this engine runs, no method of
    /// another engine over the same state runs, in any process. This engine may be dropped while
    /// another rank works on one of its operations, or reads one of its payloads in place. Until
    /// that rank has ended this work, the memory of the engine's storages stays usable, and nobody
    /// else writes it.
    pub unsafe fn attach(rank: u32, transport: T, options: Options, state: Region) -> Self {
        // SAFETY: as the caller says.
        Self::with(rank, transport, options, unsafe { HeldState::over(state, options.seed) })
    }

    /// Returns true if an instance can make progress at once.
    #[inline]
    pub fn is_runnable(&self) -> bool {
        !self.core.held.runnable.is_empty()
    }

    /// Returns true if a started schedule depends on the time, so that [`Engine::poll`] needs it.
    #[inline]
    pub fn asks_time(&self) -> bool {
        self.core.asks_time
    }

    fn with(rank: u32, transport: T, options: Options, held: HeldState) -> Self {
        static ENGINES: AtomicU64 = AtomicU64::new(0);
        let core = Core {
            // Relaxed: only the number matters, no memory is published with it.
            id: ENGINES.fetch_add(1, Ordering::Relaxed),
            rank: Rank(rank),
            options,
            held,
            homes: InstanceMemory::default(),
            ended: Vec::new(),
            locals: LocalOps::default(),
            common: None,
            asks_time: false,
            staged: Vec::new(),
            recorder: None,
            bound: None,
        };
        let mut engine = Self { transport, core, codes: Vec::new(), lent: PhantomData };
        engine.announce_room();
        engine
    }

    /// Bounds the rendezvous requests of each rank that wait for a receive. `sends` is called with
    /// the number of another rank. It returns the most sends to this rank that the other may have
    /// under way at a time, in all its instances together. A rank with more waiting requests ends
    /// the job. Without this call there is no bound. The caller must call it before any message
    /// arrives.
    pub fn bound_requests(&mut self, sends: impl Fn(u32) -> u64 + Send + 'static) {
        self.core.bound = Some(Bound::Sends(Box::new(sends)));
    }

    /// Bounds the requests that wait for a receive, for a rank that does not know the schedules of
    /// the others. The overhead of a sender's waiting requests may take up to
    /// [`Options::unexpected_limit`] bytes. A sender with more waiting requests ends the job. The
    /// caller must call this before any message arrives.
    pub fn limit_requests(&mut self) {
        self.core.bound = Some(Bound::from_limit(self.core.options.unexpected_limit));
    }

    /// Registers the function that `exec user FUNCTION` calls. Returns the function that had the
    /// number before. Dropping that function runs code of the program, so the caller should hold no
    /// lock then.
    pub fn register(&mut self, function: u32, call: UserFunction) -> Option<UserFunction> {
        self.core.locals.register(function, call)
    }

    /// Takes out all registered functions, each with its number.
    pub fn take_functions(&mut self) -> Vec<(u32, UserFunction)> {
        self.core.locals.take_functions()
    }

    /// Calls a registered function on bytes that belong to no instance.
    ///
    /// # Errors
    /// [`Cause::UnknownUserFunction`].
    pub fn call(&mut self, function: u32, a: &mut [u8], b: &mut [u8]) -> Result<(), Cause> {
        self.core.locals.call_on(function, a, b)
    }

    /// Returns the number of polls, by any process, that made progress. The number wraps around.
    pub fn progress_count(&self) -> u32 {
        self.core.held.progress_count
    }

    /// Returns the engine's counts so far.
    pub fn stats(&self) -> &Stats {
        &self.core.held.stats
    }

    /// Returns the greatest lengths that the engine's queues have had.
    pub fn depths(&self) -> Depths {
        let state = &*self.core.held;
        Depths {
            posted: state.arrivals.receives_max(),
            kept: state.arrivals.messages.len_max(),
            blocked: state.outbox.longest(),
        }
    }

    /// Returns the transport.
    pub fn transport(&mut self) -> &mut T {
        &mut self.transport
    }
}
