//! Helpers for tests: they build programs, schedules and memory, and run them on ranks.
#![allow(missing_docs)]

mod ranks;
mod with_self;

pub use ranks::{Rank, first_room, options, start};
pub use with_self::WithSelf;

use crate::memory::Zeroed;
use goal_asm::{EncodeOptions, Nisa, encode};
use goal_lang::limits::Limits;
use goal_lang::{Bytes, ParseOptions, Program, SourceMap, parse};
use std::sync::Arc;

/// Room for the state of an engine.
pub fn state() -> Zeroed {
    Zeroed::new(1 << 30)
}

pub fn program(text: &str) -> Program {
    let mut sources = SourceMap::default();
    sources.add("test.goal", Arc::new(text.as_bytes().to_vec()));
    parse(&sources, &ParseOptions::default()).program.expect("a valid program")
}

pub fn nisa(program: &Program) -> Arc<Nisa> {
    let mut bytes = Vec::new();
    encode(program, &EncodeOptions::default(), None, &mut bytes).expect("the program fits");
    let bytes: Bytes = Arc::new(bytes);
    Arc::new(Nisa::load(bytes, &Limits::default()).expect("what was encoded verifies"))
}

/// The function that the programs call as `user 1`.
pub fn add_bytes(a: &mut [u8], b: &mut [u8]) {
    a.iter().zip(b).for_each(|(a, b)| *b = b.wrapping_add(*a));
}
