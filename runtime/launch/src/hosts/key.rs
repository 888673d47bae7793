//! Reads the key of jobs on several hosts, and derives secrets from it.

use goal_esp::auth::JobKey;
use goal_job::network::Secret;
use std::fmt;

/// The number of hexadecimal digits of a key.
const DIGITS: usize = 64;

/// The secret of 32 bytes that a launcher needs to take part in a job.
#[derive(Clone, PartialEq, Eq)]
pub struct Key([u8; 32]);

/// A text that is no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a key has {DIGITS} hexadecimal digits and nothing else")]
pub struct KeyError;

impl Key {
    /// Returns a key of bytes, which must be impossible to guess.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Reads a key that [`Key::to_text`] wrote. Space around it is ignored.
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

    /// Returns the key as 64 hexadecimal digits.
    pub fn to_text(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Returns the number of the job in datagrams of EDP.
    pub(crate) fn job(&self) -> u64 {
        let hash = blake3::derive_key("goal-run job number, version 1", &self.0);
        u64::from_be_bytes(hash[..8].try_into().expect("eight bytes"))
    }

    /// Returns the key that authenticates frames between launchers on Ethernet.
    pub(crate) fn launchers(&self) -> JobKey {
        JobKey::new(&blake3::derive_key("goal-run launchers, version 1", &self.0))
    }

    /// Returns the key with which launchers prove themselves to each other over TCP.
    pub(crate) fn rendezvous(&self) -> goal_tcp::handshake::Key {
        let secret = blake3::derive_key("goal-run launchers over TCP, version 1", &self.0);
        goal_tcp::handshake::Key::new(&secret)
    }

    /// Returns the number and the key of a run whose schedule is in the kernel. Each run has its
    /// own, so recorded frames are useless in later runs.
    pub(crate) fn kernel(&self, run: u64) -> (u32, [u64; 2]) {
        let mut material = self.0.to_vec();
        material.extend(run.to_be_bytes());
        let hash = blake3::derive_key("goal-run schedules in the kernel, version 1", &material);
        let word = |at: usize| u64::from_be_bytes(hash[at..at + 8].try_into().expect("eight"));
        (word(16) as u32, [word(0), word(8)])
    }

    /// Returns the secret that authenticates frames between the ranks of one run. Each run has
    /// another secret, so recorded frames are useless in later runs with the same key.
    pub(crate) fn ranks(&self, run: u64) -> Secret {
        let mut material = self.0.to_vec();
        material.extend(run.to_be_bytes());
        Secret::new(blake3::derive_key("goal-run ranks, version 1", &material))
    }
}

/// Never shows the bytes of the key.
impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key")
    }
}
