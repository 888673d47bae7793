//! Binds the boards of a segment to the linked runs of the engine: writes and reads their messages,
//! and counts the positions of their lines.
//!
//! Threat: a peer may write anything to its board; see [`goal_sync::board`]. Lengths and places
//! come from the schedule and never from a board.

use goal_engine::linked::{Lanes, Lines, Look, Ring};
use goal_shm::Segment;
use goal_sync::board::{self, Board};
use goal_sync::napping::Napping;

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

/// A ring of the boards: the short one, or the long one if `LONG`.
pub(crate) struct OneRing<'b, const LONG: bool>(pub(crate) &'b Boards);

impl<const LONG: bool> OneRing<'_, LONG> {
    const RING: board::Ring = if LONG { board::Ring::Long } else { board::Ring::Short };
}

impl<const LONG: bool> Lanes for OneRing<'_, LONG> {
    #[inline(always)]
    #[allow(unsafe_code)] // this rank's board
    fn put(
        &self,
        position: u64,
        signature: u16,
        len: usize,
        readers: u64,
        fill: impl FnOnce(&mut [u8]),
    ) {
        let Boards { own, segment, napping, .. } = self.0;
        // SAFETY: only this rank writes to its board, one call at a time, under the engine lock.
        // The caller has seen that all readers have read the lines.
        unsafe { own.put(Self::RING, position, signature, len, fill) };
        // Only ranks of the first group have boards.
        napping.wake(0, readers, |rank| {
            segment.mailbox(rank).wake();
        });
    }

    #[inline(always)]
    fn look(&self, writer: u32, position: u64, signature: u16) -> Look {
        match self.0.all[writer as usize].look(Self::RING, position, signature) {
            board::Look::Arrived => Look::Arrived,
            board::Look::Missing => Look::Missing,
            board::Look::Other(signature) => Look::Other(signature),
        }
    }

    #[inline(always)]
    #[allow(unsafe_code)] // a message that has arrived
    fn read<R>(&self, writer: u32, position: u64, len: usize, read: impl FnOnce(&[u8]) -> R) -> R {
        // SAFETY: the message has arrived, and its writer does not write there again before this
        // rank has published that its run has ended.
        read(unsafe { self.0.all[writer as usize].payload(Self::RING, position, len) })
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
}

impl Positions {
    /// Returns the positions of a communicator whose first one is `base`. Nothing that lies on the
    /// lines before is read any more.
    pub(crate) fn from_base(ring: Ring, base: u64) -> Self {
        let writable = base + on_board(ring).lines();
        Self { next: base, writable, published: base, open: 0 }
    }

    /// Takes the next lines for a run that starts. Returns the position of the first one.
    #[inline(always)]
    pub(crate) fn take(&mut self, ring: board::Ring, lines: u64) -> u64 {
        let base = ring.fit(self.next, lines);
        self.next = base + lines;
        self.open += 1;
        base
    }

    /// Returns true if runs overlap, and peers do not know of the ends of many runs.
    #[inline(always)]
    pub(crate) fn are_behind(&self, ring: Ring) -> bool {
        self.open != 0 && self.next - self.published >= 2 * quarter(ring)
    }
}
