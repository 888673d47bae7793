//! Defines the layout of a trace's records in memory.

use goal_engine::trace::{Event, Kind, Point};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// The record of an event. Fields that its [`Point`] does not use are 0.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout,
)]
#[repr(C)]
pub struct Record {
    /// The clock in nanoseconds modulo 2^56, then four bits of [`Kind`] and four of [`Point`].
    pub stamp: u64,
    /// The size of a message in bytes.
    pub bytes: u64,
    /// The offset of the action in its section.
    pub action: u32,
    /// The rank at the other end of a message.
    pub peer: u32,
    /// A number whose meaning depends on the [`Point`].
    pub detail: u32,
    /// The number of the instance.
    pub instance: u32,
}

/// The number of bits of a stamp that hold the clock.
const CLOCK_BITS: u32 = 56;

impl Record {
    /// Creates the record of an event at the time `now_ns`.
    #[inline]
    pub(super) fn from_event(event: &Event, now_ns: u64) -> Self {
        let Event { point, kind, instance, action, peer, detail, bytes } = *event;
        let stamp = now_ns << 8 | (kind as u64) << 4 | point as u64;
        Self { stamp, bytes, action, peer, detail, instance }
    }

    /// Returns the point at which the event was recorded; `None` for bytes that no engine wrote.
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

    /// Returns the kind of the action, for [`Point::Started`].
    pub fn kind(&self) -> Kind {
        Kind::ALL[(self.stamp >> 4 & 15) as usize % Kind::ALL.len()]
    }

    /// Returns this record with the time of a clock that is `by_ns` ahead, modulo 2^64.
    pub(super) fn shifted(self, by_ns: u64) -> Self {
        Self { stamp: self.stamp.wrapping_add(by_ns << 8), ..self }
    }

    /// Returns the nanoseconds from `origin_ns` to this record. `origin_ns` is a time of the same
    /// clock, less than 2^56 ns earlier.
    pub fn since(&self, origin_ns: u64) -> u64 {
        ((self.stamp >> 8).wrapping_sub(origin_ns)) & ((1 << CLOCK_BITS) - 1)
    }
}
