//! Harnesses for arbitrary bytes: readers must not panic or hang, and accepted input must survive a
//! round trip.
//!
//! There is one function for each reader. The tests of this crate and of the readers' crates run
//! them for a bounded number of inputs on stable; `cargo-fuzz/` runs the same functions for as
//! long as one likes. Start at [`text`].

mod binary;
mod machine;
mod trace;

pub use binary::{loggopsim, nisa, program};
pub use goal_esp::harness::frame;
pub use goal_fabric::harness::chunk;
pub use machine::machine;
pub use trace::trace;

use goal_lang::limits::Limits;
use goal_lang::{Bytes, FormatOptions, ParseOptions, Program, SourceMap, Style};
use std::sync::Arc;

/// Limits small enough that nothing large is ever allocated.
const LIMITS: Limits =
    Limits { ranks_max: 1 << 12, memory_bytes_max: 1 << 24, scratch_bytes_max: 1 << 24 };

/// Checks any bytes as text: a program that parses without an error is the same, in the same stated
/// order, after it was printed in either spelling, and after it was formatted. Returns true if it
/// was accepted.
///
/// # Panics
/// If it is not the same.
pub fn text(bytes: &[u8]) -> bool {
    let Some(program) = parse(bytes) else { return false };
    for style in [Style::Paper2009, Style::Schedgen] {
        let mut printed = Vec::new();
        goal_lang::print(&program, style, &mut printed).expect("a vector takes everything");
        assert_same(&program, &printed, "printed");
    }
    for style in [None, Some(Style::Paper2009), Some(Style::Schedgen)] {
        let formatted = format(bytes, style);
        assert_same(&program, &formatted, "formatted");
        assert!(format(&formatted, style) == formatted, "formatting again changes the text");
    }
    true
}

fn sources(bytes: &[u8]) -> SourceMap {
    let mut sources = SourceMap::default();
    let bytes: Bytes = Arc::new(bytes.to_vec());
    sources.add("input", bytes);
    sources
}

fn parse(bytes: &[u8]) -> Option<Program> {
    let options = ParseOptions { limits: LIMITS, ..ParseOptions::default() };
    goal_lang::parse(&sources(bytes), &options).program
}

fn assert_same(program: &Program, text: &[u8], how: &str) {
    let shown = String::from_utf8_lossy(text);
    let Some(again) = parse(text) else { panic!("what was {how} does not parse:\n{shown}") };
    let same = program.num_ranks() == again.num_ranks()
        && (0..program.num_ranks()).all(|rank| {
            let (body, other) = (program.body_of(rank), again.body_of(rank));
            body.same_graph(other)
                && body.debug.order == other.debug.order
                && program.image_of(rank) == again.image_of(rank)
        });
    assert!(same, "what was {how} is another program:\n{shown}");
}

fn format(bytes: &[u8], style: Option<Style>) -> Vec<u8> {
    goal_lang::fmt(bytes, FormatOptions { style }).expect("what parses can be formatted")
}
