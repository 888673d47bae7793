//! The arguments that choose passes.

use super::{Emit, Error};
use crate::limits::MACHINE_BYTES_MAX;
use goal_opt::{Level, Machine, Pipeline};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The arguments that choose passes, and the machine that they optimise for.
#[derive(Debug, Clone, clap::Args)]
pub struct PassArguments {
    /// 0: only what the format needs; 1: also what leaves the allowed orders as they are; 2: also
    /// what restricts them and splits messages, for the machine [default: 1 for NISA, 0 for every
    /// other form]
    #[arg(short = 'O', value_name = "LEVEL", value_parser = clap::value_parser!(u8).range(0..=2))]
    pub level: Option<u8>,
    /// These passes instead of a level's, in this order: a,b(c=4); what the format needs is added
    #[arg(long, value_name = "LIST", conflicts_with = "level")]
    pub passes: Option<String>,
    /// The machine that the schedule is meant for.
    #[command(flatten)]
    pub machine: MachineArguments,
}

/// The argument that describes a machine.
#[derive(Debug, Clone, clap::Args)]
pub struct MachineArguments {
    /// The machine that the schedule is meant for: a file with the parameters of LogGOPS, or
    /// L=,o=,g=,G=,O=,S= in nanoseconds and bytes; what is not given is as on one host
    #[arg(long, value_name = "FILE|L=,o=,...")]
    pub machine: Option<String>,
}

impl MachineArguments {
    /// Returns the machine.
    ///
    /// # Errors
    /// Returns an error if the argument names no machine, or if a file can't be read.
    pub fn machine(&self) -> Result<Machine, Error> {
        match &self.machine {
            None => Ok(Machine::default()),
            Some(text) if text.contains('=') && !Path::new(text).exists() => {
                Machine::parse(text).map_err(|error| usage("--machine", &error))
            }
            Some(file) => {
                let text = read_machine(file)
                    .map_err(|error| Error::io(format!("--machine {file}"), error))?;
                Machine::parse(&text).map_err(|error| usage(&format!("--machine {file}"), &error))
            }
        }
    }
}

fn usage(option: &str, error: &dyn std::fmt::Display) -> Error {
    Error::Usage(format!("{option}: {error}"))
}

impl PassArguments {
    /// Returns the pipeline that these arguments ask for, for a runtime that sends messages of up
    /// to `eager_limit` bytes before their receives are posted.
    ///
    /// Only NISA is executed. The other forms are for other tools, so without a level and a list no
    /// pass runs for them, and the program keeps its order and dependencies.
    ///
    /// # Errors
    /// Returns an error if an argument names no pass or machine, or if a file can't be read.
    pub fn pipeline(&self, emit: Emit, eager_limit: u64) -> Result<Pipeline, Error> {
        let level = match (self.level, emit) {
            (Some(0), Emit::Nisa) => Some(Level::O0),
            (None, Emit::Nisa) => Some(Level::default()),
            // Other forms don't need the passes that NISA needs.
            (Some(0) | None, _) => None,
            (Some(1), _) => Some(Level::O1),
            (Some(_), _) => Some(Level::O2),
        };
        let pipeline = match (&self.passes, level) {
            (Some(list), _) => Pipeline::parse(list).map_err(|error| usage("--passes", &error))?,
            (None, Some(level)) => Pipeline::new(level),
            (None, None) => Pipeline::empty(),
        };
        let machine = self.machine.machine()?;
        Ok(Pipeline { machine, eager_limit, ..pipeline })
    }
}

fn read_machine(file: &str) -> io::Result<String> {
    let mut text = String::new();
    let read = File::open(file)?.take(MACHINE_BYTES_MAX + 1).read_to_string(&mut text)?;
    match read as u64 > MACHINE_BYTES_MAX {
        true => {
            Err(io::Error::new(io::ErrorKind::InvalidData, "this is too large to be a machine"))
        }
        false => Ok(text),
    }
}
