//! Programs that benchmarks build, made ready to be executed.

use goal_asm::{EncodeOptions, Nisa, encode};
use goal_lang::limits::Limits;
use goal_lang::{Bytes, Program};
use std::io;
use std::sync::Arc;

/// A program as it is executed.
pub(crate) fn assemble(program: &Program) -> io::Result<Nisa> {
    let mut bytes = Vec::new();
    encode(program, &EncodeOptions::default(), None, &mut bytes).map_err(io::Error::other)?;
    let bytes: Bytes = Arc::new(bytes);
    Nisa::load(bytes, &Limits::default()).map_err(io::Error::other)
}
