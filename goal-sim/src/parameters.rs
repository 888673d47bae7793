//! The parameters of LogGOPS on the command line.

use crate::Model;
use goal_loggops::machine::{Machine, Parameter};
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
    #[arg(short = 'L', value_name = "NS", allow_negative_numbers = true)]
    latency: Option<String>,
    /// Processor time of a message at each end, in nanoseconds [default: 1500]
    #[arg(short = 'o', value_name = "NS", allow_negative_numbers = true)]
    overhead: Option<String>,
    /// Gap between two messages of an interface, in nanoseconds [default: 1000]
    #[arg(short = 'g', value_name = "NS", allow_negative_numbers = true)]
    gap: Option<String>,
    /// Time of a byte on the wire, in nanoseconds [default: 6]
    #[arg(short = 'G', value_name = "NS", allow_negative_numbers = true)]
    gap_per_byte: Option<String>,
    /// Processor time of a byte at each end, in nanoseconds [default: 0]
    #[arg(short = 'O', value_name = "NS", allow_negative_numbers = true)]
    overhead_per_byte: Option<String>,
    /// Largest message that a send hands over before its receive is posted, in bytes [default:
    /// 65535]
    #[arg(short = 'S', value_name = "BYTES", allow_negative_numbers = true)]
    eager: Option<String>,
}

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
        let shown = |parameter: Parameter| number(parameter.value(machine), parameter.digits());
        Self {
            latency: shown(Parameter::Latency),
            overhead: shown(Parameter::Overhead),
            gap: shown(Parameter::Gap),
            gap_per_byte: shown(Parameter::GapPerByte),
            overhead_per_byte: shown(Parameter::OverheadPerByte),
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

/// The parameters in the forms that the models take.
pub(crate) struct Parsed {
    pub(crate) machine: Machine,
    /// The parameters of the peers' models. The model `goal` does not read them.
    pub(crate) of_peer: peers::Parameters,
}

impl Parameters {
    /// Returns what names the machine: mostly a file.
    pub(crate) fn machine_file(&self) -> Option<&String> {
        self.machine.machine.as_ref()
    }

    /// Returns the parameters of the command line.
    fn given(&self) -> [(Parameter, &Option<String>); 6] {
        [
            (Parameter::Latency, &self.latency),
            (Parameter::Overhead, &self.overhead),
            (Parameter::Gap, &self.gap),
            (Parameter::GapPerByte, &self.gap_per_byte),
            (Parameter::OverheadPerByte, &self.overhead_per_byte),
            (Parameter::EagerBytes, &self.eager),
        ]
    }

    /// Returns true if the command line has a parameter.
    pub(crate) fn has(&self, parameter: Parameter) -> bool {
        self.given().iter().any(|(given, text)| *given == parameter && text.is_some())
    }

    /// Returns the machine of the file or of the defaults, with the parameters that are given.
    ///
    /// # Errors
    /// An error that names the parameter or the file.
    pub(crate) fn machine(&self) -> Result<Machine, Error> {
        let mut machine = match self.machine.machine {
            Some(_) => self.machine.machine()?.exact(),
            None => Machine::default(),
        };
        for (parameter, text) in self.given() {
            if let Some(text) = text {
                let wrong = |why| Error::Usage(format!("-{} {text}: {why}", parameter.name()));
                machine = parameter.with(&machine, parameter.parse(text).map_err(wrong)?);
            }
        }
        Ok(machine)
    }

    /// Parses the parameters for a model.
    ///
    /// # Errors
    /// An error that names the parameter or the file.
    pub(crate) fn parse(&self, model: Model) -> Result<Parsed, Error> {
        Parsed::new(self.machine()?, model)
    }
}

impl Parsed {
    /// Returns a machine in the forms that the models take.
    ///
    /// # Errors
    /// If the model does not take a parameter.
    pub(crate) fn new(machine: Machine, model: Model) -> Result<Self, Error> {
        // The peers take whole nanoseconds, but for ATLAHS's G.
        let whole = |parameter: Parameter| {
            let (value, places) = (parameter.value(&machine), parameter.digits());
            match model {
                Model::Goal => Ok(0),
                _ if value.is_multiple_of(10_u64.pow(places)) => Ok(value / 10_u64.pow(places)),
                _ => Err(Error::Usage(format!(
                    "-{} {}: give a whole number in this model; `goal` takes fractions",
                    parameter.name(),
                    number(value, places)
                ))),
            }
        };
        let of_peer = peers::Parameters {
            latency: whole(Parameter::Latency)?,
            overhead: whole(Parameter::Overhead)?,
            gap: whole(Parameter::Gap)?,
            gap_per_byte: match model {
                Model::Atlahs => 0,
                _ => whole(Parameter::GapPerByte)?,
            },
            gap_per_byte_ns: machine.gap_per_byte.nano_ns() as f64 / 1e9,
            overhead_per_byte: whole(Parameter::OverheadPerByte)?,
            eager_bytes_max: machine.eager_bytes_max,
        };
        Ok(Self { machine, of_peer })
    }
}
