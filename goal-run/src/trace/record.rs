//! An event as it lies in memory.

use goal_engine::trace::{Event, Kind, Point};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// An event. Fields that a [`Point`] does not name are 0.
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
    /// The record of an event at a time.
    #[inline]
    pub(super) fn of(event: &Event, now_ns: u64) -> Self {
        let Event { point, kind, instance, action, peer, detail, bytes } = *event;
        let stamp = now_ns << 8 | (kind as u64) << 4 | point as u64;
        Self { stamp, bytes, action, peer, detail, instance }
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
