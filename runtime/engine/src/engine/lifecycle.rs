//! Starts instances, and removes those that have ended.

use super::channel::Channels;
use super::code::Code;
use super::common::COMMON;
use super::ids::InstanceKey;
use super::instance::{Handle, Instance, Matched};
use super::schedule::Schedule;
use super::storage::Storage;
use super::window::{Window, WindowStats, Windowed};
use super::{COMMUNICATOR_BITS, Core, Engine, Failure};
use crate::heap::Block;
use crate::trace::Point;
use crate::transport::Transport;
use goal_asm::nisa::StreamError;
use std::sync::Arc;

/// The number of schedules that the engine remembers together with the memory of their ended
/// instances, so that they start again without an allocation.
const CODES_MAX: usize = 16;

impl<'m, T: Transport> Engine<'m, T> {
    /// Starts the next instance of `communicator`, which executes `schedule` on `storage`. Returns
    /// before any action has run.
    ///
    /// # Panics
    /// If the schedule is of another rank, or the storage is smaller than the schedule needs.
    #[inline]
    pub fn start(
        &mut self,
        schedule: &Arc<Schedule>,
        communicator: u64,
        mut storage: Storage<'m>,
    ) -> Handle {
        assert!(schedule.rank() == self.core.rank.0, "the schedule is of another rank");
        let (memory, scratch) = (schedule.memory_size(), schedule.scratch_size());
        storage.home.check_sizes(memory, schedule.buffers(), scratch);
        storage.home.check_counters(schedule.initial_counters().len());
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
        let home = &mut *storage.home;
        home.forget_matches(schedule.initial_counters().len());
        let heap = self.core.held.heap;
        self.core.held.instances.get_mut(&heap, key).restart(&heap, schedule, home);
        self.core.homes.put(key, storage.home);
        self.core.asks_time |= schedule.asks_time();
        if is_common {
            self.core.held.common = key.0 + 1;
        } else {
            self.core.held.own += 1;
        }
        self.launch(communicator, key, code)
    }

    /// Adds a schedule to `codes` and returns its index. If there are `CODES_MAX` schedules, drops
    /// those without a running instance first.
    #[cold]
    fn add_code(&mut self, code: Code) -> usize {
        if self.codes.len() >= CODES_MAX {
            let heap = &self.core.heap();
            for (_, key) in std::mem::take(&mut self.core.ended) {
                self.core.held.instances.remove(heap, key).release(heap);
            }
            let Core { homes, held, .. } = &self.core;
            let code_of = |key| held.instances.get(heap, key).code;
            let running: Vec<u32> = homes.running().map(code_of).collect();
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

    /// Queues a prepared instance to run. Gives the instance its number and the messages that
    /// arrived early for it.
    #[inline]
    fn launch(&mut self, communicator: u64, key: InstanceKey, code: u32) -> Handle {
        debug_assert!(communicator >> COMMUNICATOR_BITS == 0, "no message can name it");
        let Self { core, codes, .. } = self;
        let heap = &core.heap();
        let state = &mut *core.held;
        state.stats.unreceived +=
            state.arrivals.close_ended(heap, &mut state.instances, communicator);
        let instance = state.instances.get_mut(heap, key);
        instance.is_queued = false;
        instance.enqueue(heap, &mut state.runnable, key);
        state.arrivals.open(heap, communicator, key, &codes[code as usize], instance);
        let number = instance.number;
        state.unfinished += u32::from(!instance.actions.is_finished());
        core.note_instance(Point::InstanceStarted, number);
        Handle { engine: core.id, key, communicator, number }
    }

    /// Starts an instance of a schedule that is read through a window (paper III.D, Theorem 3). The
    /// storage's `counters` has an entry for each action of the window, and `finished` is its
    /// board. Matches are not recorded.
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
        communicator: u64,
        mut storage: Storage<'m>,
    ) -> Result<Handle, StreamError> {
        let window = Window::new(windowed, &mut storage.home, self.core.options.seed)?;
        storage.home.matches = None;
        storage.home.check_sizes(windowed.memory, &[], windowed.place.scratch);
        let code = self.add_code(Code::Window(Box::new(window))) as u32;
        let mut instance = Instance { code, ..Instance::default() };
        instance.actions.unfinished = windowed.place.actions;
        let key = self.core.insert(instance);
        self.core.homes.put(key, storage.home);
        self.core.asks_time = true;
        self.core.held.own += 1;
        Ok(self.launch(communicator, key, code))
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
        self.instance(handle).actions.is_finished()
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
    /// If the instance has not ended, or is one of another engine. Also if another rank may still
    /// access its memory: only a schedule that was not verified can end while this is so.
    #[inline]
    pub fn finish(&mut self, handle: Handle) -> Storage<'m> {
        self.assert_ended(&handle);
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
        match &codes[code as usize] {
            Code::Whole(_) => core.ended.push((code, key)),
            Code::Window(_) | Code::Ended => {
                codes[code as usize] = Code::Ended;
                state.instances.remove(heap, key).release(heap);
            }
        }
        Storage::at_home(core.homes.take(key))
    }

    /// Forgets a communicator in which this rank starts nothing any more. Messages that have
    /// arrived for later instances are dropped and counted. Returns false, with no effect, if an
    /// instance of it has not ended.
    pub fn forget(&mut self, communicator: u64) -> bool {
        let heap = &self.core.heap();
        let state = &mut *self.core.held;
        state.stats.unreceived +=
            state.arrivals.close_ended(heap, &mut state.instances, communicator);
        let dropped = state.arrivals.forget(heap, communicator);
        state.stats.unreceived += dropped.unwrap_or(0);
        dropped.is_some()
    }

    #[inline]
    pub(super) fn instance(&self, handle: &Handle) -> &Instance {
        assert!(handle.engine == self.core.id, "a handle of another engine");
        self.core.held.instances.get(&self.core.held.heap, handle.key)
    }
}

impl Core {
    #[cold]
    fn add_instance(&mut self, code: u32, schedule: &Schedule) -> InstanceKey {
        let heap = &self.heap();
        let matched = match schedule.routes().has_wildcards() {
            true => Matched::default(),
            false => Matched::Channels(Channels::new(heap, schedule.routes().channels())),
        };
        let sequences = Block::new(heap, schedule.routes().destinations());
        self.insert(Instance { code, matched, sequences, ..Instance::default() })
    }

    /// Adds an instance and returns its key. Reserves its entry in `homes`.
    fn insert(&mut self, instance: Instance) -> InstanceKey {
        let heap = &self.heap();
        let key = InstanceKey(self.held.instances.insert(heap, instance));
        // An earlier engine over the same state may have used lower keys.
        if key.index() >= self.homes.len() {
            self.homes.resize(key.index() + 1);
        }
        key
    }
}
