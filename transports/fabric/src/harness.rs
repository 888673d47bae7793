//! The body of the fuzz target of chunks, which the bounded tests on stable run too.

use crate::chunk::Chunk;

/// Checks that an accepted header of a chunk is the same when it is written again. Returns true if
/// it was accepted.
///
/// # Panics
/// If it is not the same.
pub fn chunk(bytes: &[u8]) -> bool {
    let Ok(chunk) = Chunk::parse(bytes) else { return false };
    let mut again = vec![0xff; chunk.header_len()];
    chunk.emit(&mut again);
    assert_eq!(again, bytes[..chunk.header_len()], "another chunk was written");
    true
}
