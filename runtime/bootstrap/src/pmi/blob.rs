//! Converts blobs to values of PMI-1, which are short texts, and back.
//!
//! The bytes become base64 without padding, because every server accepts these letters. The text
//! begins with the number of bytes and a dot. It is then cut into values.
//!
//! Threat: values come from other ranks. The number of bytes is checked before memory is allocated
//! for them. Each value must add to the text, and the text must have the length that follows from
//! the number.

use crate::limits::BLOB_MAX;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// Returns the values of a blob, each of at most `value_max` bytes. There is at least one value.
pub(super) fn encode(blob: &[u8], value_max: usize) -> Vec<String> {
    let text = format!("{}.{}", blob.len(), URL_SAFE_NO_PAD.encode(blob));
    let parts = text.as_bytes().chunks(value_max);
    parts.map(|part| part.iter().map(|&byte| char::from(byte)).collect()).collect()
}

/// A blob that is being assembled from its values.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    /// The number of bytes of the blob, and the number of its letters in base64; `None` before the
    /// first value.
    expected: Option<(usize, usize)>,
    letters: String,
}

impl Decoder {
    /// Adds the next value. Returns the blob if it is complete; `None` if more values must follow.
    ///
    /// # Errors
    /// The rule that the value breaks.
    pub(super) fn push(&mut self, value: &str) -> Result<Option<Vec<u8>>, &'static str> {
        let (bytes, letters, part) = match self.expected {
            Some((bytes, letters)) => (bytes, letters, value),
            None => {
                let (digits, part) =
                    value.split_once('.').ok_or("a blob does not state its size")?;
                let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
                let bytes = is_number.then(|| digits.parse().ok()).flatten();
                let bytes: usize = bytes.ok_or("a blob does not state its size")?;
                if bytes > BLOB_MAX {
                    return Err("a blob is larger than the limit");
                }
                let letters = (bytes * 4).div_ceil(3);
                self.expected = Some((bytes, letters));
                (bytes, letters, part)
            }
        };
        if part.is_empty() && letters > 0 {
            return Err("a value of a blob is empty");
        }
        if self.letters.len() + part.len() > letters {
            return Err("a blob is longer than it states");
        }
        self.letters.push_str(part);
        if self.letters.len() < letters {
            return Ok(None);
        }
        let blob = URL_SAFE_NO_PAD.decode(&self.letters).map_err(|_| "a blob is not base64")?;
        debug_assert_eq!(blob.len(), bytes);
        Ok(Some(blob))
    }
}
