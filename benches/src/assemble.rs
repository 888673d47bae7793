//! Programs that benchmarks build, made ready to be executed.

use goal_asm::{EncodeOptions, Nisa, encode};
use goal_engine::memory::Zeroed;
use goal_engine::{Options, state_bytes};
use goal_lang::limits::Limits;
use goal_lang::{Bytes, Program};
use std::io;
use std::sync::Arc;

/// Encodes and loads a program.
pub(crate) fn assemble(program: &Program) -> io::Result<Nisa> {
    let mut bytes = Vec::new();
    encode(program, &EncodeOptions::default(), None, &mut bytes).map_err(io::Error::other)?;
    let bytes: Bytes = Arc::new(bytes);
    Nisa::load(bytes, &Limits::default()).map_err(io::Error::other)
}

/// Returns memory for the state of an engine with the default options.
pub(crate) fn engine_state() -> Zeroed {
    let bytes = state_bytes(Options::UNEXPECTED_LIMIT) as usize;
    goal_shm::zeroed(bytes).expect("address space for an engine")
}
