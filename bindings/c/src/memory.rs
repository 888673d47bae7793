//! Defines the functions that allocate and free memory that the ranks of a host share.
#![allow(unsafe_code)] // exported names

use crate::border::{border, group, status};
use std::ffi::{c_int, c_void};

#[unsafe(no_mangle)]
extern "C" fn GOAL_Alloc(bytes: usize) -> *mut c_void {
    border("GOAL_Alloc", || Ok(group()?.allocate(bytes)?.as_ptr().cast()))
}

#[unsafe(no_mangle)]
extern "C" fn GOAL_Free(memory: *mut c_void) -> c_int {
    status("GOAL_Free", || match memory.addr() {
        0 => group().map(drop),
        address => group()?.free(address),
    })
}
