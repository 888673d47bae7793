//! Finds the correct text for frequent mistakes, from the words around a syntax error.
//!
//! The text is not trusted: it may be any bytes, in lines and words of any length. So only a few
//! bytes and tokens around the error are looked at.

use super::builder::Builder;
use super::functions;
use super::letters::in_ascii;
use crate::lexer::{Lexer, Spanned, Token};

/// Most ranks that an advice lists.
const RANKS_MAX: u64 = 16;

/// Most tokens that are read behind an error.
const TOKENS_MAX: usize = 32;

/// Most bytes of a word or a line that are looked at.
const BYTES_MAX: usize = 128;

/// The words around a syntax error.
pub(super) struct Around<'a> {
    text: &'a [u8],
    /// Up to three tokens before the error, the last one first.
    before: [Option<Spanned>; 3],
    found: Spanned,
    /// The end of the text in which tokens may follow.
    end: usize,
}

impl<'a> Around<'a> {
    /// Reads the tokens between a statement at `from` and the error once more, word by word.
    pub(super) fn new(builder: &Builder<'a>, from: usize, found: Spanned, end: usize) -> Self {
        let text = builder.text;
        let mut before = [None; 3];
        for token in Lexer::new(text, from, end).take_while(|token| token.0 < found.0) {
            before = [Some(token), before[0], before[1]];
        }
        Self { text, before, found, end }
    }

    /// Returns advice on what to write, or `None` if the mistake is not a known one.
    pub(super) fn advice(&self, expected: &[String]) -> Option<String> {
        let expects = |name: &str| expected.iter().any(|terminal| terminal == name);
        self.foreign_letters()
            .or_else(|| self.grouped_digits())
            .or_else(|| self.size())
            .or_else(|| self.time())
            .or_else(|| (expects("\"{\"") || expects("\"#\"")).then(|| self.ranks()).flatten())
            .or_else(|| self.dependencies())
            .or_else(|| self.function())
            .or_else(|| self.values(expects("float")))
    }

    /// Returns true for `rank` behind `to` or `from`, as in `to rank 1`: the word begins no block.
    pub(super) fn is_before_peer(&self) -> bool {
        self.found.1 == Token::Rank && matches!(self.kind(0), Some(Token::To | Token::From))
    }

    fn kind(&self, back: usize) -> Option<Token> {
        self.before[back].map(|token| token.1)
    }

    fn word(&self, back: usize) -> &'a str {
        self.before[back].map_or("", |(start, _, end)| self.slice(start, end))
    }

    /// Returns a word, or an empty text if the word is too long or not UTF-8.
    fn slice(&self, start: usize, end: usize) -> &'a str {
        let word = &self.text[start..end.min(start + BYTES_MAX + 1)];
        std::str::from_utf8(word).ok().filter(|word| word.len() <= BYTES_MAX).unwrap_or("")
    }

    fn found_word(&self) -> &'a str {
        self.slice(self.found.0, self.found.2)
    }

    /// Returns the tokens behind the error that are on the error's line.
    fn rest_of_line(&self) -> impl Iterator<Item = Spanned> {
        let from = self.found.2;
        let rest = &self.text[from..self.end];
        let to = from + memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        Lexer::new(self.text, from, to).take(TOKENS_MAX)
    }

    /// Returns the bounds of the word around the error if it has letters that names can't have.
    /// Then the error is in the middle of the word.
    pub(super) fn foreign_word(&self) -> Option<(usize, usize)> {
        let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_' || **byte >= 0x80;
        let at = self.found.0;
        let before = self.text[..at].iter().rev().take(BYTES_MAX).take_while(is_part);
        let behind = self.text[at..self.end].iter().take(BYTES_MAX).take_while(is_part);
        let (start, end) = (at - before.count(), at + behind.count());
        let word = self.slice(start, end);
        let mut letters = word.chars();
        let is_word = letters.clone().any(|c| !c.is_ascii() && c.is_alphabetic())
            && letters.next().is_some_and(|c| !c.is_ascii_digit());
        is_word.then_some((start, end))
    }

    fn foreign_letters(&self) -> Option<String> {
        let (start, end) = self.foreign_word()?;
        let mut name: String = self.slice(start, end).chars().map(in_ascii).collect();
        if name.bytes().all(|byte| byte == b'_') {
            "label1".clone_into(&mut name);
        }
        Some(format!(
            "a name has only the letters A to Z and a to z, digits and `_`: write `{name}`"
        ))
    }

    /// Advises on digits in groups: `1_000` and `1,000`.
    fn grouped_digits(&self) -> Option<String> {
        let word = self.found_word();
        let is_number =
            |digits: &str| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        if self.found.1 == Token::Bad && word.contains('_') {
            let digits = word.replace('_', "");
            return is_number(&digits).then(|| format!("write the number without `_`: `{digits}`"));
        }
        let groups = || -> Option<String> {
            let mut digits = self.word(0).to_owned();
            let mut tokens = std::iter::once(self.found).chain(self.rest_of_line());
            let mut reached = self.before[0]?.2;
            while let Some((start, Token::Comma, comma)) = tokens.next()
                && start == reached
                && let Some((group, Token::Int(_), end)) = tokens.next()
                && group == comma
                && end - group == 3
            {
                digits += self.slice(group, end);
                reached = end;
            }
            (digits.len() > self.word(0).len()).then_some(digits)
        };
        match (self.kind(1), self.kind(0), self.found.1) {
            (Some(Token::Calc), Some(Token::Int(_)), Token::Comma) => {
                groups().map(|digits| format!("write the number without commas: `calc {digits}`"))
            }
            _ => None,
        }
    }

    /// Advises on sizes and peers: `send 8 to 1`, `send 8kB to 1`, `send 1.5 to 1`, `send 8b to
    /// rank 1`.
    fn size(&self) -> Option<String> {
        let verb = match (self.kind(1), self.kind(0), self.found.1) {
            (
                Some(verb @ (Token::Send | Token::Recv)),
                Some(Token::Int(_)),
                Token::To | Token::From,
            ) => {
                let (bytes, way) = (self.word(0), self.found_word());
                let verb = if verb == Token::Send { "send" } else { "recv" };
                let peer = match self.rest_of_line().next() {
                    Some((start, Token::Int(_) | Token::Any | Token::Negative, end)) => {
                        self.slice(start, end)
                    }
                    _ => "RANK",
                };
                return Some(format!(
                    "write `{verb} {bytes}b {way} {peer}` for {bytes} bytes of any content, or `{verb} 0,{bytes} {way} {peer}` for those at address 0"
                ));
            }
            (_, Some(way @ (Token::To | Token::From)), Token::Rank) => {
                let way = if way == Token::To { "to" } else { "from" };
                let (start, _, end) = self.rest_of_line().next()?;
                return Some(format!("write `{way} {}`", self.slice(start, end)));
            }
            (_, Some(Token::To | Token::From), Token::Bad) => {
                let sign = Some(self.found_word()).filter(|sign| matches!(*sign, "+" | "^"))?;
                return Some(format!("write `rank{sign}N` for a peer relative to the rank"));
            }
            (
                _,
                Some(verb @ (Token::Send | Token::Recv)),
                Token::Bad | Token::Float | Token::Negative,
            ) => verb,
            (Some(verb @ (Token::Send | Token::Recv)), Some(Token::Int(_)), Token::Word(_)) => verb,
            _ => return None,
        };
        let (value, unit) = self.quantity()?;
        let scale = match unit.to_ascii_lowercase().as_str() {
            "" | "b" | "byte" | "bytes" => 1.0,
            "k" | "kb" | "kib" => 1024.0,
            "m" | "mb" | "mib" => 1024.0 * 1024.0,
            "g" | "gb" | "gib" => 1024.0 * 1024.0 * 1024.0,
            _ => return None,
        };
        let bytes = whole(value * scale)?;
        let verb = if verb == Token::Send { "send" } else { "recv" };
        Some(format!("a size is a whole number of bytes: write `{verb} {bytes}b`"))
    }

    /// Advises on times: `calc 1.5`, `calc 1us`, `calc 1 us`.
    fn time(&self) -> Option<String> {
        match (self.kind(1), self.kind(0), self.found.1) {
            (_, Some(Token::Calc), Token::Bad | Token::Float | Token::Negative)
            | (Some(Token::Calc), Some(Token::Int(_)), Token::Bad | Token::Word(_)) => {}
            _ => return None,
        }
        let (value, unit) = self.quantity()?;
        let scale = match unit {
            "" | "ns" | "nsec" => 1.0,
            "us" | "usec" | "µs" | "μs" => 1e3,
            "ms" | "msec" => 1e6,
            "s" | "sec" => 1e9,
            "min" => 60e9,
            _ => return None,
        };
        let nanos = whole(value * scale)?;
        Some(format!("a time is a whole number of nanoseconds: write `calc {nanos}`"))
    }

    /// Returns the number at the error or before it, and the unit behind the number.
    fn quantity(&self) -> Option<(f64, &'a str)> {
        let at = match self.kind(0) {
            Some(Token::Int(_)) => self.before[0]?.0,
            _ => self.found.0,
        };
        let line = &self.text[at..self.end.min(at + BYTES_MAX)];
        let line = &line[..memchr::memchr(b'\n', line).unwrap_or(line.len())];
        // The rest of the line may be any bytes.
        let line = match std::str::from_utf8(line) {
            Ok(line) => line,
            Err(error) => std::str::from_utf8(&line[..error.valid_up_to()]).ok()?,
        };
        let is_of_number = |c: char| c.is_ascii_digit() || c == '.';
        let mut digits = line.find(|c| !is_of_number(c)).unwrap_or(line.len());
        // An exponent, as in `1e3` and `1e-3`.
        if let Some(rest) = line[digits..].strip_prefix(['e', 'E']) {
            let sign = usize::from(rest.starts_with(['+', '-']));
            let exponent = rest[sign..].bytes().take_while(u8::is_ascii_digit).count();
            digits += if exponent > 0 { 1 + sign + exponent } else { 0 };
        }
        let value = line[..digits].parse().ok()?;
        let unit = match self.kind(0) {
            Some(Token::Int(_)) => line[digits..].trim_start_matches(' '),
            _ => &line[digits..],
        };
        let letters = unit.find(|c: char| !c.is_alphabetic()).unwrap_or(unit.len());
        // A whole number before the error is wrong only if it has a unit.
        let is_whole = letters == 0 && matches!(self.kind(0), Some(Token::Int(_)));
        (!is_whole).then_some((value, &unit[..letters]))
    }

    /// Advises on lists of ranks: `rank 0-3`, `rank 0..3`, `rank 0:3`, `rank 0 to 3`, `rank 0 1`,
    /// `rank [0,1]`, `rank all`.
    fn ranks(&self) -> Option<String> {
        let (near, at) = (self.found.0.saturating_sub(BYTES_MAX), self.found.0);
        let line =
            memchr::memrchr(b'\n', &self.text[near..at]).map_or(near, |line| near + line + 1);
        let start = line + self.slice(line, at).rfind("rank")? + "rank".len();
        let rest = &self.text[start..self.end.min(start + BYTES_MAX)];
        let length = rest.iter().position(|byte| b"{\n".contains(byte)).unwrap_or(rest.len());
        let head = self.slice(start, start + length).trim();
        let head = head.trim_matches(['[', ']', '(', ')']).trim();
        if matches!(head, "all" | "any" | "-1") {
            return Some("write `rank *` for all ranks".to_owned());
        }
        let head = head.replace("...", "-").replace("..", "-").replace(':', "-");
        let head = head.replace(" to ", "-").replace(" - ", "-").replace('#', "");
        let mut ranks = Vec::new();
        for part in head.split([',', ' ']).filter(|part| !part.is_empty()) {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
            if first > last || last - first >= RANKS_MAX {
                return Some(
                    "name each rank, as in `rank 0, 1, 2`, or write `rank *` for all".to_owned(),
                );
            }
            ranks.extend((first..=last).map(|rank| rank.to_string()));
        }
        (ranks.len() > 1).then(|| format!("write `rank {}`", ranks.join(", ")))
    }

    /// Advises on dependencies: `b requires a, c`, `b requires a and c`, `a, c requires b`, `a ->
    /// b`.
    fn dependencies(&self) -> Option<String> {
        let (Some((_, Token::Name(_), last)), rest) = (self.before[0], self.rest_of_line()) else {
            return self.turned();
        };
        let gap = &self.text[last..self.found.0];
        let same_line = gap.len() < BYTES_MAX && !gap.contains(&b'\n');
        if !same_line || !matches!(self.found.1, Token::Comma | Token::Word(_) | Token::Bad) {
            return None;
        }
        let waiter = self.word(2);
        let state = |prerequisite: &str| match self.kind(1) {
            Some(Token::Arrow) => format!("`requ {waiter} -> {prerequisite}`"),
            Some(Token::Irequires) => format!("`{waiter} irequires {prerequisite}`"),
            _ => format!("`{waiter} requires {prerequisite}`"),
        };
        let mut all = vec![state(self.word(0))];
        for (start, token, end) in std::iter::once(self.found).chain(rest) {
            match token {
                Token::Word(_) if matches!(self.slice(start, end), "and" | "or") => {}
                Token::Word(_) => all.push(state(self.slice(start, end))),
                Token::Comma => {}
                Token::Bad if self.text[start] == b'&' => {}
                _ => break,
            }
        }
        (all.len() > 1).then(|| apart(&all))
    }

    /// Advises on a list of labels before `requires`, and on an arrow without `requ`.
    fn turned(&self) -> Option<String> {
        if !matches!(self.found.1, Token::Word(_)) {
            return None;
        }
        let mut labels = vec![self.found_word()];
        let mut rest = self.rest_of_line();
        loop {
            match rest.next()? {
                (_, Token::Arrow, _) if labels.len() == 1 => {
                    let (start, _, end) = rest.next()?;
                    let prerequisite = self.slice(start, end);
                    return Some(format!(
                        "write `requ {0} -> {prerequisite}` or `{0} requires {prerequisite}`",
                        labels[0]
                    ));
                }
                (_, Token::Comma, _) => match rest.next()? {
                    (start, Token::Word(_), end) => labels.push(self.slice(start, end)),
                    (start, Token::Waiter(_), end) => {
                        labels.push(self.slice(start, end));
                        let (verb_start, _, verb_end) = rest.next()?;
                        let (start, _, end) = rest.next()?;
                        let (verb, last) =
                            (self.slice(verb_start, verb_end), self.slice(start, end));
                        let all = labels.iter().map(|label| format!("`{label} {verb} {last}`"));
                        return Some(apart(&all.collect::<Vec<_>>()));
                    }
                    _ => return None,
                },
                _ => return None,
            }
        }
    }

    /// Advises on a function in two words: `exec sum Int32 with ...`.
    fn function(&self) -> Option<String> {
        let (Some(Token::Word(_)), Token::Word(_)) = (self.kind(0), self.found.1) else {
            return None;
        };
        if functions::function(self.word(0).as_bytes()).is_some() {
            return None;
        }
        let name = format!("{}{}", self.word(0), self.found_word());
        let function = functions::meant(name.as_bytes())?;
        Some(format!("write the operation and the datatype as one word: `{function}`"))
    }

    /// Advises on values: `init 0 = 5`, `init 0 = Int32 1, 2`.
    fn values(&self, expects_value: bool) -> Option<String> {
        match (self.kind(0), self.found.1) {
            (Some(Token::Equals), Token::Int(_) | Token::Float | Token::Negative) => {
                let value = self.found_word();
                let datatype = if self.found.1 == Token::Float { "Float64" } else { "Int32" };
                Some(format!("name the datatype before the values: `{datatype} {value}`"))
            }
            (_, Token::Comma) if expects_value => {
                Some("write a blank between two values, and no comma".to_owned())
            }
            _ => None,
        }
    }
}

/// Returns the advice to write several dependencies.
fn apart(all: &[String]) -> String {
    format!("a dependency names one label: write {} as statements of their own", all.join(" and "))
}

/// Returns a value rounded to a whole number, at least 1. Returns `None` if it is not above 0, or
/// too large to be exact.
fn whole(value: f64) -> Option<u64> {
    let rounded = value.round();
    (value > 0.0 && rounded < (1u64 << 53) as f64).then_some((rounded as u64).max(1))
}
