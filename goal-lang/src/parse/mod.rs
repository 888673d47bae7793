//! From tokens to rank blocks. The grammar's actions call a [`Builder`]; [`crate::resolve`] makes a
//! program of the blocks.

mod advice;
mod block;
mod buffers;
mod builder;
mod chunk;
mod collective;
mod cut;
mod depend;
mod exec;
mod expected;
mod functions;
mod labels;
mod letters;
mod numbers;
mod operand;
mod options;
mod statement;
mod syntax;
mod values;

#[cfg(test)]
mod cut_tests;
#[cfg(test)]
mod tests;

use crate::diag::Report;
use crate::program::Program;
use crate::resolve;
use crate::source::SourceMap;
use crate::symmetric::SymmetricProgram;

pub(crate) use block::{Block, Chunk, Declared, Dependencies, DependencyKind, Member, Pending};
pub(crate) use builder::{Builder, quote};
pub(crate) use operand::Peer;
pub use options::ParseOptions;

/// The result of [`parse`].
#[derive(Debug, Default)]
pub struct Parsed {
    /// The program, if there was no error.
    pub program: Option<Program>,
    /// The findings.
    pub report: Report,
}

/// Returns the findings about a text if the grammar refuses one of its statements, otherwise
/// `None`.
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

/// Reads a program from one of three inputs: a file of rank blocks, several such files whose blocks
/// append to each other, or files of bare statements, which are the programs of ranks 0, 1, ... in
/// order.
///
/// Any bytes are legal input; faults are in the report. Memory grows with the text, except for
/// sizes that the text states and [`Limits`](crate::limits::Limits) allows.
pub fn parse(sources: &SourceMap, options: &ParseOptions) -> Parsed {
    let (chunks, report) = read(sources, options);
    assemble(sources, chunks, options, report)
}

/// Reads a program like [`parse`]. But if it consists of `rank *` blocks with relative peers only,
/// all of them shifts or all of them xors, then no rank but rank 0 is made. A program with findings
/// or with values of memory is read like any other one.
///
/// # Errors
/// Returns the result of [`parse`] for every other text.
pub fn parse_symmetric(
    sources: &SourceMap,
    options: &ParseOptions,
) -> Result<SymmetricProgram, Box<Parsed>> {
    let (chunks, report) = read(sources, options);
    if report.diagnostics.is_empty()
        && let Some(program) = resolve::symmetric(sources, &chunks)
    {
        return Ok(program);
    }
    Err(Box::new(assemble(sources, chunks, options, report)))
}

fn read(sources: &SourceMap, options: &ParseOptions) -> (Vec<Chunk>, Report) {
    let mut report = Report::default();
    let mut chunks = Vec::new();
    for source in sources.sources() {
        for (chunk, found) in chunk::parse_source(&source.bytes, source.base, options) {
            chunks.push(chunk);
            report.append(found);
        }
    }
    (chunks, report)
}

fn assemble(
    sources: &SourceMap,
    chunks: Vec<Chunk>,
    options: &ParseOptions,
    mut report: Report,
) -> Parsed {
    let program = resolve::assemble(sources, chunks, options, &mut report);
    report.sort();
    Parsed { program: program.filter(|_| !report.has_errors()), report }
}
