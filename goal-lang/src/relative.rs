//! Peers that are stated relative to the rank: `rank+1`, `rank-1`, `rank^1`.

/// The sign between `rank` and a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    Plus,
    Minus,
    Caret,
}

impl Sign {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Sign::Plus => "+",
            Sign::Minus => "-",
            Sign::Caret => "^",
        }
    }
}

/// The peer of a message, as the distance from the rank that sends or receives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RelativePeer {
    pub(crate) sign: Sign,
    pub(crate) by: u32,
}

impl RelativePeer {
    pub(crate) fn relation(self) -> Relation {
        match self.sign {
            Sign::Plus | Sign::Minus => Relation::Shift,
            Sign::Caret => Relation::Xor,
        }
    }

    /// Returns the peer of a rank. That of an xor may lie outside of the group.
    pub(crate) fn of(self, rank: u32, num_ranks: u32) -> u32 {
        let by = self.by % num_ranks.max(1);
        match self.sign {
            Sign::Plus => Relation::Shift.apply(rank, by, num_ranks),
            Sign::Minus => Relation::Shift.apply(rank, num_ranks - by, num_ranks),
            Sign::Caret => rank ^ self.by,
        }
    }

    /// Returns true if each rank of a group has a peer in the group. An xor needs whole blocks of
    /// ranks for that: 2, 4, 8 and so on, the least one above the number.
    pub(crate) fn stays_within(self, num_ranks: u32) -> bool {
        let block = (u64::from(self.by) + 1).next_power_of_two();
        self.relation() == Relation::Shift || u64::from(num_ranks).is_multiple_of(block)
    }
}

/// The way in which the peers of all ranks follow from those of rank 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Relation {
    /// Rank r has the peer p + r, modulo the number of ranks, where rank 0 has the peer p.
    Shift,
    /// Rank r has the peer p xor r where rank 0 has the peer p.
    Xor,
}

impl Relation {
    /// Returns the peer of a rank where rank 0 has the peer `peer`. Ranks and peers must be below
    /// `num_ranks` for a shift.
    pub fn apply(self, rank: u32, peer: u32, num_ranks: u32) -> u32 {
        match self {
            Relation::Shift => {
                ((u64::from(rank) + u64::from(peer)) % u64::from(num_ranks.max(1))) as u32
            }
            Relation::Xor => rank ^ peer,
        }
    }

    /// Returns the rank whose peer is rank 0 where rank 0 has the peer `peer`.
    pub fn inverse(self, peer: u32, num_ranks: u32) -> u32 {
        match self {
            Relation::Shift => num_ranks.saturating_sub(peer) % num_ranks.max(1),
            Relation::Xor => peer,
        }
    }
}
