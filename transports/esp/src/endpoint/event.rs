//! The events that an endpoint reports to its owner.

use crate::auth::Address;

/// The name of a connection. The next connection with the same peer has another name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId {
    pub(super) index: u32,
    pub(super) generation: u32,
}

/// Something that happened to a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The connection is established. This endpoint or the peer has asked for it.
    Connected {
        /// The connection.
        id: ConnectionId,
        /// The peer.
        peer: Address,
    },
    /// A packet can be read.
    Readable(ConnectionId),
    /// Packets were acknowledged, so there is room for more.
    Writable(ConnectionId),
    /// The peer has ended its stream, and all of it can be read.
    Finished(ConnectionId),
    /// Both ends have closed, and all packets have arrived. The id is invalid now.
    Closed(ConnectionId),
    /// The connection is lost. Packets that were not acknowledged may or may not have arrived. The
    /// id is invalid now.
    Lost {
        /// The connection.
        id: ConnectionId,
        /// The cause.
        cause: Loss,
    },
}

/// The cause of a lost connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Loss {
    /// The peer has not answered a connection request for [`super::Timing::connect_ns`].
    #[error("it never answered")]
    Unreachable,
    /// The peer was silent for [`super::Timing::dead_ns`].
    #[error("it is silent")]
    Dead,
    /// The peer gave the connection up.
    #[error("it gave the connection up")]
    Reset,
    /// The peer restarted. [`Event::Connected`] for the next connection with it follows.
    #[error("it started anew")]
    Restarted,
    /// The network drops frames of this many bytes (behind Ethernet's header) on their way to the
    /// peer, and carries shorter ones.
    #[error("frames of {0} bytes to it get lost, while shorter ones arrive")]
    TooLong(u16),
    /// The peer's stream belongs to this communicator, which was not opened within
    /// [`super::Timing::postpone_ns`].
    #[error("it has a message for communicator {0}, which is not open")]
    Communicator(u32),
}

/// Counters: frames that changed nothing, by reason, and frames that were sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    /// Frames that are not ESP or not intact.
    pub malformed: u64,
    /// Frames for another interface or port, or of an unknown connection.
    pub unknown: u64,
    /// Frames that need a tag and have no correct one.
    pub unproven: u64,
    /// Frames whose control number is not above all earlier ones, such as replayed frames. Only
    /// their data is used.
    pub overtaken: u64,
    /// Frames with a correct tag and a new control number.
    pub received: u64,
    /// Packets that were refused because the communicator of their stream is not open.
    pub postponed: u64,
    /// Frames that were sent.
    pub sent: u64,
    /// Packets of streams that were sent again.
    pub sent_again: u64,
}
