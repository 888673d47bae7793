//! Lists the messages of one rank's schedule. The other ranks must know them to link it.
//!
//! Threat: the words of another rank may be anything. [`Messages::from_words`] refuses words that
//! are no messages. [`Link`](super::Link) computes the end of a run's lines from the messages
//! themselves, so no message lies outside of these lines.

use super::lanes::Lines;
use crate::engine::{Underway, Work};
use goal_asm::nisa::{Buffer, Operation, Section};
use goal_lang::{ANY, Op, Piece};
use std::fmt;

/// The most operations of one rank. A mask has a bit for each.
pub(super) const OPS_MAX: usize = 64;

/// The bytes of a piece of a message. The C library copies a piece by `rep movsb`. Other stores
/// take twice as long to lines that a peer has read.
pub(super) const PIECE_BYTES: u64 = 32 << 10;

/// A message that a rank writes or reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Message {
    /// The number of the action in its section.
    pub(super) number: u8,
    /// The other rank.
    pub(super) peer: u32,
    pub(super) tag: u32,
    pub(super) bytes: u32,
    /// The first line of a written message, counted from the first line of the run. Messages with
    /// the same bytes share their lines.
    pub(super) at: u32,
}

/// The messages that a rank's schedule writes and reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Messages {
    pub(super) sends: Vec<Message>,
    pub(super) receives: Vec<Message>,
    /// The number of operations if long messages and copies are split.
    pub(super) pieces: u32,
}

/// The reason why the schedule of a rank can't be linked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal {
    /// The rank.
    pub rank: u32,
    /// The action that the reason is about; `None` for the schedule as a whole.
    pub action: Option<Underway>,
    /// The cause, as the rest of a sentence about the action or the schedule.
    pub why: &'static str,
}

/// Names the action and the reason: `recv number 3 from any rank, tag 5, has a wildcard`.
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.action {
            Some(Underway { work: Work::Local, number, .. }) => {
                write!(f, "action number {number} {}", self.why)
            }
            Some(action) => write!(f, "{}, {}", action.name(), self.why),
            None => f.write_str(self.why),
        }
    }
}

/// A message of a section, before it has a place.
struct Placeless {
    message: Message,
    piece: Piece,
    /// True if the message waits for no action. Such messages of the same bytes are equal.
    is_first: bool,
}

impl Messages {
    /// The most words of [`to_words`](Self::to_words).
    pub const WORDS_MAX: usize = 1 + 2 * OPS_MAX;

    pub(super) const TOO_LONG: &str = "it writes too many bytes";

    /// Returns the messages of a rank's section. `ranks` has the ranks of the communicator, by
    /// number, as the section names them; `me` is this rank's number there.
    ///
    /// # Errors
    /// A linked run can't execute the section.
    pub fn of(
        section: Section<'_>,
        ranks: &[u32],
        me: u32,
        lines: &Lines,
    ) -> Result<Self, Refusal> {
        let (mut sends, mut receives) = (Vec::<Placeless>::new(), Vec::<Message>::new());
        let mut all_pieces = 0;
        for (number, (offset, record)) in section.records().enumerate() {
            if number >= OPS_MAX {
                return Err(Refusal { rank: me, action: None, why: "it has more than 64 actions" });
            }
            let underway = Underway { number: number as u64, offset, work: Work::of(&record) };
            let refused = |why| Refusal { rank: me, action: Some(underway), why };
            if record.start_dependents.iter().next().is_some() {
                return Err(refused("lets an action wait for its start"));
            }
            let message = |peer: u32, tag, piece: Piece| {
                let peer = ranks.iter().position(|&other| other == peer);
                let Some(peer) = peer.map(|peer| peer as u32).filter(|&peer| peer != me) else {
                    return Err(refused("names no other rank of the communicator"));
                };
                match u32::try_from(piece.size) {
                    Ok(bytes) => Ok(Message { number: number as u8, peer, tag, bytes, at: 0 }),
                    Err(_) => Err(refused("is too long")),
                }
            };
            let is_twice =
                |new: &Message, other: &Message| (new.peer, new.tag) == (other.peer, other.tag);
            let split = match record.operation() {
                Operation::Send { payload, .. } | Operation::Recv { payload, .. } => payload.size(),
                Operation::Exec { op: Op::Copy, a, .. } => a.size(),
                _ => 0,
            };
            all_pieces += pieces(split);
            match record.operation() {
                Operation::Send { peer, tag, payload: Buffer::One(piece), reduce: None } => {
                    let message = message(peer, tag, piece)?;
                    if sends.iter().any(|other| is_twice(&message, &other.message)) {
                        return Err(refused("has the rank and the tag of an earlier send"));
                    }
                    sends.push(Placeless { message, piece, is_first: record.sources == 0 });
                }
                Operation::Recv { peer, tag, .. } if peer == ANY || tag == ANY => {
                    return Err(refused("has a wildcard"));
                }
                Operation::Recv { peer, tag, payload: Buffer::One(piece), reduce }
                    if reduce.is_none_or(|(op, _)| op != Op::Div) =>
                {
                    let message = message(peer, tag, piece)?;
                    if receives.iter().any(|other| is_twice(&message, other)) {
                        return Err(refused("has the rank and the tag of an earlier receive"));
                    }
                    receives.push(message);
                }
                Operation::Exec { op, a: Buffer::One(a), b: Buffer::One(_), c, .. }
                    if op != Op::Div
                        && matches!(c, None | Some(Buffer::One(_)))
                        && u32::try_from(a.size).is_ok() => {}
                Operation::Nop => {}
                Operation::Send { reduce: None, .. } | Operation::Recv { reduce: None, .. } => {
                    return Err(refused("has several pieces, or a size only"));
                }
                _ => return Err(refused("needs the engine")),
            }
        }
        match place(&sends, lines) {
            Some(sends) => {
                let pieces = u32::try_from(all_pieces).unwrap_or(u32::MAX);
                Ok(Self { sends, receives, pieces })
            }
            None => Err(Refusal { rank: me, action: None, why: Self::TOO_LONG }),
        }
    }

    /// Returns the number of lines that a run needs for the written messages.
    pub(super) fn end(&self, lines: &Lines) -> u64 {
        let ends = self.sends.iter().map(|sent| u64::from(sent.at) + (lines.of)(sent.bytes.into()));
        ends.max().unwrap_or(0)
    }

    /// Checks that each message of `rank` has its receive among the messages of all ranks, and each
    /// receive its message.
    pub(super) fn check(&self, rank: u32, all: &[Self]) -> Result<(), Refusal> {
        let fits = |message: &Message, others: fn(&Self) -> &[Message]| {
            let found = all.get(message.peer as usize).map(others).unwrap_or_default().iter();
            let mut found = found.filter(|other| (other.peer, other.tag) == (rank, message.tag));
            found.next().is_some_and(|other| other.bytes == message.bytes)
        };
        if let Some(sent) = self.sends.iter().find(|sent| !fits(sent, |other| &other.receives)) {
            let Message { peer: to, tag, bytes, .. } = *sent;
            let work = Work::Send { to, tag, bytes: bytes.into() };
            return Err(sent.refused(rank, work, "has no receive of its size"));
        }
        let mut receives = self.receives.iter();
        if let Some(received) = receives.find(|received| !fits(received, |other| &other.sends)) {
            let Message { peer: from, tag, bytes, .. } = *received;
            let work = Work::Recv { from, tag, bytes: bytes.into() };
            return Err(received.refused(rank, work, "has no send of its size"));
        }
        Ok(())
    }

    /// Returns the messages as words for the other ranks.
    pub fn to_words(&self) -> Vec<u64> {
        let [sends, receives] = [&self.sends, &self.receives].map(|of| of.len() as u64);
        let counts = sends << 48 | receives << 32 | u64::from(self.pieces);
        let words = |message: &Message| {
            let Message { number, peer, tag, bytes, at } = *message;
            let place = u64::from(number) << 48 | u64::from(peer & 0xffff) << 32 | u64::from(tag);
            [place, u64::from(at) << 32 | u64::from(bytes)]
        };
        let all = self.sends.iter().chain(&self.receives).flat_map(words);
        std::iter::once(counts).chain(all).collect()
    }

    /// Returns the messages from their words; `None` if the words are no messages.
    pub fn from_words(words: &[u64]) -> Option<Self> {
        let (&counts, words) = words.split_first()?;
        let (sends, receives) = ((counts >> 48) as usize, (counts >> 32) as u16 as usize);
        if sends + receives > OPS_MAX {
            return None;
        }
        let message = |pair: &[u64]| Message {
            number: (pair[0] >> 48) as u8,
            peer: (pair[0] >> 32) as u32 & 0xffff,
            tag: pair[0] as u32,
            bytes: pair[1] as u32,
            at: (pair[1] >> 32) as u32,
        };
        let words = words.get(..2 * (sends + receives))?;
        let (sends, receives) = words.split_at(2 * sends);
        let all = |words: &[u64]| words.chunks_exact(2).map(message).collect();
        Some(Self { sends: all(sends), receives: all(receives), pieces: counts as u32 })
    }
}

impl Message {
    fn refused(&self, rank: u32, work: Work, why: &'static str) -> Refusal {
        let action = Some(Underway { number: self.number.into(), offset: 0, work });
        Refusal { rank, action, why }
    }
}

/// Gives each message of a rank its place. Returns `None` if there are too many lines.
fn place(messages: &[Placeless], lines: &Lines) -> Option<Vec<Message>> {
    let (mut placed, mut end) = (Vec::<Message>::new(), 0u32);
    for &Placeless { message, piece, is_first } in messages {
        let earlier = messages[..placed.len()].iter().zip(&placed);
        let shared = earlier.into_iter().find(|(other, written)| {
            is_first && other.is_first && other.piece == piece && written.peer != message.peer
        });
        let at = match shared {
            Some((_, written)) => written.at,
            None => {
                let at = end;
                end = end.checked_add(u32::try_from((lines.of)(piece.size)).ok()?)?;
                at
            }
        };
        placed.push(Message { at, ..message });
    }
    (u64::from(end) <= lines.rings[1] / 4).then_some(placed)
}

/// Returns the number of pieces of a message or a copy that may be split.
const fn pieces(bytes: u64) -> u64 {
    let pieces = bytes.div_ceil(PIECE_BYTES);
    if pieces == 0 { 1 } else { pieces }
}
