//! The interface to the boards of a communicator.

/// A ring of lines of a board. Runs of short messages share a small ring, which stays in the
/// first-level cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ring {
    /// The ring of schedules in which no rank writes more than some lines.
    Short,
    /// The ring of all others.
    Long,
}

/// The lines of a board's rings, and how many of them a message takes.
#[derive(Debug, Clone, Copy)]
pub struct Lines {
    /// The lines of the short and of the long ring.
    pub rings: [u64; 2],
    /// Returns the lines of a message from its bytes.
    pub of: fn(u64) -> u64,
}

/// The result of a look at a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// The message is there.
    Arrived,
    /// The message has not come yet.
    Missing,
    /// At this place lies a message of another schedule, with this signature.
    Other(u16),
}

/// A ring on the boards of a communicator's ranks, as one of the ranks sees them. Ranks have the
/// numbers of the communicator. A position is a line, counted from the first message of the ring.
pub trait Lanes {
    /// Writes a message of `len` bytes to this rank's board, and tells those of its `readers` that
    /// sleep. A bit of `readers` stands for a rank of the job. `fill` writes the bytes in place.
    /// The caller has made sure that all readers have read what lay there.
    fn put(
        &self,
        position: u64,
        signature: u16,
        len: usize,
        readers: u64,
        fill: impl FnOnce(&mut [u8]),
    );

    /// Writes a message as [`put`](Self::put) does, but wakes nobody.
    fn put_quietly(&self, position: u64, signature: u16, len: usize, fill: impl FnOnce(&mut [u8]));

    /// The place of a message.
    type Place: Place;

    /// Returns the place of the message of rank `writer` at a position.
    fn place(&self, writer: u32, position: u64) -> Self::Place;
}

/// The place of a message on the board of its writer.
pub trait Place {
    /// Looks for the message.
    fn look(&self, signature: u16) -> Look;

    /// Calls `read` with the `len` bytes of the message, which has arrived.
    fn read<R>(&self, len: usize, read: impl FnOnce(&[u8]) -> R) -> R;
}
