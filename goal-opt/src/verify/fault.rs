//! The rules of the model that a program may break.

use goal_lang::limits::RANK_MAX;
use goal_lang::{ActionId, BodyId, Datatype, ImageId, Op, Space};
use std::fmt;

/// A rule of the program model that is broken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rule {
    /// The program has more ranks than can be numbered.
    #[error("{0} ranks, and the largest rank number is {RANK_MAX}")]
    TooManyRanks(usize),
    /// A rank names a body that is not there.
    #[error("there is no body {0}")]
    NoBody(BodyId),
    /// A rank names a memory image that is not there.
    #[error("there is no memory image {0}")]
    NoImage(ImageId),
    /// A dependency names an action that is not there; the body has this many.
    #[error("a dependency names an action past the last, {0}")]
    DependencyOutside(usize),
    /// Dependencies form a cycle.
    #[error("actions wait for each other: {}{}", .first.join(", "), if *.length > .first.len() { ", ..." } else { "" })]
    Cycle {
        /// Numbers and labels of the cycle's first actions. Each action waits for the next one.
        first: Vec<String>,
        /// The number of actions in the cycle.
        length: usize,
    },
    /// A message's other end is not a rank of the program.
    #[error("there is no rank {peer} among {ranks}")]
    NoRank {
        /// The rank at the other end.
        peer: u32,
        /// The number of ranks.
        ranks: u32,
    },
    /// A marker has a number that markers do not have in a group of this size.
    #[error("{to} is no number of a marker among {ranks} ranks")]
    NoMarker {
        /// The number.
        to: u32,
        /// The number of ranks.
        ranks: u32,
    },
    /// A send or a marker has the wildcard as its tag.
    #[error("a send needs a tag")]
    SendWithoutTag,
    /// A scattered buffer has no piece.
    #[error("a buffer without pieces")]
    NoPieces,
    /// A scattered buffer uses entries past the end of the body's table of pieces.
    #[error("pieces up to {end} of a table of {length}")]
    PiecesOutside {
        /// The position behind the last piece.
        end: u64,
        /// The length of the table.
        length: usize,
    },
    /// A piece of a scattered buffer has no bytes.
    #[error("an empty piece in a scattered buffer")]
    EmptyPiece,
    /// The sizes of a scattered buffer's pieces add up to more than 64 bits hold.
    #[error("a scattered buffer of more than 2^64 bytes")]
    BufferTooLarge,
    /// A buffer ends outside of its address space.
    #[error("a buffer of {size} bytes at {addr} ends outside the {limit} bytes of {}", space_name(*.space))]
    BufferOutside {
        /// The size of the buffer in bytes.
        size: u64,
        /// The address of its first byte.
        addr: u64,
        /// The size of the address space in bytes.
        limit: u64,
        /// The address space.
        space: Space,
    },
    /// A message carries a copy, which takes one operand only.
    #[error("a copy combines nothing with a message")]
    CopyOfMessage,
    /// The operation is not defined for the datatype.
    #[error("{}{} is not defined", .0.name(), .1.name())]
    UndefinedOperation(Op, Datatype),
    /// A copy has a third buffer.
    #[error("a copy has no third buffer")]
    CopyWithThird,
    /// The operands of an operation differ in size.
    #[error(
        "the buffers of {}{} differ in size: {first} and {other} bytes", .op.name(), .datatype.name()
    )]
    SizesDiffer {
        /// The operation.
        op: Op,
        /// Its datatype.
        datatype: Datatype,
        /// The size of the first operand in bytes.
        first: u64,
        /// The larger size of the other two operands in bytes.
        other: u64,
    },
    /// The size of an operand is not a multiple of the datatype's width.
    #[error("{size} bytes are no whole number of elements of {}", .datatype.name())]
    PartOfElement {
        /// The size of the operand in bytes.
        size: u64,
        /// The datatype.
        datatype: Datatype,
    },
    /// Two operands have bytes in common without being the same.
    #[error("buffers of {}{} overlap partly", .0.name(), .1.name())]
    PartialOverlap(Op, Datatype),
    /// A table of the debug information is not empty and has not one entry for each item.
    #[error("{entries} {table} where {expected} belong")]
    DebugTable {
        /// The contents of the table.
        table: &'static str,
        /// The number of entries.
        entries: usize,
        /// The number of items.
        expected: usize,
    },
    /// The stated order of dependencies names other dependencies than the graph has.
    #[error("the stated order of dependencies is not one of this graph")]
    StatedOrder,
    /// The bytes of a datum are not values of its datatype.
    #[error("{kind} at {addr}: {length} bytes are not values of {}", .datatype.name())]
    NotValues {
        /// `init` or `expect`.
        kind: &'static str,
        /// The address of the datum.
        addr: u64,
        /// Its length in bytes.
        length: u64,
        /// Its datatype.
        datatype: Datatype,
    },
    /// Two data of an image have bytes in common.
    #[error("{kind} at {addr} overlaps another")]
    DataOverlap {
        /// `init` or `expect`.
        kind: &'static str,
        /// The address of the later datum.
        addr: u64,
    },
    /// A datum ends past the last address.
    #[error("{kind} at {addr} ends past 2^64 bytes")]
    DatumOutside {
        /// `init` or `expect`.
        kind: &'static str,
        /// The address of the datum.
        addr: u64,
    },
}

fn space_name(space: Space) -> &'static str {
    match space {
        Space::Memory => "memory",
        Space::Scratch => "scratch memory",
    }
}

/// A broken rule and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The rank, if the rule is one of a rank.
    pub rank: Option<u32>,
    /// The action, if the rule is one of an action.
    pub action: Option<ActionId>,
    /// The broken rule.
    pub rule: Rule,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(rank) = self.rank {
            write!(f, "rank {rank}")?;
            if let Some(action) = self.action {
                write!(f, ", action {action}")?;
            }
            f.write_str(": ")?;
        }
        self.rule.fmt(f)
    }
}

/// All faults of a program; only the first ones are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Faults {
    /// The first faults, at most 20.
    pub first: Vec<Fault>,
    /// The number of all faults.
    pub count: u64,
}

/// Faults that are kept.
const KEPT_MAX: usize = 20;

impl Faults {
    pub(super) fn push(&mut self, rank: Option<u32>, action: Option<ActionId>, rule: Rule) {
        self.count += 1;
        if self.first.len() < KEPT_MAX {
            self.first.push(Fault { rank, action, rule });
        }
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, fault) in self.first.iter().enumerate() {
            let separator = if i > 0 { "; " } else { "" };
            write!(f, "{separator}{fault}")?;
        }
        match self.count - self.first.len() as u64 {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}

impl std::error::Error for Faults {}
