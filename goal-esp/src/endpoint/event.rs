//! What an endpoint tells its owner.

use crate::auth::Address;
use std::fmt;

/// A connection. The next one with the same peer has another id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId {
    pub(super) index: u32,
    pub(super) generation: u32,
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// There is a connection, which this endpoint or the peer has asked for.
    Connected {
        /// The connection.
        id: ConnectionId,
        /// With whom.
        peer: Address,
    },
    /// Something can be read.
    Readable(ConnectionId),
    /// Packets have been acknowledged, so there is room for more.
    Writable(ConnectionId),
    /// The peer sends nothing more; all that it sent can be read.
    Finished(ConnectionId),
    /// Both ends have closed, and all has arrived. The id is of no use any more.
    Closed(ConnectionId),
    /// There is no connection any more. What was not acknowledged may or may not have arrived. The
    /// id is of no use any more.
    Lost {
        /// The connection.
        id: ConnectionId,
        /// Why.
        cause: Loss,
    },
}

/// Why a connection is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Loss {
    /// The peer has not answered for [`super::Timing::connect_ns`] since it was asked for a
    /// connection.
    Unreachable,
    /// The peer was silent for [`super::Timing::dead_ns`].
    Dead,
    /// The peer gave it up.
    Reset,
    /// The peer started anew; the next connection with it follows.
    Restarted,
    /// The network loses frames of this many bytes behind Ethernet's header on their way to the
    /// peer, and carries shorter ones.
    TooLong(u16),
    /// The stream from the peer belongs to this communicator, which was not opened here for
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

/// Frames that were not for this endpoint or changed nothing, by reason; and what was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    /// Not frames of ESP, or not intact.
    pub malformed: u64,
    /// Of another interface or port, or of no connection that there is.
    pub unknown: u64,
    /// Without the tag that they need.
    pub unproven: u64,
    /// Of which a later one came first, as a replay would be; what they carry for the stream
    /// counts.
    pub overtaken: u64,
    /// Frames that counted.
    pub received: u64,
    /// Packets that were refused because the communicator of their stream is not open.
    pub postponed: u64,
    /// Frames that were sent.
    pub sent: u64,
    /// Packets of streams that were sent again.
    pub sent_again: u64,
}
