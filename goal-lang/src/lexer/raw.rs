//! The first layer of the lexer: words, numbers, punctuation and comments.

use logos::Logos;

/// A token without its context. Its text is the source between its bounds.
#[derive(Logos, Debug, Clone, Copy, PartialEq, Eq)]
#[logos(utf8 = false, skip r"[ \t\r\n\x0b\x0c]+")]
pub(crate) enum Raw {
    #[token("send")]
    Send,
    #[token("recv")]
    Recv,
    #[token("calc")]
    Calc,
    #[token("exec")]
    Exec,
    #[token("nop")]
    Nop,
    #[token("user")]
    User,
    #[token("requ")]
    Requ,
    #[token("requires")]
    Requires,
    #[token("irequires")]
    Irequires,
    #[token("to")]
    To,
    #[token("from")]
    From,
    #[token("with")]
    With,
    #[token("tag")]
    Tag,
    #[token("cpu")]
    Cpu,
    #[token("nic")]
    Nic,
    #[token("any")]
    Any,
    #[token("init")]
    Init,
    #[token("expect")]
    Expect,
    #[token("scratch")]
    Scratch,
    #[token("rank")]
    Rank,
    #[token("num_ranks")]
    NumRanks,
    #[token("coll")]
    Coll,
    /// A collective or one end of a message, as NCCL names them.
    #[token("AllReduce")]
    #[token("AllGather")]
    #[token("ReduceScatter")]
    #[token("Broadcast")]
    #[token("Reduce")]
    #[token("Send")]
    #[token("Recv")]
    Nccl,
    #[token("bytes")]
    ByteCount,
    #[token("comm")]
    Comm,
    #[token("gpu")]
    Gpu,
    #[token("stream")]
    Stream,
    #[token("seq")]
    Seq,
    #[token("end")]
    End,
    /// Any other word.
    #[regex("[A-Za-z_][A-Za-z0-9_]*", priority = 1)]
    Word,
    #[regex("[0-9]+", priority = 5)]
    #[regex("0[xX][0-9A-Fa-f]+", priority = 5)]
    Int,
    #[regex("-[0-9]+")]
    Negative,
    #[regex(r"-?[0-9]+\.[0-9]*([eE][+-]?[0-9]+)?", priority = 5)]
    #[regex(r"-?[0-9]+[eE][+-]?[0-9]+", priority = 5)]
    #[token("-inf")]
    #[token("-nan")]
    Float,
    /// A size of bytes without an address, such as `10b`.
    #[regex("[0-9]+b", priority = 5)]
    Bytes,
    /// A number that runs into letters.
    #[regex("[0-9]+[A-Za-z_][A-Za-z0-9_]*", priority = 2)]
    Malformed,
    #[token(":")]
    Colon,
    #[token(";")]
    Semicolon,
    #[token(",")]
    Comma,
    #[token("{")]
    OpenBrace,
    #[token("}")]
    CloseBrace,
    #[token("[")]
    OpenBracket,
    #[token("]")]
    CloseBracket,
    #[token("@")]
    At,
    #[token("=")]
    Equals,
    #[token("*")]
    Star,
    #[token("->")]
    Arrow,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("^")]
    Caret,
    /// A `#` before a rank's number. Everywhere else `#` begins a comment.
    #[token("#")]
    Hash,
    #[token("//")]
    Slashes,
    #[token("/*")]
    OpenComment,
    /// A whole comment, if comments are kept: `#` or `//` up to the line end, which is not part of
    /// it, or `/* */`.
    Comment,
    /// Bytes that begin no token, or a comment that never ends.
    Bad,
}

impl Raw {
    /// Returns true if the token has the form of a word, so that it can be a label.
    #[inline]
    pub(crate) fn is_word(self) -> bool {
        (self as u8) <= Raw::Word as u8
    }
}

/// A raw token with its bounds in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RawToken {
    pub(crate) raw: Raw,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Finds raw tokens, beginning at any offset of the text.
#[derive(Clone)]
pub(crate) struct RawLexer<'a> {
    logos: logos::Lexer<'a, Raw>,
    base: usize,
    keep_comments: bool,
    /// True between `rank` and its `{`, where `#1` is a rank and no comment.
    in_rank_list: bool,
}

impl<'a> RawLexer<'a> {
    /// Returns a lexer over `text[start..end]` whose positions count from the start of `text`. The
    /// lexer skips a byte order mark.
    pub(crate) fn new(text: &'a [u8], start: usize, end: usize) -> Self {
        let mark = start == 0 && text[..end].starts_with("\u{feff}".as_bytes());
        let start = if mark { "\u{feff}".len() } else { start };
        Self {
            logos: Raw::lexer(&text[start..end]),
            base: start,
            keep_comments: false,
            in_rank_list: false,
        }
    }

    /// Makes comments [`Raw::Comment`] tokens, as the formatter wants them.
    pub(crate) fn keep_comments(mut self) -> Self {
        self.keep_comments = true;
        self
    }

    /// Goes on at `position`, which must not lie before text that was already read.
    #[inline]
    pub(crate) fn seek(&mut self, position: usize) {
        self.logos.bump(position - self.base - self.logos.span().end);
    }

    #[inline]
    pub(crate) fn next(&mut self) -> Option<RawToken> {
        loop {
            let raw = match self.logos.next()? {
                Ok(raw) => raw,
                Err(()) => Raw::Bad,
            };
            let raw = match raw {
                Raw::Rank => {
                    self.in_rank_list = true;
                    raw
                }
                Raw::Int | Raw::Comma | Raw::Star => raw,
                Raw::Hash if self.in_rank_list && self.before_digit() => raw,
                Raw::Hash | Raw::Slashes | Raw::OpenComment => match self.comment(raw) {
                    Raw::Comment if !self.keep_comments => continue,
                    other => other,
                },
                _ => {
                    self.in_rank_list = false;
                    raw
                }
            };
            let span = self.logos.span();
            return Some(RawToken {
                raw,
                start: self.base + span.start,
                end: self.base + span.end,
            });
        }
    }

    fn before_digit(&self) -> bool {
        self.logos.remainder().first().is_some_and(u8::is_ascii_digit)
    }

    #[cold]
    fn comment(&mut self, raw: Raw) -> Raw {
        let rest = self.logos.remainder();
        if raw != Raw::OpenComment {
            self.logos.bump(memchr::memchr(b'\n', rest).unwrap_or(rest.len()));
            return Raw::Comment;
        }
        match memchr::memmem::find(rest, b"*/") {
            Some(end) => {
                self.logos.bump(end + 2);
                Raw::Comment
            }
            None => {
                self.logos.bump(rest.len());
                Raw::Bad
            }
        }
    }
}

/// Returns the value of decimal digits, or of hexadecimal digits after `0x`. A value that exceeds
/// 64 bits becomes `u64::MAX`.
#[inline]
pub(super) fn number(digits: &[u8]) -> u64 {
    if digits.len() < 20 && (digits.len() < 2 || digits[1].is_ascii_digit()) {
        return digits.iter().fold(0, |value, digit| value * 10 + u64::from(digit - b'0'));
    }
    long_number(digits).unwrap_or(u64::MAX)
}

/// Returns the value of a number if it fits 64 bits.
#[cold]
pub(crate) fn long_number(digits: &[u8]) -> Option<u64> {
    let (digits, radix) = match digits {
        [b'0', b'x' | b'X', hex @ ..] => (hex, 16),
        decimal => (decimal, 10),
    };
    digits.iter().try_fold(0u64, |value, &digit| {
        let digit = (digit as char).to_digit(radix)?;
        value.checked_mul(u64::from(radix))?.checked_add(u64::from(digit))
    })
}
