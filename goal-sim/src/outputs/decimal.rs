//! Exact times as decimals.

use std::fmt;

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Nanoseconds,
    Microseconds,
}

impl Unit {
    /// Returns the number of decimal digits from a picosecond to the unit.
    fn places(self) -> usize {
        match self {
            Unit::Nanoseconds => 3,
            Unit::Microseconds => 6,
        }
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
