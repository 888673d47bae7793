//! Plain statements as tokens of their own: several at a time for the parser, and their words for
//! reports.

use std::cell::RefCell;
use std::rc::Rc;

use super::super::plain;
use super::super::raw::{Raw, RawLexer, RawToken};
use super::super::token::{Spanned, Token};
use super::{Lexer, Next};

/// The statements of the last two [`Token::Batch`]es. The parser acts on a token after it has taken
/// the next one, so there are two buffers.
pub(crate) type Batches = Rc<[RefCell<Vec<Spanned>>; 2]>;

impl Lexer<'_> {
    /// Makes plain statements whole tokens, as the parser wants them.
    pub(crate) fn whole_statements(mut self) -> Self {
        self.batches = Some(Batches::default());
        self
    }

    /// Returns the buffers of plain statements.
    pub(crate) fn batches(&self) -> Batches {
        self.batches.clone().unwrap_or_default()
    }

    /// Returns the first word of a token. The token may be a whole statement.
    pub(crate) fn first_word(&self, token: Spanned) -> Spanned {
        match token.1 {
            Token::Plain(_) | Token::PlainDependency(_) => {
                Lexer::new(self.text, token.0, self.end).next().unwrap_or(token)
            }
            _ => token,
        }
    }

    /// Returns the start and length of the label of the plain operation that is the last token, or
    /// the last but one.
    pub(crate) fn plain_label(&self, before_last: bool) -> Option<(usize, u32)> {
        let start = self.plain[usize::from(before_last)]?;
        match Lexer::new(self.text, start, self.end).next() {
            Some((start, Token::LabelDef(length), _)) => Some((start, length)),
            _ => None,
        }
    }

    /// Reads the next statements as one token if they are plain.
    ///
    /// The last of them is left for the next token if there are several, because what follows it
    /// decides whether it is plain. So a batch is always followed by a token that begins a
    /// statement, and an error of the grammar never finds one that it has not acted on yet.
    #[inline]
    pub(super) fn plain_statements(&mut self) -> Option<Spanned> {
        let first = self.ahead.filter(|_| self.next == Next::Open)?;
        let batch = self.batch;
        let mut found = self.batches.as_ref()?[batch].borrow_mut();
        plain::statements(&self.text[..self.end], first, &mut found);
        let single = found.pop()?;
        if let Some(&(.., end)) = found.last() {
            self.raw.seek(end);
            self.ahead = self.raw.next();
            self.batch = 1 - batch;
            return Some((first.start, Token::Batch(batch as u8), end));
        }
        self.raw.seek(single.2);
        let ahead = self.raw.next();
        if let Some(RawToken { raw, start, end }) = ahead
            && !plain::may_follow(raw, raw == Raw::Word && &self.text[start..end] == b"b")
        {
            self.raw = RawLexer::new(self.text, first.end, self.end);
            return None;
        }
        self.ahead = ahead;
        Some(single)
    }

    /// Returns the first statement of a batch that is the last token, and goes back to its end.
    /// Every other token is returned as it is.
    pub(crate) fn first_statement(&mut self, token: Spanned) -> Spanned {
        let (Token::Batch(batch), Some(batches)) = (token.1, &self.batches) else { return token };
        let Some(&first) = batches[usize::from(batch)].borrow().first() else { return token };
        self.raw = RawLexer::new(self.text, first.2, self.end);
        self.ahead = self.raw.next();
        if let Some(last) = self.found.checked_sub(1) {
            let slot = last % self.history.len();
            self.history[slot].end = first.2;
        }
        if matches!(first.1, Token::Plain(_)) {
            self.plain[0] = Some(first.0);
        }
        first
    }
}
