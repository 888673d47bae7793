//! The source map: all input files end to end in one space of positions.

use crate::lexer;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// A byte of the source map: the offset in its file plus that file's base.
pub type Position = u64;

/// A range of bytes in the source map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: Position,
    /// First byte past it.
    pub end: Position,
}

/// The bytes of a file: read, or mapped.
pub type Bytes = Arc<dyn Deref<Target = [u8]> + Send + Sync>;

/// One input text.
pub struct Source {
    /// The path as given, or `<stdin>`.
    pub name: String,
    /// The bytes of the text, which may be anything.
    pub bytes: Bytes,
    /// The position of the text's first byte.
    pub base: Position,
    /// The number of newlines before each block of [`BLOCK_BYTES`]. They are counted when a line is
    /// first asked for.
    newlines: OnceLock<Box<[u64]>>,
}

/// Bytes between two counts of newlines.
const BLOCK_BYTES: usize = 1 << 16;

impl Source {
    /// Returns the number of newlines before a byte.
    pub(crate) fn newlines_before(&self, offset: usize) -> u64 {
        let count = |bytes: &[u8]| memchr::memchr_iter(b'\n', bytes).count() as u64;
        let blocks = self.newlines.get_or_init(|| {
            let before = self.bytes.chunks(BLOCK_BYTES).scan(0, |sum, block| {
                let before = *sum;
                *sum += count(block);
                Some(before)
            });
            before.collect()
        });
        let block = (offset / BLOCK_BYTES).min(blocks.len().saturating_sub(1));
        let before = blocks.get(block).copied().unwrap_or(0);
        before + count(&self.bytes[(block * BLOCK_BYTES).min(offset)..offset])
    }
}

/// All input texts of one compilation.
#[derive(Default)]
pub struct SourceMap {
    sources: Vec<Source>,
}

/// Returns the number of code points of a text. Each part that is no UTF-8 counts as one.
pub(crate) fn code_points(text: &[u8]) -> u64 {
    let count = |chunk: std::str::Utf8Chunk<'_>| {
        chunk.valid().chars().count() as u64 + u64::from(!chunk.invalid().is_empty())
    };
    text.utf8_chunks().map(count).sum()
}

impl SourceMap {
    /// Adds a file and returns its base.
    pub fn add(&mut self, name: impl Into<String>, bytes: Bytes) -> Position {
        // A gap of one byte keeps the end of a file apart from the start of the next.
        let base = self.sources.last().map_or(0, |last| last.base + last.bytes.len() as u64 + 1);
        self.sources.push(Source { name: name.into(), bytes, base, newlines: OnceLock::new() });
        base
    }

    /// The files, in the order they were added.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// The file that a position lies in.
    pub fn source_of(&self, position: Position) -> Option<&Source> {
        let after = self.sources.partition_point(|source| source.base <= position);
        self.sources.get(after.checked_sub(1)?)
    }

    /// Returns the text of the source that a position lies in, the position's offset in that text,
    /// and the source's base. Returns an empty text and zeros if no source has the position.
    pub(crate) fn text_at(&self, position: Position) -> (&[u8], usize, Position) {
        match self.source_of(position) {
            Some(source) => (&source.bytes, (position - source.base) as usize, source.base),
            None => (&[], 0, 0),
        }
    }

    /// Returns the line and column of a position, both 1-based. Columns count code points; a part
    /// that is no UTF-8 counts as the one character that is shown for it.
    pub fn line_column(&self, position: Position) -> Option<(u64, u64)> {
        let source = self.source_of(position)?;
        let offset = ((position - source.base) as usize).min(source.bytes.len());
        let before = &source.bytes[..offset];
        let line = source.newlines_before(offset) + 1;
        let start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
        Some((line, code_points(&before[start..]) + 1))
    }

    /// The statement that begins at a position, without a semicolon that ends it.
    pub fn statement(&self, start: Position) -> Option<Span> {
        let source = self.source_of(start)?;
        let at =
            usize::try_from(start - source.base).ok().filter(|&at| at <= source.bytes.len())?;
        let (end, _) = lexer::end_of_statement(&source.bytes, at);
        Some(Span { start, end: source.base + end as u64 })
    }
}
