//! From tokens to lines.

use std::iter::Peekable;

use super::comments::Comments;
use super::writer::Writer;
use crate::lexer::{Lexer, Spanned, Token};
use crate::print::Style;

/// Formats a text that the grammar accepts.
pub(super) fn format(text: &[u8], style: Option<Style>) -> Vec<u8> {
    let mut layout = Layout {
        text,
        style,
        writer: Writer::new(text),
        tokens: Lexer::new(text, 0, text.len()).peekable(),
        open: false,
        in_head: false,
        hash: false,
        turned: false,
        before: None,
        in_piece: false,
        after_piece: false,
    };
    let mut comments = Comments::new(text);
    while let Some(token) = layout.tokens.next() {
        while let Some(comment) = comments.before(token.0) {
            layout.writer.comment(comment);
        }
        layout.token(token);
        // A comment between a label and its colon, or between a number and its unit, follows the two.
        while let Some(comment) = comments.before(token.2) {
            layout.writer.comment(comment);
        }
    }
    while let Some(comment) = comments.before(text.len()) {
        layout.writer.comment(comment);
    }
    layout.end_statement();
    layout.writer.finish()
}

struct Layout<'a> {
    text: &'a [u8],
    style: Option<Style>,
    writer: Writer<'a>,
    tokens: Peekable<Lexer<'a>>,
    /// Whether a statement has begun that may go on.
    open: bool,
    /// Whether it is the head of a block.
    in_head: bool,
    /// Whether the number that follows has a `#`.
    hash: bool,
    /// Whether it is a `requ` that becomes `requires`.
    turned: bool,
    /// The last token that was written of the open statement.
    before: Option<Token>,
    /// Whether a buffer's address was read, but not its size.
    in_piece: bool,
    /// Whether the last token was a buffer's size.
    after_piece: bool,
}

impl Layout<'_> {
    fn token(&mut self, token: Spanned) {
        let (start, kind, end) = token;
        match kind {
            Token::Semicolon => self.semicolon(),
            Token::OpenBrace => {
                self.write(kind, b"{");
                (self.open, self.in_head) = (false, false);
                self.writer.open_block();
            }
            Token::CloseBrace => {
                self.end_statement();
                self.writer.close_block();
            }
            Token::Rank | Token::NumRanks => {
                self.begin_statement(start);
                self.in_head = kind == Token::Rank;
                self.write(kind, &self.text[start..end]);
            }
            _ => {
                if kind.begins_statement() && !matches!(self.before, Some(Token::LabelDef(_))) {
                    self.begin_statement(start);
                }
                self.go_on(token);
            }
        }
        self.writer.reach(end);
    }

    fn begin_statement(&mut self, start: usize) {
        self.end_statement();
        self.writer.begin_line(start);
        self.open = true;
        self.before = None;
    }

    /// Ends the open statement and its line.
    fn end_statement(&mut self) {
        if std::mem::take(&mut self.open) && self.style == Some(Style::Paper2009) {
            self.writer.put(b";");
        }
        self.writer.comments_between();
    }

    /// The end of the open statement; if there is none, the semicolon goes.
    fn semicolon(&mut self) {
        let kept = self.style != Some(Style::Schedgen) || self.keyword_follows();
        if std::mem::take(&mut self.open) && kept {
            self.writer.put(b";");
        }
        self.before = None;
    }

    /// A token of the open statement.
    fn go_on(&mut self, (start, kind, end): Spanned) {
        let word = &self.text[start..end];
        let paper = self.style == Some(Style::Paper2009);
        let schedgen = self.style == Some(Style::Schedgen);
        match kind {
            Token::LabelDef(length) => {
                self.write(kind, &word[..length as usize]);
                self.writer.put(b":");
            }
            Token::Waiter(_) if paper && matches!(self.tokens.peek(), Some((_, Token::Requires, _))) => {
                self.write(kind, b"requ ");
                self.writer.put(word);
            }
            Token::Requires if paper => self.write(kind, b"->"),
            // The label after it comes first; comments between the two go behind that.
            Token::Requ if schedgen && !self.keyword_follows() => self.turned = true,
            Token::Arrow if std::mem::take(&mut self.turned) => self.write(kind, b"requires"),
            Token::Hash => self.hash = true,
            Token::Int(_) if self.in_head => {
                let hash = std::mem::take(&mut self.hash);
                self.write(kind, if paper || hash && !schedgen { b"#" } else { b"" });
                self.writer.put(word);
            }
            Token::Int(_) => {
                self.write(kind, word);
                self.after_piece = std::mem::take(&mut self.in_piece);
            }
            Token::Bytes(_) => {
                let (digits, unit) = size(word);
                self.write(kind, digits);
                self.writer.put(unit);
            }
            Token::Comma => self.comma(),
            _ => self.write(kind, word),
        }
    }

    /// Whether the next token is a label that reads `requires` or `irequires`: at the start of a statement it would make the
    /// word before it a label.
    fn keyword_follows(&mut self) -> bool {
        match self.tokens.peek() {
            Some(&(start, Token::Waiter(_) | Token::Name(_), end)) => {
                matches!(&self.text[start..end], b"requires" | b"irequires")
            }
            _ => false,
        }
    }

    /// A comma in a list of ranks, in a buffer, or between buffers, where it says nothing.
    fn comma(&mut self) {
        if self.in_head {
            self.writer.put(b",");
        } else if matches!(self.before, Some(Token::Int(_))) && !self.after_piece {
            self.writer.put(b",");
            self.before = Some(Token::Comma);
            self.in_piece = true;
        }
    }

    /// Writes a token with the comments and the space before it.
    fn write(&mut self, kind: Token, word: &[u8]) {
        if let Some(before) = self.before {
            let tight = matches!(before, Token::OpenBracket | Token::At | Token::Comma);
            if !self.writer.comments_inside() && !tight && kind != Token::CloseBracket {
                self.writer.put(b" ");
            }
        }
        self.writer.put(word);
        self.before = Some(kind);
        self.after_piece = false;
    }
}

/// The digits of a size in bytes, and its unit: after hexadecimal ones a `b` would be one more.
fn size(word: &[u8]) -> (&[u8], &'static [u8]) {
    let run = word.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let digits = if run == word.len() { &word[..run - 1] } else { &word[..run] };
    (digits, if digits.starts_with(b"0x") || digits.starts_with(b"0X") { b" b" } else { b"b" })
}
