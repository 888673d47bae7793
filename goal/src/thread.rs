//! The state that this library keeps of each thread that calls it.

use crate::process::{end_fork, is_fork};
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
        if let Some(common) = self.0.filter(|_| !is_fork()) {
            CALLERS.fetch_sub(1, Ordering::SeqCst);
            common.has_left();
        }
    }
}

/// Returns the number of threads that have called this library and have not ended.
pub(crate) fn callers() -> u32 {
    CALLERS.load(Ordering::SeqCst)
}

/// The part of a thread's state that each call looks at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// It has not called this library.
    New,
    /// It counts as one that has called this library, or is exempt.
    Counted,
    /// It executes a registered function.
    InFunction,
}

thread_local! {
    static STAGE: Cell<Stage> = const { Cell::new(Stage::New) };
    static CALLER: OnceCell<Caller> = const { OnceCell::new() };
    /// The functions of ends that this thread is about to call. `None` if it calls none.
    static QUEUE: RefCell<Option<VecDeque<Due>>> = const { RefCell::new(None) };
}

/// Counts this thread as one that has called the library. Returns false if it executes a registered
/// function, which must not call the library.
#[inline]
pub(crate) fn count(common: &'static dyn Common) -> bool {
    match STAGE.get() {
        Stage::Counted => {}
        Stage::New => count_first(common),
        Stage::InFunction => return false,
    }
    true
}

#[cold]
fn count_first(common: &'static dyn Common) {
    STAGE.set(Stage::Counted);
    // A thread that ends makes no more calls that count.
    let _ = CALLER.try_with(|caller| {
        CALLERS.fetch_add(1, Ordering::SeqCst);
        let _ = caller.set(Caller(Some(common)));
    });
}

/// Leaves this thread out of the count: it is the library's own.
pub(crate) fn exempt() {
    if STAGE.get() == Stage::New {
        STAGE.set(Stage::Counted);
        let _ = CALLER.try_with(|caller| caller.set(Caller(None)));
    }
}

/// Returns true if this thread executes a registered function, which must not call the library.
#[inline]
pub fn is_in_function() -> bool {
    STAGE.get() == Stage::InFunction
}

/// Calls `f`, a registered function.
pub(crate) fn within_function<R>(f: impl FnOnce() -> R) -> R {
    struct Leave(Stage);
    impl Drop for Leave {
        fn drop(&mut self) {
            STAGE.set(self.0);
        }
    }
    let _leave = Leave(STAGE.replace(Stage::InFunction));
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
        due.call();
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
