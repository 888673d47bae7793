//! The binary forms of GOAL programs: NISA encoding, verification, views and decoding, and
//! LogGOPSim's schedules.
//!
//! This crate knows nothing of command lines, passes or transports. Start at [`nisa`].

pub mod loggopsim;
pub mod nisa;

pub use nisa::{EncodeError, EncodeOptions, Nisa, VerifyError, encode};
