//! Parses answers of PMI-1: `cmd=NAME key=value ...`, separated by spaces.
//!
//! Threat: see `mod.rs`. All bytes must be visible ASCII or spaces, each pair needs an equals sign,
//! no key may come twice, and there are at most [`PAIRS_MAX`] pairs. Unknown keys are allowed,
//! because servers add keys of their own.

/// The most pairs of an answer.
const PAIRS_MAX: usize = 32;

/// A parsed answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer<'a> {
    command: &'a str,
    pairs: Vec<(&'a str, &'a str)>,
}

impl<'a> Answer<'a> {
    /// Parses a line without its newline.
    ///
    /// # Errors
    /// The rule that the line breaks.
    pub(super) fn parse(line: &'a [u8]) -> Result<Self, &'static str> {
        if !line.iter().all(|byte| matches!(byte, b' '..=b'~')) {
            return Err("it has bytes that are neither visible ASCII nor spaces");
        }
        let text = std::str::from_utf8(line).map_err(|_| "it is not ASCII")?;
        let mut pairs: Vec<(&str, &str)> = Vec::new();
        for pair in text.split(' ').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').ok_or("a part of it has no equals sign")?;
            if key.is_empty() {
                return Err("a value has no key");
            }
            if pairs.iter().any(|&(earlier, _)| earlier == key) {
                return Err("a key comes twice");
            }
            if pairs.len() == PAIRS_MAX {
                return Err("it has too many pairs");
            }
            pairs.push((key, value));
        }
        match pairs.first() {
            Some(&("cmd", command)) => Ok(Self { command, pairs }),
            _ => Err("it does not begin with cmd="),
        }
    }

    pub(super) fn command(&self) -> &'a str {
        self.command
    }

    pub(super) fn value(&self, key: &str) -> Option<&'a str> {
        self.pairs.iter().find(|&&(found, _)| found == key).map(|&(_, value)| value)
    }

    /// Returns the value of `key` as a decimal number without a sign; `None` if it is missing or no
    /// such number.
    pub(super) fn number(&self, key: &str) -> Option<u32> {
        let digits = self.value(key)?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
    }

    /// Returns true unless the answer reports an error.
    pub(super) fn is_success(&self) -> bool {
        matches!(self.value("rc"), None | Some("0"))
    }
}
