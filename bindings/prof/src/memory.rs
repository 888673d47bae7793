#![allow(unsafe_code)] // An allocator.
//! Memory for the recorder when the memory of the program has ended.
//!
//! Threat: a program may use all the memory that it gets, as under `ulimit -v`. The recorder must
//! not end it then. So it keeps a reserve, which is never touched and costs addresses only. When
//! the system has no memory left, the reserve is given back, and what the recorder needed is tried
//! again. The recording ends at once ([`has_ended`]), so nothing needs a second reserve.

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

/// Takes the reserve. Without memory for one there is none.
pub(crate) fn reserve() {
    // SAFETY: the layout has a size.
    let new = unsafe { System.alloc(RESERVE) };
    free(KEPT.swap(new, Ordering::AcqRel));
}

/// Gives the reserve back. Returns true if there was one.
fn release() -> bool {
    free(KEPT.swap(null_mut(), Ordering::AcqRel))
}

fn free(reserve: *mut u8) -> bool {
    if reserve.is_null() {
        return false;
    }
    // SAFETY: it comes from `reserve`, and whoever took it out of `KEPT` is the only one to have
    // it.
    unsafe { System.dealloc(reserve, RESERVE) };
    true
}

/// Returns true if the recorder has used the reserve, or the caller has told that memory has ended.
pub(crate) fn has_ended() -> bool {
    HAS_ENDED.load(Ordering::Relaxed)
}

/// Notes that a caller got no memory, and lets the recorder use the reserve for its last words.
pub(crate) fn end() {
    release();
    HAS_ENDED.store(true, Ordering::Relaxed);
}

/// Tries an allocation a second time if there is a reserve.
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
        // SAFETY: as above. `realloc` leaves the block as it is when it fails.
        let first = unsafe { System.realloc(at, layout, size) };
        // SAFETY: as above.
        again(first, || unsafe { System.realloc(at, layout, size) })
    }
}
