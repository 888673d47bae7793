//! The second layer: decides which words are labels and which numbers are sizes, from the words
//! around them.

mod batch;
mod past;

use super::raw::{Raw, RawLexer, RawToken, number};
use super::token::{Spanned, Token};

pub(crate) use batch::Batches;
pub(crate) use past::Past;

/// The effect of the last token on the meaning of the next word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    /// The last token decides nothing; the token after the word does.
    Open,
    /// The last token is a label: the word goes with it, unless it is a label too.
    Labelled,
    /// The last token is the label of a waiting action: the word is `requires` or `irequires`.
    Keyword,
    /// The word is a label.
    Name,
}

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
    /// The buffers of plain statements, if these become tokens of their own.
    batches: Option<Batches>,
    /// The number of the buffer that is filled next.
    batch: usize,
    /// Starts of the last two tokens; `None` for a token that is no plain operation.
    plain: [Option<usize>; 2],
    /// The last tokens found, as a ring buffer indexed by `found` modulo its length.
    history: [Past; 4],
    found: usize,
    end: usize,
}

impl<'a> Lexer<'a> {
    /// A lexer over `text[start..end]` whose positions count from the start of `text`.
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
            Raw::Rank => Token::Rank,
            Raw::NumRanks => Token::NumRanks,
            _ => Token::Word(length),
        }
    }

    /// Returns true if the next word, a `requires` that ends at `end`, is a label and not the
    /// keyword: it is one before a colon, and between `requ` and an arrow.
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

/// Returns the end of the statement that begins at `start`: the end of its last word, and the end
/// of the semicolon behind it if there is one.
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
