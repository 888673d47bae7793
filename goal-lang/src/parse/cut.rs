//! Statements that break off at the end of a line. The grammar refuses the first word of the next
//! line, although this word is correct. This module moves the error to the line that breaks off.

use super::builder::Builder;
use super::expected::{Where, alternatives, meant};
use crate::diag::{Code, Diagnostic};
use crate::lexer::{Lexer, Past, Spanned, Token};

/// A statement that breaks off at the end of its line.
pub(super) struct Cut {
    /// The last token of the statement.
    last: Past,
    /// The position from which the lexer must read again, because it took the first word of the
    /// next statement for a label.
    pub(super) again: Option<usize>,
}

/// Returns the statement that breaks off, if its break is the reason why `found` is unexpected.
pub(super) fn cut(
    builder: &Builder,
    lexer: &Lexer,
    found: Option<Spanned>,
    expected: &[String],
    end: usize,
) -> Option<Cut> {
    let expects = |name: &str| expected.iter().any(|terminal| terminal == name);
    let text = &builder.text[..end];
    let breaks = |from: usize, to: usize| memchr::memchr(b'\n', &text[from..to]).is_some();
    let back = usize::from(found.is_some());
    let last = lexer.past(back)?;
    if let Some(before) = lexer.past(back + 1)
        && before.names
        && breaks(before.end, last.start)
        && (expects("\"->\"") || found.is_some_and(|(start, ..)| !breaks(last.end, start)))
        && begins(Lexer::new(text, last.start, end).next())
    {
        return Some(Cut { last: before, again: Some(last.start) });
    }
    if expects("waiter") || expects("\"rank\"") {
        return None;
    }
    let is_cut = match found {
        None => true,
        Some((start, ..)) if !breaks(last.end, start) => false,
        Some((start, Token::Word(len), _)) => meant(text, start, len, expected).is_none(),
        Some((_, Token::CloseBrace | Token::OpenBrace | Token::Semicolon, _)) => true,
        token => begins(token),
    };
    is_cut.then_some(Cut { last, again: None })
}

/// Returns true if a statement or a block begins with this token.
fn begins(token: Option<Spanned>) -> bool {
    token.is_some_and(|(_, token, _)| {
        token.begins_statement() || matches!(token, Token::Rank | Token::NumRanks)
    })
}

/// Returns the end of the word that begins at `start`.
fn word_end(text: &[u8], start: usize) -> usize {
    let is_letter = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    start + text[start..].iter().take_while(is_letter).count()
}

impl Cut {
    /// Reports the statement that breaks off.
    pub(super) fn report(
        &self,
        builder: &mut Builder,
        found: Option<Spanned>,
        expected: &[String],
        at: Where,
    ) {
        builder.chunk.syntax_errors += 1;
        let last = builder.span(self.last.start, self.last.end);
        let word = builder.quote(self.last.start, self.last.end);
        let next = match (self.again, found) {
            (Some(start), _) => Some((
                builder.span(start, word_end(builder.text, start)),
                "the next statement begins here",
            )),
            (None, Some((start, token, end))) => {
                let text = match token {
                    Token::CloseBrace => "the block ends here",
                    Token::OpenBrace | Token::Word(_) => "this follows",
                    Token::Semicolon => "the statement ends here",
                    Token::Rank => "the next block begins here",
                    _ => "the next statement begins here",
                };
                let end =
                    if token.begins_statement() { word_end(builder.text, start) } else { end };
                Some((builder.span(start, end), text))
            }
            (None, None) => None,
        };
        let words = if self.again.is_some() { self.label(builder) } else { alternatives(expected) };
        builder.report.add(Code::Syntax, || {
            let what = if at == Where::Outside { "this line" } else { "this statement" };
            let mut diagnostic =
                Diagnostic::new(Code::Syntax, format!("{what} breaks off after {word}"))
                    .label(last, format!("expected {words} after this"))
                    .note("reading goes on at the next statement or block")
                    .help(format!("write {words}"));
            if let Some((span, text)) = next {
                diagnostic = diagnostic.label(span, text);
            }
            diagnostic
        });
    }

    fn label(&self, builder: &Builder) -> String {
        match &builder.text[self.last.start..self.last.end] {
            b"requ" => "two labels, as in `requ a -> b`,".to_owned(),
            _ => "a label".to_owned(),
        }
    }

    /// Returns the end of the last token of the statement that breaks off.
    pub(super) fn end(&self) -> usize {
        self.last.end
    }
}
