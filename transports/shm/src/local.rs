//! Messages of a rank to itself (UCX's `self`): a bounded queue in its own memory.
//!
//! Messages lie one behind the other, from the start of the queue. After the last one has been
//! taken, the next one goes to the start again. So a program that takes its messages before it
//! sends more uses the same few cache lines all the time, and no message wraps around. Large
//! payloads stay in the segment with their sender and are read there.
#![allow(unsafe_code)] // words of the segment

use crate::Segment;
use crate::layout::LOCAL_BYTES;
use goal_engine::memory::Cells;
use goal_engine::transport::{Distance, Full, Header, Plugin, Sink, Transport, ZeroCopy};
use zerocopy::{FromBytes, IntoBytes};

/// The most bytes of a payload: an eighth of the queue.
pub const PAYLOAD_MAX: usize = LOCAL_BYTES / 8;

pub(crate) const WORD: usize = size_of::<u64>();
pub(crate) const HEADER_WORDS: usize = size_of::<Header>() / WORD;

/// The properties of the transport.
pub const LOCAL: Plugin = Plugin {
    name: "local",
    about: "messages of a rank to itself, in its own memory",
    priority: 90,
    nearest: Distance::Own,
    reach: Distance::Own,
    carries_messages: true,
    zero_copy: ZeroCopy::None,
    latency_ns: 20,
    bandwidth_mb_s: 10_000,
    probe: || Ok(()),
};

/// A rank's queue of messages to itself.
///
/// The words of the queue lie in the segment, so that any process that acts for the rank finds
/// them. The system allocates pages only as far as messages reach.
#[derive(Debug)]
pub struct Local {
    words: Cells<u64>,
}

/// The place of the word that holds the index of the first message.
const HEAD: usize = 0;
/// The place of the word that holds the index behind the last message; it holds 0 if there is no
/// message.
const TAIL: usize = 1;
/// The place of the word that holds the announced room for messages without a receive, in bytes.
const ROOM: usize = 2;
/// The index of the queue's first word.
pub(crate) const QUEUE: usize = 8;

impl Local {
    /// Returns the queue of `rank`.
    ///
    /// # Safety
    /// The segment outlives the queue. While a method of the queue runs, nobody else uses this
    /// rank's queue, in any process.
    pub unsafe fn new(segment: &Segment, rank: u32) -> Self {
        // SAFETY: the caller's promise.
        let words: Cells<u64> = unsafe { segment.cells(&segment.rank(rank).local) };
        assert_eq!(words.as_slice().len(), LOCAL_BYTES / WORD);
        Self { words }
    }

    /// Returns true if a message waits.
    #[inline]
    pub fn has_message(&self) -> bool {
        self.words.as_slice()[TAIL] != 0
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

    fn try_send_dyn(
        &mut self,
        to: u32,
        header: &Header,
        fill: &mut dyn FnMut(&mut [u8]),
    ) -> Result<(), Full> {
        self.try_send(to, header, fill)
    }

    #[inline]
    fn try_send(
        &mut self,
        _to: u32,
        header: &Header,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<(), Full> {
        let len = header.payload_len();
        assert!(len <= PAYLOAD_MAX);
        let words = self.words.as_mut_slice();
        let tail = (words[TAIL] as usize).max(QUEUE);
        let end = tail + HEADER_WORDS + len.div_ceil(WORD);
        let Some(message) = words.get_mut(tail..end) else { return Err(Full) };
        let (head, payload) = message.split_at_mut(HEADER_WORDS);
        head.as_mut_bytes().copy_from_slice(header.as_bytes());
        fill(&mut payload.as_mut_bytes()[..len]);
        words[TAIL] = end as u64;
        Ok(())
    }

    fn poll_dyn(&mut self, messages_max: usize, mut sink: &mut dyn Sink) -> usize {
        self.poll_into(messages_max, &mut sink)
    }

    #[inline]
    fn poll_into(&mut self, messages_max: usize, sink: &mut impl Sink) -> usize {
        let words = self.words.as_mut_slice();
        let (mut head, tail) = ((words[HEAD] as usize).max(QUEUE), words[TAIL] as usize);
        let mut taken = 0;
        while taken < messages_max && head < tail {
            let (header, payload) = words[head..tail].split_at(HEADER_WORDS);
            let header = Header::ref_from_bytes(header.as_bytes()).expect("48 bytes, aligned to 8");
            let len = header.payload_len();
            let next = sink.take(header, &payload.as_bytes()[..len]);
            head += HEADER_WORDS + len.div_ceil(WORD);
            taken += 1;
            if next.is_break() {
                break;
            }
        }
        (words[HEAD], words[TAIL]) = if head >= tail { (0, 0) } else { (head as u64, tail as u64) };
        taken
    }

    fn announce_room(&mut self, bytes: u64, most: u64) {
        let bytes = bytes.min(most);
        self.words.as_mut_slice()[ROOM] = bytes;
    }

    #[inline]
    fn room(&self, _to: u32) -> u64 {
        self.words.as_slice()[ROOM]
    }
}
