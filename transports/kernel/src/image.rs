//! One rank's part of a translated schedule: the entries that are written to the engine's maps.

use crate::layout::{
    ALTERNATES_A, ALTERNATES_B, ALTERNATES_C, ActionEntry, HANDED_OVER, PartEntry, ReceiveEntry,
    SendEntry,
};
use std::ops::Range;

/// One rank's part of a schedule. Entries refer to each other by numbers from 0 on. The loader adds
/// the places of the part in the maps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartImage {
    /// The part's entry. Its fields `first_*` are 0, except `first_ack` and `first_independent`,
    /// which count from the part's own first entry.
    pub part: PartEntry,
    /// The actions; `first_dependent` counts from the part's own first entry.
    pub actions: Vec<ActionEntry>,
    /// The dependents of all actions, then the independent actions.
    pub dependents: Vec<u32>,
    /// The receives.
    pub receives: Vec<ReceiveEntry>,
    /// The sends. Acknowledgements are the last ones.
    pub sends: Vec<SendEntry>,
    /// The constant bytes of the part's memory, from `constants_at` on. They are the same in all
    /// runs.
    pub constants: Vec<u8>,
    /// The offset of the constants in the part's memory.
    pub constants_at: u32,
    /// The bytes of the rank's own memory, which is the first area of the part's memory.
    pub memory_bytes: u32,
    /// Bytes of the part's memory in use.
    pub bytes: u32,
    /// For each action of the part, the number of the action in the rank's section that it comes
    /// from.
    pub origins: Vec<u32>,
    /// The calls of functions of the program.
    pub calls: Vec<Call>,
}

/// A call of a function of the program, which the rank's process makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The number of the part's action that makes the call.
    pub action: u32,
    /// The number of the function.
    pub function: u32,
    /// The bytes of both operands in the part's memory, in pieces.
    pub operands: [Vec<Range<usize>>; 2],
}

/// The operation of an action, with the places of its operands in the part's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operands {
    /// The operation as in NISA; 0 if there is none.
    pub op: u8,
    /// The datatype as in NISA.
    pub datatype: u8,
    /// The places of both operands and of the result.
    pub places: [usize; 3],
    /// The bytes of each operand and of the result.
    pub bytes: usize,
}

impl PartImage {
    /// Returns the number of actions that are handed over to the rank's process in a run.
    pub fn handed(&self) -> u32 {
        self.actions.iter().filter(|action| action.flags & HANDED_OVER != 0).count() as u32
    }

    /// Returns the operation of an action in run `epoch`; `None` if there is no such action.
    pub fn operands(&self, action: u32, epoch: u32) -> Option<Operands> {
        let ActionEntry { a, b, c, bytes, op, datatype, flags, .. } =
            *self.actions.get(action as usize)?;
        let shift = if epoch & 1 == 1 { self.part.stride } else { 0 };
        let place = |at: u32, flag: u8| (at + if flags & flag != 0 { shift } else { 0 }) as usize;
        let places = [place(a, ALTERNATES_A), place(b, ALTERNATES_B), place(c, ALTERNATES_C)];
        Some(Operands { op, datatype, places, bytes: bytes as usize })
    }

    /// Returns the part with numbers that are valid in maps whose first free entries are `at`.
    /// `members` has the rank in the job of each rank of the schedule.
    pub(crate) fn placed(&self, at: &Places, members: &[u32]) -> Self {
        let mut placed = self.clone();
        for receive in &mut placed.receives {
            receive.peer = members[receive.peer as usize];
        }
        for send in &mut placed.sends {
            send.peer = members[send.peer as usize];
        }
        placed.part.first_action += at.action;
        placed.part.first_independent += at.dependent;
        placed.part.first_receive += at.receive;
        placed.part.first_send += at.send;
        for action in &mut placed.actions {
            action.first_dependent += at.dependent;
        }
        placed
    }
}

/// The first free entries of the maps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Places {
    pub action: u32,
    pub dependent: u32,
    pub receive: u32,
    pub send: u32,
}

impl Places {
    /// Returns the first free entries of the maps once the part `image` is placed here.
    pub(crate) fn behind(self, image: &PartImage) -> Self {
        Self {
            action: self.action + image.actions.len() as u32,
            dependent: self.dependent + image.dependents.len() as u32,
            receive: self.receive + image.receives.len() as u32,
            send: self.send + image.sends.len() as u32,
        }
    }
}
