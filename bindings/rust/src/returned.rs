//! Records the numbers of communicators that nobody uses any more.
//!
//! The last use of a communicator may end in any call, even in a call that holds the engine lock.
//! So the drop only records the communicator's number. A later call without locks frees the
//! communicator (`SharedGroup::tidy`).

use crate::process::GroupState;
use parking_lot::Mutex;
use std::mem::take;

/// The numbers of communicators that the program does not use any more.
static LEFT: Mutex<Vec<u64>> = Mutex::new(Vec::new());

/// The numbers of communicators that neither the program nor the library uses any more.
static FREE: Mutex<Vec<u64>> = Mutex::new(Vec::new());

/// The number of a communicator. The drop of this value records that nobody uses the number any
/// more.
#[derive(Debug)]
pub(crate) struct Number(pub(crate) u64);

impl Drop for Number {
    fn drop(&mut self) {
        note(&FREE, self.0);
    }
}

/// The program's use of the communicator with this number. The drop of this value records that the
/// use has ended.
#[derive(Debug)]
pub(crate) struct Lease(pub(crate) u64);

impl Drop for Lease {
    fn drop(&mut self) {
        note(&LEFT, self.0);
    }
}

fn note(numbers: &Mutex<Vec<u64>>, number: u64) {
    // In a fork, the copied lock may be held for ever, so this does nothing.
    if GroupState::Used.is() {
        numbers.lock().push(number);
    }
}

/// Removes and returns the recorded numbers of communicators that the program does not use any
/// more.
pub(crate) fn take_left() -> Vec<u64> {
    take(&mut LEFT.lock())
}

/// Removes and returns the recorded numbers of communicators that nobody uses any more.
pub(crate) fn take_free() -> Vec<u64> {
    take(&mut FREE.lock())
}
