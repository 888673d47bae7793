//! The second layer of the lexer. From the words around them, it decides which words are labels and
//! which numbers are sizes.

use std::cell::RefCell;
use std::rc::Rc;

use super::plain;
use super::raw::{Raw, RawLexer, RawToken, number};
use super::token::{Spanned, Token};
use crate::relative::Sign;

/// The effect of the last token on the meaning of the next word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    /// The last token decides nothing; the token after the word does.
    Open,
    /// The last token is a label with a colon: the word begins the labelled operation, unless it is
    /// a label too.
    Labelled,
    /// The last token is the label of a waiting action: the word is `requires` or `irequires`.
    Keyword,
    /// The word is a label.
    Name,
}

/// The statements of the last two [`Token::Batch`]es. There are two buffers, because the parser
/// acts on a token only after it has taken the next one.
pub(crate) type Batches = Rc<[RefCell<Vec<Spanned>>; 2]>;

/// Finds tokens, with one raw token of lookahead.
pub(crate) struct Lexer<'a> {
    text: &'a [u8],
    raw: RawLexer<'a>,
    ahead: Option<RawToken>,
    next: Next,
    /// Tokens to return before any other, the last entry first: the parser's start token, and a
    /// token that was pushed back.
    replay: [Option<Spanned>; 2],
    replays: usize,
    /// Ends of the last closing brace and of the one before it.
    closed: [usize; 2],
    /// The buffers of plain statements. `None` if plain statements do not become tokens of their
    /// own.
    batches: Option<Batches>,
    /// The number of the buffer that is filled next.
    batch: usize,
    /// The starts of the last two tokens, the last one first. `None` stands for a token that is no
    /// plain operation.
    plain: [Option<usize>; 2],
    /// The last tokens found, as a ring buffer indexed by `found` modulo its length.
    history: [Past; 4],
    found: usize,
    end: usize,
}

/// A token that was returned to the parser.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Past {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// True if the word after the token is a label, even if that word is a keyword.
    pub(crate) names: bool,
}

impl<'a> Lexer<'a> {
    /// Returns a lexer over `text[start..end]` whose positions count from the start of `text`.
    pub(crate) fn new(text: &'a [u8], start: usize, end: usize) -> Self {
        let mut raw = RawLexer::new(text, start, end);
        let ahead = raw.next();
        Self {
            text,
            raw,
            ahead,
            next: Next::Open,
            replay: [None; 2],
            replays: 0,
            closed: [0; 2],
            batches: None,
            batch: 0,
            plain: [None; 2],
            history: [Past::default(); 4],
            found: 0,
            end,
        }
    }

    /// Makes the lexer return plain statements as whole tokens, as the parser wants them.
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

    /// Returns the start and length of the label of the last token, or of the token before it if
    /// `before_last`. Returns `None` unless this token is a plain operation with a label.
    pub(crate) fn plain_label(&self, before_last: bool) -> Option<(usize, u32)> {
        let start = self.plain[usize::from(before_last)]?;
        match Lexer::new(self.text, start, self.end).next() {
            Some((start, Token::LabelDef(length), _)) => Some((start, length)),
            _ => None,
        }
    }

    /// Reads the next statements as one token if they are plain.
    ///
    /// If there are several statements, the last one is left for the next token, because the word
    /// behind it decides whether it is plain. So the token behind a batch always begins a
    /// statement. The parser therefore acts on a batch before an error at the token behind the
    /// batch.
    #[inline]
    fn plain_statements(&mut self) -> Option<Spanned> {
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

    /// Returns the first statement of the last token if that token is a batch, and goes back to the
    /// end of that statement. Returns every other token unchanged.
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

    /// Returns the token that was found `back` tokens before the last one, if any.
    pub(crate) fn past(&self, back: usize) -> Option<Past> {
        let index = self.found.checked_sub(back + 1)?;
        Some(self.history[index % self.history.len()])
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

    #[inline]
    fn note(&mut self, start: usize, end: usize) {
        self.history[self.found % self.history.len()] =
            Past { start, end, names: self.next == Next::Name };
        self.found += 1;
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

    #[inline]
    fn advance(&mut self) -> Option<RawToken> {
        let token = self.ahead?;
        self.ahead = self.raw.next();
        Some(token)
    }

    #[inline]
    fn word(&mut self, token: RawToken) -> Token {
        let length = u32::try_from(token.end - token.start).unwrap_or(u32::MAX);
        match std::mem::replace(&mut self.next, Next::Open) {
            Next::Name => return Token::Name(length),
            Next::Keyword => {}
            Next::Open | Next::Labelled => match self.ahead {
                Some(RawToken { raw: Raw::Colon, .. }) => {
                    self.advance();
                    self.next = Next::Labelled;
                    return Token::LabelDef(length);
                }
                Some(RawToken { raw: Raw::Requires | Raw::Irequires, end, .. })
                    if !self.is_label(end, token.raw == Raw::Requ) =>
                {
                    self.next = Next::Keyword;
                    return Token::Waiter(length);
                }
                _ => {}
            },
        }
        if matches!(token.raw, Raw::Requires | Raw::Irequires | Raw::Requ) {
            self.next = Next::Name;
        }
        match token.raw {
            Raw::Send => Token::Send,
            Raw::Recv => Token::Recv,
            Raw::Calc => Token::Calc,
            Raw::Exec => Token::Exec,
            Raw::Nop => Token::Nop,
            Raw::User => Token::User,
            Raw::Requ => Token::Requ,
            Raw::Requires => Token::Requires,
            Raw::Irequires => Token::Irequires,
            Raw::To => Token::To,
            Raw::From => Token::From,
            Raw::With => Token::With,
            Raw::Tag => Token::Tag,
            Raw::Cpu => Token::Cpu,
            Raw::Nic => Token::Nic,
            Raw::Any => Token::Any,
            Raw::Init => Token::Init,
            Raw::Expect => Token::Expect,
            Raw::Scratch => Token::Scratch,
            Raw::Rank => self.sign().map_or(Token::Rank, Token::Relative),
            Raw::NumRanks => Token::NumRanks,
            Raw::Coll => Token::Coll,
            Raw::Nccl => Token::Nccl(length),
            Raw::ByteCount => Token::ByteCount,
            Raw::Comm => Token::Comm,
            Raw::Gpu => Token::Gpu,
            Raw::Stream => Token::Stream,
            Raw::Seq => Token::Seq,
            Raw::End => Token::End,
            _ => Token::Word(length),
        }
    }

    /// Reads the sign behind `rank` in `rank+1`, `rank-1` and `rank^1`. No sign follows the `rank`
    /// of a block. A minus is one token with the digits behind it, so these are read again.
    #[cold]
    fn sign(&mut self) -> Option<Sign> {
        let RawToken { raw, start, .. } = self.ahead?;
        let sign = match raw {
            Raw::Plus => Sign::Plus,
            Raw::Minus | Raw::Negative => Sign::Minus,
            Raw::Caret => Sign::Caret,
            _ => return None,
        };
        if raw == Raw::Negative {
            self.raw = RawLexer::new(self.text, start + 1, self.end);
        }
        self.ahead = self.raw.next();
        Some(sign)
    }

    /// Returns true if the next word, a `requires` that ends at `end`, is a label and not the
    /// keyword. It is a label before a colon, and between `requ` and an arrow.
    #[inline]
    fn is_label(&self, end: usize, after_requ: bool) -> bool {
        match self.text[end..].iter().find(|byte| !byte.is_ascii_whitespace()) {
            Some(b':') => true,
            Some(b'-') => after_requ,
            Some(b'#' | b'/') => match self.raw.clone().next().map(|token| token.raw) {
                Some(Raw::Colon) => true,
                Some(Raw::Arrow) => after_requ,
                _ => false,
            },
            _ => false,
        }
    }

    /// Returns true if the next word is a `b` that makes the number before it a size of bytes. A
    /// `b` that is a label does not.
    #[inline]
    fn before_unit(&self) -> bool {
        match self.ahead {
            Some(RawToken { raw: Raw::Word, start, end })
                if end - start == 1 && self.text[start] == b'b' =>
            {
                let after = self.raw.clone().next().map(|token| token.raw);
                !matches!(after, Some(Raw::Colon | Raw::Requires | Raw::Irequires))
            }
            _ => false,
        }
    }

    #[inline]
    fn punctuation(&mut self, raw: Raw, end: usize) -> Token {
        self.next = Next::Open;
        match raw {
            Raw::Semicolon => Token::Semicolon,
            Raw::Comma => Token::Comma,
            Raw::OpenBrace => Token::OpenBrace,
            Raw::CloseBrace => {
                self.closed = [end, self.closed[0]];
                Token::CloseBrace
            }
            Raw::OpenBracket => Token::OpenBracket,
            Raw::CloseBracket => Token::CloseBracket,
            Raw::At => Token::At,
            Raw::Equals => Token::Equals,
            Raw::Star => Token::Star,
            Raw::Hash => Token::Hash,
            Raw::Negative => Token::Negative,
            Raw::Float => Token::Float,
            Raw::Arrow => {
                self.next = Next::Name;
                Token::Arrow
            }
            _ => Token::Bad,
        }
    }
}

impl Iterator for Lexer<'_> {
    type Item = Spanned;

    #[inline]
    fn next(&mut self) -> Option<Spanned> {
        if self.replays > 0 {
            self.replays -= 1;
            let token = self.replay[self.replays].take();
            if let Some((start, Token::Plain(_), _)) = token {
                self.plain[0] = Some(start);
            }
            return token;
        }
        self.plain[1] = self.plain[0].take();
        if let Some(token) = self.plain_statements() {
            if matches!(token.1, Token::Plain(_)) {
                self.plain[0] = Some(token.0);
            }
            self.note(token.0, token.2);
            return Some(token);
        }
        let token = self.advance()?;
        let (start, mut end) = (token.start, token.end);
        let kind = match token.raw {
            raw if raw.is_word() => self.word(token),
            Raw::Int => {
                self.next = Next::Open;
                let value = number(&self.text[start..end]);
                if self.before_unit() {
                    end = self.advance().map_or(end, |unit| unit.end);
                    Token::Bytes(value)
                } else {
                    Token::Int(value)
                }
            }
            Raw::Bytes => {
                self.next = Next::Open;
                Token::Bytes(number(&self.text[start..end - 1]))
            }
            raw => self.punctuation(raw, end),
        };
        self.note(start, end);
        Some((start, kind, end))
    }
}

/// Returns the end of the last word of the statement that begins at `start`. Also returns the end
/// of a semicolon behind the statement, if there is one.
pub(crate) fn end_of_statement(text: &[u8], start: usize) -> (usize, Option<usize>) {
    let mut end = start;
    let mut is_open = true;
    for (_, token, token_end) in Lexer::new(text, start, text.len()) {
        match token {
            Token::Semicolon => return (end, Some(token_end)),
            Token::CloseBrace | Token::Rank | Token::NumRanks => break,
            Token::LabelDef(_) if end > start => break,
            Token::LabelDef(_) => {}
            token if token.begins_statement() && !std::mem::take(&mut is_open) => break,
            _ => is_open = false,
        }
        end = token_end;
    }
    (end, None)
}
