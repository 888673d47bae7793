//! The operations of a linked schedule, also while they are built.

use crate::engine::Underway;
use goal_lang::{Datatype, Op as Operator, Piece, Space};

/// An operation, which needs other operations to have ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct Op {
    /// The operations that must have ended, as a mask.
    pub(super) needs: u64,
    pub(super) kind: Kind,
    /// The bytes of the message or of an operand.
    pub(super) len: u32,
    /// The first line of the message in the run.
    pub(super) at: u32,
}

/// The work of an operation. Operands are in [`Draft::operands`], and later in the steps of a run.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// Writes the first operand for these ranks of the job, in this number of lines.
    Put { readers: u64, lines: u32 },
    /// Reads a message of the rank into the first operand.
    Take { writer: u32 },
    /// Reads a message of the rank, and stores it, combined with the first operand, in the second.
    /// The message is the left operand of the operation unless `reversed`.
    Fold { writer: u32, operator: Operator, datatype: Datatype, reversed: bool },
    /// Stores the combination of the first and the second operand in the third.
    Exec { operator: Operator, datatype: Datatype },
    /// Nothing.
    Nop,
}

/// The operands of an operation in the rank's memory.
pub(super) type Operands = [Piece; 3];

pub(super) const NONE: Piece = Piece { addr: 0, size: 0, space: Space::Memory };

/// An operation while it is built.
pub(super) struct Draft {
    pub(super) op: Op,
    pub(super) operands: Operands,
    pub(super) underway: Underway,
    /// True if another operation does the work of this one.
    pub(super) is_merged: bool,
}
