//! The command lines of the peers.
//!
//! Numbers are those of `strtol` and `strtod`. One that does not fit is refused, where the peer
//! would take another. An option with an effect on times that goal-sim does not have is refused.

use crate::parameters::Parsed;
use clap::{Args, Parser};
use goal_loggops::machine::{Machine, PerByte};
use goal_loggops::peers;
use goalc::driver::InputArguments;
use std::path::PathBuf;

/// The command line of LogGOPSim.
#[derive(Parser)]
#[command(
    name = "goal-sim",
    bin_name = "goal-sim --compat loggopsim",
    version,
    about = "Takes the command line of spcl/LogGOPSim and prints what it prints",
    disable_version_flag = true,
    infer_long_args = true
)]
pub(super) struct Loggopsim {
    #[command(flatten)]
    common: Common,
    /// Time of a byte on the wire, in nanoseconds
    #[arg(short = 'G', long = "LogGOPS_G", value_name = "INT", default_value = "6", value_parser = integer, allow_negative_numbers = true)]
    gap_per_byte: i32,
}

/// The command line of ATLAHS's simulator.
#[derive(Parser)]
#[command(
    name = "goal-sim",
    bin_name = "goal-sim --compat atlahs",
    version,
    about = "Takes the command line of the simulator in spcl/atlahs and prints what it prints",
    disable_version_flag = true,
    infer_long_args = true
)]
pub(super) struct Atlahs {
    #[command(flatten)]
    common: Common,
    /// Time of a byte on the wire, in nanoseconds
    #[arg(short = 'G', long = "LogGOPS_G", value_name = "DOUBLE", default_value = "6", value_parser = double, allow_negative_numbers = true)]
    gap_per_byte: f64,
    /// File for the messages and their receives
    #[arg(long, value_name = "FILE")]
    comm_dep_file: Option<PathBuf>,
}

/// The options that both peers have.
#[derive(Args)]
struct Common {
    /// Program: any form that goal-sim reads
    #[arg(short = 'f', long = "filename", value_name = "FILE")]
    input: PathBuf,
    /// Accepted: the input is never changed
    #[arg(long)]
    save_mem: bool,
    /// Latency of the network, in nanoseconds
    #[arg(short = 'L', long = "LogGOPS_L", value_name = "INT", default_value = "2500", value_parser = integer, allow_negative_numbers = true)]
    latency: i32,
    /// Processor time of a message at each end, in nanoseconds
    #[arg(short = 'o', long = "LogGOPS_o", value_name = "INT", default_value = "1500", value_parser = integer, allow_negative_numbers = true)]
    overhead: i32,
    /// Gap between two messages of an interface, in nanoseconds
    #[arg(short = 'g', long = "LogGOPS_g", value_name = "INT", default_value = "1000", value_parser = integer, allow_negative_numbers = true)]
    gap: i32,
    /// Largest message that a send hands over before its receive is posted, in bytes
    #[arg(short = 'S', long = "LogGOPS_S", value_name = "INT", default_value = "65535", value_parser = integer, allow_negative_numbers = true)]
    eager: i32,
    /// Processor time of a byte at each end, in nanoseconds
    #[arg(short = 'O', long = "LogGOPS_O", value_name = "INT", default_value = "0", value_parser = integer, allow_negative_numbers = true)]
    overhead_per_byte: i32,
    /// File for the timeline
    #[arg(short = 'V', long, value_name = "FILE")]
    vizfile: Option<PathBuf>,
    /// Accepted: the lines of the peer are not printed
    #[arg(short = 'v', long)]
    verbose: bool,
    /// Print progress
    #[arg(long)]
    progress: bool,
    /// Never print the end of each host
    #[arg(short = 'b', long)]
    batchmode: bool,
    /// Refused: the peer draws the start of the noise from the clock
    #[arg(long, value_name = "FILE")]
    noise_trace: Option<PathBuf>,
    /// Accepted: without --noise-trace it has no effect
    #[arg(long)]
    noise_cosched: bool,
    /// Network; `simple` has no effect in ATLAHS, and is refused for LogGOPSim
    #[arg(short = 'n', long, value_name = "TYPE", default_value = "LogGP", value_parser = ["LogGP", "simple"])]
    network_type: String,
    /// Accepted: only the network `simple` reads it
    #[arg(long, value_name = "FILE")]
    network_file: Option<PathBuf>,
    /// Prefix of the files for the lengths of queues
    #[arg(long, value_name = "PREFIX")]
    qstat: Option<String>,
    /// Print version
    #[arg(long, action = clap::ArgAction::Version)]
    version: Option<bool>,
}

/// The wishes of a command line.
pub(super) struct Settings {
    pub(super) input: InputArguments,
    pub(super) parameters: Parsed,
    /// `L`, `o`, `g`, `O` and `S` as the peer prints them.
    pub(super) printed: Printed,
    pub(super) timeline: Option<PathBuf>,
    pub(super) is_verbose: bool,
    pub(super) has_progress: bool,
    pub(super) is_batch: bool,
    pub(super) statistics: Option<String>,
    pub(super) matches: Option<PathBuf>,
}

/// The parameters as they are printed.
pub(super) struct Printed {
    pub(super) latency: i32,
    pub(super) overhead: i32,
    pub(super) gap: i32,
    pub(super) gap_per_byte: f64,
    pub(super) overhead_per_byte: i32,
    pub(super) eager: u32,
}

impl Loggopsim {
    /// Returns what is asked for.
    ///
    /// # Errors
    /// A sentence about an option that is refused.
    pub(super) fn settings(self) -> Result<Settings, String> {
        if self.common.network_type == "simple" {
            return Err("--network-type simple: goal-sim has no model of topologies: \
                 leave the option out, or simulate the congestion with LogGOPSim itself"
                .to_owned());
        }
        self.common.settings(f64::from(self.gap_per_byte), None)
    }
}

impl Atlahs {
    /// Returns what is asked for.
    ///
    /// # Errors
    /// A sentence about an option that is refused.
    pub(super) fn settings(self) -> Result<Settings, String> {
        self.common.settings(self.gap_per_byte, self.comm_dep_file)
    }
}

impl Common {
    fn settings(self, gap_per_byte: f64, matches: Option<PathBuf>) -> Result<Settings, String> {
        if self.noise_trace.is_some() {
            return Err("--noise-trace: the peer draws the start of the noise from the clock, \
                 so its times differ from run to run: leave the option out"
                .to_owned());
        }
        let printed = Printed {
            latency: self.latency,
            overhead: self.overhead,
            gap: self.gap,
            gap_per_byte,
            overhead_per_byte: self.overhead_per_byte,
            eager: self.eager as u32,
        };
        Ok(Settings {
            input: read_only(self.input),
            parameters: printed.parse(),
            printed,
            timeline: self.vizfile,
            is_verbose: self.verbose,
            has_progress: self.progress,
            is_batch: self.batchmode,
            statistics: self.qstat,
            matches,
        })
    }
}

impl Printed {
    /// Returns the parameters as the models take them. The peers add a negative one to unsigned
    /// times, which wrap. The model `goal` has 0 in its place.
    fn parse(&self) -> Parsed {
        let wrapped = |value: i32| i64::from(value) as u64;
        let picos = |value: i32| value.max(0) as u64 * 1000;
        let per_byte = |nanos: f64| PerByte::from_nano_ns((nanos * 1e9) as u64);
        let eager_bytes_max = u64::from(self.eager);
        Parsed {
            machine: Machine {
                latency_ps: picos(self.latency),
                overhead_ps: picos(self.overhead),
                gap_ps: picos(self.gap),
                gap_per_byte: per_byte(self.gap_per_byte),
                overhead_per_byte: per_byte(f64::from(self.overhead_per_byte)),
                eager_bytes_max,
            },
            of_peer: peers::Parameters {
                latency: wrapped(self.latency),
                overhead: wrapped(self.overhead),
                gap: wrapped(self.gap),
                gap_per_byte: self.gap_per_byte as i64 as u64,
                gap_per_byte_ns: self.gap_per_byte,
                overhead_per_byte: wrapped(self.overhead_per_byte),
                eager_bytes_max,
            },
        }
    }
}

/// Returns one input with the default limits.
fn read_only(input: PathBuf) -> InputArguments {
    #[derive(Parser)]
    struct Inputs {
        #[command(flatten)]
        input: InputArguments,
    }
    let mut inputs = Inputs::parse_from(["goal-sim", "-"]).input;
    inputs.inputs = vec![input];
    inputs
}

/// Parses an integer as `strtol` does: with a sign, as `0x` and digits, or as 0 and octal digits.
fn integer(text: &str) -> Result<i32, String> {
    let text = text.trim_start();
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let is_hexadecimal = digits.starts_with("0x") || digits.starts_with("0X");
    let (radix, digits) = match digits {
        digits if is_hexadecimal => (16, &digits[2..]),
        digits if digits.len() > 1 && digits.starts_with('0') => (8, &digits[1..]),
        digits => (10, digits),
    };
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return Err("give a whole number, as 2500, 0x9c4 or 04704".to_owned());
    }
    let value = i64::from_str_radix(digits, radix).ok().map(|value| sign * value);
    let value = value.and_then(|value| i32::try_from(value).ok());
    value.ok_or_else(|| "the number has more than 32 bits".to_owned())
}

fn double(text: &str) -> Result<f64, String> {
    let value = text.trim_start().parse().ok().filter(|value: &f64| value.is_finite());
    value.ok_or_else(|| "give a number, as 0.04 or 4e-2".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn integers_are_those_of_strtol() {
        assert_eq!(integer("2500"), Ok(2500));
        assert_eq!(integer(" +7"), Ok(7));
        assert_eq!(integer("-0x10"), Ok(-16));
        assert_eq!(integer("010"), Ok(8));
        assert_eq!(integer("0"), Ok(0));
        assert_eq!(integer("-2147483648"), Ok(i32::MIN));
        for wrong in ["", "-", "--1", "0x", "08", "1.5", "1k", "2147483648", "99999999999999999999"]
        {
            assert!(integer(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_command_lines_have_no_conflicts() {
        Loggopsim::command().debug_assert();
        Atlahs::command().debug_assert();
    }
}
