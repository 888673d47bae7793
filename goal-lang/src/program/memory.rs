//! The content of a rank's memory before an instance starts and after it ends.

use crate::function::Datatype;

/// Typed bytes at an address: one `init` or `expect` of the text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Datum {
    /// First byte.
    pub addr: u64,
    /// The datatype that the values were written as, for messages and for printing.
    pub datatype: Datatype,
    /// The values, little-endian; a multiple of the datatype's width.
    pub bytes: Vec<u8>,
}

/// The values of a rank's memory at the start of an instance, and the expected values at its end.
/// Ranks with the same image share it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct MemoryImage {
    /// Memory that an instance starts with; bytes that no entry covers are 0. Entries don't
    /// overlap.
    pub init: Vec<Datum>,
    /// Memory that an instance must end with. Entries don't overlap.
    pub expect: Vec<Datum>,
}

impl MemoryImage {
    /// Returns true if nothing is initialised or expected.
    pub fn is_empty(&self) -> bool {
        self.init.is_empty() && self.expect.is_empty()
    }

    /// Returns the first address past all entries.
    pub fn end(&self) -> u64 {
        let end = |datum: &Datum| datum.addr.saturating_add(datum.bytes.len() as u64);
        self.init.iter().chain(&self.expect).map(end).max().unwrap_or(0)
    }
}
