//! Variables of the environment, read with care.
//!
//! Threat: the user writes the environment, and launchers leave theirs to what they start, so
//! values may be stale, cut off or contradict each other. A number is accepted only if it consists
//! of decimal digits and is in range; everything else is an error with the variable and its value.

use crate::error::{Error, shown};
use crate::limits::RANKS_MAX;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

/// The environment of a process, as its reader hands it in.
pub(crate) struct Environment<'a> {
    get: &'a dyn Fn(&str) -> Option<OsString>,
    is_socket: &'a dyn Fn(i32) -> bool,
}

/// A number, with the variable that it came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Number {
    pub(crate) name: &'static str,
    pub(crate) value: u32,
}

impl Number {
    fn stated(self) -> String {
        format!("{}={}", self.name, self.value)
    }
}

impl<'a> Environment<'a> {
    pub(crate) fn new(
        get: &'a dyn Fn(&str) -> Option<OsString>,
        is_socket: &'a dyn Fn(i32) -> bool,
    ) -> Self {
        Self { get, is_socket }
    }

    /// Returns true if the descriptor is an open socket of this process.
    pub(crate) fn is_socket(&self, descriptor: i32) -> bool {
        (self.is_socket)(descriptor)
    }

    pub(crate) fn is_set(&self, name: &str) -> bool {
        (self.get)(name).is_some()
    }

    /// Returns the value of a variable; bytes that are no UTF-8 are replaced.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        Some((self.get)(name)?.to_string_lossy().into_owned())
    }

    /// Reads a number of at most [`RANKS_MAX`]; `None` if the variable is not set.
    pub(crate) fn number(&self, name: &'static str) -> Result<Option<Number>, Error> {
        let Some(value) = (self.get)(name) else { return Ok(None) };
        let digits = value.to_str().filter(|text| {
            !text.is_empty() && text.len() <= 10 && text.bytes().all(|b| b.is_ascii_digit())
        });
        let number = digits.and_then(|text| text.parse().ok()).filter(|&n| n <= RANKS_MAX);
        let error = || invalid(name, value.as_bytes(), "a decimal number of at most 16777216");
        Ok(Some(Number { name, value: number.ok_or_else(error)? }))
    }

    /// Reads a number that must be there because another variable is.
    pub(crate) fn companion(&self, name: &'static str, of: &str) -> Result<Number, Error> {
        let error = || Error::Incomplete { present: of.to_owned(), missing: name.to_owned() };
        self.number(name)?.ok_or_else(error)
    }
}

/// Makes the error of a value that has not the expected form.
pub(crate) fn invalid(name: &str, value: &[u8], expected: &'static str) -> Error {
    Error::Variable { variable: name.to_owned(), value: shown(value), expected }
}

/// Demands that a rank is below the number of ranks.
pub(crate) fn below(rank: Number, size: Option<Number>) -> Result<(), Error> {
    let Some(size) = size.filter(|size| rank.value >= size.value) else { return Ok(()) };
    let rule = "a rank is below the number of ranks";
    Err(Error::Contradiction { first: rank.stated(), second: size.stated(), rule })
}

/// Demands that a node has no more ranks than the job.
pub(crate) fn within(local: Option<Number>, size: Option<Number>) -> Result<(), Error> {
    let (Some(local), Some(size)) = (local, size) else { return Ok(()) };
    if local.value <= size.value {
        return Ok(());
    }
    let rule = "a node has no more ranks than the job";
    Err(Error::Contradiction { first: local.stated(), second: size.stated(), rule })
}

/// Demands that two variables which one launcher writes agree.
pub(crate) fn agree(first: Number, second: Number) -> Result<(), Error> {
    if first.value == second.value {
        return Ok(());
    }
    let rule = "one launcher writes the same rank to both";
    Err(Error::Contradiction { first: first.stated(), second: second.stated(), rule })
}
