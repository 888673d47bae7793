//! Exact times in units of people.

use std::fmt;

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Picoseconds,
    Nanoseconds,
    Microseconds,
    Milliseconds,
    Seconds,
}

impl Unit {
    /// Returns the largest unit that is not longer than a time.
    pub(super) fn of(ps: u64) -> Self {
        match ps {
            1..1_000 => Unit::Picoseconds,
            0 | 1_000..1_000_000 => Unit::Nanoseconds,
            1_000_000..1_000_000_000 => Unit::Microseconds,
            1_000_000_000..1_000_000_000_000 => Unit::Milliseconds,
            _ => Unit::Seconds,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Unit::Picoseconds => "ps",
            Unit::Nanoseconds => "ns",
            Unit::Microseconds => "us",
            Unit::Milliseconds => "ms",
            Unit::Seconds => "s",
        }
    }

    /// Returns the number of decimal digits from a picosecond to the unit.
    fn places(self) -> usize {
        3 * self as usize
    }
}

/// A time in picoseconds that is written as a decimal in a unit, with all its digits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Decimal(pub(super) u64, pub(super) Unit);

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = self.1.places();
        let unit = 10_u64.pow(places as u32);
        write!(f, "{}", self.0 / unit)?;
        let rest = self.0 % unit;
        if rest == 0 {
            return Ok(());
        }
        let digits = format!("{rest:0places$}");
        write!(f, ".{}", digits.trim_end_matches('0'))
    }
}

/// A time in picoseconds with its unit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Duration(pub(super) u64);

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = Unit::of(self.0);
        write!(f, "{} {}", Decimal(self.0, unit), unit.name())
    }
}
