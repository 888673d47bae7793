//! Maps plain files into memory. `unsafe`: a mapping's bytes belong to a file that others may write
//! to.
#![allow(unsafe_code)]

use goal_lang::Bytes;
use std::fs::File;
use std::io;
use std::sync::Arc;

/// Maps a plain file that isn't empty. The parser of text accepts bytes that change at any time.
/// Binary forms are copied first, so that the verified bytes are the ones that are used. LogGOPSim
/// binaries may be too large for that. They are indexed with bounds checks, so one that changes
/// ends the command at worst.
///
/// # Errors
/// An error of the system.
pub(super) fn map(file: &File) -> io::Result<Bytes> {
    // SAFETY: the mapping is private and read-only. Should another process write to the file, the
    // bytes read change between two reads: the parser indexes with bounds checks and treats no byte
    // as valid UTF-8 because it was before.
    let mapping = unsafe { memmap2::Mmap::map(file) }?;
    Ok(Arc::new(mapping))
}
