//! Tests what users read of the language: reports, advice, formatted text.

mod advice;
mod diagnostics;
mod format;
mod grammar;
