//! Messages of a rank to itself (UCX's `self`): a bounded queue in its own memory.
//!
//! Messages lie one behind the other from the start of the queue on; when the last one has been taken the next one lies at the
//! start again. So memory follows the messages in flight, the same few cache lines serve all of a program that sends as much as it receives, and no message wraps around.

#[cfg(test)]
mod tests;

use super::plugin::{Carrier, Distance, Name, Plugin, ZeroCopy};
use super::{Full, Header, Transport};
use crate::memory::{Region, Span};
use zerocopy::{FromBytes, IntoBytes};

/// Bytes of the queue.
const QUEUE_BYTES: usize = 64 << 10;
/// Most bytes of a payload: an eighth of the queue.
const PAYLOAD_MAX: usize = QUEUE_BYTES / 8;

const WORD: usize = size_of::<u64>();
const HEADER_WORDS: usize = size_of::<Header>() / WORD;

pub(super) const PLUGIN: Plugin = Plugin {
    name: Name::Local,
    text: "local",
    about: "messages of a rank to itself, in its own memory",
    priority: 90,
    reach: Distance::Own,
    carrier: Some(Carrier::Local),
    zero_copy: ZeroCopy::Mapped,
    latency_ns: 20,
    bandwidth_mb_s: 10_000,
    probe: || Ok(()),
};

/// A rank's messages to itself.
#[derive(Debug)]
pub struct Local {
    /// Grows up to [`QUEUE_BYTES`].
    queue: Vec<u64>,
    /// Word of the first message.
    head: usize,
    /// Word behind the last message; 0 where there is none.
    tail: usize,
    room: u64,
    memory: [Region; 2],
}

impl Local {
    /// An empty queue of a rank whose buffers lie in `memory`.
    pub fn new(memory: [Region; 2]) -> Self {
        Self { queue: Vec::new(), head: 0, tail: 0, room: 0, memory }
    }

    /// Whether a message waits.
    #[inline]
    pub fn has_message(&self) -> bool {
        self.tail != 0
    }

    /// Makes room for messages up to the word `end`.
    #[cold]
    fn grow(&mut self, end: usize) -> Result<(), Full> {
        if end > QUEUE_BYTES / WORD {
            return Err(Full);
        }
        self.queue.resize(end.next_power_of_two(), 0);
        Ok(())
    }
}

impl Transport for Local {
    #[inline]
    fn short_max(&self) -> usize {
        PAYLOAD_MAX
    }

    #[inline]
    fn payload_max(&mut self, _to: u32) -> usize {
        PAYLOAD_MAX
    }

    #[inline]
    fn try_send(&mut self, _to: u32, header: &Header, fill: impl FnOnce(&mut [u8])) -> Result<(), Full> {
        let len = header.payload_len();
        assert!(len <= PAYLOAD_MAX);
        let end = self.tail + HEADER_WORDS + len.div_ceil(WORD);
        if end > self.queue.len() {
            self.grow(end)?;
        }
        let (head, payload) = self.queue[self.tail..end].split_at_mut(HEADER_WORDS);
        head.as_mut_bytes().copy_from_slice(header.as_bytes());
        fill(&mut payload.as_mut_bytes()[..len]);
        self.tail = end;
        Ok(())
    }

    #[inline]
    fn poll(&mut self, messages_max: usize, mut sink: impl FnMut(&Header, &[u8])) -> usize {
        let mut taken = 0;
        while taken < messages_max && self.head < self.tail {
            let (head, payload) = self.queue[self.head..self.tail].split_at(HEADER_WORDS);
            let header = Header::ref_from_bytes(head.as_bytes()).expect("48 bytes, aligned to 8");
            let len = header.payload_len();
            sink(header, &payload.as_bytes()[..len]);
            self.head += HEADER_WORDS + len.div_ceil(WORD);
            taken += 1;
        }
        if self.head == self.tail {
            (self.head, self.tail) = (0, 0);
        }
        taken
    }

    fn announce_room(&mut self, bytes: u64) {
        self.room = bytes;
    }

    #[inline]
    fn room(&self, _to: u32) -> u64 {
        self.room
    }

    fn export(&self, _to: u32, bytes: Span) -> Option<u64> {
        let address = bytes.address() as u64;
        self.import(0, address, bytes.len() as u64).map(|_| address)
    }

    fn import(&self, _source: u32, address: u64, len: u64) -> Option<Span> {
        self.memory.iter().find_map(|region| {
            let addr = address.checked_sub(region.whole().address() as u64)?;
            (addr.checked_add(len)? <= region.len() as u64).then(|| region.span(addr, len))
        })
    }
}
