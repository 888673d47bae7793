//! Computes the places of all messages of a schedule on the boards of their writers.

use super::lanes::{Lines, Ring};
use super::messages::{Message, Messages, OPS_MAX, PIECE_BYTES, Refusal};
use goal_asm::Nisa;

/// The most ranks. Masks of readers have a bit for each.
const RANKS_MAX: u32 = 64;

/// The places of all messages of a schedule.
#[derive(Debug, Clone)]
pub struct Link {
    /// The messages that each rank writes.
    written: Vec<Vec<Message>>,
    /// The most lines that any rank writes. All ranks count on by this number.
    lines: u32,
    ring: Ring,
    /// True if long messages are written in pieces: readers read one while the next is written.
    has_pieces: bool,
    /// Returns the lines of a message from its bytes.
    lines_of: fn(u64) -> u64,
}

impl Link {
    /// Links the schedules of all ranks of a file. All ranks must call this with equal bytes,
    /// because each decides by the result if it writes to its board.
    ///
    /// # Errors
    /// The schedule of a rank can't be linked.
    pub fn new(nisa: &Nisa, lines: &Lines) -> Result<Self, Refusal> {
        let ranks: Vec<u32> = (0..nisa.num_ranks()).collect();
        let of = |&rank: &u32| Messages::of(nisa.section(rank), &ranks, rank, lines);
        Self::from_messages(&ranks.iter().map(of).collect::<Result<Vec<_>, _>>()?, lines)
    }

    /// Links schedules from the messages of all ranks, by rank. All ranks must call this with equal
    /// messages.
    ///
    /// # Errors
    /// There are too many ranks or lines. Or a message lacks its receive, or a receive its message.
    pub fn from_messages(all: &[Messages], lines: &Lines) -> Result<Self, Refusal> {
        if all.len() > RANKS_MAX as usize {
            return Err(Refusal { rank: 0, action: None, why: "there are too many ranks" });
        }
        let ends = all.iter().map(|one| one.end(lines));
        let most = ends.max().unwrap_or(0);
        let ring = match lines.rings {
            [short, _] if most <= short / 8 => Ring::Short,
            [_, long] if most <= long / 4 => Ring::Long,
            _ => {
                let rank = all.iter().position(|one| one.end(lines) == most).unwrap_or(0) as u32;
                return Err(Refusal { rank, action: None, why: Messages::TOO_LONG });
            }
        };
        for (rank, own) in (0..).zip(all) {
            own.check(rank, all)?;
        }
        let has_pieces = all.iter().all(|one| one.pieces as usize <= OPS_MAX);
        let written = all.iter().map(|one| one.sends.clone()).collect();
        Ok(Self { written, lines: most as u32, ring, has_pieces, lines_of: lines.of })
    }

    /// Returns the message from one rank to another with this tag.
    pub(super) fn message(&self, from: u32, to: u32, tag: u32) -> Option<Message> {
        let written = self.written.get(from as usize)?;
        written.iter().copied().find(|message| (message.peer, message.tag) == (to, tag))
    }

    /// Returns the lines of a message from its bytes.
    pub(super) fn lines_of(&self, bytes: u64) -> u32 {
        (self.lines_of)(bytes) as u32
    }

    /// Returns the bytes of each piece of a message or of a copy. The last piece may be shorter.
    pub(super) fn piece_bytes(&self) -> u64 {
        if self.has_pieces { PIECE_BYTES } else { u64::MAX }
    }

    /// Returns the most lines that any rank writes in a run.
    pub fn lines(&self) -> u32 {
        self.lines
    }

    /// Returns the ring of the messages.
    pub fn ring(&self) -> Ring {
        self.ring
    }

    /// Returns the ranks that read messages of `rank`, as a mask.
    pub fn readers_of(&self, rank: u32) -> u64 {
        self.written[rank as usize].iter().fold(0, |mask, message| mask | 1 << message.peer)
    }
}
