//! The arguments that all commands share.

use super::{CheckOptions, Collectives, Options, treat};
use crate::expand::Algorithms;
use crate::limits::INPUT_BYTES_MAX;
use goal_lang::diag::{Code, Silence};
use goal_lang::limits::{EAGER_LIMIT, Limits, UNEXPECTED_LIMIT, bytes};
use std::path::PathBuf;

/// The inputs, and the limits that they must keep.
#[derive(Debug, Clone, clap::Args)]
pub struct InputArguments {
    /// Text in either spelling, NISA or a LogGOPSim binary, told apart by content, packed with gzip
    /// or zstd or not; - is standard input. Several texts make one program: blocks append, files of
    /// bare statements are ranks 0, 1, ...
    #[arg(value_name = "IN", required = true)]
    pub inputs: Vec<PathBuf>,
    /// Take tags of texts modulo 2^32, as LogGOPSim's txt2bin does, instead of refusing larger ones
    #[arg(long)]
    pub wrap_tags: bool,
    /// Expand collective statements into messages: by the built-in table, by an algorithm that
    /// `goalc gen --list` names, or by several as bcast=binomial,allreduce=ring
    #[arg(long, value_name = "ALGORITHM", num_args = 0..=1, require_equals = true, default_missing_value = "auto")]
    pub expand: Option<Algorithms>,
    /// List of the groups that collective statements name, one a line [default: the name of
    /// the first input with the extension .groups]
    #[arg(long, value_name = "FILE")]
    pub groups: Option<PathBuf>,
    /// Threads that work [default: one a processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
    /// Most ranks of a program
    #[arg(long, value_name = "N", default_value_t = Limits::default().ranks_max, help_heading = "Limits")]
    pub max_ranks: u32,
    /// Most bytes of one rank's memory; K, M, G and T stand for powers of 1024
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().memory_bytes_max, value_parser = bytes, help_heading = "Limits")]
    pub max_memory: u64,
    /// Most bytes of one rank's scratch memory
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().scratch_bytes_max, value_parser = bytes, help_heading = "Limits")]
    pub max_scratch: u64,
    /// Most bytes of an input that is packed, binary or comes through a pipe
    #[arg(long, value_name = "BYTES", default_value_t = INPUT_BYTES_MAX, value_parser = bytes, help_heading = "Limits")]
    pub max_input: u64,
}

/// The arguments of the whole-program checks.
#[derive(Debug, Clone, clap::Args)]
pub struct CheckArguments {
    /// Largest message that the runtime sends before its receive is there; 0: does it end where
    /// every message waits?
    #[arg(long, value_name = "BYTES", default_value_t = EAGER_LIMIT, value_parser = bytes)]
    pub eager_limit: u64,
    /// Most bytes of messages that a rank of the runtime keeps for receives to come
    #[arg(long, value_name = "BYTES", default_value_t = UNEXPECTED_LIMIT, value_parser = bytes)]
    pub unexpected_limit: u64,
    /// Findings that count as errors
    #[arg(long, value_enum)]
    pub deny: Option<Deny>,
    /// The findings that are left out.
    #[command(flatten)]
    pub findings: FindingArguments,
}

/// The findings that are left out, and the bound on the work of the checks.
#[derive(Debug, Clone, clap::Args)]
pub struct FindingArguments {
    /// Leave out findings of a kind: G0308 or timing-dependent-match; several with commas between
    /// them
    #[arg(long, value_name = "CODE|KIND", value_delimiter = ',', value_parser = allowed)]
    pub allow: Vec<Code>,
    /// Bound on the work of a check, as a multiple of the default, after which it gives up with
    /// check-incomplete
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub effort: u64,
}

impl FindingArguments {
    /// Returns `options` changed as these arguments ask.
    pub fn apply(&self, options: Options) -> Options {
        let checks = CheckOptions { effort: self.effort, ..options.checks };
        Options { checks, allow: self.allow.clone(), ..options }
    }
}

/// Parses a kind of findings that may be left out.
fn allowed(name: &str) -> Result<Code, AllowError> {
    match Code::named(name) {
        Some(code) if Silence::may_cover(code) => Ok(code),
        Some(code) => Err(AllowError::OfTheLanguage { code }),
        None => Err(AllowError::Unknown),
    }
}

/// The reason why a kind of findings can't be left out.
#[derive(Debug, thiserror::Error)]
enum AllowError {
    #[error("{code} {} is an error of the language, which stops all work", code.kind())]
    OfTheLanguage { code: Code },
    #[error("there is no such code or kind; `goalc explain` lists all")]
    Unknown,
}

/// Findings that may be made errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Deny {
    /// Every warning
    Warnings,
}

impl CheckArguments {
    /// Returns `options` changed as these arguments ask.
    pub fn apply(&self, options: Options) -> Options {
        self.findings.apply(Options {
            checks: CheckOptions {
                eager_limit: self.eager_limit,
                unexpected_limit: self.unexpected_limit,
                ..CheckOptions::default()
            },
            deny_warnings: self.deny.is_some(),
            ..options
        })
    }
}

impl InputArguments {
    /// Returns the files that are read: the inputs, and the lists of groups that are named or lie
    /// beside inputs.
    pub fn files(&self) -> Vec<PathBuf> {
        let beside = self.inputs.iter().filter_map(|input| treat::beside(input));
        self.inputs.iter().cloned().chain(beside).chain(self.groups.clone()).collect()
    }

    /// Returns the default options changed as these arguments ask.
    pub fn options(&self) -> Options {
        let default = Options::default();
        Options {
            limits: Limits {
                ranks_max: self.max_ranks,
                memory_bytes_max: self.max_memory,
                scratch_bytes_max: self.max_scratch,
            },
            input_bytes_max: self.max_input,
            wrap_tags: self.wrap_tags,
            collectives: match &self.expand {
                Some(algorithms) => Collectives::Expand(algorithms.clone()),
                None => Collectives::Refuse,
            },
            groups: self.groups.clone(),
            threads: self.threads.map_or(default.threads, usize::from),
            on_stage: super::show_stage,
            ..default
        }
    }
}
