//! Runs the grammar over a text, in several parts if there are several threads.

use rayon::prelude::*;

use super::block::Chunk;
use super::builder::Builder;
use super::options::ParseOptions;
use super::syntax;
use crate::diag::Report;
use crate::lexer::{Lexer, Token};
use crate::source::Position;

/// The parser that lalrpop makes of the grammar. `tests/it/grammar.rs` checks that the two agree.
#[allow(clippy::all, clippy::pedantic, missing_docs, unreachable_pub, unused)]
mod goal {
    include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../grammar/goal.rs"));
}

/// Texts of fewer bytes are read by one thread.
const PARALLEL_BYTES_MIN: usize = 1 << 20;

/// The number of parts for each thread: more than one, because blocks take different times.
const PARTS_PER_THREAD: usize = 16;

/// Reads one file. Returns the blocks and findings of its parts in the order of the text.
///
/// A closing brace outside of comments always ends a block, so the text may be cut after one. Cuts
/// are made without looking for comments. A cut was right if the part before it turns out to end
/// with a block. If any cut was wrong, the whole text is read again as one part.
pub(super) fn parse_source(
    text: &[u8],
    base: Position,
    options: &ParseOptions,
) -> Vec<(Chunk, Report)> {
    let read = |(start, end)| {
        let lexer = Lexer::new(text, start, end).whole_statements();
        parse_chunk(text, (start, end), lexer, base, options)
    };
    if options.threads > 1 && text.len() >= PARALLEL_BYTES_MIN {
        let parts = cut(text, options.threads * PARTS_PER_THREAD);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(options.threads).build();
        if let Ok(pool) = pool
            && parts.len() > 1
        {
            // A part is a job of its own: several in one job would leave threads idle at the end.
            let parse = || parts.par_iter().with_max_len(1).map(|&part| read(part)).collect();
            let chunks: Vec<_> = pool.install(parse);
            let (last, others) = chunks.split_last().expect("more than one part");
            if others.iter().all(|(chunk, _)| chunk.ends_with_block && !chunk.gave_up)
                && !last.0.gave_up
            {
                return chunks;
            }
        }
    }
    vec![read((0, text.len()))]
}

/// Returns the bounds of about `parts` parts. Each part ends after a closing brace, but the last
/// one ends with the text.
fn cut(text: &[u8], parts: usize) -> Vec<(usize, usize)> {
    let mut bounds = Vec::with_capacity(parts);
    let mut start = 0;
    for part in 1..=parts {
        let wanted = (text.len() / parts * part).max(start);
        let end = match memchr::memchr(b'}', &text[wanted..]) {
            Some(brace) if part < parts => wanted + brace + 1,
            _ => text.len(),
        };
        if start < end {
            bounds.push((start, end));
        }
        start = end;
    }
    bounds
}

/// Reads `text[start..end]`, whose tokens `lexer` finds. Returns its blocks and findings.
pub(super) fn parse_chunk(
    text: &[u8],
    (start, end): (usize, usize),
    mut lexer: Lexer,
    base: Position,
    options: &ParseOptions,
) -> (Chunk, Report) {
    let mut builder = Builder::new(text, lexer.batches(), base, options);
    let mut mode = match skip_semicolons(&mut lexer) {
        Some(token) => {
            builder.first = token.0;
            lexer.push_back(token);
            // Only the first part may begin with a bare statement: the others follow a block.
            if start == 0 && token.1.begins_statement() {
                Token::StartBare
            } else {
                Token::StartBlocks
            }
        }
        None => Token::StartBlocks,
    };
    builder.chunk.bare = mode == Token::StartBare;
    let parser = goal::TextParser::new();
    loop {
        lexer.push_back((start, mode, start));
        match parser.parse(&mut builder, &mut lexer) {
            Ok(()) => break,
            Err(error) => {
                match syntax::recover(
                    &mut builder,
                    &mut lexer,
                    error,
                    end,
                    mode == Token::StartBare,
                ) {
                    Some(next) => mode = next,
                    None => break,
                }
            }
        }
    }
    if builder.chunk.bare {
        builder.end_block(end);
    }
    builder.finish(end, lexer.closed())
}

fn skip_semicolons(lexer: &mut Lexer) -> Option<(usize, Token, usize)> {
    lexer.find(|token| token.1 != Token::Semicolon)
}
