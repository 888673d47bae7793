//! The formatter: one statement a line, canonical spaces and indentation, every comment kept.
//!
//! The formatter works on tokens, not on a [`Program`](crate::Program), so that order, labels,
//! comments and numbers stay as they were written. It changes no text that the grammar refuses.

mod comments;
mod layout;
mod writer;

#[cfg(test)]
mod tests;

use crate::diag::Report;
use crate::parse::{ParseOptions, syntax_report};
use crate::print::Style;

/// Options of the formatter.
#[derive(Debug, Clone, Copy, Default)]
pub struct FormatOptions {
    /// The spelling that statements are converted to, as far as it has such statements. `None`
    /// keeps every statement's spelling.
    pub style: Option<Style>,
}

/// Formats a text. The result means the same, and formatting it again changes nothing.
///
/// Every statement gets a line of its own, indented by two spaces inside a block. Of several empty
/// lines between statements one is kept. Empty statements and the commas between buffers are
/// dropped. Comments may hold any bytes, so the result is bytes too.
///
/// LogGOPSim's parser refuses blanks before a statement. So [`Style::Schedgen`] indents nothing. A
/// text with words of that parser only is not indented either. So that parser can still read it. A
/// text in Schedgen's spelling that is not indented stays so. With [`Style::Schedgen`], numbers
/// become decimal. Comments get lines of their own before their statement, in a form that the
/// parser accepts.
///
/// # Errors
/// The findings about a text that the grammar refuses. Positions count from the text's first byte.
pub fn fmt(text: &[u8], options: FormatOptions) -> Result<Vec<u8>, Report> {
    match syntax_report(text, &ParseOptions { debug: false, ..ParseOptions::default() }) {
        Some(report) => Err(report),
        None => Ok(layout::format(text, options.style)),
    }
}
