//! The machine that a schedule is meant for: LogGOPS (Hoefler, Schneider, Lumsdaine: LogGOPSim,
//! 2010).
//!
//! A description may come from anywhere. Its numbers are bounded, and errors quote a short part of
//! it without control characters.

use goal_lang::diag::quote;
use goal_lang::limits::EAGER_LIMIT;
use goal_loggops::machine::PerByte;
use std::fmt;

/// The largest times that are read. Larger ones are no times of a machine, and would leave no room
/// for sums.
const TIME_NS_MAX: f64 = 1e15;
const TIME_OF_A_BYTE_NS_MAX: f64 = 1e9;

/// Parameters of the LogGOPS model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Machine {
    /// `L`: the latency of the network in nanoseconds.
    pub latency_ns: f64,
    /// `o`: the processor time of a message at each end, in nanoseconds.
    pub overhead_ns: f64,
    /// `g`: the least time between two messages of a rank, in nanoseconds.
    pub gap_ns: f64,
    /// `G`: the time of a byte on the wire, in nanoseconds.
    pub gap_per_byte_ns: f64,
    /// `O`: the processor time of a byte at each end, in nanoseconds.
    pub overhead_per_byte_ns: f64,
    /// `S`: the largest message in bytes that a send hands over before its receive is posted.
    pub eager_bytes_max: u64,
}

impl Default for Machine {
    /// A host with shared memory: rounded measurements of goal-run on a present-day machine.
    fn default() -> Self {
        Self {
            latency_ns: 300.0,
            overhead_ns: 100.0,
            gap_ns: 100.0,
            gap_per_byte_ns: 0.1,
            overhead_per_byte_ns: 0.0,
            eager_bytes_max: EAGER_LIMIT,
        }
    }
}

/// The reason why a text describes no machine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MachineError {
    /// A name that is no parameter.
    #[error(
        "{0} is no parameter of LogGOPS: give L=, o=, g=, G=, O= or S=, times in nanoseconds, S in bytes"
    )]
    Unknown(String),
    /// A value that is negative or not a number.
    #[error("{0}: a parameter of LogGOPS is a number of at least 0")]
    Value(String),
    /// A time that no machine has.
    #[error("{0}: the number is too large")]
    Large(String),
    /// A parameter that is given twice.
    #[error("the parameter {0} is given twice")]
    Twice(char),
}

impl Machine {
    /// Reads a text like `L=2500,o=1500,g=1000,G=6,O=0,S=65535`. Commas, white space and lines
    /// separate parameters, `#` begins a comment, and a missing parameter keeps its default.
    ///
    /// # Errors
    /// The first entry that is no parameter, has no valid value or is given twice.
    pub fn parse(text: &str) -> Result<Self, MachineError> {
        let mut machine = Self::default();
        let mut seen = String::new();
        let entries = text
            .lines()
            .flat_map(|line| {
                line.split('#').next().unwrap_or_default().split([',', ' ', '\t', '\r'])
            })
            .filter(|entry| !entry.is_empty());
        for entry in entries {
            let unknown = || MachineError::Unknown(quote(entry.as_bytes()));
            let bad = || MachineError::Value(quote(entry.as_bytes()));
            let (name, value) = entry.split_once('=').ok_or_else(unknown)?;
            let number = |max: f64| match value.parse() {
                Ok(value) if value > max => Err(MachineError::Large(quote(entry.as_bytes()))),
                Ok(value) if value >= 0.0 => Ok(value),
                _ => Err(bad()),
            };
            match name {
                "L" => machine.latency_ns = number(TIME_NS_MAX)?,
                "o" => machine.overhead_ns = number(TIME_NS_MAX)?,
                "g" => machine.gap_ns = number(TIME_NS_MAX)?,
                "G" => machine.gap_per_byte_ns = number(TIME_OF_A_BYTE_NS_MAX)?,
                "O" => machine.overhead_per_byte_ns = number(TIME_OF_A_BYTE_NS_MAX)?,
                "S" => machine.eager_bytes_max = value.parse().map_err(|_| bad())?,
                _ => return Err(unknown()),
            }
            if seen.contains(name) {
                return Err(MachineError::Twice(name.chars().next().unwrap_or_default()));
            }
            seen.push_str(name);
        }
        Ok(machine)
    }

    /// Returns the machine of the simulator: times are rounded to picoseconds, and those of a byte
    /// to 10^-9 nanoseconds.
    pub fn exact(&self) -> goal_loggops::machine::Machine {
        let rounded = |time: f64, steps: f64| (time * steps).round().min(1e18) as u64;
        let per_byte = |time| PerByte::from_nano_ns(rounded(time, 1e9));
        goal_loggops::machine::Machine {
            latency_ps: rounded(self.latency_ns, 1e3),
            overhead_ps: rounded(self.overhead_ns, 1e3),
            gap_ps: rounded(self.gap_ns, 1e3),
            gap_per_byte: per_byte(self.gap_per_byte_ns),
            overhead_per_byte: per_byte(self.overhead_per_byte_ns),
            eager_bytes_max: self.eager_bytes_max,
        }
    }

    /// The time from the start of a send to the end of its receive, in nanoseconds: `2o + L +
    /// (bytes - 1)(G + 2O)`.
    pub fn message_ns(&self, bytes: u64) -> f64 {
        let rest = bytes.saturating_sub(1) as f64;
        2.0 * self.overhead_ns
            + self.latency_ns
            + rest * (self.gap_per_byte_ns + 2.0 * self.overhead_per_byte_ns)
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "L={},o={},g={},G={},O={},S={}",
            self.latency_ns,
            self.overhead_ns,
            self.gap_ns,
            self.gap_per_byte_ns,
            self.overhead_per_byte_ns,
            self.eager_bytes_max
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_read_as_it_is_written() {
        let machine = Machine::parse("L=2500,o=1500,g=1000,G=6.5,O=0,S=65535").expect("a machine");
        assert_eq!(Machine::parse(&machine.to_string()), Ok(machine));
        assert_eq!(machine.message_ns(1), 5500.0);
        assert_eq!(
            Machine::parse("# a file\nL=1\n\nG=2 # and more\n").map(|m| m.gap_per_byte_ns),
            Ok(2.0)
        );
    }

    #[test]
    fn what_is_no_machine_is_refused() {
        assert_eq!(Machine::parse("X=1"), Err(MachineError::Unknown("`X=1`".to_owned())));
        assert_eq!(Machine::parse("L"), Err(MachineError::Unknown("`L`".to_owned())));
        assert_eq!(Machine::parse("L=-1"), Err(MachineError::Value("`L=-1`".to_owned())));
        assert_eq!(Machine::parse("S=1.5"), Err(MachineError::Value("`S=1.5`".to_owned())));
        assert_eq!(Machine::parse("G=nan"), Err(MachineError::Value("`G=nan`".to_owned())));
        let large = |text: &str| Err(MachineError::Large(format!("`{text}`")));
        for text in ["L=1.1e15", "G=1.1e9", "o=inf"] {
            assert_eq!(Machine::parse(text), large(text));
        }
        let long = format!("`L={}...`", "9".repeat(38));
        assert_eq!(
            Machine::parse(&format!("L={}", "9".repeat(99))),
            Err(MachineError::Large(long))
        );
        assert_eq!(
            Machine::parse("\u{1b}[2J"),
            Err(MachineError::Unknown("`\u{fffd}[2J`".to_owned()))
        );
        assert_eq!(Machine::parse("L=1,L=2"), Err(MachineError::Twice('L')));
    }
}
