//! The reasons why a simulation gives no times.

use crate::workload::TooLarge;

/// The first time in picoseconds that is too late.
pub(super) const TIME_END: u64 = 1 << 63;

/// The reason why there are no times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// Some actions never end, or messages are never received.
    #[error("{left} actions never end, and {unreceived} messages are never received")]
    Stuck {
        /// The actions that never end.
        left: u64,
        /// The messages that no receive takes.
        unreceived: u64,
    },
    /// A message and its receive have different sizes.
    #[error("a message and its receive have different sizes")]
    Unequal {
        /// The send of the message.
        send: u32,
        /// The receive.
        receive: u32,
    },
    /// A time has more than 63 bits.
    #[error("an action would end after 2^63 picoseconds, some 106 days")]
    TooLate {
        /// The action.
        action: u32,
    },
    /// The program has too many actions.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
}

impl ModelError {
    /// Returns the error that counts of two in one window: the one of the higher action.
    pub(super) fn one_of(a: Option<Self>, b: Option<Self>) -> Option<Self> {
        let key = |error: &Self| match *error {
            Self::Unequal { send, receive } => (0, receive, send),
            Self::TooLate { action } => (1, action, 0),
            Self::Stuck { .. } | Self::TooLarge(_) => (2, 0, 0),
        };
        [a, b].into_iter().flatten().max_by_key(key)
    }
}
