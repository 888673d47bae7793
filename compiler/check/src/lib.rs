//! Checks of a whole program: faults that only all ranks together show.
//!
//! [`check`] finds messages without a receive, deadlocks, matches and races that timing decides,
//! and datatypes that differ between the ends of a message. With [`Options::collective`] it proves
//! that the program computes an MPI collective. A program without a finding ends in every order of
//! events that the language permits. [`reduce`](mod@reduce) makes programs smaller that show a
//! fault.
//!
//! The checks never execute the program on data, do no input or output, and never change the
//! program. All work has bounds: a check that reaches one says so in a finding. The program must be
//! valid ([`goal_opt::verify`]).
//!
//! ```
//! use goal_lang::diag::Code;
//! use goal_lang::{ParseOptions, SourceMap};
//! use std::sync::Arc;
//!
//! let text = "rank 0 { send 8b to 1 tag 1; } rank 1 { recv 8b from 0 tag 2; }";
//! let mut sources = SourceMap::default();
//! sources.add("example.goal", Arc::new(text.as_bytes().to_vec()));
//! let program = goal_lang::parse(&sources, &ParseOptions::default()).program.expect("valid");
//!
//! let report = goal_check::check(&program, Some(&sources), &goal_check::Options::default());
//! let codes: Vec<Code> = report.diagnostics.iter().map(|found| found.code).collect();
//! assert_eq!(codes, [Code::UnmatchedSend, Code::UnmatchedRecv]);
//! ```

mod analysis;
mod check;
mod compact;
mod cycles;
mod datatypes;
mod deadlock;
mod disjoint;
mod endings;
mod groups;
mod limits;
mod matching;
mod options;
mod order;
mod pairing;
mod patterns;
mod places;
mod postcondition;
mod races;
mod ranges;
pub mod reduce;
mod termination;
#[cfg(test)]
mod tests;
mod timing;
mod waits;

pub use check::{check, check_into};
pub use compact::{CompactCheck, Doubt};
pub use options::{Blocks, Collective, OptionNames, Options};
