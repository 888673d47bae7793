//! The formatter: one statement a line, canonical spaces and indentation, every comment kept.
//!
//! It works on tokens, not on a [`Program`](crate::Program), so that order, labels, comments and
//! numbers stay as they were written. What the grammar refuses is not touched.

mod comments;
mod layout;
mod writer;

#[cfg(test)]
mod tests;

use crate::diag::Report;
use crate::parse::{ParseOptions, syntax_report};
use crate::print::Style;

/// How to format.
#[derive(Debug, Clone, Copy, Default)]
pub struct FormatOptions {
    /// The spelling to convert to where a statement has one in it; `None` leaves every statement in
    /// its own.
    pub style: Option<Style>,
}

/// Formats a text. The result means the same, and formatting it again changes nothing.
///
/// Every statement gets a line of its own, indented by two spaces inside of a block; one empty line
/// stays between statements where there were some; empty statements and the commas between buffers
/// go. Comments may hold any bytes, so the result is bytes too.
///
/// LogGOPSim's parser refuses blanks before a statement, so nothing is indented where
/// [`Style::Schedgen`] is asked for, nor in a text that has no other words than that parser's: what
/// it read before, it reads after. A text in Schedgen's spelling that is not indented stays so.
/// With [`Style::Schedgen`] numbers become decimal, and comments get lines of their own before
/// their statement, in a form that it knows.
///
/// # Errors
/// What is wrong with a text that the grammar refuses. Positions count from the text's first byte.
pub fn fmt(text: &[u8], options: FormatOptions) -> Result<Vec<u8>, Report> {
    match syntax_report(text, &ParseOptions { debug: false, ..ParseOptions::default() }) {
        Some(report) => Err(report),
        None => Ok(layout::format(text, options.style)),
    }
}
