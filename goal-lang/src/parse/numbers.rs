//! Numbers and the widths they have to fit.

use super::builder::Builder;
use crate::diag::{Code, Diagnostic};
use crate::lexer::long_number;
use crate::limits::Limit;

impl Builder<'_> {
    /// Returns the end of the number or word at `start`.
    pub(super) fn number_end(&self, start: usize) -> usize {
        let rest = &self.text[start..];
        let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
        let word = &rest[..rest.iter().take_while(is_part).count()];
        let is_hexadecimal = word.starts_with(b"0x") || word.starts_with(b"0X");
        let unit =
            word.len() > 1 && word[0].is_ascii_digit() && word.ends_with(b"b") && !is_hexadecimal;
        start + word.len() - usize::from(unit)
    }

    /// Returns a number, or reports it if it does not fit 64 bits. The lexer passes `u64::MAX` for
    /// that number and for all larger ones.
    #[inline]
    pub(super) fn wide(&mut self, at: usize, value: u64, what: &str) -> Option<u64> {
        if value < u64::MAX { Some(value) } else { self.too_wide(at, what) }
    }

    #[cold]
    fn too_wide(&mut self, at: usize, what: &str) -> Option<u64> {
        let value = long_number(&self.text[at..self.number_end(at)]);
        if value.is_none() {
            self.overflow(at, u64::MAX, what, None);
        }
        value
    }

    /// Returns a number of fewer bits, or reports it if it is larger than `max`.
    #[inline]
    pub(super) fn narrow<T: TryFrom<u64> + Into<u64> + Copy>(
        &mut self,
        at: usize,
        value: u64,
        max: T,
        what: &str,
    ) -> Option<T> {
        let max = max.into();
        if value > max {
            self.overflow(at, max, what, None);
            return None;
        }
        T::try_from(value).ok()
    }

    #[cold]
    pub(super) fn overflow(&mut self, at: usize, max: u64, what: &str, limit: Option<Limit>) {
        let bits = u64::BITS - max.leading_zeros();
        let end = self.number_end(at);
        let (span, number) = (self.span(at, end), self.quote(at, end));
        self.report.add(Code::NumberOverflow, || {
            let message = format!("{number} is too large for {what}");
            let diagnostic = Diagnostic::new(Code::NumberOverflow, message)
                .label(span, format!("at most {max}"))
                .note(format!("{what} has {bits} bits; the largest is {max}"));
            match limit {
                Some(limit) => diagnostic.limit(limit),
                None => diagnostic.help("use a smaller number"),
            }
        });
    }
}
