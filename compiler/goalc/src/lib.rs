//! The GOAL compiler as a library: the work behind the command lines of `goalc` and `goal-run`.
//!
//! It reads inputs in any form, reports their faults, runs the checks and the passes, and writes
//! programs in any form. It alone names flags: the crates below it know options. It defines no
//! format (the language is in `goal_lang`, the binary forms are in `goal_asm`) and executes no
//! schedule. Start at [`driver::compile`] to get a schedule, at [`driver::load_program`] to get a
//! program.
//!
//! ```
//! use goalc::driver::{Options, compile};
//!
//! let path = std::env::temp_dir().join(format!("pair-{}.goal", std::process::id()));
//! std::fs::write(&path, "rank 0 { send 8b to 1 } rank 1 { recv 8b from 0 }")?;
//! let compiled = compile(std::slice::from_ref(&path), &Options::default())?;
//! assert_eq!(compiled.nisa.num_ranks(), 2);
//! assert!(compiled.findings.report.is_empty());
//! std::fs::remove_file(path)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod driver;
pub mod expand;
pub mod graph;
mod limits;
pub mod memory;
pub mod splice;
pub mod stats;
