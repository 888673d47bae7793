//! The bytes of a LogGOPSim binary, and the error about bytes that are refused.

use goal_lang::limits::Limit;

/// The reason why bytes are not a usable LogGOPSim binary.
#[derive(Debug, thiserror::Error)]
#[error("{message} (at byte {offset:#x} of the file)")]
pub struct ReadError {
    pub(super) message: String,
    pub(super) offset: u64,
    pub(super) limit: Option<Limit>,
}

impl ReadError {
    /// Returns the limit that the file exceeds, or `None` if the file is refused for another
    /// reason.
    pub fn limit(&self) -> Option<Limit> {
        self.limit
    }

    /// Returns the error of a part of the file that begins at byte `start`.
    pub(super) fn behind(self, start: usize) -> Self {
        Self { offset: self.offset + start as u64, ..self }
    }
}

pub(super) type Result<T> = std::result::Result<T, ReadError>;

pub(super) fn error<T>(offset: usize, message: impl Into<String>) -> Result<T> {
    Err(ReadError { message: message.into(), offset: offset as u64, limit: None })
}

/// The bytes of a LogGOPSim binary. The methods read numbers at offsets that the caller has
/// checked.
#[derive(Debug, Clone, Copy)]
pub(super) struct File<'a>(pub(super) &'a [u8]);

impl File<'_> {
    #[inline]
    pub(super) fn u32(self, at: usize) -> u32 {
        u32::from_le_bytes(self.0[at..at + 4].try_into().expect("four bytes"))
    }

    #[inline]
    pub(super) fn u64(self, at: usize) -> u64 {
        u64::from_le_bytes(self.0[at..at + 8].try_into().expect("eight bytes"))
    }
}
