//! Computes the places of all messages of a schedule on the boards of their writers.

use super::lanes::Ring;
use goal_asm::Nisa;
use goal_asm::nisa::{Buffer, Operation};
use goal_lang::{ANY, Op, Piece};

/// The most operations of one rank. A mask has a bit for each.
pub(super) const OPS_MAX: usize = 64;
/// The most ranks. Masks of readers have a bit for each.
const RANKS_MAX: u32 = 64;

/// The bytes of a piece of a message. The C library copies a piece by `rep movsb`. Other stores
/// take twice as long to lines that a peer has read.
const PIECE_BYTES: u64 = 32 << 10;

/// The lines of a board's rings, and how many of them a message takes.
#[derive(Debug, Clone, Copy)]
pub struct Lines {
    /// The lines of the short and of the long ring.
    pub rings: [u64; 2],
    /// Returns the lines of a message from its bytes.
    pub of: fn(u64) -> u64,
}

/// A message that a rank writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) to: u32,
    pub(super) tag: u32,
    pub(super) bytes: u64,
    /// The first line, counted from the first line of the run. Messages with the same bytes share
    /// their lines.
    pub(super) at: u32,
}

/// The places of all messages of a schedule.
#[derive(Debug, Clone)]
pub struct Link {
    /// The messages that each rank writes.
    written: Vec<Vec<Written>>,
    /// The most lines that any rank writes. All ranks count on by this number.
    lines: u32,
    ring: Ring,
    /// True if long messages are written in pieces: readers read one while the next is written.
    has_pieces: bool,
    /// Returns the lines of a message from its bytes.
    lines_of: fn(u64) -> u64,
}

/// A message of a section, before it has a place.
struct Message {
    to: u32,
    tag: u32,
    piece: Piece,
    /// True if the message waits for no action. Such messages of the same bytes are equal.
    is_first: bool,
}

impl Link {
    /// Links the schedules of all ranks of a file. Returns `None` if one of them can't be linked.
    /// Such a schedule has a wildcard, another action that a linked run does not know, or too many
    /// actions or lines. Or it has two messages with one tag between two ranks.
    ///
    /// All ranks must call this with equal bytes, because each decides by the result if it writes
    /// to its board.
    pub fn new(nisa: &Nisa, lines: &Lines) -> Option<Self> {
        let ranks = nisa.num_ranks();
        if ranks > RANKS_MAX {
            return None;
        }
        let (mut written, mut received) = (Vec::new(), 0);
        let (mut most, mut has_pieces) = (0, true);
        for rank in 0..ranks {
            let (messages, receives) = messages(nisa, rank)?;
            has_pieces &= pieces_of(nisa, rank) <= OPS_MAX as u64;
            let (placed, end) = place(&messages, lines)?;
            most = most.max(end);
            received += receives;
            written.push(placed);
        }
        let ring = match lines.rings {
            [short, _] if u64::from(most) <= short / 8 => Ring::Short,
            [_, long] if u64::from(most) <= long / 4 => Ring::Long,
            _ => return None,
        };
        let link = Self { written, lines: most, ring, has_pieces, lines_of: lines.of };
        // Each receive has its message, so equal numbers mean that each message has its receive.
        let sent: usize = link.written.iter().map(Vec::len).sum();
        let has_all = (0..ranks).all(|rank| link.has_messages_of(nisa, rank));
        (sent == received && has_all).then_some(link)
    }

    /// Returns true if each receive of `rank` has a message of its size.
    fn has_messages_of(&self, nisa: &Nisa, rank: u32) -> bool {
        nisa.section(rank).records().all(|(_, record)| match record.operation() {
            Operation::Recv { peer, tag, payload, .. } => {
                self.message(peer, rank, tag).is_some_and(|sent| sent.bytes == payload.size())
            }
            _ => true,
        })
    }

    /// Returns the message from one rank to another with this tag.
    pub(super) fn message(&self, from: u32, to: u32, tag: u32) -> Option<Written> {
        let written = self.written.get(from as usize)?;
        written.iter().copied().find(|message| (message.to, message.tag) == (to, tag))
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
        self.written[rank as usize].iter().fold(0, |mask, message| mask | 1 << message.to)
    }
}

/// Returns the messages that `rank` sends, and the number of those that it receives. Returns `None`
/// if its schedule can't be linked.
fn messages(nisa: &Nisa, rank: u32) -> Option<(Vec<Message>, usize)> {
    let (mut messages, mut receives, mut actions) = (Vec::<Message>::new(), 0, 0);
    for (_, record) in nisa.section(rank).records() {
        actions += 1;
        if actions > OPS_MAX || record.start_dependents.iter().next().is_some() {
            return None;
        }
        match record.operation() {
            Operation::Send { peer, tag, payload: Buffer::One(piece), reduce: None } => {
                let is_twice = |other: &Message| (other.to, other.tag) == (peer, tag);
                if peer == rank || messages.iter().any(is_twice) {
                    return None;
                }
                messages.push(Message { to: peer, tag, piece, is_first: record.sources == 0 });
            }
            Operation::Recv { peer, tag, payload: Buffer::One(_), reduce } => {
                if peer == ANY || tag == ANY || reduce.is_some_and(|(op, _)| op == Op::Div) {
                    return None;
                }
                receives += 1;
            }
            Operation::Exec { op, a: Buffer::One(_), b: Buffer::One(_), c, .. }
                if op != Op::Div && matches!(c, None | Some(Buffer::One(_))) => {}
            Operation::Nop => {}
            _ => return None,
        }
    }
    Some((messages, receives))
}

/// Returns the number of operations of `rank` if its messages and its copies are split.
fn pieces_of(nisa: &Nisa, rank: u32) -> u64 {
    let of = |operation: Operation<'_>| match operation {
        Operation::Send { payload, .. } | Operation::Recv { payload, .. } => payload.size(),
        Operation::Exec { op: Op::Copy, a, .. } => a.size(),
        _ => 0,
    };
    let pieces = |bytes: u64| bytes.div_ceil(PIECE_BYTES).max(1);
    nisa.section(rank).records().map(|(_, record)| pieces(of(record.operation()))).sum()
}

/// Gives each message of a rank its place. Returns the places and the number of lines.
fn place(messages: &[Message], lines: &Lines) -> Option<(Vec<Written>, u32)> {
    let (mut placed, mut end) = (Vec::<Written>::new(), 0u32);
    for message in messages {
        let &Message { to, tag, piece, is_first } = message;
        let earlier = messages[..placed.len()].iter().zip(&placed);
        let shared = earlier.into_iter().find(|(other, written)| {
            is_first && other.is_first && other.piece == piece && written.to != to
        });
        let at = match shared {
            Some((_, written)) => written.at,
            None => {
                let at = end;
                end = end.checked_add(u32::try_from((lines.of)(piece.size)).ok()?)?;
                at
            }
        };
        placed.push(Written { to, tag, bytes: piece.size, at });
    }
    Some((placed, end))
}
