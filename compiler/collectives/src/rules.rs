//! The requests that algorithms are right for.

use crate::request::Request;

/// The numbers of ranks for which an algorithm is right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ranks {
    /// Every number.
    Any,
    /// Even numbers, and one rank.
    Even,
    /// Powers of two.
    PowerOfTwo,
    /// Powers of two, or any number if the operation is idempotent.
    PowerOfTwoOrIdempotent,
    /// Powers of the degree plus one, or any number if the operation is idempotent.
    PowerOfDegreeOrIdempotent,
}

impl Ranks {
    /// The name in lists.
    pub const fn name(self) -> &'static str {
        match self {
            Ranks::Any => "any",
            Ranks::Even => "even",
            Ranks::PowerOfTwo => "power-of-two",
            Ranks::PowerOfTwoOrIdempotent => "power-of-two-or-idempotent",
            Ranks::PowerOfDegreeOrIdempotent => "power-of-degree-plus-one-or-idempotent",
        }
    }

    pub(crate) fn allow(self, request: &Request, ranks: u32) -> bool {
        match self {
            Ranks::Any => true,
            Ranks::Even => ranks == 1 || ranks.is_multiple_of(2),
            Ranks::PowerOfTwo => ranks.is_power_of_two(),
            Ranks::PowerOfTwoOrIdempotent => ranks.is_power_of_two() || request.is_idempotent(),
            Ranks::PowerOfDegreeOrIdempotent => {
                let base = u64::from(request.degree) + 1;
                let mut power = 1;
                while power < u64::from(ranks) {
                    power *= base;
                }
                power == u64::from(ranks) || request.is_idempotent()
            }
        }
    }
}

/// The operations for which an algorithm is right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operations {
    /// The collective combines nothing.
    None,
    /// Every associative operation.
    Associative,
    /// Operations that commute.
    Commutative,
}

impl Operations {
    /// The name in lists.
    pub const fn name(self) -> &'static str {
        match self {
            Operations::None => "none",
            Operations::Associative => "associative",
            Operations::Commutative => "commutative",
        }
    }
}

/// The numbers of elements that the blocks may have ([`Blocks`](crate::Blocks)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counts {
    /// All blocks have the same number of elements.
    Equal,
    /// Any numbers, which every rank knows.
    All,
    /// Any numbers. A rank that is not the root needs to know only the numbers of its own blocks.
    Own,
}
