//! The parameters of LogGOPS, exact: whole picoseconds, and bytes' times in parts of a picosecond.

/// The parts of a picosecond that a time a byte may have.
const PARTS: u64 = 1_000_000;

/// Parameters of the LogGOPS model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Machine {
    /// `L`: the latency of the network in picoseconds.
    pub latency_ps: u64,
    /// `o`: the processor time of a message at each end, in picoseconds.
    pub overhead_ps: u64,
    /// `g`: the least time between two messages of an interface, in picoseconds.
    pub gap_ps: u64,
    /// `G`: the time of a byte on the wire.
    pub gap_per_byte: PerByte,
    /// `O`: the processor time of a byte at each end.
    pub overhead_per_byte: PerByte,
    /// `S`: the largest message in bytes that a send hands over before its receive is posted.
    pub eager_bytes_max: u64,
}

/// The time that a byte takes, in steps of 10^-9 nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct PerByte {
    whole_ps: u64,
    parts: u64,
}

impl PerByte {
    /// Takes a time in 10^-9 nanoseconds.
    pub const fn from_nano_ns(nano_ns: u64) -> Self {
        Self { whole_ps: nano_ns / PARTS, parts: nano_ns % PARTS }
    }

    /// Returns the time in 10^-9 nanoseconds.
    pub const fn nano_ns(self) -> u64 {
        self.whole_ps * PARTS + self.parts
    }

    /// Returns the time of `bytes` bytes in picoseconds, rounded down; at most `u64::MAX`.
    #[inline]
    pub const fn of(self, bytes: u64) -> u64 {
        let whole = bytes.saturating_mul(self.whole_ps);
        if self.parts == 0 {
            return whole;
        }
        let parts = bytes as u128 * self.parts as u128 / PARTS as u128;
        whole.saturating_add(if parts > u64::MAX as u128 { u64::MAX } else { parts as u64 })
    }
}
