//! Reads variables of the environment, and checks their values.
//!
//! Threat: the user writes the environment, and launchers pass their environment on to the
//! processes that they start. So values may be stale, cut off or contradict each other. A number is
//! accepted only if it consists of decimal digits and is in range. Any other value causes an error
//! that states the variable and the value.

use crate::error::{Error, shown};
use crate::limits::RANKS_MAX;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

/// The environment of a process. The caller supplies the functions that read it.
pub(crate) struct Environment<'a> {
    get: &'a dyn Fn(&str) -> Option<OsString>,
    is_socket: &'a dyn Fn(i32) -> bool,
}

/// A number from the environment, with the name of its variable.
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

    /// Returns true if `descriptor` is an open socket of this process.
    pub(crate) fn is_socket(&self, descriptor: i32) -> bool {
        (self.is_socket)(descriptor)
    }

    pub(crate) fn is_set(&self, name: &str) -> bool {
        (self.get)(name).is_some()
    }

    /// Returns the value of a variable; `None` if it is not set. Bytes that are not UTF-8 are
    /// replaced.
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

    /// Reads a number from the variable `name`. Returns an error if it is not set, because the
    /// variable `of` is set.
    pub(crate) fn companion(&self, name: &'static str, of: &str) -> Result<Number, Error> {
        let error = || Error::Incomplete { present: of.to_owned(), missing: name.to_owned() };
        self.number(name)?.ok_or_else(error)
    }
}

/// Returns the error for a value that does not have the expected form.
pub(crate) fn invalid(name: &str, value: &[u8], expected: &'static str) -> Error {
    Error::Variable { variable: name.to_owned(), value: shown(value), expected }
}

/// Returns an error if a rank is not below the number of ranks. An unknown number is accepted.
pub(crate) fn below(rank: Number, size: Option<Number>) -> Result<(), Error> {
    let Some(size) = size.filter(|size| rank.value >= size.value) else { return Ok(()) };
    let rule = "a rank is below the number of ranks";
    Err(Error::Contradiction { first: rank.stated(), second: size.stated(), rule })
}

/// Returns an error if a node has more ranks than the job. Unknown numbers are accepted.
pub(crate) fn within(local: Option<Number>, size: Option<Number>) -> Result<(), Error> {
    let (Some(local), Some(size)) = (local, size) else { return Ok(()) };
    if local.value <= size.value {
        return Ok(());
    }
    let rule = "a node has no more ranks than the job";
    Err(Error::Contradiction { first: local.stated(), second: size.stated(), rule })
}

/// Returns an error if two variables that one launcher writes have different values.
pub(crate) fn agree(first: Number, second: Number) -> Result<(), Error> {
    if first.value == second.value {
        return Ok(());
    }
    let rule = "one launcher writes the same rank to both";
    Err(Error::Contradiction { first: first.stated(), second: second.stated(), rule })
}
