//! The reasons why there will be no more messages to or from a rank.

use goal_esp::endpoint::Loss;
use goal_fabric::StreamFault;

/// The reason why there will be no more messages to or from a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LostPeer {
    /// The connection was lost.
    #[error("{0}")]
    Connection(Loss),
    /// The bytes that arrived are no messages of the rank.
    #[error(transparent)]
    Fault(#[from] StreamFault),
}

impl From<Loss> for LostPeer {
    fn from(cause: Loss) -> Self {
        match cause {
            Loss::Communicator(number) => LostPeer::Fault(StreamFault::Communicator(number.into())),
            cause => LostPeer::Connection(cause),
        }
    }
}
