//! The GOAL language: lexer, parser, name resolution, the program model, diagnostics and printers.
//!
//! Text of either spelling (the 2009 paper's and Schedgen's) becomes a [`Program`]: per rank a
//! dependency graph in flat arrays. This crate knows nothing of NISA, transports or files beyond
//! the bytes it is handed. Start at [`Program`].

pub mod diag;
mod fmt;
mod function;
mod ids;
mod lexer;
pub mod limits;
mod lines;
mod parse;
pub mod pattern;
mod print;
mod program;
mod resolve;
mod source;

pub use fmt::{FormatOptions, fmt};
pub use function::{Datatype, ODD_NAN, Op, is_legal};
pub use ids::{ANY, ActionId, BodyId, ImageId};
pub use lines::{LineCounters, Lines};
pub use parse::{ParseOptions, Parsed, parse};
pub use print::{Style, print, statement};
pub use program::*;
pub use source::{Bytes, Position, Source, SourceMap, Span};
