//! What launchers tell each other over their streams.
//!
//! A message is its length, that of the bytes behind it (4 bytes each, little-endian), a JSON text
//! and the bytes.

use crate::monitor::Stopped;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

/// Bytes before a message.
const HEAD: usize = 8;
/// Longest text of a message.
const TEXT_MAX: usize = 16 << 20;
/// The highest number of a signal.
const SIGNAL_MAX: usize = 64;

/// Something that must be the same on all hosts: its name and its value, in words.
pub type Term = (String, String);

/// A part of what a rank leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Area {
    /// Its status and its counts.
    Status,
    /// Its failure record.
    Failure,
    /// Its memory.
    Memory,
    /// What its receives took.
    Matches,
    /// The state of its instance.
    Instance,
    /// Its records of what happened when.
    Trace,
}

/// What launchers tell each other. The leader is the launcher of the host of rank 0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Message {
    /// To the leader: a host has found all ranks, and was started like this.
    Hello(Vec<Term>),
    /// The job does not start, or a host can't take part.
    Refused(String),
    /// All hosts are there: they start their ranks.
    Start {
        /// Tells the run from others with the same key.
        run: u64,
    },
    /// To the leader: all ranks of a host are ready.
    Ready,
    /// All ranks are ready.
    Go,
    /// To the leader: all ranks of a host have finished.
    Finished,
    /// To the leader: a rank of a host has failed.
    Failed,
    /// To the leader: a rank ended by itself.
    Died {
        /// The rank.
        rank: u32,
        /// How.
        how: String,
    },
    /// To the leader: a launcher got a signal.
    Interrupted {
        /// The signal's number. One that can't be is no message.
        #[serde(deserialize_with = "signal")]
        signal: usize,
    },
    /// To the leader: the ranks of a host that somebody has stopped now.
    Stopped(Vec<Stopped>),
    /// The job has ended: ranks are ended, and what they left is told.
    End {
        /// Whether all of them have finished.
        is_complete: bool,
        /// What of each rank is to be told.
        areas: Vec<Area>,
    },
    /// To the leader: a part of what a rank left, in the bytes behind this.
    Left {
        /// The rank.
        rank: u32,
        /// Which area.
        area: Area,
        /// Where in it.
        offset: u64,
    },
    /// To the leader: all has been told that a host has.
    Told {
        /// The host's clock when its gate opened.
        opened_ns: u64,
    },
    /// How the job ended: the last message.
    Verdict {
        /// The exit status.
        status: u8,
        /// The report, one JSON object.
        report: String,
        /// What went wrong, in words.
        errors: Vec<String>,
    },
}

/// The number of a signal, which is added to 128 for an exit status.
fn signal<'de, D: Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
    let signal = usize::deserialize(deserializer)?;
    let is_one = (1..=SIGNAL_MAX).contains(&signal);
    is_one.then_some(signal).ok_or_else(|| D::Error::custom("no signal has this number"))
}

/// A stream is none of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("what it sent is no message of a launcher")]
pub struct Broken;

impl Message {
    /// Most bytes behind a message.
    pub const BYTES_MAX: usize = 64 << 10;

    /// The message and the bytes behind it, as they go over the wire.
    pub fn encode(&self, bytes: &[u8]) -> Vec<u8> {
        let text = serde_json::to_vec(self).expect("numbers and texts");
        let mut out = Vec::with_capacity(HEAD + text.len() + bytes.len());
        out.extend((text.len() as u32).to_le_bytes());
        out.extend((bytes.len() as u32).to_le_bytes());
        out.extend(text);
        out.extend(bytes);
        out
    }
}

/// Puts messages together from the parts of a stream.
#[derive(Debug, Default)]
pub struct Decoder {
    buffer: Vec<u8>,
    /// Bytes at its beginning that were read.
    read: usize,
}

impl Decoder {
    /// Appends a part.
    pub fn push(&mut self, part: &[u8]) {
        self.buffer.drain(..self.read);
        self.read = 0;
        self.buffer.extend_from_slice(part);
    }

    /// The next message and the bytes behind it; `None` if it is not there as a whole.
    ///
    /// # Errors
    /// [`Broken`].
    pub fn next_message(&mut self) -> Result<Option<(Message, Vec<u8>)>, Broken> {
        let all = &self.buffer[self.read..];
        let Some((head, rest)) = all.split_at_checked(HEAD) else { return Ok(None) };
        let len = |at: usize| {
            u32::from_le_bytes(head[at..at + 4].try_into().expect("four bytes")) as usize
        };
        let (text_len, bytes_len) = (len(0), len(4));
        if text_len > TEXT_MAX || bytes_len > Message::BYTES_MAX {
            return Err(Broken);
        }
        let Some((text, rest)) = rest.split_at_checked(text_len) else { return Ok(None) };
        let Some((bytes, _)) = rest.split_at_checked(bytes_len) else { return Ok(None) };
        let message = serde_json::from_slice(text).map_err(|_| Broken)?;
        let bytes = bytes.to_vec();
        self.read += HEAD + text_len + bytes_len;
        Ok(Some((message, bytes)))
    }
}
