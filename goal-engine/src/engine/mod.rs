//! The engine: the paper's Listing 1 over verified sections, for any number of instances at once.
//!
//! Started schedules make progress in [`Engine::poll`], which does a bounded amount of work and
//! never waits. An action whose counter reaches zero is ready, and of these the first of the
//! section starts first; one that ends passes through a queue too (thesis 4.2.3), so that nothing
//! recurses along a chain of dependencies.
//!
//! Instances are numbered in each communicator in the order of their starts, which all ranks must
//! keep to; every instance has a matching space of its own, so that messages of the next one may
//! come early.
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

/// Schedules that are remembered with what their ended instances used, to be started again without
/// an allocation.
const CODES_MAX: usize = 16;

/// One rank's engine over its end of a transport.
#[derive(Debug)]
pub struct Engine<'m, T> {
    transport: T,
    core: Core,
    /// What instances execute, by the number that they have of it.
    codes: Vec<Code>,
    /// The storages of its instances.
    lent: PhantomData<&'m mut [u8]>,
}

/// The engine but for its transport and what it executes.
#[derive(Debug)]
struct Core {
    rank: u32,
    options: Options,
    held: Held,
    /// What instances work on, by their keys.
    homes: Vec<Home>,
    /// What running instances execute, by their keys.
    running: Vec<Option<u32>>,
    /// Keys of ended instances, to be started again, with the number of what they execute.
    ended: Vec<(u32, InstanceKey)>,
    locals: Locals,
    /// Where others act for the rank, what they know of it.
    common: Option<Common>,
    /// True if something was started that depends on the time.
    asks_time: bool,
    /// A part of a payload that was copied from its sender's memory.
    staged: Vec<u8>,
    /// What is told of everything that happens.
    recorder: Option<Box<dyn Recorder>>,
    /// Most requests of a rank that may wait, where that is known.
    bound: Option<Bound>,
}

/// One schedule on one storage, known to every process that acts for a rank.
#[derive(Debug)]
struct Common {
    /// Where the storage lies.
    place: [usize; 7],
    /// [`Schedule::name`].
    name: u64,
    /// In an engine of another process: the key that the storage is filed under.
    home: Option<InstanceKey>,
}

/// The number of the schedule that others know, in all processes.
const COMMON: u32 = 0;

impl Core {
    #[inline]
    fn heap(&self) -> Heap {
        self.held.heap
    }
}

/// What a poll did, and what the engine waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Whether anything happened; if not, polling again helps only after what `waiting` says.
    pub worked: bool,
    /// What has to happen next; certain only where nothing happened.
    pub waiting: Waiting,
}

/// What an engine waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiting {
    /// Nothing: every action of every instance has ended, and every message has left.
    Nothing,
    /// A message.
    Messages,
    /// Room on the way to a peer, which takes whatever comes, or others who do a part of an
    /// operation: nobody tells.
    Room,
    /// The caller's clock, or a message.
    Until {
        /// The time in nanoseconds at which something can be done.
        time_ns: u64,
        /// Whether it waits for room as well, which may come at any time.
        room: bool,
    },
}

impl<'m, T: Transport> Engine<'m, T> {
    /// The engine of `rank`, which remembers all that it has to in `state`: see [`state_bytes`].
    /// Other ranks send it no eager messages before.
    pub fn new(rank: u32, transport: T, options: Options, state: Zeroed) -> Self {
        Self::with(rank, transport, options, Held::alone(state, options.seed))
    }

    /// The engine of `rank` over a state that lies in `state`: zeros, or what an engine of that
    /// rank left there. What instances execute that others have started is told by
    /// [`Engine::adopt`].
    ///
    /// # Safety
    /// The contract of [`Region::new`], and: while a method of this engine runs, no method of
    /// another one over the same state does, in any process.
    pub unsafe fn attach(rank: u32, transport: T, options: Options, state: Region) -> Self {
        // SAFETY: as the caller says.
        Self::with(rank, transport, options, unsafe { Held::over(state, options.seed) })
    }

    /// Tells the rank's own engine what other processes know of it: instances of this schedule on
    /// this storage, one at a time. Others may act for the rank while it runs nothing else, and no
    /// function that its process registered.
    ///
    /// # Panics
    /// If the engine has started something.
    pub fn share(&mut self, schedule: &Arc<Schedule>, storage: &Storage<'m>) {
        let name = if schedule.calls_functions() { 0 } else { schedule.name() };
        self.core.held.name = name;
        self.know(schedule, storage, name);
    }

    /// Tells an engine of another process what the rank may run. [`Engine::may_act`] says whether
    /// it does.
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

    /// Returns true if an engine of another process may be polled now: it knows all that the rank
    /// runs, and has no function that is missing here. To be asked each time that the rank's turn
    /// was taken.
    pub fn may_act(&mut self) -> bool {
        let Core { held, common: Some(common), homes, running, .. } = &mut self.core else {
            return false;
        };
        if held.own > 0 || held.name != common.name {
            return false;
        }
        // The instance may have another key than the one before.
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

    /// Returns true if the rank runs something that only its own process can execute.
    pub fn keeps_to_itself(&self) -> bool {
        let held = &self.core.held;
        held.own > 0 || held.name == 0
    }

    /// Returns true if instances of an engine that was there before have not been finished.
    pub fn is_in_use(&self) -> bool {
        self.core.held.common != 0 || self.core.held.own > 0
    }

    /// Returns true if an instance can go on at once.
    #[inline]
    pub fn is_runnable(&self) -> bool {
        !self.core.held.runnable.is_empty()
    }

    /// Returns true if [`Engine::poll`] needs to be told the time: something was started that
    /// depends on it.
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

    /// Registers what `exec user FUNCTION` calls.
    pub fn register(&mut self, function: u32, call: UserFunction) {
        self.core.locals.register(function, call);
    }

    /// Starts an instance of a schedule: the next one of that communicator. Returns at once; no
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

    /// Returns true if an instance that starts is what others know of the rank.
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

    /// Remembers what an instance executes, in the place of something that no instance does.
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

    /// Lets an instance run that is ready to.
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

    /// Starts an instance of a schedule that is read through a window (paper III.D, Theorem 3). Of
    /// the storage, `counters` has an entry for each action of the window, and `finished` is its
    /// [`Board`]; matches are not recorded.
    ///
    /// # Errors
    /// Where the beginning of the section can't be read, or is wrong; later parts are a failure of
    /// the instance.
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

    /// What a window needed so far; `None` for an instance without one.
    ///
    /// # Panics
    /// If it is an instance of another engine.
    pub fn window_stats(&self, handle: &Handle) -> Option<WindowStats> {
        match &self.codes[self.instance(handle).code as usize] {
            Code::Window(window) => Some(window.stats()),
            Code::Whole(_) | Code::Ended => None,
        }
    }

    /// Whether all actions of an instance have ended.
    ///
    /// # Panics
    /// If it is an instance of another engine.
    #[inline]
    pub fn test(&self, handle: &Handle) -> bool {
        self.instance(handle).progress.is_finished()
    }

    /// Polls until an instance has ended, with the time in nanoseconds from `now`.
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

    /// Gives back what an ended instance used. Messages that it has not received are dropped and
    /// counted.
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

    /// Polls that did something, whoever made them; it wraps around.
    pub fn fruitful(&self) -> u32 {
        self.core.held.fruitful
    }

    /// What happened so far.
    pub fn stats(&self) -> &Stats {
        &self.core.held.stats
    }

    /// How long its queues were at most.
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

    /// Gives an instance its key, and a place for what it works on.
    fn insert(&mut self, instance: Instance) -> InstanceKey {
        let heap = &self.heap();
        let key = InstanceKey(self.held.instances.insert(heap, instance));
        // An engine of the rank that was there before may have used keys.
        if key.index() >= self.homes.len() {
            self.homes.resize_with(key.index() + 1, || Home::NONE);
            self.running.resize(key.index() + 1, None);
        }
        key
    }
}
