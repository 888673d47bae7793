//! The terms of a job that every fabric keeps.

/// The terms of a job that a rank's fabrics keep. Except for the rank, they are the same in all
/// ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// The rank whose end the fabric is.
    pub rank: u32,
    /// The number of ranks of the job, on all hosts.
    pub ranks: u32,
    /// The bytes of messages without a receive that a rank may send to another before it was
    /// granted any room: see [`Room::new`](crate::Room::new).
    pub first_room: u64,
    /// True if messages may be of any communicator, as those of programs that open some at run
    /// time.
    pub has_communicators: bool,
}
