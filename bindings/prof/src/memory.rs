#![allow(unsafe_code)] // An allocator.
//! Provides memory for the recorder when the program has used up all memory.
//!
//! Threat: a program may use all the memory that it can get, as under `ulimit -v`. The recorder
//! must not end the program then. So it keeps a reserve, which is never touched and costs only
//! addresses. When an allocation of the recorder fails, the reserve is freed, and the allocation is
//! tried again. The recording then ends at once ([`has_ended`]), so no second reserve is needed.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

/// The reserve, in bytes.
const RESERVE_BYTES: usize = 16 << 20;
const RESERVE: Layout = match Layout::from_size_align(RESERVE_BYTES, 16) {
    Ok(layout) => layout,
    Err(_) => panic!("the layout is right"),
};

static KEPT: AtomicPtr<u8> = AtomicPtr::new(null_mut());
static HAS_ENDED: AtomicBool = AtomicBool::new(false);

struct Reserving;

#[global_allocator]
static ALLOCATOR: Reserving = Reserving;

/// Allocates the reserve. If there is no memory for it, the recorder has none.
pub(crate) fn reserve() {
    // SAFETY: the layout has a size.
    let new = unsafe { System.alloc(RESERVE) };
    free(KEPT.swap(new, Ordering::AcqRel));
}

/// Frees the reserve. Returns true if there was one.
fn release() -> bool {
    free(KEPT.swap(null_mut(), Ordering::AcqRel))
}

fn free(reserve: *mut u8) -> bool {
    if reserve.is_null() {
        return false;
    }
    // SAFETY: the block comes from `reserve`. Whoever took it out of `KEPT` is its only owner.
    unsafe { System.dealloc(reserve, RESERVE) };
    true
}

/// Returns true if the recorder has used the reserve, or a caller has reported that memory is used
/// up.
pub(crate) fn has_ended() -> bool {
    HAS_ENDED.load(Ordering::Relaxed)
}

/// Notes that a caller could not allocate memory. Frees the reserve, so that the recorder can write
/// its last lines.
pub(crate) fn end() {
    release();
    HAS_ENDED.store(true, Ordering::Relaxed);
}

/// Returns the block `first`. If it is null and there is a reserve, frees the reserve and calls
/// `try_it`, which allocates again.
fn again(first: *mut u8, try_it: impl FnOnce() -> *mut u8) -> *mut u8 {
    if !first.is_null() || !release() {
        return first;
    }
    HAS_ENDED.store(true, Ordering::Relaxed);
    try_it()
}

// SAFETY: all memory comes from `System` and goes back to it.
unsafe impl GlobalAlloc for Reserving {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `System`.
        again(unsafe { System.alloc(layout) }, || unsafe { System.alloc(layout) })
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) };
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        again(unsafe { System.alloc_zeroed(layout) }, || unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above. If `realloc` fails, the block stays valid.
        let first = unsafe { System.realloc(at, layout, size) };
        // SAFETY: as above.
        again(first, || unsafe { System.realloc(at, layout, size) })
    }
}
