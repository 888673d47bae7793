//! Frees communicators that nobody uses any more, and returns their numbers.
//!
//! The last use of a communicator may end in any call, also in one that holds the engine lock. So
//! this end only records the number. Later calls free the communicator when they hold no lock
//! (`SharedGroup::tidy`).

use crate::process::GroupState;
use parking_lot::Mutex;
use std::mem::take;

/// The numbers of communicators that the program does not use any more.
static LEFT: Mutex<Vec<u64>> = Mutex::new(Vec::new());

/// The numbers of communicators that the library does not use any more either.
static FREE: Mutex<Vec<u64>> = Mutex::new(Vec::new());

/// The number of a communicator. It is given back when this is dropped.
#[derive(Debug)]
pub(crate) struct Number(pub(crate) u64);

impl Drop for Number {
    fn drop(&mut self) {
        note(&FREE, self.0);
    }
}

/// The program's use of the communicator with this number.
#[derive(Debug)]
pub(crate) struct Lease(pub(crate) u64);

impl Drop for Lease {
    fn drop(&mut self) {
        note(&LEFT, self.0);
    }
}

fn note(numbers: &Mutex<Vec<u64>>, number: u64) {
    // A fork may have begun while another thread had the lock.
    if GroupState::Used.is() {
        numbers.lock().push(number);
    }
}

/// Takes the numbers of communicators that the program does not use any more.
pub(crate) fn take_left() -> Vec<u64> {
    take(&mut LEFT.lock())
}

/// Takes the numbers of communicators that nobody uses any more.
pub(crate) fn take_free() -> Vec<u64> {
    take(&mut FREE.lock())
}
