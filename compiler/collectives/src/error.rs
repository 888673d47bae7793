//! The reasons why an algorithm generates nothing.

use crate::request::RequestError;
use crate::rules::Ranks;
use goal_lang::CollectiveKind;

/// The reason why an algorithm generates nothing for a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GenerateError {
    /// The request can't be met. The [`RequestError`] has the reason.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// The request is for another collective.
    #[error("{algorithm} is an algorithm of {own}, not of {wanted}")]
    Kind {
        /// The algorithm.
        algorithm: &'static str,
        /// The collective of the algorithm.
        own: CollectiveKind,
        /// The collective that is asked for.
        wanted: CollectiveKind,
    },
    /// The algorithm is not right for this number of ranks.
    #[error("{algorithm} takes {}, not {ranks}", numbers(*.allowed, *.degree))]
    Ranks {
        /// The algorithm.
        algorithm: &'static str,
        /// The numbers of ranks that the algorithm takes.
        allowed: Ranks,
        /// The degree.
        degree: u32,
        /// The number of ranks.
        ranks: u32,
    },
    /// The algorithm combines inputs in another order than that of ranks.
    #[error("{algorithm} takes an operation that commutes, and a user function need not")]
    Order {
        /// The algorithm.
        algorithm: &'static str,
    },
    /// The algorithm takes blocks of one size only.
    #[error("{algorithm} takes blocks of one size only: take another algorithm of {kind}")]
    Counts {
        /// The algorithm.
        algorithm: &'static str,
        /// The collective of the algorithm.
        kind: CollectiveKind,
    },
    /// A level of the algorithm has no algorithm of this name.
    #[error("two-level has {} {kind} in it, and {kind} has no algorithm {name} of one level", .kind.article())]
    Level {
        /// The name that is asked for.
        name: String,
        /// The collective of the level.
        kind: CollectiveKind,
    },
    /// The ranks of a node are not consecutive.
    #[error(
        "two-level combines the inputs of a node first, so that for this {kind} its ranks have to be consecutive: order the nodes, or take another algorithm"
    )]
    NodeOrder {
        /// The collective.
        kind: CollectiveKind,
    },
    /// A block would have too many segments.
    #[error("{algorithm} would cut a block into {segments} segments: take larger ones")]
    Segments {
        /// The algorithm.
        algorithm: &'static str,
        /// The number of segments.
        segments: u64,
    },
    /// The leader of a node would have a graph too large for a schedule.
    #[error(
        "a leader of {per_node} ranks would copy {copies} blocks one by one, and {most} fit into its schedule: \
         take fewer ranks a node, or another algorithm than {algorithm}"
    )]
    Copies {
        /// The algorithm.
        algorithm: &'static str,
        /// The most ranks of a node.
        per_node: u64,
        /// The number of blocks.
        copies: u64,
        /// The most blocks that fit into a schedule.
        most: u64,
    },
    /// Ranks differ in more than their peers.
    #[error("with {algorithm}, ranks differ in more than their peers{}", if *.needs_power {
        ", unless there are 1, 2, 4, 8 ... of them and the operation commutes"
    } else {
        ""
    })]
    Unlike {
        /// The algorithm.
        algorithm: &'static str,
        /// True if ranks differ in their peers only if their number is a power of two and the
        /// operation commutes.
        needs_power: bool,
    },
    /// Two ranks would exchange more messages than there are tags.
    #[error("{algorithm} needs more tags than there are: take larger segments")]
    Tags {
        /// The algorithm.
        algorithm: &'static str,
    },
}

const IDEMPOTENT: &str = "(or any number for max, min, band, bor, land and lor)";

fn numbers(allowed: Ranks, degree: u32) -> String {
    match allowed {
        Ranks::Any => "any number of ranks".to_owned(),
        Ranks::Even => "an even number of ranks".to_owned(),
        Ranks::PowerOfTwo => "1, 2, 4, 8 ... ranks".to_owned(),
        Ranks::PowerOfTwoOrIdempotent => format!("1, 2, 4, 8 ... ranks {IDEMPOTENT}"),
        Ranks::PowerOfDegreeOrIdempotent => {
            let base = u128::from(degree) + 1;
            format!("1, {base}, {} ... ranks {IDEMPOTENT}", base * base)
        }
    }
}
