//! Keeps the memory of payloads, so that it is used again.

/// The most payloads that are kept.
const KEPT_MAX: usize = 512;

/// Payloads that are not needed any more, kept for their memory.
#[derive(Default)]
pub(super) struct Spare(Vec<Vec<u8>>);

impl Spare {
    /// Returns an empty payload, with kept memory if there is some.
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

/// A payload that lies in a frame. If the machine keeps the payload, it is copied to `memory`. If
/// `is_read` is true, the payload is read in place, and the machine keeps an empty payload instead.
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
