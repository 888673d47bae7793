//! Keeps the library's state of each thread. It records if the thread executes a registered
//! function. It also has the functions for ends of runs that the thread still has to call.

use crate::process::{end_fork, is_fork};
use crate::slots::Due;
use goal_rank::program::{is_of_library, within_program};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::Arc;

/// A function that waiting threads call, see [`Group::set_idle`](crate::Group::set_idle).
pub type IdleFunction = Arc<dyn Fn() + Send + Sync>;

/// The state that all threads share.
pub(crate) trait Common: Sync {
    /// Keeps functions for ends of runs. A later call of the library calls them.
    fn keep(&'static self, due: VecDeque<Due>);
}

thread_local! {
    /// True while this thread executes a registered function.
    static IS_IN_FUNCTION: Cell<bool> = const { Cell::new(false) };
    /// The functions for ends of runs that this thread is about to call. `None` while it neither
    /// calls nor puts off such functions.
    static QUEUE: RefCell<Option<VecDeque<Due>>> = const { RefCell::new(None) };
}

/// Returns true if this thread executes a registered function, which must not call the library.
#[inline]
pub fn is_in_function() -> bool {
    IS_IN_FUNCTION.get()
}

/// Calls the registered function `f`. If `f` returns in a fork, ends the fork.
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

/// Clears the queue of this thread when dropped, even after a panic of a function. Functions that
/// were not called are kept for the next occasion.
struct Calls(&'static dyn Common);

impl Drop for Calls {
    fn drop(&mut self) {
        let rest = QUEUE.with_borrow_mut(Option::take).unwrap_or_default();
        if !rest.is_empty() {
            self.0.keep(rest);
        }
    }
}

/// Calls the functions for ends of runs, in their order. If this thread is already calling such a
/// function, or puts them off, calls them afterwards. So a chain of ends needs no stack.
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

/// Calls the functions in the queue of this thread.
fn drain(common: &'static dyn Common) {
    let _calls = Calls(common);
    while let Some(due) = QUEUE.with_borrow_mut(|queue| queue.as_mut()?.pop_front()) {
        within_program(|| due.call());
        if is_fork() {
            // The fork of a thread of the library would go on as that thread, for ever.
            if is_of_library() {
                end_fork();
            }
            // The remaining functions belong to the parent.
            QUEUE.with_borrow_mut(|queue| *queue = None);
        }
    }
}

/// Calls `f`. If `f` notices ends of runs, calls the functions for these ends only when `f` has
/// returned.
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
