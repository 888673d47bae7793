//! From tokens to blocks. The grammar drives a [`Builder`]; [`crate::resolve`] puts the blocks
//! together.

mod block;
mod builder;
mod chunk;
mod cut;
mod exec;
mod labels;
mod numbers;
mod statement;
mod syntax;
mod values;

#[cfg(test)]
mod cut_tests;
#[cfg(test)]
mod tests;

use crate::diag::Report;
use crate::limits::Limits;
use crate::program::Program;
use crate::resolve;
use crate::source::SourceMap;

pub(crate) use block::{Block, Chunk, Declared, Dependencies, DependencyKind, Member, Pending};
pub(crate) use builder::{Builder, duplicate_label, quote};
pub(crate) use statement::Peer;

/// How to read a program.
#[derive(Debug, Clone, Copy)]
pub struct ParseOptions {
    /// What the program may ask for.
    pub limits: Limits,
    /// Threads that read a large text; the result does not depend on it.
    pub threads: usize,
    /// Whether labels and the places of dependencies are kept in the program.
    pub debug: bool,
    /// Whether warnings that take time are looked for.
    pub check: bool,
}

impl Default for ParseOptions {
    fn default() -> Self {
        Self { limits: Limits::default(), threads: 1, debug: true, check: true }
    }
}

/// What became of a text.
#[derive(Debug, Default)]
pub struct Parsed {
    /// The program, if there was no error.
    pub program: Option<Program>,
    /// What there is to tell.
    pub report: Report,
}

/// What is wrong with a text whose statements are not all ones of the grammar; `None` if they are.
pub(crate) fn syntax_report(text: &[u8], options: &ParseOptions) -> Option<Report> {
    let mut report = Report::default();
    let mut broken = false;
    for (chunk, found) in chunk::parse_source(text, 0, options) {
        broken |= chunk.syntax_errors > 0;
        report.append(found);
    }
    report.sort();
    broken.then_some(report)
}

/// Reads a program: one file of rank blocks, several of them that append to each other, or files of
/// bare statements, which are the programs of ranks 0, 1, ... in order.
///
/// Any bytes are legal input; what is wrong with them is in the report. Memory grows with the text
/// only, but for what [`Limits`] allows.
pub fn parse(sources: &SourceMap, options: &ParseOptions) -> Parsed {
    let mut report = Report::default();
    let mut chunks = Vec::new();
    for source in sources.sources() {
        for (chunk, found) in chunk::parse_source(&source.bytes, source.base, options) {
            chunks.push(chunk);
            report.append(found);
        }
    }
    let program = resolve::assemble(sources, chunks, options, &mut report);
    report.sort();
    Parsed { program: program.filter(|_| !report.has_errors()), report }
}
