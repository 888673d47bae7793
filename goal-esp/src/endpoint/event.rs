//! The events that an endpoint reports to its owner.

use crate::auth::Address;
use std::fmt;

/// The name of a connection. The next connection with the same peer has another one.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Loss {
    /// The peer has not answered a connection request for [`super::Timing::connect_ns`].
    Unreachable,
    /// The peer was silent for [`super::Timing::dead_ns`].
    Dead,
    /// The peer gave the connection up.
    Reset,
    /// The peer restarted. [`Event::Connected`] for the next connection with it follows.
    Restarted,
    /// The network drops frames of this many bytes (behind Ethernet's header) on their way to the
    /// peer, and carries shorter ones.
    TooLong(u16),
    /// The peer's stream belongs to this communicator, which was not opened within
    /// [`super::Timing::postpone_ns`].
    Communicator(u32),
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Loss::TooLong(bytes) => {
                return write!(
                    f,
                    "frames of {bytes} bytes to it get lost, while shorter ones arrive"
                );
            }
            Loss::Communicator(number) => {
                return write!(f, "it has a message for communicator {number}, which is not open");
            }
            Loss::Unreachable => "it never answered",
            Loss::Dead => "it is silent",
            Loss::Reset => "it gave the connection up",
            Loss::Restarted => "it started anew",
        })
    }
}

/// Counters: frames that changed nothing, by reason, and frames that were sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    /// Frames that are not ESP or not intact.
    pub malformed: u64,
    /// Frames for another interface or port, or of an unknown connection.
    pub unknown: u64,
    /// Frames without a correct tag where one is needed.
    pub unproven: u64,
    /// Frames with a control number that is not above all before, as replayed ones have. Only their
    /// data is used.
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
