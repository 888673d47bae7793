//! The third layer of the lexer: statements as plain as Schedgen writes them, many in one token.
//!
//! Files of gigabytes consist of such statements. They are read fast because the parser reads a
//! hundred in one step, instead of each in ten steps. A statement is plain if it is on one line, in
//! the usual order, with only blanks between its words and with small decimal numbers. All other
//! statements, and all wrong ones, reach the grammar word by word. `parse::tests` compares both
//! ways of reading.

use logos::Logos;

use super::raw::{Raw, RawToken};
use super::token::{Plain, PlainDependency, PlainKind, Spanned, Token};

/// Most statements that one token stands for. Tests read short texts, and need more than one batch.
const BATCH_MAX: usize = if cfg!(test) { 4 } else { 128 };

/// The number of decimal digits that always fit 64 bits, and the number that always fit 32 bits.
const DIGITS_MAX: (usize, usize) = (18, 9);

/// Fills `found` with the plain statements from the word `first` on between which only white space
/// lies. A word that may begin a statement follows each of them but the last, so no further word
/// belongs to them.
#[inline]
pub(super) fn statements(text: &[u8], first: RawToken, found: &mut Vec<Spanned>) {
    found.clear();
    let mut next = Some(first);
    while let Some(word) = next
        && let Some((token, end)) = statement(text, word)
    {
        found.push((word.start, token, end));
        next = if found.len() < BATCH_MAX { following(text, end) } else { None };
    }
}

/// Returns the word behind the white space at `at`, or `None` if no plain statement may begin with
/// it.
#[inline]
fn following(text: &[u8], at: usize) -> Option<RawToken> {
    let mut scan = Scan { text, at };
    while matches!(scan.byte(), b' ' | b'\t' | b'\r' | b'\n' | b'\x0b' | b'\x0c') {
        scan.at += 1;
    }
    let start = scan.at;
    let word = scan.word();
    if word.first()?.is_ascii_digit() {
        return None;
    }
    // Most labels end with a digit, and all words of the language end with a letter.
    let raw = if word[word.len() - 1].is_ascii_digit() {
        Raw::Word
    } else {
        Raw::lexer(word).next()?.ok().filter(|&raw| may_follow(raw, word == b"b"))?
    };
    Some(RawToken { raw, start, end: scan.at })
}

/// Returns the plain statement that begins with the word `first`, and its end.
#[inline]
fn statement(text: &[u8], first: RawToken) -> Option<(Token, usize)> {
    let mut scan = Scan { text, at: first.end };
    let length = first.end - first.start;
    match first.raw {
        Raw::Send => operation(scan, PlainKind::Send, 0),
        Raw::Recv => operation(scan, PlainKind::Recv, 0),
        Raw::Calc => operation(scan, PlainKind::Calc, 0),
        Raw::Word if scan.byte() == b':' => {
            scan.at += 1;
            scan.blanks();
            let keyword = scan.keyword()?;
            operation(scan, keyword, length)
        }
        Raw::Word => dependency(scan, first.start, length),
        _ => None,
    }
}

/// Returns true if the raw token behind a plain statement can't belong to that statement.
#[inline]
pub(super) fn may_follow(raw: Raw, is_unit: bool) -> bool {
    !matches!(raw, Raw::Tag | Raw::Cpu | Raw::Nic | Raw::With) && !is_unit
}

#[inline]
fn operation(mut scan: Scan<'_>, keyword: PlainKind, label: usize) -> Option<(Token, usize)> {
    let mut plain = Plain {
        size: 0,
        label: u32::try_from(label).ok()?,
        peer: 0,
        tag: 0,
        cpu: 0,
        nic: 0,
        kind: keyword,
    };
    scan.gap()?;
    plain.size = scan.number(DIGITS_MAX.0)?;
    if keyword != PlainKind::Calc {
        scan.expect(b"b")?;
        scan.gap()?;
        if keyword == PlainKind::Send {
            scan.expect(b"to")?
        } else {
            scan.expect(b"from")?
        }
        scan.gap()?;
        plain.peer = scan.number(DIGITS_MAX.1)? as u32;
    }
    let (mut seen_tag, mut seen_cpu, mut seen_nic) = (keyword == PlainKind::Calc, false, false);
    loop {
        let end = scan.at;
        scan.blanks();
        let seen = match scan.byte() {
            b'\n' | b'\r' | b';' | b'}' | b'#' | b'/' => return Some((Token::Plain(plain), end)),
            _ if scan.at == scan.text.len() => return Some((Token::Plain(plain), end)),
            _ if scan.at == end => return None,
            b't' => &mut seen_tag,
            b'c' => &mut seen_cpu,
            b'n' => &mut seen_nic,
            other if other.is_ascii_alphabetic() => return Some((Token::Plain(plain), end)),
            _ => return None,
        };
        if std::mem::replace(seen, true) {
            return None;
        }
        let attribute = scan.take::<3>()?;
        scan.gap()?;
        let value = scan.number(DIGITS_MAX.1)? as u32;
        match attribute {
            b"tag" => plain.tag = value,
            b"cpu" => plain.cpu = u16::try_from(value).ok()?,
            b"nic" => plain.nic = u8::try_from(value).ok()?,
            _ => return None,
        }
    }
}

#[inline]
fn dependency(mut scan: Scan<'_>, start: usize, waiter: usize) -> Option<(Token, usize)> {
    scan.gap()?;
    let irequires = match scan.word() {
        b"requires" => false,
        b"irequires" => true,
        _ => return None,
    };
    scan.gap()?;
    let name = scan.at;
    let name_len = scan.word().len();
    if name_len == 0 || scan.text[name].is_ascii_digit() {
        return None;
    }
    let dependency = PlainDependency {
        waiter: u32::try_from(waiter).ok()?,
        name: u32::try_from(name - start).ok()?,
        name_len: u32::try_from(name_len).ok()?,
        start: irequires,
    };
    Some((Token::PlainDependency(dependency), scan.at))
}

struct Scan<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Scan<'a> {
    /// Returns the next byte, or 0 at the end.
    #[inline]
    fn byte(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(0)
    }

    #[inline]
    fn word(&mut self) -> &'a [u8] {
        let start = self.at;
        while self.byte().is_ascii_alphanumeric() || self.byte() == b'_' {
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    /// Returns the next `N` bytes.
    #[inline]
    fn take<const N: usize>(&mut self) -> Option<&'a [u8; N]> {
        let bytes = self.text.get(self.at..)?.first_chunk()?;
        self.at += N;
        Some(bytes)
    }

    /// Reads the keyword that begins an operation.
    #[inline]
    fn keyword(&mut self) -> Option<PlainKind> {
        match self.take::<4>()? {
            b"send" => Some(PlainKind::Send),
            b"recv" => Some(PlainKind::Recv),
            b"calc" => Some(PlainKind::Calc),
            _ => None,
        }
    }

    #[inline]
    fn blanks(&mut self) {
        while matches!(self.byte(), b' ' | b'\t') {
            self.at += 1;
        }
    }

    /// Reads one or more blanks.
    #[inline]
    fn gap(&mut self) -> Option<()> {
        let start = self.at;
        self.blanks();
        (self.at > start).then_some(())
    }

    #[inline]
    fn expect<const N: usize>(&mut self, word: &[u8; N]) -> Option<()> {
        (self.take::<N>()? == word).then_some(())
    }

    #[inline]
    fn number(&mut self, digits_max: usize) -> Option<u64> {
        let mut value = 0u64;
        let mut digits = 0;
        for byte in self.text.get(self.at..)? {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            // A number with too many digits wraps around here, and is refused below by their count.
            value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
            digits += 1;
        }
        self.at += digits;
        (1..=digits_max).contains(&digits).then_some(value)
    }
}
