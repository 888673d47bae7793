//! Memory of payloads that nobody needs any more, for the next ones.

/// Most that are kept.
const KEPT_MAX: usize = 512;

/// Memory of payloads that nobody needs any more.
#[derive(Default)]
pub(super) struct Spare(Vec<Vec<u8>>);

impl Spare {
    /// An empty payload.
    #[inline]
    pub(super) fn take(&mut self) -> Vec<u8> {
        self.0.pop().unwrap_or_default()
    }

    /// A payload of which only the memory counts.
    #[inline]
    pub(super) fn give(&mut self, mut payload: Vec<u8>) {
        if self.0.len() < KEPT_MAX {
            payload.clear();
            self.0.push(payload);
        }
    }
}

/// A payload in a frame, and the memory into which it is copied if it is kept, unless it is read at
/// once where it lies.
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
