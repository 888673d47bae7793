//! From bytes to tokens, in layers.
//!
//! [`RawLexer`] finds words, numbers and comments. [`Lexer`] decides which word is a label and
//! which number is a size of bytes. The grammar can't tell this from one token of lookahead. For
//! the parser, [`Lexer`] also joins statements of the plainest form ([`plain`]) into one token. The
//! lexer allocates only the buffers of these statements. Any bytes are legal input.

mod context;
mod plain;
mod raw;
mod token;

pub(crate) use context::{Batches, Lexer, Past, end_of_statement};
pub(crate) use raw::{Raw, RawLexer, long_number};
pub(crate) use token::{Plain, PlainDependency, PlainKind, Spanned, Token};
