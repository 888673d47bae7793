//! The memory of payloads, used again.

/// The most payloads that are kept.
const KEPT_MAX: usize = 512;

/// Payloads that are not needed any more, kept for their memory.
#[derive(Default)]
pub(super) struct Spare(Vec<Vec<u8>>);

impl Spare {
    /// Returns an empty payload.
    #[inline]
    pub(super) fn take(&mut self) -> Vec<u8> {
        self.0.pop().unwrap_or_default()
    }

    /// Keeps the memory of a payload.
    #[inline]
    pub(super) fn put(&mut self, mut payload: Vec<u8>) {
        if self.0.len() < KEPT_MAX {
            payload.clear();
            self.0.push(payload);
        }
    }
}

/// A payload that lies in a frame. It is copied to `memory` if the machine keeps it. If `is_read`,
/// it is read in place, and the machine keeps an empty payload for it.
pub(super) struct Copied<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) memory: &'a mut Vec<u8>,
    pub(super) is_read: bool,
}

impl From<Copied<'_>> for Vec<u8> {
    #[inline]
    fn from(Copied { bytes, memory, is_read }: Copied<'_>) -> Self {
        if is_read {
            return Self::new();
        }
        memory.extend_from_slice(bytes);
        std::mem::take(memory)
    }
}
