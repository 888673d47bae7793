//! The settings of a job that all fabrics of a rank must follow.

/// The settings of a job that a rank's fabrics follow. All of them except the rank are equal in all
/// ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// The rank that the fabric belongs to.
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
