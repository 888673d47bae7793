//! Checked reading of a file's parts: no byte behind the end of a part is read.

use super::bytes::{u32_at, u64_at};
use super::container::{PART_HEAD, PART_TAIL, padded};
use super::error::VerifyError;
use goal_lang::Datatype;
use goal_lang::diag::Code;
use std::ops::Range;

pub(super) type Result<T> = std::result::Result<T, VerifyError>;

/// The bytes of a file whose structure is not known to be right.
#[derive(Clone, Copy)]
pub(super) struct File<'a>(pub(super) &'a [u8]);

impl File<'_> {
    pub(super) fn part(self, at: usize) -> Result<(u32, Range<usize>)> {
        let rest = (self.0.len() - at) as u64;
        if rest < (PART_HEAD + PART_TAIL) as u64 {
            return Err(self.format(at, "the file ends inside a part"));
        }
        let (kind, length) = (u32_at(self.0, at), u64_at(self.0, at + 4));
        if length > rest - (PART_HEAD + PART_TAIL) as u64 || length % 4 != 0 {
            return Err(self.format(at, format!("a part of {length} bytes does not fit the file")));
        }
        let start = at + PART_HEAD;
        Ok((kind, start..start + length as usize))
    }

    pub(super) fn format(self, at: usize, message: impl Into<String>) -> VerifyError {
        VerifyError::new(Code::NisaFormat, at as u64, message)
    }

    pub(super) fn data(self, at: usize, message: impl Into<String>) -> VerifyError {
        VerifyError::new(Code::NisaData, at as u64, message)
    }
}

/// Reads a part from its beginning to its end.
pub(super) struct Reader<'a> {
    file: File<'a>,
    pub(super) at: usize,
    end: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(file: File<'a>, part: Range<usize>) -> Self {
        Self { file, at: part.start, end: part.end }
    }

    pub(super) fn skip(&mut self, bytes: u64) -> Result<Range<usize>> {
        if bytes > (self.end - self.at) as u64 {
            return Err(self.file.data(self.at, format!("{bytes} more bytes don't fit the part")));
        }
        let start = self.at;
        self.at += bytes as usize;
        Ok(start..self.at)
    }

    pub(super) fn word(&mut self) -> Result<u32> {
        let at = self.skip(4)?.start;
        Ok(u32_at(self.file.0, at))
    }

    pub(super) fn long(&mut self) -> Result<u64> {
        let at = self.skip(8)?.start;
        Ok(u64_at(self.file.0, at))
    }

    /// Reads `length` bytes and the zeros that pad them to a multiple of 4. Returns the place of
    /// the bytes without the padding.
    pub(super) fn padded(&mut self, length: u64) -> Result<Range<usize>> {
        let start = self.at;
        let fits = length <= (self.end - self.at) as u64;
        let whole = self.skip(if fits { padded(length) } else { length })?;
        let end = start + length as usize;
        if self.file.0[end..whole.end].iter().any(|&byte| byte != 0) {
            return Err(self.file.data(end, "padding that is not zero"));
        }
        Ok(start..end)
    }

    pub(super) fn text(&mut self, length: u32) -> Result<Range<usize>> {
        let range = self.padded(u64::from(length))?;
        match std::str::from_utf8(&self.file.0[range.clone()]) {
            Ok(_) => Ok(range),
            Err(_) => Err(self.file.data(range.start, "a name that is not UTF-8")),
        }
    }

    /// Reads the values of an `init` or `expect`, which must ascend by address without overlap.
    /// Returns the address behind the last value, or 0 if there are no values.
    pub(super) fn data(&mut self) -> Result<u64> {
        let mut end = 0;
        for i in 0..self.word()? {
            let at = self.at;
            let (addr, length, datatype) = (self.long()?, self.long()?, self.word()?);
            let datatype = u8::try_from(datatype).ok().and_then(Datatype::from_code);
            let Some(datatype) = datatype.filter(|&datatype| datatype != Datatype::Float8) else {
                return Err(self.file.data(at + 16, "values of an unknown type"));
            };
            if length == 0 || length % datatype.width() != 0 {
                return Err(self.file.data(
                    at + 8,
                    format!("{length} bytes are not values of {}", datatype.name()),
                ));
            }
            if i > 0 && addr < end {
                return Err(self
                    .file
                    .data(at, "values overlap those before them, or are out of order"));
            }
            end = addr
                .checked_add(length)
                .ok_or_else(|| self.file.data(at, "values end past 2^64 bytes"))?;
            self.padded(length)?;
        }
        Ok(end)
    }

    /// Reads the labels of a section: first the end of each action's label in one text, then that
    /// text.
    pub(super) fn labels(&mut self, actions: u32) -> Result<()> {
        let ends = self.skip(4 * u64::from(actions))?;
        let end_of = |at| u32_at(self.file.0, at);
        let length = if actions == 0 { 0 } else { end_of(ends.end - 4) };
        let text_at = self.at;
        let text = self.text(length)?;
        let text = std::str::from_utf8(&self.file.0[text]).expect("checked");
        let mut before = 0;
        for at in ends.step_by(4) {
            let end = u32_at(self.file.0, at);
            if end < before || !text.is_char_boundary(end as usize) {
                return Err(self
                    .file
                    .data(at, format!("a label ends at {end} of the text at {text_at:#x}")));
            }
            before = end;
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Result<()> {
        if self.at == self.end {
            Ok(())
        } else {
            Err(self.file.data(self.at, "bytes behind the end of the part"))
        }
    }
}
