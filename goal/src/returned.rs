//! Communicators that nobody uses any more.
//!
//! The last use of a communicator may end anywhere, also in a call that has the core. So its end
//! only leaves a note, and later calls act on it when they hold no lock.

use crate::communicator::SHADOW;
use crate::group::Group;
use crate::kept;
use crate::shared::Shared;
use crate::thread::is_in_function;
use rustc_hash::FxHashSet;
use std::mem::take;

/// The notes on communicators that nobody uses any more.
#[derive(Debug, Default)]
pub(crate) struct Returned {
    /// The numbers of those that the program does not use.
    left: Vec<u64>,
    /// The numbers of those that the library does not use either.
    free: Vec<u64>,
}

/// The number of a communicator. It is given back when this is dropped.
#[derive(Debug)]
pub(crate) struct Number(pub(crate) u64);

impl Drop for Number {
    fn drop(&mut self) {
        if let Ok(group) = Group::current() {
            group.shared().returned.lock().free.push(self.0);
        }
    }
}

/// The program's use of the communicator with this number.
#[derive(Debug)]
pub(crate) struct Lease(pub(crate) u64);

impl Drop for Lease {
    fn drop(&mut self) {
        if let Ok(group) = Group::current() {
            group.shared().returned.lock().left.push(self.0);
        }
    }
}

impl Shared {
    /// Frees what is left of communicators that nobody uses any more. The caller holds no lock.
    pub(crate) fn tidy(&'static self) {
        if is_in_function() {
            return;
        }
        let left: FxHashSet<u64> = take(&mut self.returned.lock().left).into_iter().collect();
        if !left.is_empty() {
            // Schedules take the core's lock when they are dropped, and may give numbers back.
            drop(self.with(|core| Ok(kept::take_of(core, &left))));
        }
        let free = take(&mut self.returned.lock().free);
        if free.is_empty() {
            return;
        }
        let spaces: Vec<u64> = free.iter().flat_map(|&number| [number, number | SHADOW]).collect();
        let _ = self.with(|core| {
            // After a loss there is no engine that knows them.
            if let Ok((member, _)) = core.parts() {
                member.forget(&spaces);
            }
            Ok(())
        });
        self.communicators.lock().take_back(&free);
    }
}
