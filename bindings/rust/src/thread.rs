//! The state that this library keeps for each thread that calls it. It records if the thread
//! executes a registered function, and the functions at ends of runs that the thread still has to
//! call.

use crate::process::{end_fork, is_fork};
use crate::slots::Due;
use goal_rank::program::within_program;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

/// The state that all threads share.
pub(crate) trait Common: Sync {
    /// Keeps functions that are to be called at the next occasion.
    fn keep(&'static self, due: VecDeque<Due>);
}

thread_local! {
    /// True while this thread executes a registered function.
    static IS_IN_FUNCTION: Cell<bool> = const { Cell::new(false) };
    /// The functions of ends that this thread is about to call. `None` if it calls none.
    static QUEUE: RefCell<Option<VecDeque<Due>>> = const { RefCell::new(None) };
}

/// Returns true if this thread executes a registered function, which must not call the library.
#[inline]
pub fn is_in_function() -> bool {
    IS_IN_FUNCTION.get()
}

/// Calls `f`, a registered function.
pub(crate) fn within_function<R>(f: impl FnOnce() -> R) -> R {
    struct Leave(bool);
    impl Drop for Leave {
        fn drop(&mut self) {
            IS_IN_FUNCTION.set(self.0);
        }
    }
    let _leave = Leave(IS_IN_FUNCTION.replace(true));
    let result = f();
    if is_fork() {
        end_fork();
    }
    result
}

/// Ends the calls of functions also if one of them panics: the others are called at the next
/// occasion.
struct Calls(&'static dyn Common);

impl Drop for Calls {
    fn drop(&mut self) {
        let rest = QUEUE.with_borrow_mut(Option::take).unwrap_or_default();
        if !rest.is_empty() {
            self.0.keep(rest);
        }
    }
}

/// Calls functions of ends, in their order. If this thread is calling one already, or puts them
/// off, they are called after that: a chain of ends needs no stack.
pub(crate) fn call(common: &'static dyn Common, due: Vec<Due>) {
    if due.is_empty() {
        return;
    }
    let is_first = QUEUE.with_borrow_mut(|queue| match queue {
        Some(queue) => {
            queue.extend(due);
            false
        }
        None => {
            *queue = Some(due.into());
            true
        }
    });
    if is_first {
        drain(common);
    }
}

/// Calls what is in the queue.
fn drain(common: &'static dyn Common) {
    let _calls = Calls(common);
    while let Some(due) = QUEUE.with_borrow_mut(|queue| queue.as_mut()?.pop_front()) {
        within_program(|| due.call());
        // The others are the parent's.
        if is_fork() {
            QUEUE.with_borrow_mut(|queue| *queue = None);
        }
    }
}

/// Calls `f`, and the functions of ends that it notices only when it has returned.
pub(crate) fn put_off<R>(common: &'static dyn Common, f: impl FnOnce() -> R) -> R {
    let is_first = QUEUE.with_borrow_mut(|queue| {
        let is_first = queue.is_none();
        queue.get_or_insert_default();
        is_first
    });
    if !is_first {
        return f();
    }
    let calls = Calls(common);
    let result = f();
    std::mem::forget(calls);
    drain(common);
    result
}
