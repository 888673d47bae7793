//! The source lines of actions, for reports and for forms that keep lines.

use crate::{ActionId, Debug, Position, Source, SourceMap};
use rayon::prelude::*;
use std::sync::Arc;

/// The source lines of a body's actions. They are stated, or counted in the text when they are
/// asked for.
pub struct Lines<'a>(Origin<'a>);

enum Origin<'a> {
    /// The body has neither lines nor positions.
    Nothing,
    /// The body states its lines: it was read from a NISA file.
    Stated { lines: &'a [u32], source_name: &'a str },
    /// Lines are counted in the text up to each action's position.
    Counted { positions: &'a [Position], source: &'a Source },
}

impl<'a> Lines<'a> {
    /// Returns the lines of the body that `debug` belongs to. If the body has positions, `sources`
    /// must be the texts that it was read from.
    pub fn new(debug: &'a Debug, sources: Option<&'a SourceMap>) -> Self {
        if !debug.lines.is_empty() {
            let (lines, source_name) = (&debug.lines, &debug.source_name);
            return Lines(Origin::Stated { lines, source_name });
        }
        let first = debug.actions.first();
        match first.and_then(|&position| sources?.source_of(position)) {
            Some(source) => Lines(Origin::Counted { positions: &debug.actions, source }),
            None => Lines(Origin::Nothing),
        }
    }

    /// Returns true if no line is known.
    pub fn is_none(&self) -> bool {
        matches!(self.0, Origin::Nothing)
    }

    /// Returns the name of the file whose lines are meant, if it is known.
    pub fn source_name(&self) -> Option<&'a str> {
        match self.0 {
            Origin::Nothing => None,
            Origin::Stated { source_name, .. } => (!source_name.is_empty()).then_some(source_name),
            Origin::Counted { source, .. } => Some(&source.name),
        }
    }

    /// Returns the line of an action, or 0 if it isn't known or lies in another file.
    pub fn line(&self, id: ActionId, counters: &mut LineCounters<'a>) -> u32 {
        match self.0 {
            Origin::Nothing => 0,
            Origin::Stated { lines, .. } => lines.get(id.index()).copied().unwrap_or(0),
            Origin::Counted { positions, source } => {
                let offset = positions
                    .get(id.index())
                    .and_then(|position| position.checked_sub(source.base));
                let inside = offset.filter(|&offset| offset < source.bytes.len() as u64);
                inside.map_or(0, |offset| counters.of(source).line(offset as usize))
            }
        }
    }
}

/// One line counter per source file. Clones share the table of newlines, and each keeps its own
/// position.
#[derive(Default, Clone)]
pub struct LineCounters<'a>(Vec<LineCounter<'a>>);

impl<'a> LineCounters<'a> {
    /// Makes the table of newlines for the file of `lines`. Clones made afterwards share it.
    pub fn prepare(&mut self, lines: &Lines<'a>) {
        if let Origin::Counted { source, .. } = lines.0 {
            self.of(source).blocks();
        }
    }

    fn of(&mut self, source: &'a Source) -> &mut LineCounter<'a> {
        let known = self.0.iter().position(|counter| counter.base == source.base);
        let index = known.unwrap_or_else(|| {
            self.0.push(LineCounter::new(source));
            self.0.len() - 1
        });
        &mut self.0[index]
    }
}

/// Finds the line of any offset in a file. For ascending offsets, the text between them is read
/// once. For any other offset, the table of blocks limits the reading to one block.
#[derive(Clone)]
struct LineCounter<'a> {
    base: Position,
    text: &'a [u8],
    /// The number of newlines before each block of [`BLOCK`] bytes. `None` until it is needed.
    blocks: Option<Arc<[u64]>>,
    at: usize,
    newlines: u64,
}

const BLOCK: usize = 4096;

impl<'a> LineCounter<'a> {
    fn new(source: &'a Source) -> Self {
        Self { base: source.base, text: &source.bytes, blocks: None, at: 0, newlines: 0 }
    }

    fn blocks(&mut self) -> &[u64] {
        self.blocks.get_or_insert_with(|| {
            // Outside of a pool, rayon would use its global pool, whose threads don't exist in a
            // forked child.
            let mut blocks: Vec<u64> = match rayon::current_thread_index() {
                Some(_) => self.text.par_chunks(BLOCK).map(count).collect(),
                None => self.text.chunks(BLOCK).map(count).collect(),
            };
            let mut sum = 0;
            for block in &mut blocks {
                sum += std::mem::replace(block, sum);
            }
            blocks.into()
        })
    }

    fn line(&mut self, offset: usize) -> u32 {
        let is_far = self.blocks.is_some() && offset.saturating_sub(self.at) > BLOCK;
        if offset < self.at || is_far {
            self.newlines = self.blocks()[offset / BLOCK];
            self.at = offset - offset % BLOCK;
        }
        self.newlines += count(&self.text[self.at..offset]);
        self.at = offset;
        u32::try_from(self.newlines + 1).unwrap_or(0)
    }
}

fn count(text: &[u8]) -> u64 {
    // The next statement mostly begins a few bytes on. A sum of bytes is quick for so few.
    if text.len() <= 128 {
        return u64::from(text.iter().fold(0u8, |sum, &byte| sum + u8::from(byte == b'\n')));
    }
    memchr::memchr_iter(b'\n', text).count() as u64
}
