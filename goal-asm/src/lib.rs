//! The GOAL assembler: NISA encoding, verification, views and disassembly, and the driver behind
//! `goalc`.
//!
//! This crate knows nothing of transports. Start at [`nisa`].

pub mod driver;
pub mod graph;
#[doc(hidden)]
pub mod harness;
pub mod loggopsim;
pub mod memory;
pub mod nisa;
pub mod stats;

pub use nisa::{EncodeError, EncodeOptions, Nisa, VerifyError, encode};
