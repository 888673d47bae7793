//! The binary forms of GOAL programs.
//!
//! [`nisa`] writes, verifies, reads and decodes NISA files, which ranks execute. [`loggopsim`]
//! reads and writes the schedules of the simulator LogGOPSim. A binary file may come from
//! anywhere: it is verified as a whole before any of it is used, or action by action if it is
//! streamed.
//!
//! This crate reads no text, runs no passes, opens no files and has no command line. Readers of
//! NISA need nothing else but `goal-lang`. Start at [`Nisa::load`] for a file, at [`encode`] for a
//! program.
//!
//! ```
//! use goal_asm::nisa::Operation;
//! use goal_asm::{EncodeOptions, Nisa, encode};
//! use goal_lang::limits::Limits;
//! use goal_lang::{Action, BodyBuilder, Placement, ProgramBuilder};
//! use std::sync::Arc;
//!
//! let mut rank = BodyBuilder::default();
//! rank.action(Action::Calc { nanos: 100, placement: Placement::default() });
//! let mut program = ProgramBuilder::default();
//! program.rank_with(rank.finish());
//!
//! let mut bytes = Vec::new();
//! encode(&program.finish(), &EncodeOptions::default(), None, &mut bytes)?;
//! let nisa = Nisa::load(Arc::new(bytes), &Limits::default())?;
//! let (_, action) = nisa.section(0).records().next().expect("one action");
//! assert!(matches!(action.operation(), Operation::Calc { nanos: 100 }));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod loggopsim;
pub mod nisa;

pub use nisa::{EncodeError, EncodeOptions, Nisa, VerifyError, encode, encode_ranks};
