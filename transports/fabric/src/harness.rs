//! The body of the fuzz target for chunks. The bounded tests on stable Rust run it too.

use crate::chunk::Chunk;

/// Parses the header of a chunk, and checks that an accepted header is the same when it is written
/// again. Returns true if the header was accepted.
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
