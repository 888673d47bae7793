//! Source lines of actions, from the text's positions.

use goal_lang::{ActionId, Debug, Position, Source, SourceMap};
use rayon::prelude::*;
use std::sync::Arc;

/// Where a body's lines come from.
pub(crate) enum Lines<'a> {
    None,
    /// Known already: the body was read from a NISA file.
    Known(&'a [u32], &'a str),
    /// To be counted in the text.
    Counted {
        positions: &'a [Position],
        source: &'a Source,
    },
}

impl<'a> Lines<'a> {
    pub(crate) fn new(debug: &'a Debug, sources: Option<&'a SourceMap>) -> Self {
        if !debug.lines.is_empty() {
            return Lines::Known(&debug.lines, &debug.source_name);
        }
        let first = debug.actions.first();
        match first.and_then(|&position| sources?.source_of(position)) {
            Some(source) => Lines::Counted { positions: &debug.actions, source },
            None => Lines::None,
        }
    }

    pub(crate) fn is_none(&self) -> bool {
        matches!(self, Lines::None)
    }

    /// The name of the file that the lines count in.
    pub(crate) fn source_name(&self) -> Option<&'a str> {
        match *self {
            Lines::None => None,
            Lines::Known(_, name) => (!name.is_empty()).then_some(name),
            Lines::Counted { source, .. } => Some(&source.name),
        }
    }

    /// The line of an action; 0 where it isn't known or lies in another file.
    pub(crate) fn line(&self, id: ActionId, counters: &mut LineCounters<'a>) -> u32 {
        match *self {
            Lines::None => 0,
            Lines::Known(lines, _) => lines.get(id.index()).copied().unwrap_or(0),
            Lines::Counted { positions, source } => {
                let offset = positions
                    .get(id.index())
                    .and_then(|position| position.checked_sub(source.base));
                let inside = offset.filter(|&offset| offset < source.bytes.len() as u64);
                inside.map_or(0, |offset| counters.of(source).line(offset as usize))
            }
        }
    }
}

/// One counter a file. Copies count apart but share what was counted once.
#[derive(Default, Clone)]
pub(crate) struct LineCounters<'a>(Vec<LineCounter<'a>>);

impl<'a> LineCounters<'a> {
    /// Counts the lines of a file before copies are made.
    pub(crate) fn prepare(&mut self, lines: &Lines<'a>) {
        if let Lines::Counted { source, .. } = *lines {
            self.of(source);
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

/// Lines of a file in any order of asking; next to nothing where each is a little behind the one
/// before.
#[derive(Clone)]
struct LineCounter<'a> {
    base: Position,
    text: &'a [u8],
    /// Newlines before each block.
    blocks: Arc<[u64]>,
    at: usize,
    newlines: u64,
}

const BLOCK: usize = 4096;

impl<'a> LineCounter<'a> {
    fn new(source: &'a Source) -> Self {
        let text = &source.bytes[..];
        let mut blocks: Vec<u64> = text.par_chunks(BLOCK).map(count).collect();
        let mut sum = 0;
        for block in &mut blocks {
            sum += std::mem::replace(block, sum);
        }
        Self { base: source.base, text, blocks: blocks.into(), at: 0, newlines: 0 }
    }

    fn line(&mut self, offset: usize) -> u32 {
        if offset < self.at || offset - self.at > BLOCK {
            self.newlines = self.blocks[offset / BLOCK];
            self.at = offset - offset % BLOCK;
        }
        self.newlines += count(&self.text[self.at..offset]);
        self.at = offset;
        u32::try_from(self.newlines + 1).unwrap_or(0)
    }
}

fn count(text: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', text).count() as u64
}
