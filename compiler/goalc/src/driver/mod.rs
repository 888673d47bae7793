//! The work behind the command line: makes programs of inputs in any form, and files of programs.
//!
//! `goalc`, `goal-run` and the benchmarks use the same functions, so that a program means the same
//! to each. Start at [`compile`] to get a schedule to execute, at [`load_program`] to get a program
//! to analyse.

mod arguments;
mod build;
mod check;
mod collectives;
mod command;
mod console;
mod error;
mod fix;
mod flags;
mod foreign;
mod input;
mod interruption;
mod json;
mod load;
mod loaded;
mod mapping;
mod output;
mod packed;
mod passes;
mod ranks;
mod reduce;
mod sharing;
mod shell;
mod silence;
mod stage;
mod streams;
#[cfg(test)]
mod tests;
mod traces;
mod treat;
mod workers;
mod write_ranks;

pub use arguments::{CheckArguments, Deny, FindingArguments, InputArguments};
pub use build::{Compiled, Emit, compile, emit, optimize};
pub use check::{check, check_for_picture, check_ranks};
pub use collectives::Collectives;
pub use command::{asks_for_json, parse, parse_filter, parse_these};
pub use console::{
    Color, Format, exit_status, note, note_error, note_message, print, print_line, report,
    report_error,
};
pub use error::{Error, Findings, Status};
pub use fix::fix;
pub use flags::{FLAGS, name_flags, refused};
pub use foreign::{FIRST_LINE_MAX, is_goal_script, is_script, name_foreign};
pub use input::{Form, Input};
use json::write_json;
pub use load::{Opened, Text, load_program, load_text, open, ranks_of};
pub use loaded::Loaded;
pub use output::{Output, Target, are_one_file, survive_file_size};
pub use passes::{MachineArguments, PassArguments};
pub use ranks::Ranks;
pub use reduce::{ReduceOptions, reduce};
pub use shell::{Completions, Man};
pub use stage::{clear_stage, show_stage};
pub use streams::{is_stream, stdout};
pub use workers::{refuse_small_stack, with_stack};
pub use write_ranks::write_ranks;

use crate::limits::INPUT_BYTES_MAX;
pub use goal_check::Options as CheckOptions;
use goal_lang::diag::Code;
use goal_lang::limits::Limits;
pub use goal_lang::limits::bytes;
use goal_opt::Pipeline;
use std::path::PathBuf;

/// The options of reading inputs and of the work on them.
#[derive(Debug, Clone)]
pub struct Options {
    /// The limits that programs must keep.
    pub limits: Limits,
    /// Most bytes of an input that has to be held in memory because it comes through a pipe, is
    /// packed or is binary.
    pub input_bytes_max: u64,
    /// LogGOPSim binaries of at least this many bytes are read where they lie in the file.
    pub mapped_bytes_min: u64,
    /// The number of threads that work. The result does not depend on it.
    pub threads: usize,
    /// True to take tags modulo 2^32 ([`goal_lang::ParseOptions::wrap_tags`]).
    pub wrap_tags: bool,
    /// The treatment of collective statements.
    pub collectives: Collectives,
    /// The list of groups that collective statements name. `None` stands for the file beside the
    /// first input, with the extension `.groups`.
    pub groups: Option<PathBuf>,
    /// The number of ranks that a command line asks for, so that advice can name it; `None` if
    /// there is none.
    pub ranks: Option<u32>,
    /// The passes, and the machine that they optimise for.
    pub pipeline: Pipeline,
    /// True to verify the program after every pass, to look for suspicious statements, and to let
    /// [`compile`] check the whole program.
    pub check: bool,
    /// The options of the whole-program checks.
    pub checks: CheckOptions,
    /// Kinds of findings that are left out.
    pub allow: Vec<Code>,
    /// True if warnings end the work as errors do.
    pub deny_warnings: bool,
    /// True to drop names and places.
    pub strip: bool,
    /// Called with the name of every stage of the work as it begins.
    pub on_stage: fn(&'static str),
}

impl Default for Options {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            input_bytes_max: INPUT_BYTES_MAX,
            mapped_bytes_min: u64::MAX,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            wrap_tags: false,
            collectives: Collectives::default(),
            groups: None,
            ranks: None,
            pipeline: Pipeline::default(),
            check: true,
            checks: CheckOptions::default(),
            allow: Vec::new(),
            deny_warnings: false,
            strip: false,
            on_stage: |_| {},
        }
    }
}

impl Options {
    /// Returns the options for loading a program that is checked before it is stripped: the
    /// findings need places.
    pub fn with_places(&self) -> Self {
        Self { strip: self.strip && !self.check, ..self.clone() }
    }

    /// Runs `work`. Its parallel parts use [`Options::threads`] threads, which end with it and do
    /// no later work. So the process may fork afterwards.
    pub fn with_threads<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        workers::with_threads(self.threads, work)
    }
}
