//! Starts an ended instance again on the same storage, as MPI does with a persistent request.

use super::Engine;
use super::code::Code;
use super::ids::InstanceKey;
use super::instance::Handle;
use super::state::EngineState;
use crate::heap::Heap;
use crate::trace::Point;
use crate::transport::Transport;

impl<T: Transport> Engine<'_, T> {
    /// Starts an ended instance again, as `MPI_Start` does with a persistent request: the same
    /// schedule on the same storage, as the next instance of its communicator. Does what
    /// [`finish`](Engine::finish) and [`start`](Engine::start) do, in less time. Returns before any
    /// action has run.
    ///
    /// # Panics
    /// As [`finish`](Engine::finish). Also if the instance runs in a window.
    #[inline]
    pub fn start_again(&mut self, handle: &mut Handle) {
        self.assert_ended(handle);
        let Self { core, codes, .. } = self;
        let heap = &core.heap();
        let state = &mut *core.held;
        let instance = state.instances.get_mut(heap, handle.key);
        let code = &codes[instance.code as usize];
        let Code::Whole(schedule) = code else { panic!("an instance in a window starts once") };
        let home = &mut core.homes[handle.key.index()];
        home.forget_matches(schedule.initial_counters().len());
        instance.restart(heap, schedule, home);
        if !state.arrivals.advance(heap, handle.key, instance) {
            state.reopen(heap, handle.key, code);
        }
        let instance = state.instances.get_mut(heap, handle.key);
        instance.enqueue(heap, &mut state.runnable, handle.key);
        state.unfinished += u32::from(!instance.actions.is_finished());
        let ended = std::mem::replace(&mut handle.number, instance.number);
        core.note_instance(Point::InstanceEnded, ended);
        core.note_instance(Point::InstanceStarted, handle.number);
    }

    /// Panics if the caller may not take the storage of an instance.
    #[inline]
    pub(super) fn assert_ended(&mut self, handle: &Handle) {
        assert!(self.test(handle), "instance {} has not ended", handle.number);
        let is_exposed = self.core.held.exposes(Some(handle.key));
        assert!(!is_exposed, "other ranks access the memory of instance {}", handle.number);
    }
}

impl EngineState {
    /// Removes an ended instance and gives it the number and the messages of its next run.
    #[inline(never)]
    fn reopen(&mut self, heap: &Heap, key: InstanceKey, code: &Code) {
        let Self { instances, arrivals, stats, .. } = self;
        let instance = instances.get_mut(heap, key);
        stats.unreceived += arrivals.close(heap, instance);
        let communicator = instance.communicator;
        stats.unreceived += arrivals.close_ended(heap, instances, communicator);
        arrivals.open(heap, communicator, key, code, instances.get_mut(heap, key));
    }
}
