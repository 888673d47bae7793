//! The collectives of a program, each with the statements of its members.

use crate::collective::CollectiveKind;
use crate::program::{CollectiveStatement, Program};

/// The statement by which a rank takes part in a collective.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member {
    /// The rank.
    pub rank: u32,
    /// The index of the statement in the body's [`collectives`](crate::Body::collectives).
    pub statement: u32,
}

impl Member {
    /// Returns the statement of the member.
    ///
    /// # Panics
    /// If it is a member of another program.
    pub fn stated(self, program: &Program) -> &CollectiveStatement {
        &program.body_of(self.rank).collectives[self.statement as usize]
    }
}

/// The bytes of a collective.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CollectiveSize {
    /// The bytes of a block: a member's input, or the part of this input for one member.
    Block(u64),
    /// The bytes of the blocks of all members together.
    Total(u64),
}

/// A collective with the statements of all members.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CollectiveInstance {
    /// The collective.
    pub kind: CollectiveKind,
    /// The bytes.
    pub size: CollectiveSize,
    /// The index of the root among the members; 0 if there is no root, or if the statements do not
    /// name it.
    pub root: u32,
    /// The members in their order. A rank may be there several times, with a GPU for each.
    pub members: Vec<Member>,
}

/// A message whose ends are statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatedMessage {
    /// Bytes.
    pub size: u64,
    /// The end that sends.
    pub sender: Member,
    /// The end that receives.
    pub receiver: Member,
}

/// All collectives that the statements of a program name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Instances {
    /// The collectives.
    pub collectives: Vec<CollectiveInstance>,
    /// The messages in communicators of two members.
    pub messages: Vec<StatedMessage>,
    /// Ends of messages in communicators of more or fewer members. Their statements don't tell the
    /// other end.
    pub ends: Vec<Member>,
}
