//! The parameters of LogGOPS on the command line.

use crate::Model;
use goal_loggops::machine::{Machine, PerByte};
use goal_loggops::peers;
use serde::{Serialize, Serializer};

/// The parameters of LogGOPS: decimals without a sign.
#[derive(Debug, Clone, clap::Args, Serialize)]
#[command(next_help_heading = "Machine")]
pub(crate) struct Parameters {
    /// Latency of the network, in nanoseconds
    #[arg(short = 'L', value_name = "NS", default_value = "2500")]
    #[serde(serialize_with = "number", rename = "L")]
    latency: String,
    /// Processor time of a message at each end, in nanoseconds
    #[arg(short = 'o', value_name = "NS", default_value = "1500")]
    #[serde(serialize_with = "number", rename = "o")]
    overhead: String,
    /// Gap between two messages of an interface, in nanoseconds
    #[arg(short = 'g', value_name = "NS", default_value = "1000")]
    #[serde(serialize_with = "number", rename = "g")]
    gap: String,
    /// Time of a byte on the wire, in nanoseconds
    #[arg(short = 'G', value_name = "NS", default_value = "6")]
    #[serde(serialize_with = "number", rename = "G")]
    gap_per_byte: String,
    /// Processor time of a byte at each end, in nanoseconds
    #[arg(short = 'O', value_name = "NS", default_value = "0")]
    #[serde(serialize_with = "number", rename = "O")]
    overhead_per_byte: String,
    /// Largest message that a send hands over before its receive is posted, in bytes
    #[arg(short = 'S', value_name = "BYTES", default_value = "65535")]
    #[serde(serialize_with = "number", rename = "S")]
    eager: String,
}

/// Writes a decimal as a number.
fn number<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    match text.parse::<u64>() {
        Ok(whole) => serializer.serialize_u64(whole),
        Err(_) => serializer.serialize_f64(text.parse().unwrap_or_default()),
    }
}

/// Parses a decimal without a sign into units of 10^-`places`.
fn decimal(name: char, text: &str, places: usize) -> Result<u64, String> {
    let wrong = || format!("-{name} {text}: give a number of at least 0, as 2500 or 0.04");
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.len() + part.len() == 0 || !are_digits(whole) || !are_digits(part) {
        return Err(wrong());
    }
    if part.len() > places {
        return Err(match places {
            0 => format!("-{name} {text}: give a whole number"),
            _ => format!("-{name} {text}: at most {places} digits after the point"),
        });
    }
    let digits = format!("{whole}{part:0<places$}");
    let value: u64 =
        digits.trim_start_matches('0').parse().or_else(|_| match digits.trim_matches('0') {
            "" => Ok(0),
            _ => Err(format!("-{name} {text}: the number is too large")),
        })?;
    if value >= 1 << 61 {
        return Err(format!("-{name} {text}: the number is too large"));
    }
    Ok(value)
}

/// The parameters in the forms that the models take.
pub(crate) struct Parsed {
    pub(crate) machine: Machine,
    /// Meaningless for the model that is no peer's.
    pub(crate) of_peer: peers::Parameters,
}

impl Parameters {
    /// Returns `S`, if it is a number.
    pub(crate) fn eager_bytes_max(&self) -> Option<u64> {
        decimal('S', &self.eager, 0).ok()
    }

    /// Returns all parameters with their units.
    pub(crate) fn summary(&self) -> String {
        let Self { latency, overhead, gap, gap_per_byte, overhead_per_byte, eager } = self;
        format!(
            "L {latency} ns, o {overhead} ns, g {gap} ns, G {gap_per_byte} ns/B, \
             O {overhead_per_byte} ns/B, S {eager} B"
        )
    }

    /// Parses the parameters for a model.
    ///
    /// # Errors
    /// A sentence that names the parameter.
    pub(crate) fn parse(&self, model: Model) -> Result<Parsed, String> {
        let machine = Machine {
            latency_ps: decimal('L', &self.latency, 3)?,
            overhead_ps: decimal('o', &self.overhead, 3)?,
            gap_ps: decimal('g', &self.gap, 3)?,
            gap_per_byte: PerByte::from_nano_ns(decimal('G', &self.gap_per_byte, 9)?),
            overhead_per_byte: PerByte::from_nano_ns(decimal('O', &self.overhead_per_byte, 9)?),
            eager_bytes_max: decimal('S', &self.eager, 0)?,
        };
        // The peers take whole nanoseconds, but for ATLAHS's G.
        let whole = |name, text: &str| match model {
            Model::Goal => Ok(0),
            _ => decimal(name, text, 0).map_err(|error| format!("{error} in this model")),
        };
        let of_peer = peers::Parameters {
            latency: whole('L', &self.latency)?,
            overhead: whole('o', &self.overhead)?,
            gap: whole('g', &self.gap)?,
            gap_per_byte: match model {
                Model::Atlahs => 0,
                _ => whole('G', &self.gap_per_byte)?,
            },
            gap_per_byte_ns: self.gap_per_byte.parse().unwrap_or_default(),
            overhead_per_byte: whole('O', &self.overhead_per_byte)?,
            eager_bytes_max: machine.eager_bytes_max,
        };
        Ok(Parsed { machine, of_peer })
    }
}
