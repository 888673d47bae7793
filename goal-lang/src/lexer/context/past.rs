//! Tokens that were returned, and the way back to them after an error of the grammar.

use super::super::raw::RawLexer;
use super::super::token::Spanned;
use super::{Lexer, Next};

/// A token that was returned to the parser.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Past {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// True if the word after it is a label, even if it is a keyword.
    pub(crate) names: bool,
}

impl Lexer<'_> {
    /// Returns the token that was found `back` tokens before the last one, if any.
    pub(crate) fn past(&self, back: usize) -> Option<Past> {
        let index = self.found.checked_sub(back + 1)?;
        Some(self.history[index % self.history.len()])
    }

    #[inline]
    pub(super) fn note(&mut self, start: usize, end: usize) {
        self.history[self.found % self.history.len()] =
            Past { start, end, names: self.next == Next::Name };
        self.found += 1;
    }

    /// Goes back to `position`, at which one of the last two tokens begins.
    pub(crate) fn rewind(&mut self, position: usize) {
        if self.closed[0] > position {
            self.closed[0] = self.closed[1];
        }
        self.raw = RawLexer::new(self.text, position, self.end);
        self.ahead = self.raw.next();
        self.next = Next::Open;
        self.plain = [None; 2];
        self.replays = 0;
        while self.past(0).is_some_and(|last| last.start >= position) {
            self.found -= 1;
        }
        // From now on the text at the position begins a statement, so the token before it decides
        // nothing.
        if let Some(last) = self.found.checked_sub(1) {
            let slot = last % self.history.len();
            self.history[slot].names = false;
        }
    }

    /// Makes `token` the next token.
    pub(crate) fn push_back(&mut self, token: Spanned) {
        self.plain = [None; 2];
        self.replay[self.replays] = Some(token);
        self.replays += 1;
    }

    /// Returns the end of the last closing brace that was returned.
    pub(crate) fn closed(&self) -> usize {
        self.closed[0]
    }

    /// Returns the end of the last closing brace that ends at or before `position`. Only the last
    /// two braces are known, so `position` must not lie before the last but one.
    pub(crate) fn closed_before(&self, position: usize) -> usize {
        self.closed.into_iter().find(|&closed| closed <= position).unwrap_or(0)
    }
}
