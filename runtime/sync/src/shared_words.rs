//! The types that may lie in memory that several processes share.
#![allow(unsafe_code)] // declares an unsafe trait

/// Types that several processes may hold references to at once. They consist of atomics, and of
/// cells that a protocol over these atomics guards. Every bit pattern is a valid value.
///
/// # Safety
/// Implementors are `#[repr(C)]` or `#[repr(transparent)]`, consist of atomic integers, integers in
/// cells and padding only, and are aligned to at most a page.
pub unsafe trait SharedWords {}
