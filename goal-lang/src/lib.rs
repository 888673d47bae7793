//! The GOAL language: lexer, parser, name resolution, the program model, diagnostics and printers.
//!
//! Text in either spelling (that of the 2009 paper and that of Schedgen) becomes a [`Program`]: a
//! dependency graph in flat arrays for each rank. Any bytes are legal input; faults are reported
//! with codes and places in the text.
//!
//! This crate does no input or output: it gets bytes and returns programs, reports and text. It
//! knows neither binary formats nor checks of all ranks nor command lines. Start at [`parse`] for
//! text, at [`BodyBuilder`] for programs without text.
//!
//! ```
//! use goal_lang::{ParseOptions, SourceMap, Style, parse, print};
//! use std::sync::Arc;
//!
//! let text = "rank 0 { a: calc 100 b: send 8b to 1 b requires a } rank 1 { recv 8b from 0 }";
//! let mut sources = SourceMap::default();
//! sources.add("pair.goal", Arc::new(text.as_bytes().to_vec()));
//! let program = parse(&sources, &ParseOptions::default()).program.expect("no errors");
//! assert_eq!((program.num_ranks(), program.body_of(0).len()), (2, 2));
//!
//! let mut printed = Vec::new();
//! print(&program, Style::Paper2009, &mut printed)?;
//! assert!(String::from_utf8(printed)?.contains("requ b -> a;"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod collective;
pub mod diag;
mod fmt;
mod function;
mod groups;
mod ids;
mod instances;
mod lexer;
pub mod limits;
mod lines;
mod parse;
pub mod pattern;
mod print;
mod program;
mod relative;
mod resolve;
mod source;
mod suggest;
mod symmetric;

pub use collective::{BlockList, CollectiveKind, Neighbors};
pub use fmt::{FormatOptions, fmt};
pub use function::{Datatype, ODD_NAN, Op, is_legal};
pub use groups::Groups;
pub use ids::{ANY, ActionId, BodyId, ImageId};
pub use instances::{
    CollectiveInstance, CollectiveSize, Instances, Member, StatedMessage, instances,
};
pub use lines::{LineCounters, Lines};
pub use parse::{ParseOptions, Parsed, parse, parse_symmetric};
pub use print::{Style, print, print_ranks, print_symmetric, statement};
pub use program::*;
pub use relative::Relation;
pub use resolve::unexpanded;
pub use source::{Bytes, Position, Source, SourceMap, Span};
pub use symmetric::SymmetricProgram;
