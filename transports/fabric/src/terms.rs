//! The settings of a job that all fabrics of a rank must follow.

/// The settings of a job that a rank's fabrics follow. All settings except `rank` are equal in all
/// ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// The rank that the fabric belongs to.
    pub rank: u32,
    /// The number of ranks of the job, on all hosts.
    pub ranks: u32,
    /// The bytes of messages without a receive that a rank may send to another rank before it is
    /// granted room: see [`Room::new`](crate::Room::new).
    pub first_room: u64,
    /// True if messages may be of any communicator, because programs open communicators at run
    /// time. If false, only the communicator of all ranks is accepted.
    pub has_communicators: bool,
}
