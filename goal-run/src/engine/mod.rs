//! The engine: the paper's Listing 1 over verified sections, for any number of instances at once.
//!
//! Started schedules make progress in [`Engine::poll`], which does a bounded amount of work and never waits. An action whose
//! counter reaches zero is ready, and of these the first of the section starts first; one that ends passes through a queue too (thesis
//! 4.2.3), so that nothing recurses along a chain of dependencies.
//!
//! Instances are numbered in each communicator in the order of their starts, which all ranks must keep to; every instance
//! has a matching space of its own, so that messages of the next one may come early.

mod buffer;
mod communicator;
mod error;
mod fetch;
mod incoming;
mod instance;
mod local;
mod options;
mod outgoing;
mod progress;
mod ready;
mod receive;
mod schedule;
mod send;
mod step;
#[cfg(test)]
mod tests;
mod window;

pub use error::{Cause, Failure};
pub use instance::{Handle, Storage};
pub use local::UserFunction;
pub use options::{Calc, Options, Stats};
pub use schedule::{Schedule, StateSizes, slot};
pub use window::{Board, WindowStats, Windowed};

use crate::transport::Transport;
use goal_asm::nisa::StreamError;
use incoming::Arrivals;
use instance::{Code, Instance};
use local::Locals;
use outgoing::Outbox;
use slab::Slab;
use std::collections::VecDeque;
use std::sync::Arc;
use window::Window;

/// Ended instances that are kept, and with them their schedules.
const ENDED_MAX: usize = 16;

/// One rank's engine over its end of a transport.
#[derive(Debug)]
pub struct Engine<T> {
    transport: T,
    rank: u32,
    options: Options,
    instances: Slab<Box<Instance>>,
    /// Ended instances, to be started again: a start allocates nothing.
    #[expect(clippy::vec_box, reason = "they move between here and `instances`")]
    ended: Vec<Box<Instance>>,
    /// Instances with something to do at once, each once.
    runnable: VecDeque<usize>,
    /// Instances with actions that have not ended.
    unfinished: usize,
    arrivals: Arrivals,
    outbox: Outbox,
    locals: Locals,
    stats: Stats,
    failure: Option<Failure>,
    /// A part of a payload that was copied from its sender's memory.
    staged: Vec<u8>,
    /// Bytes of room that senders know of.
    announced: Option<u64>,
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
    /// Room on the way to a peer, which takes whatever comes.
    Room,
    /// The caller's clock, or a message.
    Until {
        /// The time in nanoseconds at which something can be done.
        time_ns: u64,
        /// Whether it waits for room as well, which may come at any time.
        room: bool,
    },
}

impl<T: Transport> Engine<T> {
    /// The engine of `rank`. Other ranks send it no eager messages before.
    pub fn new(rank: u32, transport: T, options: Options) -> Self {
        let mut engine = Self {
            transport,
            rank,
            options,
            instances: Slab::new(),
            ended: Vec::new(),
            runnable: VecDeque::new(),
            unfinished: 0,
            arrivals: Arrivals::default(),
            outbox: Outbox::default(),
            locals: Locals::default(),
            stats: Stats::default(),
            failure: None,
            staged: Vec::new(),
            announced: None,
        };
        engine.announce_room();
        engine
    }

    /// Registers what `exec user FUNCTION` calls.
    pub fn register(&mut self, function: u32, call: UserFunction) {
        self.locals.register(function, call);
    }

    /// Starts an instance of a schedule: the next one of that communicator. Returns at once; no action has run.
    ///
    /// # Panics
    /// If the storage is smaller than the schedule needs.
    pub fn start(&mut self, schedule: &Arc<Schedule>, communicator: u32, storage: Storage) -> Handle {
        let (number, space) = self.arrivals.open(communicator, schedule.has_wildcards());
        let known = self.ended.iter().rposition(|instance| instance.is_of(schedule));
        let mut instance = match known {
            Some(at) => self.ended.swap_remove(at),
            None => Box::new(Instance::new(Arc::clone(schedule))),
        };
        instance.start(communicator, number, space, storage);
        self.unfinished += usize::from(!instance.progress.is_finished());
        let key = self.instances.insert(instance);
        self.runnable.push_back(key);
        Handle { key, communicator, number }
    }

    /// Starts an instance of a schedule that is read through a window (paper III.D, Theorem 3). Of the storage, `counters` has an
    /// entry for each action of the window, and `finished` is its [`Board`]; matches are not recorded.
    ///
    /// # Errors
    /// Where the beginning of the section can't be read, or is wrong; later parts are a failure of the instance.
    ///
    /// # Panics
    /// If the storage is smaller than the schedule needs.
    pub fn start_in_window(
        &mut self,
        windowed: &Windowed,
        communicator: u32,
        mut storage: Storage,
    ) -> Result<Handle, StreamError> {
        let window = Window::new(windowed, &mut storage)?;
        // Whether there are wildcards shows only as the section is read.
        let (number, space) = self.arrivals.open(communicator, true);
        let instance = Box::new(Instance::in_window(windowed, window, communicator, number, space, storage));
        self.unfinished += usize::from(!instance.progress.is_finished());
        let key = self.instances.insert(instance);
        self.runnable.push_back(key);
        Ok(Handle { key, communicator, number })
    }

    /// What a window needed so far; `None` for an instance without one.
    ///
    /// # Panics
    /// If it is an instance of another engine.
    pub fn window_stats(&self, handle: &Handle) -> Option<WindowStats> {
        match &self.instance(handle).code {
            Code::Whole(_) => None,
            Code::Window(window) => Some(window.stats()),
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

    /// Gives back what an ended instance used. Messages that it has not received are dropped and counted.
    ///
    /// # Panics
    /// If the instance has not ended.
    pub fn finish(&mut self, handle: Handle) -> Storage {
        assert!(self.test(&handle), "instance {} has not ended", handle.number);
        let mut instance = self.instances.remove(handle.key);
        if instance.is_queued {
            self.runnable.retain(|&key| key != handle.key);
        }
        self.stats.unreceived += self.arrivals.close(instance.communicator, instance.number, instance.space);
        let storage = instance.take_storage();
        // A window starts once, and is not small.
        if matches!(instance.code, Code::Whole(_)) {
            if self.ended.len() == ENDED_MAX {
                self.ended.remove(0);
            }
            self.ended.push(instance);
        }
        storage
    }

    /// What happened so far.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// The transport.
    pub fn transport(&mut self) -> &mut T {
        &mut self.transport
    }

    fn instance(&self, handle: &Handle) -> &Instance {
        let instance = &self.instances[handle.key];
        assert!(
            (instance.communicator, instance.number) == (handle.communicator, handle.number),
            "a handle of another engine"
        );
        instance
    }
}
