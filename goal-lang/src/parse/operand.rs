//! The parts of a statement that is being read.

use crate::function::Datatype;
use crate::program::Placement;
use crate::relative::RelativePeer;

/// The other end of a message.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Peer {
    Rank(u32),
    Relative(RelativePeer),
    /// `any` or `-1`, with its place.
    Any(usize),
}

/// An operand: a range of the pieces of the current statement.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    pub(super) first: usize,
    pub(super) len: usize,
    /// True if the operand was written in brackets.
    pub(super) vector: bool,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The attributes of a statement, with their places.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Attributes {
    pub(super) tag: u32,
    pub(super) placement: Placement,
    pub(super) tag_place: Option<usize>,
    pub(super) cpu_place: Option<usize>,
    pub(super) nic_place: Option<usize>,
    pub(super) with_place: Option<usize>,
    /// Start and length of the function behind `with`.
    pub(super) function: Option<(usize, u32)>,
}

/// The `init` or `expect` statement that is being read.
pub(crate) struct DatumBuilder {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) expect: bool,
    pub(super) addr: u64,
    /// `None` after an error: values are then skipped.
    pub(super) datatype: Option<Datatype>,
    pub(super) bytes: Vec<u8>,
}
