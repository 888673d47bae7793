//! Checks arguments of C functions. Several functions share each check.
#![allow(unsafe_code)] // reads arrays of the caller

use crate::types::{GOAL_MemType, space};
use goal::{Error, ErrorCode, Result};
use goal_lang::Piece;
use std::ffi::{c_int, c_void};
use std::slice;

/// Returns `value` as an unsigned number. Returns an error if it is negative.
pub(crate) fn count(value: c_int, argument: &str) -> Result<u32> {
    u32::try_from(value).map_err(|_| {
        Error::new(ErrorCode::Count, format!("{argument} is {value}, and can't be negative"))
    })
}

/// Returns `value` as a rank. Returns an error if it is negative.
pub(crate) fn rank(value: c_int, argument: &str) -> Result<u32> {
    u32::try_from(value).map_err(|_| {
        Error::new(ErrorCode::Rank, format!("{argument} is {value}, which is no rank"))
    })
}

/// Returns `pointer`. Returns an error if it is NULL.
pub(crate) fn present<T>(pointer: *const T, argument: &str) -> Result<*const T> {
    if pointer.is_null() {
        return Err(Error::new(ErrorCode::Argument, format!("{argument} is NULL")));
    }
    Ok(pointer)
}

/// Returns an array of the caller as a slice.
///
/// # Errors
/// The array has elements, and is NULL or not aligned.
///
/// # Safety
/// If `array` is not NULL, it has `len` elements, which nobody writes for the life of the slice.
pub(crate) unsafe fn array<'a, T>(array: *const T, len: u32, argument: &str) -> Result<&'a [T]> {
    if len == 0 {
        return Ok(&[]);
    }
    present(array, argument)?;
    if !array.is_aligned() {
        return Err(Error::new(ErrorCode::Argument, format!("{argument} is not aligned")));
    }
    // SAFETY: as the caller says.
    Ok(unsafe { slice::from_raw_parts(array, len as usize) })
}

/// Returns an array of the caller as a slice that can be written.
///
/// # Errors
/// The array has elements, and is NULL or not aligned.
///
/// # Safety
/// If `array` is not NULL, it has `len` elements, which nobody else uses for the life of the slice.
pub(crate) unsafe fn array_mut<'a, T>(
    array: *mut T,
    len: u32,
    argument: &str,
) -> Result<&'a mut [T]> {
    if len == 0 {
        return Ok(&mut []);
    }
    present(array, argument)?;
    if !array.is_aligned() {
        return Err(Error::new(ErrorCode::Argument, format!("{argument} is not aligned")));
    }
    // SAFETY: as the caller says.
    Ok(unsafe { slice::from_raw_parts_mut(array, len as usize) })
}

/// Returns the piece of `bytes` bytes at `at`: a pointer, or an offset in the scratchpad, as
/// `memory` says.
pub(crate) fn piece(
    at: *const c_void,
    bytes: u64,
    memory: GOAL_MemType,
    argument: &str,
) -> Result<Piece> {
    Ok(Piece { addr: at.expose_provenance() as u64, size: bytes, space: space(memory, argument)? })
}

/// Returns the pieces of a scattered buffer. Its arguments have the names `names` in errors.
///
/// # Safety
/// As for [`array`], for both arrays.
pub(crate) unsafe fn pieces(
    (offsets, lengths, len): (*const *mut c_void, *const c_int, c_int),
    memory: GOAL_MemType,
    names: [&str; 4],
) -> Result<Vec<Piece>> {
    let [of_offsets, of_lengths, of_len, of_memory] = names;
    let len = count(len, of_len)?;
    // SAFETY: as the caller says.
    let (offsets, lengths) =
        unsafe { (array(offsets, len, of_offsets)?, array(lengths, len, of_lengths)?) };
    let both = offsets.iter().zip(lengths).enumerate();
    both.map(|(at, (&offset, &length))| {
        let Ok(bytes) = u64::try_from(length) else {
            let text = format!("{of_lengths}[{at}] is {length}, and can't be negative");
            return Err(Error::new(ErrorCode::Count, text));
        };
        piece(offset, bytes, memory, of_memory)
    })
    .collect()
}
