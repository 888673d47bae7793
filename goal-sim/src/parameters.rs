//! The parameters of LogGOPS on the command line.

use crate::Model;
use goal_loggops::machine::{Machine, PerByte};
use goal_loggops::peers;
use goalc::driver::{Error, MachineArguments};
use serde::Serialize;
use serde_json::Number;

/// The machine: a file, and parameters of LogGOPS, which are decimals without a sign.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Machine")]
pub(crate) struct Parameters {
    #[command(flatten)]
    machine: MachineArguments,
    /// Latency of the network, in nanoseconds [default: 2500]
    #[arg(short = 'L', value_name = "NS")]
    latency: Option<String>,
    /// Processor time of a message at each end, in nanoseconds [default: 1500]
    #[arg(short = 'o', value_name = "NS")]
    overhead: Option<String>,
    /// Gap between two messages of an interface, in nanoseconds [default: 1000]
    #[arg(short = 'g', value_name = "NS")]
    gap: Option<String>,
    /// Time of a byte on the wire, in nanoseconds [default: 6]
    #[arg(short = 'G', value_name = "NS")]
    gap_per_byte: Option<String>,
    /// Processor time of a byte at each end, in nanoseconds [default: 0]
    #[arg(short = 'O', value_name = "NS")]
    overhead_per_byte: Option<String>,
    /// Largest message that a send hands over before its receive is posted, in bytes [default:
    /// 65535]
    #[arg(short = 'S', value_name = "BYTES")]
    eager: Option<String>,
}

/// The machine of LogGOPSim's defaults.
const DEFAULT: Machine = Machine {
    latency_ps: 2_500_000,
    overhead_ps: 1_500_000,
    gap_ps: 1_000_000,
    gap_per_byte: PerByte::from_nano_ns(6_000_000_000),
    overhead_per_byte: PerByte::from_nano_ns(0),
    eager_bytes_max: 65535,
};

/// The parameters as programs read them: times in nanoseconds, `S` in bytes.
#[derive(Debug, Serialize)]
pub(crate) struct Shown {
    #[serde(rename = "L")]
    latency: Number,
    #[serde(rename = "o")]
    overhead: Number,
    #[serde(rename = "g")]
    gap: Number,
    #[serde(rename = "G")]
    gap_per_byte: Number,
    #[serde(rename = "O")]
    overhead_per_byte: Number,
    #[serde(rename = "S")]
    eager: u64,
}

impl From<&Machine> for Shown {
    fn from(machine: &Machine) -> Self {
        Self {
            latency: number(machine.latency_ps, 3),
            overhead: number(machine.overhead_ps, 3),
            gap: number(machine.gap_ps, 3),
            gap_per_byte: number(machine.gap_per_byte.nano_ns(), 9),
            overhead_per_byte: number(machine.overhead_per_byte.nano_ns(), 9),
            eager: machine.eager_bytes_max,
        }
    }
}

impl Shown {
    /// Returns all parameters with their units.
    pub(crate) fn summary(&self) -> String {
        let Self { latency, overhead, gap, gap_per_byte, overhead_per_byte, eager } = self;
        format!(
            "L {latency} ns, o {overhead} ns, g {gap} ns, G {gap_per_byte} ns/B, \
             O {overhead_per_byte} ns/B, S {eager} B"
        )
    }
}

/// Returns a value in units of 10^-`places` as a number: a whole one where it is whole.
pub(crate) fn number(value: u64, places: u32) -> Number {
    let one = 10_u64.pow(places);
    match value.is_multiple_of(one) {
        true => (value / one).into(),
        false => Number::from_f64(value as f64 / one as f64).unwrap_or_else(|| 0.into()),
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
    /// Returns what names the machine: mostly a file.
    pub(crate) fn machine_file(&self) -> Option<&String> {
        self.machine.machine.as_ref()
    }

    /// Returns the machine of the file or of the defaults, with the parameters that are given.
    fn machine(&self) -> Result<Machine, Error> {
        let mut machine = match self.machine.machine {
            Some(_) => self.machine.machine()?.exact(),
            None => DEFAULT,
        };
        let given = |name, text: &Option<String>, places| {
            text.as_ref().map(|text| decimal(name, text, places)).transpose().map_err(Error::Usage)
        };
        let per_byte = PerByte::from_nano_ns;
        machine.latency_ps = given('L', &self.latency, 3)?.unwrap_or(machine.latency_ps);
        machine.overhead_ps = given('o', &self.overhead, 3)?.unwrap_or(machine.overhead_ps);
        machine.gap_ps = given('g', &self.gap, 3)?.unwrap_or(machine.gap_ps);
        machine.gap_per_byte =
            given('G', &self.gap_per_byte, 9)?.map_or(machine.gap_per_byte, per_byte);
        machine.overhead_per_byte =
            given('O', &self.overhead_per_byte, 9)?.map_or(machine.overhead_per_byte, per_byte);
        machine.eager_bytes_max = given('S', &self.eager, 0)?.unwrap_or(machine.eager_bytes_max);
        Ok(machine)
    }

    /// Parses the parameters for a model.
    ///
    /// # Errors
    /// An error that names the parameter or the file.
    pub(crate) fn parse(&self, model: Model) -> Result<Parsed, Error> {
        let machine = self.machine()?;
        // The peers take whole nanoseconds, but for ATLAHS's G.
        let whole = |name: char, value: u64, places: u32| match model {
            Model::Goal => Ok(0),
            _ if value.is_multiple_of(10_u64.pow(places)) => Ok(value / 10_u64.pow(places)),
            _ => Err(Error::Usage(format!(
                "-{name} {}: give a whole number in this model",
                number(value, places)
            ))),
        };
        let gap_per_byte = machine.gap_per_byte.nano_ns();
        let of_peer = peers::Parameters {
            latency: whole('L', machine.latency_ps, 3)?,
            overhead: whole('o', machine.overhead_ps, 3)?,
            gap: whole('g', machine.gap_ps, 3)?,
            gap_per_byte: match model {
                Model::Atlahs => 0,
                _ => whole('G', gap_per_byte, 9)?,
            },
            gap_per_byte_ns: gap_per_byte as f64 / 1e9,
            overhead_per_byte: whole('O', machine.overhead_per_byte.nano_ns(), 9)?,
            eager_bytes_max: machine.eager_bytes_max,
        };
        Ok(Parsed { machine, of_peer })
    }
}
