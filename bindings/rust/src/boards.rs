//! Binds the boards of a segment to the linked runs of the engine: writes and reads their messages,
//! and counts the positions of their lines.
//!
//! Threat: a peer may write anything to its board; see [`goal_sync::board`]. Lengths and places
//! come from the schedule and never from a board.

use goal_engine::linked::{Lanes, Lines, Look, Place, Ring};
use goal_shm::Segment;
use goal_sync::board::{self, Board};
use goal_sync::napping::Napping;
use std::sync::atomic::AtomicU64;

/// The lines of the boards.
pub(crate) const LINES: Lines = Lines {
    rings: [board::Ring::Short.lines(), board::Ring::Long.lines()],
    of: |bytes| board::lines(bytes as usize),
};

/// Returns a ring as boards name it.
#[inline(always)]
pub(crate) const fn on_board(ring: Ring) -> board::Ring {
    match ring {
        Ring::Short => board::Ring::Short,
        Ring::Long => board::Ring::Long,
    }
}

/// Returns the lines after which a rank tells its peers of ends: a quarter of those that small runs
/// use of the ring.
#[inline(always)]
pub(crate) const fn quarter(ring: Ring) -> u64 {
    match ring {
        Ring::Short => board::Ring::Short.lines() / 4,
        Ring::Long => board::Ring::Long.lines() / 16,
    }
}

/// The boards of a set: of this rank, and of all ranks of the communicator that uses the set.
pub(crate) struct Boards {
    pub(crate) own: Board<'static>,
    /// The boards by the ranks of the communicator. It is empty if no communicator of this rank
    /// uses the set.
    pub(crate) all: Box<[Board<'static>]>,
    pub(crate) segment: &'static Segment,
    pub(crate) napping: Napping<'static>,
}

impl Boards {
    /// Tells peers that this rank has ended its runs up to the position `ended` of a ring. Wakes
    /// those that sleep until they have room.
    #[cold]
    #[inline(never)]
    pub(crate) fn publish(&self, ring: board::Ring, ended: u64) {
        self.own.consume(ring, ended);
        // Few ranks wait for room, so all of them look if it was this rank that they wait for.
        self.wake(self.segment.awaiting_room().sleepers(u64::MAX));
    }

    /// Returns those of these readers that sleep, after a message was written for them.
    #[inline(always)]
    pub(crate) fn sleepers(&self, readers: u64) -> u64 {
        self.napping.sleepers(readers)
    }

    /// Wakes these ranks.
    #[cold]
    #[inline(never)]
    pub(crate) fn wake(&self, sleepers: u64) {
        Napping::wake(sleepers, |rank| {
            self.segment.mailbox(rank).wake();
        });
    }
}

/// A ring of the boards: the short one, or the long one if `LONG`.
pub(crate) struct OneRing<'b, const LONG: bool>(pub(crate) &'b Boards);

impl<const LONG: bool> OneRing<'_, LONG> {
    const RING: board::Ring = if LONG { board::Ring::Long } else { board::Ring::Short };
}

impl<const LONG: bool> Lanes for OneRing<'_, LONG> {
    #[inline(always)]
    fn put(
        &self,
        position: u64,
        signature: u16,
        len: usize,
        readers: u64,
        fill: impl FnOnce(&mut [u8]),
    ) {
        self.put_quietly(position, signature, len, fill);
        let sleepers = self.0.sleepers(readers);
        if sleepers != 0 {
            self.0.wake(sleepers);
        }
    }

    #[inline(always)]
    #[allow(unsafe_code)] // this rank's board
    fn put_quietly(&self, position: u64, signature: u16, len: usize, fill: impl FnOnce(&mut [u8])) {
        // SAFETY: only this rank writes to its board, one call at a time, under the engine lock.
        // The caller has seen that all readers have read the lines.
        unsafe { self.0.own.put(Self::RING, position, signature, len, fill) };
    }

    type Place = OnBoard<LONG>;

    #[inline(always)]
    fn place(&self, writer: u32, position: u64) -> OnBoard<LONG> {
        let Some(&board) = self.0.all.get(writer as usize) else { no_board() };
        OnBoard { board, position }
    }
}

/// Ends the process, because the schedule names a rank that the communicator does not have. The
/// linker makes no such schedule. A caller need not expect a panic.
#[cold]
#[inline(never)]
extern "C" fn no_board() -> ! {
    panic!("the rank has no board")
}

/// A place on a board, in the short ring or in the long one.
pub(crate) struct OnBoard<const LONG: bool> {
    board: Board<'static>,
    position: u64,
}

impl<const LONG: bool> OnBoard<LONG> {
    const RING: board::Ring = if LONG { board::Ring::Long } else { board::Ring::Short };

    /// Returns the word of the place, and the one that it has once a message with this signature
    /// is there. A reader compares them, by an Acquire load.
    #[inline(always)]
    pub(crate) fn word(&self, signature: u16) -> (&'static AtomicU64, u64) {
        let word = self.board.word_at(Self::RING, self.position);
        (word, board::word(self.position, signature))
    }
}

impl<const LONG: bool> Place for OnBoard<LONG> {
    #[inline(always)]
    fn look(&self, signature: u16) -> Look {
        match self.board.look(Self::RING, self.position, signature) {
            board::Look::Arrived => Look::Arrived,
            board::Look::Missing => Look::Missing,
            board::Look::Other(signature) => Look::Other(signature),
        }
    }

    #[inline(always)]
    #[allow(unsafe_code)] // a message that has arrived
    fn read<R>(&self, len: usize, read: impl FnOnce(&[u8]) -> R) -> R {
        // SAFETY: the message has arrived, and its writer does not write there again before this
        // rank has published that its run has ended.
        read(unsafe { self.board.payload(Self::RING, self.position, len) })
    }
}

/// The positions of a ring.
#[derive(Default)]
pub(crate) struct Positions {
    /// The position of the next start.
    pub(crate) next: u64,
    /// All peers have read what lay on the lines before this position.
    pub(crate) writable: u64,
    /// The position up to which peers know that runs have ended here.
    pub(crate) published: u64,
    /// The number of runs that have started and not ended.
    pub(crate) open: u32,
    /// The lines of runs that have ended while others were open, since peers were told of ends.
    pub(crate) ended: u64,
    /// A run whose lines end up to here need not look at the two bounds: it has room, and its lines
    /// do not wrap.
    limit: u64,
}

impl Positions {
    /// Returns the positions of a communicator whose first one is `base`. Nothing that lies on the
    /// lines before is read any more.
    pub(crate) fn from_base(ring: Ring, base: u64) -> Self {
        let writable = base + on_board(ring).lines();
        let mut positions =
            Self { next: base, writable, published: base, open: 0, ended: 0, limit: 0 };
        positions.set_limit(on_board(ring));
        positions
    }

    /// Notes that all peers have told that they have read all before `read`. Any number may come
    /// from a peer.
    pub(crate) fn raise_writable(&mut self, ring: board::Ring, read: u64) {
        self.writable = self.writable.max(read.saturating_add(ring.lines()));
        self.set_limit(ring);
    }

    fn set_limit(&mut self, ring: board::Ring) {
        let lap_end = (self.next | (ring.lines() - 1)) + 1;
        self.limit = self.writable.min(lap_end);
    }

    /// Takes the next lines for a run that starts. Returns the position of the first one.
    #[inline(always)]
    pub(crate) fn take(&mut self, ring: board::Ring, lines: u64) -> u64 {
        let base = ring.fit(self.next, lines);
        self.next = base + lines;
        self.open += 1;
        self.set_limit(ring);
        base
    }

    /// Takes the next lines for a run in the short ring, as [`take`](Self::take) does. Returns
    /// `None`, without an effect, if other runs have not ended, if the lines would wrap, or if
    /// peers may not have read what lies there.
    #[inline(always)]
    pub(crate) fn take_alone(&mut self, lines: u64) -> Option<u64> {
        let (base, end) = (self.next, self.next + lines);
        if self.open != 0 || end > self.limit {
            return None;
        }
        (self.next, self.open) = (end, 1);
        Some(base)
    }

    /// Returns true if runs overlap, and peers do not know of the ends of many runs. Many have
    /// ended since they were told last.
    #[inline(always)]
    pub(crate) fn are_behind(&self, ring: Ring) -> bool {
        let quarter = quarter(ring);
        self.ended >= quarter && self.open != 0 && self.next - self.published >= 2 * quarter
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_position_of_a_peer_gives_one_to_write_up_to() {
        let mut positions = Positions::from_base(Ring::Short, 64);
        let mut raise = |read| {
            positions.raise_writable(board::Ring::Short, read);
            positions.writable
        };
        assert_eq!([66, 3, u64::MAX - 1].map(&mut raise), [130, 130, u64::MAX]);
    }
}
