//! The engine: the paper's Listing 1 over verified sections, for any number of instances at once.
//!
//! Started schedules make progress in [`Engine::poll`], which does a bounded amount of work and
//! never waits. An action is ready when its counter of unmet dependencies reaches zero. Of the
//! ready actions, the first in the section starts first. An action that ends later passes through a
//! queue too (thesis 4.2.3), so the engine does not recurse along a chain of dependencies.
//!
//! The instances of a communicator are numbered in the order of their starts; all ranks must start
//! them in the same order. Every instance has its own matching space, so a message for a later
//! instance may arrive early.
#![allow(unsafe_code)] // `Engine::attach`

mod buffer;
mod channel;
mod code;
mod combined;
mod communicator;
mod error;
mod fetch;
mod ids;
mod incoming;
mod instance;
mod local;
mod lookup;
mod options;
mod outgoing;
mod progress;
mod ready;
mod receive;
mod requests;
mod schedule;
mod send;
mod shared;
mod short;
mod state;
mod step;
mod steps;
mod storage;
#[cfg(test)]
pub(crate) mod tests;
mod traced;
mod view;
mod window;

pub use crate::heap::{UsedUp, within};
pub use error::{Cause, Failure, Fault};
pub use incoming::kept_bytes;
pub use instance::Handle;
pub use local::UserFunction;
pub use options::{Calc, Depths, Options, Stats};
pub use requests::sends;
pub use schedule::{Schedule, StateSizes};
pub use send::ELEMENT_BYTES_MAX;
pub use state::state_bytes;
pub use storage::{Areas, Storage};
pub use view::{Countdown, InstanceView, MatchesView, Met, WindowView};
pub use window::{WindowStats, Windowed};

use crate::heap::{Block, Heap};
use crate::memory::{Region, Zeroed};
use crate::trace::{Point, Recorder};
use crate::transport::Transport;
use channel::Channels;
use code::{Code, Home};
use goal_asm::nisa::StreamError;
use ids::InstanceKey;
use instance::{Instance, Matched};
use local::Locals;
use requests::Bound;
use state::Held;
use std::marker::PhantomData;
use std::sync::Arc;
use window::Window;

/// The communicator of all ranks of a job.
pub const WORLD: u32 = 0;

/// The number of schedules that the engine remembers together with the memory of their ended
/// instances, so that they start again without an allocation.
const CODES_MAX: usize = 16;

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

/// The engine without its transport and its schedules.
#[derive(Debug)]
struct Core {
    rank: u32,
    options: Options,
    held: Held,
    /// The memory and counters of each instance, by its key.
    homes: Vec<Home>,
    /// The index in `Engine::codes` of each running instance, by its key.
    running: Vec<Option<u32>>,
    /// Ended instances that can be started again: the index of the schedule in `Engine::codes`, and
    /// the instance's key.
    ended: Vec<(u32, InstanceKey)>,
    locals: Locals,
    /// The schedule and storage that other processes know, if they may act for the rank.
    common: Option<Common>,
    /// True if a started schedule depends on the time.
    asks_time: bool,
    /// A buffer for a part of a payload that the transport copies from its sender's memory.
    staged: Vec<u8>,
    /// The receiver of trace events, if there is one.
    recorder: Option<Box<dyn Recorder>>,
    /// The most requests of a rank that may wait, if that is known.
    bound: Option<Bound>,
}

/// One schedule on one storage that every process that acts for the rank knows.
#[derive(Debug)]
struct Common {
    /// The addresses and sizes of the storage's areas.
    place: [usize; 7],
    /// [`Schedule::name`].
    name: u64,
    /// In an engine of another process: the index of the storage in `homes`.
    home: Option<InstanceKey>,
}

/// The index in `Engine::codes`, in every process, of the schedule that all of them know.
const COMMON: u32 = 0;

impl Core {
    #[inline]
    fn heap(&self) -> Heap {
        self.held.heap
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
    /// Creates the engine of `rank`. It keeps its state in `state`: see [`state_bytes`]. Other
    /// ranks send it no eager messages until it exists.
    pub fn new(rank: u32, transport: T, options: Options, state: Zeroed) -> Self {
        Self::with(rank, transport, options, Held::alone(state, options.seed))
    }

    /// Creates an engine of `rank` over the state in `state`: all zeros, or the state that another
    /// engine of that rank left there. [`Engine::adopt`] names the schedule of an instance that
    /// another process has started.
    ///
    /// # Safety
    /// The contract of [`Region::new`] holds. While a method of this engine runs, no method of
    /// another engine over the same state runs, in any process.
    pub unsafe fn attach(rank: u32, transport: T, options: Options, state: Region) -> Self {
        // SAFETY: as the caller says.
        Self::with(rank, transport, options, unsafe { Held::over(state, options.seed) })
    }

    /// Called on the rank's own engine: names the schedule and storage that other processes know.
    /// One instance of the schedule runs at a time. Other processes may act for the rank while it
    /// runs nothing else, and if the schedule calls no function that only the rank's process has
    /// registered.
    ///
    /// # Panics
    /// If the engine has started something.
    pub fn share(&mut self, schedule: &Arc<Schedule>, storage: &Storage<'m>) {
        let name = if schedule.calls_functions() { 0 } else { schedule.name() };
        self.core.held.name = name;
        self.know(schedule, storage, name);
    }

    /// Called on an engine of another process: names the schedule and storage that the rank may
    /// run. [`Engine::may_act`] returns true while the rank runs them.
    ///
    /// # Panics
    /// If the engine has started something.
    pub fn adopt(&mut self, schedule: &Arc<Schedule>, storage: Storage<'m>) {
        self.know(schedule, &storage, schedule.name());
        self.core.homes.push(Home::new(storage, schedule.memory_size(), schedule.scratch_size()));
        self.core.running.push(Some(COMMON));
        if let Some(common) = &mut self.core.common {
            common.home = Some(InstanceKey(0));
        }
    }

    fn know(&mut self, schedule: &Arc<Schedule>, storage: &Storage<'m>, name: u64) {
        assert!(self.codes.is_empty(), "an engine that has started something");
        self.codes.push(Code::Whole(Arc::clone(schedule)));
        self.core.asks_time |= schedule.asks_time();
        self.core.common = Some(Common { place: storage.place(), name, home: None });
    }

    /// Returns true if this engine of another process may be polled now: the rank runs only the
    /// schedule that this engine knows. The caller must ask each time after it has taken over the
    /// rank.
    pub fn may_act(&mut self) -> bool {
        let Core { held, common: Some(common), homes, running, .. } = &mut self.core else {
            return false;
        };
        if held.own > 0 || held.name != common.name {
            return false;
        }
        // The instance may have another key than the previous one.
        if let (Some(key), Some(home)) = (held.common.checked_sub(1).map(InstanceKey), common.home)
            && key != home
        {
            let len = homes.len().max(key.index() + 1);
            homes.resize_with(len, || Home::NONE);
            running.resize(len, None);
            homes.swap(key.index(), home.index());
            running.swap(key.index(), home.index());
            common.home = Some(key);
        }
        true
    }

    /// Returns true if the rank runs an instance that only its own process can execute.
    pub fn keeps_to_itself(&self) -> bool {
        let held = &self.core.held;
        held.own > 0 || held.name == 0
    }

    /// Returns true if an earlier engine over the same state left instances that are not finished.
    pub fn is_in_use(&self) -> bool {
        self.core.held.common != 0 || self.core.held.own > 0
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

    fn with(rank: u32, transport: T, options: Options, held: Held) -> Self {
        let core = Core {
            rank,
            options,
            held,
            homes: Vec::new(),
            running: Vec::new(),
            ended: Vec::new(),
            locals: Locals::default(),
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

    /// Registers the function that `exec user FUNCTION` calls.
    pub fn register(&mut self, function: u32, call: UserFunction) {
        self.core.locals.register(function, call);
    }

    /// Starts the next instance of that communicator, which executes `schedule`. Returns before any
    /// action has run.
    ///
    /// # Panics
    /// If the storage is smaller than the schedule needs.
    #[inline]
    pub fn start(
        &mut self,
        schedule: &Arc<Schedule>,
        communicator: u32,
        storage: Storage<'m>,
    ) -> Handle {
        let is_common = self.is_common(schedule, &storage);
        let is_known =
            |code: &Code| matches!(code, Code::Whole(mine) if Arc::ptr_eq(mine, schedule));
        let known =
            if is_common { Some(COMMON as usize) } else { self.codes.iter().position(is_known) };
        let code = known.unwrap_or_else(|| self.add_code(Code::Whole(Arc::clone(schedule)))) as u32;
        let ended = self.core.ended.iter().rposition(|&(of, _)| of == code);
        let key = match ended {
            Some(at) => self.core.ended.swap_remove(at).1,
            None => self.core.add_instance(code, schedule),
        };
        let home = &mut self.core.homes[key.index()];
        *home = Home::new(storage, schedule.memory_size(), schedule.scratch_size());
        if let Some(matches) = &mut home.matches {
            matches.as_mut_slice()[..schedule.initial_counters().len()].fill(0);
        }
        let heap = self.core.held.heap;
        self.core.held.instances.get_mut(&heap, key).progress.begin(schedule, home);
        self.core.asks_time |= schedule.asks_time();
        if is_common {
            self.core.held.common = key.0 + 1;
        } else {
            self.core.held.own += 1;
        }
        self.enter(communicator, key, code)
    }

    /// Returns true if an instance that starts has the schedule and the storage that other
    /// processes know.
    #[inline]
    fn is_common(&self, schedule: &Arc<Schedule>, storage: &Storage<'m>) -> bool {
        let (Some(common), Some(Code::Whole(known))) = (&self.core.common, self.codes.first())
        else {
            return false;
        };
        let is_same = Arc::ptr_eq(schedule.nisa(), known.nisa()) && schedule.rank() == known.rank();
        is_same
            && !known.calls_functions()
            && self.core.held.common == 0
            && storage.place() == common.place
    }

    /// Adds a schedule and returns its index. If there are `CODES_MAX` of them, schedules without a
    /// running instance are dropped first.
    #[cold]
    fn add_code(&mut self, code: Code) -> usize {
        if self.codes.len() >= CODES_MAX {
            let heap = &self.core.heap();
            for (_, key) in std::mem::take(&mut self.core.ended) {
                self.core.held.instances.remove(heap, key).release(heap);
            }
            let running: Vec<u32> = self.core.running.iter().flatten().copied().collect();
            let shared = usize::from(self.core.common.is_some());
            for (number, code) in self.codes.iter_mut().enumerate().skip(shared) {
                if !running.contains(&(number as u32)) {
                    *code = Code::Ended;
                }
            }
        }
        match self.codes.iter().position(|code| matches!(code, Code::Ended)) {
            Some(free) => {
                self.codes[free] = code;
                free
            }
            None => {
                self.codes.push(code);
                self.codes.len() - 1
            }
        }
    }

    /// Queues a prepared instance, gives it its number and the messages that arrived early.
    #[inline]
    fn enter(&mut self, communicator: u32, key: InstanceKey, code: u32) -> Handle {
        let Self { core, codes, .. } = self;
        let heap = &core.heap();
        let state = &mut *core.held;
        let instance = state.instances.get_mut(heap, key);
        instance.is_queued = false;
        instance.enqueue(heap, &mut state.runnable, key);
        state.arrivals.open(heap, communicator, key, &codes[code as usize], instance);
        let number = instance.number;
        state.unfinished += u32::from(!instance.progress.is_finished());
        core.running[key.index()] = Some(code);
        core.note_instance(Point::InstanceStarted, number);
        Handle { key, communicator, number }
    }

    /// Starts an instance of a schedule that is read through a window (paper III.D, Theorem 3). The
    /// storage's `counters` has an entry for each action of the window, and `finished` is its
    /// [`Board`]. Matches are not recorded.
    ///
    /// # Errors
    /// If the beginning of the section can't be read or is not valid. An error in a later part is a
    /// failure of the instance.
    ///
    /// # Panics
    /// If the storage is smaller than the schedule needs.
    pub fn start_in_window(
        &mut self,
        windowed: &Windowed,
        communicator: u32,
        mut storage: Storage<'m>,
    ) -> Result<Handle, StreamError> {
        let window = Window::new(windowed, &mut storage, self.core.options.seed)?;
        storage.areas.matches = None;
        let code = self.add_code(Code::Window(Box::new(window))) as u32;
        let mut instance = Instance { code, ..Instance::default() };
        instance.progress.unfinished = windowed.place.actions;
        let key = self.core.insert(instance);
        self.core.homes[key.index()] = Home::new(storage, windowed.memory, windowed.place.scratch);
        self.core.asks_time = true;
        self.core.held.own += 1;
        Ok(self.enter(communicator, key, code))
    }

    /// Returns the figures of the instance's window; `None` if it has no window.
    ///
    /// # Panics
    /// If it is an instance of another engine.
    pub fn window_stats(&self, handle: &Handle) -> Option<WindowStats> {
        match &self.codes[self.instance(handle).code as usize] {
            Code::Window(window) => Some(window.stats()),
            Code::Whole(_) | Code::Ended => None,
        }
    }

    /// Returns true if all actions of an instance have ended.
    ///
    /// # Panics
    /// If it is an instance of another engine.
    #[inline]
    pub fn test(&self, handle: &Handle) -> bool {
        self.instance(handle).progress.is_finished()
    }

    /// Polls until an instance has ended. `now` returns the time in nanoseconds.
    ///
    /// # Errors
    /// The failure of an action.
    pub fn wait(&mut self, handle: &Handle, mut now: impl FnMut() -> u64) -> Result<(), Failure> {
        while !self.test(handle) {
            if !self.poll(now())?.worked {
                std::hint::spin_loop();
            }
        }
        Ok(())
    }

    /// Removes an ended instance and returns its storage. Messages that it has not received are
    /// dropped and counted.
    ///
    /// # Panics
    /// If the instance has not ended.
    #[inline]
    pub fn finish(&mut self, handle: Handle) -> Storage<'m> {
        assert!(self.test(&handle), "instance {} has not ended", handle.number);
        self.core.note_instance(Point::InstanceEnded, handle.number);
        let Self { core, codes, .. } = self;
        let heap = &core.heap();
        let state = &mut *core.held;
        let key = handle.key;
        let instance = state.instances.get_mut(heap, key);
        if instance.is_queued {
            state.runnable.retain(heap, |&queued| queued != key);
        }
        state.stats.unreceived += state.arrivals.close(heap, instance);
        let code = instance.code;
        if state.common == key.0 + 1 {
            state.common = 0;
        } else {
            state.own -= 1;
        }
        core.running[key.index()] = None;
        match &codes[code as usize] {
            Code::Whole(schedule) => {
                instance.sequences.values_mut(heap)[..schedule.destinations()].fill(0);
                core.ended.push((code, key));
            }
            Code::Window(_) | Code::Ended => {
                codes[code as usize] = Code::Ended;
                state.instances.remove(heap, key).release(heap);
            }
        }
        let home = std::mem::replace(&mut core.homes[key.index()], Home::NONE);
        Storage::from_parts(home.into_parts())
    }

    /// The number of polls of any process that made progress. It wraps around.
    pub fn fruitful(&self) -> u32 {
        self.core.held.fruitful
    }

    /// The engine's counts so far.
    pub fn stats(&self) -> &Stats {
        &self.core.held.stats
    }

    /// The greatest lengths of its queues.
    pub fn depths(&self) -> Depths {
        let state = &*self.core.held;
        Depths {
            posted: state.arrivals.receives_max(),
            kept: state.arrivals.messages.len_max(),
            blocked: state.outbox.longest(),
        }
    }

    /// The transport.
    pub fn transport(&mut self) -> &mut T {
        &mut self.transport
    }

    #[inline]
    fn instance(&self, handle: &Handle) -> &Instance {
        let instance = self.core.held.instances.get(&self.core.held.heap, handle.key);
        assert!(
            (instance.communicator, instance.number) == (handle.communicator, handle.number),
            "a handle of another engine"
        );
        instance
    }
}

impl Core {
    #[cold]
    fn add_instance(&mut self, code: u32, schedule: &Schedule) -> InstanceKey {
        let heap = &self.heap();
        let matched = match schedule.has_wildcards() {
            true => Matched::default(),
            false => Matched::Channels(Channels::new(heap, schedule)),
        };
        let sequences = Block::new(heap, schedule.destinations());
        self.insert(Instance { code, matched, sequences, ..Instance::default() })
    }

    /// Adds an instance and returns its key. Reserves its entries in `homes` and `running`.
    fn insert(&mut self, instance: Instance) -> InstanceKey {
        let heap = &self.heap();
        let key = InstanceKey(self.held.instances.insert(heap, instance));
        // An earlier engine over the same state may have used lower keys.
        if key.index() >= self.homes.len() {
            self.homes.resize_with(key.index() + 1, || Home::NONE);
            self.running.resize(key.index() + 1, None);
        }
        key
    }
}
