//! Finds out if the network drops frames for their size.
//!
//! A packet is lost for its size if two things hold. It was repeated many times, although the peer
//! has room for it. Meanwhile the peer acknowledged the short frames that were sent beside it.
//! Random loss hits long and short frames alike, and a busy peer or network drops frames of every
//! size.

use crate::seq::Seq;

/// The number of repetitions of a packet before short frames are sent beside it.
const ALONE_MAX: u32 = 4;
/// The least number of repetitions (`REPEATS_MIN`), and of answers meanwhile in which the peer
/// lacks the packet (`ANSWERS_MIN`), before the packet counts as too long.
const REPEATS_MIN: u32 = 14;
const ANSWERS_MIN: u32 = 10;
/// The least time in nanoseconds over which the repetitions and the answers are spread.
const TIME_MIN_NS: u64 = 2_000_000_000;
/// A frame of at most this many bytes behind Ethernet's header is carried by every network.
const BYTES_MIN: usize = 256;

/// The first unacknowledged packet, with the counts of its repetitions and of the peer's answers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Suspect {
    seq: Seq,
    bytes: usize,
    since_ns: u64,
    repeats: u32,
    answers: u32,
    /// True if the packet was repeated after the last answer.
    is_open: bool,
}

impl Suspect {
    /// Notes that the first unacknowledged packet is repeated, in a frame of `bytes` bytes behind
    /// Ethernet's header. Returns true if a short frame must be sent beside it.
    pub(super) fn note_repeat(
        suspect: &mut Option<Self>,
        seq: Seq,
        bytes: usize,
        now_ns: u64,
    ) -> bool {
        let new = Self { seq, bytes, since_ns: now_ns, repeats: 0, answers: 0, is_open: false };
        let of = suspect.get_or_insert(new);
        if of.seq != seq {
            *of = new;
        }
        (of.bytes, of.is_open) = (bytes, true);
        of.repeats += 1;
        of.repeats > ALONE_MAX && bytes > BYTES_MIN
    }

    /// Notes an acknowledgement: the peer lacks the packets from `next` on, and has room for them.
    /// Returns the length of the packet's frame in bytes if it is certain that the network drops it
    /// for its size.
    pub(super) fn note_answer(&mut self, next: Seq, now_ns: u64) -> Option<u16> {
        if next != self.seq || !std::mem::take(&mut self.is_open) {
            return None;
        }
        self.answers += 1;
        let is_certain = self.bytes > BYTES_MIN
            && self.repeats >= REPEATS_MIN
            && self.answers >= ANSWERS_MIN
            && self.since_ns + TIME_MIN_NS <= now_ns;
        is_certain.then_some(self.bytes as u16)
    }
}
