//! The key of jobs on several hosts, and what is derived from it.

use crate::network::Secret;
use goal_esp::auth::JobKey;
use std::fmt;

/// Hexadecimal digits of a key.
const DIGITS: usize = 64;

/// A secret of those who may start a part of a job: 32 bytes.
#[derive(Clone, PartialEq, Eq)]
pub struct Key([u8; 32]);

/// A text is no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a key has {DIGITS} hexadecimal digits and nothing else")]
pub struct KeyError;

impl Key {
    /// A key of bytes that nobody can guess.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The key that [`Key::to_text`] wrote; space around it does not count.
    ///
    /// # Errors
    /// [`KeyError`].
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let digits = text.trim().as_bytes();
        if digits.len() != DIGITS {
            return Err(KeyError);
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let digit = |digit: u8| char::from(digit).to_digit(16).ok_or(KeyError);
            *byte = (digit(pair[0])? << 4 | digit(pair[1])?) as u8;
        }
        Ok(Self(bytes))
    }

    /// 64 hexadecimal digits.
    pub fn to_text(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The number that datagrams name the job by.
    pub fn job(&self) -> u64 {
        let hash = blake3::derive_key("goal-run job number, version 1", &self.0);
        u64::from_be_bytes(hash[..8].try_into().expect("eight bytes"))
    }

    /// What frames between launchers are proven with.
    pub fn launchers(&self) -> JobKey {
        JobKey::new(&blake3::derive_key("goal-run launchers, version 1", &self.0))
    }

    /// What frames between the ranks of one run are proven with: those of another run with the same
    /// key are of no use.
    pub fn ranks(&self, run: u64) -> Secret {
        let mut material = self.0.to_vec();
        material.extend(run.to_be_bytes());
        Secret::new(blake3::derive_key("goal-run ranks, version 1", &material))
    }
}

/// Tells nothing.
impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key")
    }
}
