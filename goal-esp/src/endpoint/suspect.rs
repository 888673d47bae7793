//! Finds out if the network loses frames for their size.
//!
//! A packet that was said again and again is lost for its size if its peer hears the short frames
//! that leave between: it answers each of them, has room for the packet, and lacks it still. Random
//! loss hits both alike, and a busy peer or network loses frames of every size.

use crate::seq::Seq;

/// Number of retransmissions of a packet before short frames are sent beside it.
const ALONE_MAX: u32 = 4;
/// Least number of retransmissions in vain, and of answers since in which the peer lacks the
/// packet.
const REPEATS_MIN: u32 = 14;
const ANSWERS_MIN: u32 = 10;
/// Least time for which that has gone on.
const TIME_MIN_NS: u64 = 2_000_000_000;
/// Bytes of a frame, behind Ethernet's header, that every network carries: a shorter one is not
/// lost for its size.
const BYTES_MIN: usize = 256;

/// The packet that the peer lacks, and what is known of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Suspect {
    seq: Seq,
    bytes: usize,
    since_ns: u64,
    repeats: u32,
    answers: u32,
    /// It was said again after the last answer.
    is_open: bool,
}

impl Suspect {
    /// The first packet that is not acknowledged is said again, in a frame of so many bytes behind
    /// Ethernet's header. Returns true if a short frame is to leave beside it.
    pub(super) fn repeat(suspect: &mut Option<Self>, seq: Seq, bytes: usize, now_ns: u64) -> bool {
        let new = Self { seq, bytes, since_ns: now_ns, repeats: 0, answers: 0, is_open: false };
        let of = suspect.get_or_insert(new);
        if of.seq != seq {
            *of = new;
        }
        (of.bytes, of.is_open) = (bytes, true);
        of.repeats += 1;
        of.repeats > ALONE_MAX && bytes > BYTES_MIN
    }

    /// The peer lacks the packets from `next` on, and has room for it. Returns the bytes of its
    /// frame if that gets lost for its size.
    pub(super) fn answer(&mut self, next: Seq, now_ns: u64) -> Option<u16> {
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
