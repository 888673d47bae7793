//! Lets other processes act for a rank: one schedule and its storage, which all these processes
//! know.

use super::code::Code;
use super::ids::InstanceKey;
use super::schedule::Schedule;
use super::storage::Storage;
use super::{Common, Core, Engine};
use crate::transport::Transport;
use std::sync::Arc;

/// The index in `Engine::codes` of the schedule that all processes know. It is the same in every
/// process.
pub(super) const COMMON: u32 = 0;

impl<'m, T: Transport> Engine<'m, T> {
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
        self.set_common(schedule, storage, name);
    }

    /// Called on an engine of another process: names the schedule and storage that the rank may
    /// run. [`Engine::may_act`] returns true while the rank runs them.
    ///
    /// # Panics
    /// If the engine has started something.
    pub fn adopt(&mut self, schedule: &Arc<Schedule>, storage: Storage<'m>) {
        self.set_common(schedule, &storage, schedule.name());
        let (memory, scratch) = (schedule.memory_size(), schedule.scratch_size());
        storage.home.check_sizes(memory, schedule.buffers(), scratch);
        self.core.homes.push(storage.home);
        if let Some(common) = &mut self.core.common {
            common.home = Some(InstanceKey(0));
        }
    }

    fn set_common(&mut self, schedule: &Arc<Schedule>, storage: &Storage<'m>, name: u64) {
        assert!(self.codes.is_empty(), "an engine that has started something");
        self.codes.push(Code::Whole(Arc::clone(schedule)));
        self.core.asks_time |= schedule.asks_time();
        self.core.common = Some(Common { place: storage.place(), name, home: None });
    }

    /// Returns true if this engine of another process may be polled now: the rank runs only the
    /// schedule that this engine knows. The caller must ask again each time that it has locked the
    /// rank.
    pub fn may_act(&mut self) -> bool {
        let Core { held, common: Some(common), homes, .. } = &mut self.core else {
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
            homes.resize(len);
            homes.swap(key, home);
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

    /// Returns true if an instance that starts has the schedule and the storage that other
    /// processes know.
    #[inline]
    pub(super) fn is_common(&self, schedule: &Arc<Schedule>, storage: &Storage<'m>) -> bool {
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
}
