//! From bytes to tokens, in layers.
//!
//! [`RawLexer`] finds words, numbers and comments. [`Lexer`] adds what one token of lookahead can't
//! tell the grammar: which word is a label, and which number is a size of bytes; for the parser it
//! takes whole statements of the plainest form ([`plain`]) together. None allocates, and any bytes
//! are legal input.

mod context;
mod plain;
mod raw;
mod statement;
mod token;

pub(crate) use context::{Lexer, Past, Spanned, long_number};
pub(crate) use plain::{Plain, PlainDependency, PlainKind};
pub(crate) use raw::{Raw, RawLexer};
pub(crate) use statement::end_of_statement;
pub(crate) use token::Token;
