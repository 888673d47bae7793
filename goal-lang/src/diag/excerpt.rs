//! The few lines of a text that a report shows, cut out so that a file of gigabytes is neither
//! copied nor decoded.

use std::ops::Range;

use super::Diagnostic;
use crate::source::{Source, SourceMap, Span, code_points};

/// Labels at most this many bytes apart are shown in one excerpt.
const GAP_BYTES: u64 = 512;

/// Most bytes shown of a line before and after a place.
const LINE_BYTES: usize = 160;

/// Most bytes of a place that are shown.
const PLACE_BYTES: u64 = 1024;

/// A part of a source's text that a report shows, as valid UTF-8.
pub(super) struct Excerpt {
    /// The file's name, with a line number if the excerpt begins inside a long line.
    pub(super) name: String,
    pub(super) text: String,
    /// The number of lines before the excerpt, for ariadne's line numbers.
    pub(super) lines_before: usize,
    /// The range of the source map whose labels the excerpt shows.
    span: Span,
    /// The bytes of the source that the excerpt shows, counted from the source's start.
    window: Range<usize>,
    base: u64,
    bytes: crate::source::Bytes,
}

impl Excerpt {
    /// Returns the range of the characters of `text` that show `span`. It has at least one
    /// character, except at the end of a line or of the text.
    pub(super) fn range(&self, span: Span) -> Range<usize> {
        let at = |position: u64| {
            let offset =
                ((position - self.base) as usize).clamp(self.window.start, self.window.end);
            // Replaced bytes that are no UTF-8 take more bytes in the excerpt than in the source.
            String::from_utf8_lossy(&self.bytes[self.window.start..offset])
                .len()
                .min(self.text.len())
        };
        let (start, end) = (at(span.start), at(span.end));
        let start = floor_boundary(&self.text, start);
        let end = floor_boundary(&self.text, end).max(start);
        let next = self.text[start..].chars().next().map_or(0, char::len_utf8);
        let is_widened = end == start && next > 0 && !self.text[start..].starts_with('\n');
        let end = if is_widened { start + next } else { end };
        let characters_to = |at: usize| self.text[..at].chars().count();
        characters_to(start)..characters_to(end)
    }

    /// Returns true if the excerpt shows the start of `span`.
    pub(super) fn covers(&self, span: Span) -> bool {
        self.span.start <= span.start && span.start <= self.span.end
    }
}

/// Returns excerpts that together show every label of a finding, in the order of the text.
pub(super) fn excerpts(diagnostic: &Diagnostic, sources: &SourceMap) -> Vec<Excerpt> {
    let mut spans: Vec<Span> = diagnostic.labels.iter().map(|label| shown(label.span)).collect();
    spans.sort();
    let mut groups: Vec<Span> = Vec::new();
    for span in spans {
        match groups.last_mut() {
            Some(group)
                if span.start <= group.end + GAP_BYTES && same_file(sources, *group, span) =>
            {
                group.end = group.end.max(span.end);
            }
            _ => groups.push(span),
        }
    }
    groups.iter().filter_map(|&span| Some(cut(sources.source_of(span.start)?, span))).collect()
}

/// Returns the part of `span` that is shown: at most [`PLACE_BYTES`] from its start.
fn shown(span: Span) -> Span {
    Span { start: span.start, end: span.end.min(span.start + PLACE_BYTES) }
}

fn same_file(sources: &SourceMap, a: Span, b: Span) -> bool {
    let base = |span: Span| sources.source_of(span.start).map(|source| source.base);
    base(a) == base(b)
}

fn cut(source: &Source, span: Span) -> Excerpt {
    let bytes: &[u8] = &source.bytes;
    let offset = |position: u64| ((position - source.base) as usize).min(bytes.len());
    let (first, last) = (offset(span.start), offset(span.end).max(offset(span.start)));
    let line_start = memchr::memrchr(b'\n', &bytes[..first]).map_or(0, |newline| newline + 1);
    let line_end =
        memchr::memchr(b'\n', &bytes[last..]).map_or(bytes.len(), |newline| last + newline);
    let start = line_start.max(boundary(bytes, first.saturating_sub(LINE_BYTES)));
    let end = line_end.min(boundary(bytes, last.saturating_add(LINE_BYTES)));
    let lines_before = source.newlines_before(line_start) as usize;
    let mut name = source.name.clone();
    if start > line_start {
        name.push_str(&format!(" (from column {} on)", code_points(&bytes[line_start..start]) + 1));
    }
    // Ariadne ends lines at more characters than newlines, so the other ones are replaced. A
    // terminal would obey control characters, and direction marks would hide what a line says.
    let text = String::from_utf8_lossy(&bytes[start..end]);
    let text = text.chars().map(|c| match c {
        '\r' | '\x0b' | '\x0c' => ' ',
        // The replacements have two and three bytes, as the characters that they replace.
        '\u{80}'..='\u{9f}' => '\u{b7}',
        '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{2022}',
        '\n' | '\t' => c,
        control if (control as u32) < 0x20 || control == '\x7f' => '.',
        other => other,
    });
    Excerpt {
        name,
        text: text.collect(),
        lines_before,
        span: Span { start: span.start, end: span.end.max(span.start) },
        window: start..end,
        base: source.base,
        bytes: source.bytes.clone(),
    }
}

/// Returns the last position at or before `at` that is not inside a character. Returns `at` if the
/// bytes there are not UTF-8.
fn boundary(bytes: &[u8], at: usize) -> usize {
    let at = at.min(bytes.len());
    let lowest = at.saturating_sub(3);
    let is_start = |i: &usize| bytes.get(*i).is_none_or(|byte| byte & 0xc0 != 0x80);
    (lowest..=at).rev().find(is_start).unwrap_or(at)
}

fn floor_boundary(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0)
}
