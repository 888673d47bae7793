//! The reasons why the compact check may not know if there is something to find.

/// The reason why the check does not know if there is something to find.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Doubt {
    /// An action names memory, or is a local operation.
    #[error("rank {rank} works on memory")]
    Data {
        /// The rank.
        rank: u32,
    },
    /// A receive has a wildcard.
    #[error("rank {rank} receives from any source or with any tag")]
    Wildcard {
        /// The rank.
        rank: u32,
    },
    /// An action waits for one behind it.
    #[error("in rank {rank} an action comes before one that it waits for")]
    Backward {
        /// The rank.
        rank: u32,
    },
    /// Two messages may start in any order.
    #[error("rank {rank} has messages of one peer and tag in no order")]
    Unordered {
        /// The rank.
        rank: u32,
    },
    /// Sends and receives have other numbers or sizes.
    #[error("some sends and receives differ in number or size")]
    Unequal,
    /// Actions never end if every send waits for its receive.
    #[error("{left} actions never end if every send waits for its receive")]
    Stuck {
        /// The number of actions.
        left: u64,
    },
    /// Numbers of 31 bits are too few.
    #[error("there are 2^31 actions or dependencies, or more")]
    TooLarge,
}
