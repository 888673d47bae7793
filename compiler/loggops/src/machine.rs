//! The parameters of LogGOPS, exact: whole picoseconds, and bytes' times in parts of a picosecond.

/// The parts of a picosecond that a time a byte may have.
const PARTS: u64 = 1_000_000;

/// The number that is too large for a value. It leaves room for sums.
pub(crate) const VALUE_END: u64 = 1 << 61;

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

impl Default for Machine {
    /// Returns the machine of LogGOPSim's defaults.
    fn default() -> Self {
        Self {
            latency_ps: 2_500_000,
            overhead_ps: 1_500_000,
            gap_ps: 1_000_000,
            gap_per_byte: PerByte::from_nano_ns(6_000_000_000),
            overhead_per_byte: PerByte::from_nano_ns(0),
            eager_bytes_max: 65535,
        }
    }
}

/// A parameter of LogGOPS. Its values are whole numbers of its unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parameter {
    /// `L`, in picoseconds.
    Latency,
    /// `o`, in picoseconds.
    Overhead,
    /// `g`, in picoseconds.
    Gap,
    /// `G`, in 10^-9 nanoseconds.
    GapPerByte,
    /// `O`, in 10^-9 nanoseconds.
    OverheadPerByte,
    /// `S`, in bytes.
    EagerBytes,
}

/// The fault of a text that should be a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// The text is no decimal without a sign.
    #[error("give a number of at least 0, as 2500 or 0.04")]
    NoNumber,
    /// The parameter takes whole numbers only.
    #[error("give a whole number")]
    NotWhole,
    /// The value has more digits than the parameter.
    #[error("at most {0} digits after the point")]
    Digits(u32),
    /// The value leaves no room for sums.
    #[error("the number is too large")]
    TooLarge,
}

impl Parameter {
    /// All parameters.
    pub const ALL: [Self; 6] = [
        Self::Latency,
        Self::Overhead,
        Self::Gap,
        Self::GapPerByte,
        Self::OverheadPerByte,
        Self::EagerBytes,
    ];

    /// Returns the letter of the parameter.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Latency => "L",
            Self::Overhead => "o",
            Self::Gap => "g",
            Self::GapPerByte => "G",
            Self::OverheadPerByte => "O",
            Self::EagerBytes => "S",
        }
    }

    /// Returns the unit of decimals.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Latency | Self::Overhead | Self::Gap => "ns",
            Self::GapPerByte | Self::OverheadPerByte => "ns/B",
            Self::EagerBytes => "B",
        }
    }

    /// Returns the digits that a decimal may have after the point.
    pub const fn digits(self) -> u32 {
        match self {
            Self::Latency | Self::Overhead | Self::Gap => 3,
            Self::GapPerByte | Self::OverheadPerByte => 9,
            Self::EagerBytes => 0,
        }
    }

    /// Returns the value of a machine.
    pub const fn value(self, machine: &Machine) -> u64 {
        match self {
            Self::Latency => machine.latency_ps,
            Self::Overhead => machine.overhead_ps,
            Self::Gap => machine.gap_ps,
            Self::GapPerByte => machine.gap_per_byte.nano_ns(),
            Self::OverheadPerByte => machine.overhead_per_byte.nano_ns(),
            Self::EagerBytes => machine.eager_bytes_max,
        }
    }

    /// Returns a machine with another value.
    pub const fn with(self, machine: &Machine, value: u64) -> Machine {
        let per_byte = PerByte::from_nano_ns(value);
        match self {
            Self::Latency => Machine { latency_ps: value, ..*machine },
            Self::Overhead => Machine { overhead_ps: value, ..*machine },
            Self::Gap => Machine { gap_ps: value, ..*machine },
            Self::GapPerByte => Machine { gap_per_byte: per_byte, ..*machine },
            Self::OverheadPerByte => Machine { overhead_per_byte: per_byte, ..*machine },
            Self::EagerBytes => Machine { eager_bytes_max: value, ..*machine },
        }
    }

    /// Parses a decimal of nanoseconds, or the bytes of `S`.
    ///
    /// # Errors
    /// If the text is no decimal without a sign, has too many digits or is too large.
    pub fn parse(self, text: &str) -> Result<u64, ValueError> {
        let (whole, part) = text.split_once('.').unwrap_or((text, ""));
        let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.len() + part.len() == 0 || !are_digits(whole) || !are_digits(part) {
            return Err(ValueError::NoNumber);
        }
        let places = self.digits() as usize;
        if part.len() > places {
            let digits = self.digits();
            return Err(if digits == 0 {
                ValueError::NotWhole
            } else {
                ValueError::Digits(digits)
            });
        }
        let digits = format!("{whole}{part:0<places$}");
        let value: u64 = match digits.trim_start_matches('0') {
            "" => 0,
            digits => digits.parse().map_err(|_| ValueError::TooLarge)?,
        };
        if value >= VALUE_END { Err(ValueError::TooLarge) } else { Ok(value) }
    }
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
