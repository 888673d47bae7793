//! The layout of formatted text: turns tokens into lines.

use std::borrow::Cow;
use std::iter::Peekable;

use super::comments::Comments;
use super::writer::{Form, Writer};
use crate::lexer::{Lexer, Spanned, Token, long_number};
use crate::print::Style;

/// Returns true if a text that the grammar accepts states a number of ranks and uses only words of
/// LogGOPSim's parser.
fn is_loggopsims(text: &[u8]) -> bool {
    let mut has_ranks = false;
    let mut ends_nothing = true;
    let known = Lexer::new(text, 0, text.len()).all(|(_, token, _)| {
        has_ranks |= token == Token::NumRanks;
        // The formatter leaves out a semicolon that ends no statement.
        if std::mem::replace(
            &mut ends_nothing,
            matches!(token, Token::OpenBrace | Token::CloseBrace | Token::Semicolon),
        ) && token == Token::Semicolon
        {
            return true;
        }
        matches!(
            token,
            Token::NumRanks
                | Token::Rank
                | Token::OpenBrace
                | Token::CloseBrace
                | Token::LabelDef(_)
                | Token::Send
                | Token::Recv
                | Token::Calc
                | Token::Int(_)
                | Token::Bytes(_)
                | Token::Negative
                | Token::To
                | Token::From
                | Token::Tag
                | Token::Cpu
                | Token::Nic
                | Token::Waiter(_)
                | Token::Requires
                | Token::Irequires
                | Token::Name(_)
        )
    });
    has_ranks && known
}

/// Returns true if a text in Schedgen's spelling does not indent the first line inside a block,
/// like the output of Schedgen.
fn is_flat(text: &[u8]) -> bool {
    let is_papers = |token| matches!(token, Token::Semicolon | Token::Requ | Token::Hash);
    if Lexer::new(text, 0, text.len()).any(|(_, token, _)| is_papers(token)) {
        return false;
    }
    let mut comments = Comments::new(text);
    let (mut inside, mut reached) = (false, 0);
    // True if the statement or comment at `start` begins a line after a brace.
    let begins_line = |reached: usize, start: usize| text[reached..start].contains(&b'\n');
    for (start, token, end) in Lexer::new(text, 0, text.len()) {
        while let Some(comment) = comments.before(start) {
            if inside && begins_line(reached, comment.start) {
                return text[comment.start - 1] == b'\n';
            }
            reached = comment.end;
        }
        // Comments inside a token, as in `8 /* bytes */ b`, begin no line: they move behind the
        // token.
        while comments.before(end).is_some() {}
        inside &= token != Token::CloseBrace;
        if inside && begins_line(reached, start) {
            return text[start - 1] == b'\n';
        }
        inside |= token == Token::OpenBrace;
        reached = end;
    }
    false
}

/// Formats a text that the grammar accepts.
pub(super) fn format(text: &[u8], style: Option<Style>) -> Vec<u8> {
    let schedgen = style == Some(Style::Schedgen);
    let form = Form {
        indented: !schedgen && (style.is_some() || !is_loggopsims(text) && !is_flat(text)),
        comments_apart: schedgen,
    };
    let mut layout = Layout {
        text,
        style,
        writer: Writer::new(text, form),
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
        // A comment between a label and its colon moves behind the colon. A comment between a
        // number and its unit moves behind the unit.
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
    /// True inside a statement that may continue.
    open: bool,
    /// True if the open statement is the head of a block.
    in_head: bool,
    /// True if the last token was the `#` before a number.
    hash: bool,
    /// True if the open statement is a `requ` that becomes `requires`, so that its labels change
    /// places.
    turned: bool,
    /// The last token of the open statement that was written.
    before: Option<Token>,
    /// True between a buffer's address and its size.
    in_piece: bool,
    /// True directly behind a buffer's size.
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

    /// Handles a semicolon. It ends the open statement, or is dropped if no statement is open.
    fn semicolon(&mut self) {
        let kept = self.style != Some(Style::Schedgen) || self.keyword_follows();
        if std::mem::take(&mut self.open) && kept {
            self.writer.put(b";");
        }
        self.before = None;
    }

    /// Writes a token of the open statement in the spelling of the style.
    fn go_on(&mut self, (start, kind, end): Spanned) {
        let word = &self.text[start..end];
        let paper = self.style == Some(Style::Paper2009);
        let schedgen = self.style == Some(Style::Schedgen);
        match kind {
            Token::LabelDef(length) => {
                self.write(kind, &word[..length as usize]);
                self.writer.put(b":");
            }
            Token::Waiter(_)
                if paper && matches!(self.tokens.peek(), Some((_, Token::Requires, _))) =>
            {
                self.write(kind, b"requ ");
                self.writer.put(word);
            }
            Token::Requires if paper => self.write(kind, b"->"),
            // The label after `requ` is written first. Comments between `requ` and the label come
            // behind the label.
            Token::Requ if schedgen && !self.keyword_follows() => self.turned = true,
            Token::Arrow if std::mem::take(&mut self.turned) => self.write(kind, b"requires"),
            Token::Hash => self.hash = true,
            Token::Int(_) if self.in_head => {
                let hash = std::mem::take(&mut self.hash);
                self.write(kind, if paper || hash && !schedgen { b"#" } else { b"" });
                self.writer.put(&self.number(word));
            }
            Token::Int(_) => {
                self.write(kind, &self.number(word));
                self.after_piece = std::mem::take(&mut self.in_piece);
            }
            Token::Bytes(_) => {
                let (digits, unit) = size(word);
                let digits = self.number(digits);
                self.write(kind, &digits);
                self.writer.put(if is_hexadecimal(&digits) { b" " } else { b"" });
                self.writer.put(unit);
            }
            Token::Any if schedgen => self.write(kind, b"-1"),
            Token::Negative if paper && matches!(self.before, Some(Token::From | Token::Tag)) => {
                self.write(kind, b"any");
            }
            Token::Relative(sign) => {
                self.write(kind, b"rank");
                self.writer.put(sign.text().as_bytes());
            }
            Token::Comma => self.comma(),
            _ => self.write(kind, word),
        }
    }

    /// Returns a number as the style wants it: LogGOPSim's parser reads decimal digits only.
    fn number<'b>(&self, digits: &'b [u8]) -> Cow<'b, [u8]> {
        match long_number(digits) {
            Some(value) if self.style == Some(Style::Schedgen) && is_hexadecimal(digits) => {
                Cow::Owned(value.to_string().into_bytes())
            }
            _ => Cow::Borrowed(digits),
        }
    }

    /// Returns true if the next token is a label with the name `requires` or `irequires`. At the
    /// start of a statement, such a label would turn the word before it into a label.
    fn keyword_follows(&mut self) -> bool {
        match self.tokens.peek() {
            Some(&(start, Token::Waiter(_) | Token::Name(_), end)) => {
                matches!(&self.text[start..end], b"requires" | b"irequires")
            }
            _ => false,
        }
    }

    /// Handles a comma. It is written in a list of ranks and inside a buffer, and dropped between
    /// buffers, where it is optional.
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
            let tight = matches!(
                before,
                Token::OpenBracket | Token::At | Token::Comma | Token::Relative(_)
            );
            if !self.writer.comments_inside() && !tight && kind != Token::CloseBracket {
                self.writer.put(b" ");
            }
        }
        self.writer.put(word);
        self.before = Some(kind);
        self.after_piece = false;
    }
}

/// Returns the digits of a size in bytes, and its unit.
fn size(word: &[u8]) -> (&[u8], &'static [u8]) {
    let run = word.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    (if run == word.len() { &word[..run - 1] } else { &word[..run] }, b"b")
}

/// Returns true for `0x` and digits: a `b` directly behind them would be one more digit.
fn is_hexadecimal(digits: &[u8]) -> bool {
    digits.starts_with(b"0x") || digits.starts_with(b"0X")
}
