//! The state that this library keeps of each thread that calls it.

use crate::process::State;
use crate::slots::Due;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};

/// The state that all threads share.
pub(crate) trait Common: Sync {
    /// Called when a thread that counted has ended.
    fn has_left(&'static self);

    /// Keeps functions that are to be called at the next occasion.
    fn keep(&'static self, due: VecDeque<Due>);
}

/// The threads that have called this library and have not ended.
static CALLERS: AtomicU32 = AtomicU32::new(0);

/// A thread that has called this library. A rank that waits has to wait for it too, unless it is
/// the library's own.
struct Caller(Option<&'static dyn Common>);

impl Drop for Caller {
    fn drop(&mut self) {
        if let Some(common) = self.0.filter(|_| !State::Fork.is()) {
            CALLERS.fetch_sub(1, Ordering::SeqCst);
            common.has_left();
        }
    }
}

/// Returns the number of threads that have called this library and have not ended.
pub(crate) fn callers() -> u32 {
    CALLERS.load(Ordering::SeqCst)
}

thread_local! {
    static CALLER: OnceCell<Caller> = const { OnceCell::new() };
    /// True while this thread executes a registered function.
    static IN_FUNCTION: Cell<bool> = const { Cell::new(false) };
    /// The functions of ends that this thread is about to call. `None` if it calls none.
    static QUEUE: RefCell<Option<VecDeque<Due>>> = const { RefCell::new(None) };
}

/// Counts this thread as one that has called the library.
#[inline]
pub(crate) fn count(common: &'static dyn Common) {
    // A thread that ends makes no more calls that count.
    let _ = CALLER.try_with(|caller| {
        if caller.get().is_none() {
            CALLERS.fetch_add(1, Ordering::SeqCst);
            let _ = caller.set(Caller(Some(common)));
        }
    });
}

/// Leaves this thread out of the count: it is the library's own.
pub(crate) fn exempt() {
    let _ = CALLER.try_with(|caller| caller.set(Caller(None)));
}

/// Returns true if this thread executes a registered function, which must not call the library.
#[inline]
pub fn is_in_function() -> bool {
    IN_FUNCTION.get()
}

/// Calls `f`, a registered function.
pub(crate) fn within_function<R>(f: impl FnOnce() -> R) -> R {
    struct Leave(bool);
    impl Drop for Leave {
        fn drop(&mut self) {
            IN_FUNCTION.set(self.0);
        }
    }
    let _leave = Leave(IN_FUNCTION.replace(true));
    f()
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
        due.call();
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
