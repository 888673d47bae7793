//! One thing that happened, as it lies in memory.

use goal_asm::nisa::Operation;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Point {
    /// An instance was started.
    InstanceStarted = 1,
    /// An instance came to its end and was taken from the engine.
    InstanceEnded = 2,
    /// An action started. `peer` and `bytes` are those of its message; `detail` is the number of a
    /// send's message among those of the instance to that rank.
    Started = 3,
    /// Follows [`Point::Started`] in a window: `detail` is the action's number in its section,
    /// `peer` the tag of its message.
    Numbered = 4,
    /// A receive and a message met: `peer` sent it, `detail` is its number among those from there,
    /// `bytes` its size.
    Matched = 5,
    /// An action ended.
    Ended = 6,
}

/// What an action is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// It does nothing.
    Nop = 0,
    /// A message leaves.
    Send = 1,
    /// A message comes.
    Recv = 2,
    /// Time passes.
    Calc = 3,
    /// A local operation.
    Exec = 4,
}

impl Kind {
    const ALL: [Kind; 5] = [Kind::Nop, Kind::Send, Kind::Recv, Kind::Calc, Kind::Exec];

    /// What an operation is.
    pub fn of(operation: &Operation<'_>) -> Self {
        match operation {
            Operation::Send { .. } => Kind::Send,
            Operation::Recv { .. } => Kind::Recv,
            Operation::Calc { .. } => Kind::Calc,
            Operation::Exec { .. } | Operation::User { .. } | Operation::Wtime { .. } => Kind::Exec,
            Operation::Nop => Kind::Nop,
        }
    }

    /// As texts name it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Nop => "nop",
            Kind::Send => "send",
            Kind::Recv => "recv",
            Kind::Calc => "calc",
            Kind::Exec => "exec",
        }
    }
}

/// One thing that happened. Fields that a [`Point`] does not name are 0.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout,
)]
#[repr(C)]
pub struct Record {
    /// The clock in nanoseconds modulo 2^56, then four bits of [`Kind`] and four of [`Point`].
    pub(crate) stamp: u64,
    /// Bytes of a message.
    pub bytes: u64,
    /// Offset of the action in its section.
    pub action: u32,
    /// A rank.
    pub peer: u32,
    /// What the point says.
    pub detail: u32,
    /// Number of the instance.
    pub instance: u32,
}

/// Bits of a stamp that hold the clock.
const CLOCK_BITS: u32 = 56;

impl Record {
    /// This record of what happened at a time.
    #[inline]
    pub(super) fn stamped(self, now_ns: u64, point: Point, kind: Kind) -> Self {
        Self { stamp: now_ns << 8 | (kind as u64) << 4 | point as u64, ..self }
    }

    /// What happened; `None` for bytes that no engine wrote.
    pub fn point(&self) -> Option<Point> {
        Some(match self.stamp & 15 {
            1 => Point::InstanceStarted,
            2 => Point::InstanceEnded,
            3 => Point::Started,
            4 => Point::Numbered,
            5 => Point::Matched,
            6 => Point::Ended,
            _ => return None,
        })
    }

    /// What the action is, of [`Point::Started`].
    pub fn kind(&self) -> Kind {
        Kind::ALL[(self.stamp >> 4 & 15) as usize % Kind::ALL.len()]
    }

    /// This record by a clock that is `by_ns` ahead, modulo 2^64.
    pub(super) fn shifted(self, by_ns: u64) -> Self {
        Self { stamp: self.stamp.wrapping_add(by_ns << 8), ..self }
    }

    /// Nanoseconds after `origin_ns` by the same clock, which must be less than 2^56 before it.
    pub fn since(&self, origin_ns: u64) -> u64 {
        ((self.stamp >> 8).wrapping_sub(origin_ns)) & ((1 << CLOCK_BITS) - 1)
    }
}
