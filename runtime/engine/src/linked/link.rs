//! Computes the places of all messages of a schedule on the boards of their writers.

use super::blocks::{Cut, cut};
use super::lanes::{Lines, Ring};
use super::message::Message;
use super::messages::{Messages, OPS_MAX, PIECE_BYTES, Refusal};
use crate::engine::Work;
use goal_asm::Nisa;
use goal_asm::nisa::Section;
use rustc_hash::FxHashMap;

/// The most ranks. Masks of readers have a bit for each.
const RANKS_MAX: usize = 64;

/// The places of all messages of a schedule.
#[derive(Debug, Clone)]
pub struct Link {
    /// The messages that each rank writes, by their [keys](Message::key).
    written: Vec<FxHashMap<(u32, u32, u32), Place>>,
    /// The ranks that read messages of each rank, as masks.
    readers: Vec<u64>,
    /// The most lines that any rank writes in each block. All ranks count on by this number.
    lines: Vec<u32>,
    /// The blocks of the actions; `None` if they form one block.
    cut: Option<Cut>,
    ring: Ring,
    /// True if long messages of the only block are written in pieces: readers read one while the
    /// next is written.
    has_pieces: bool,
    /// Returns the lines of a message from its bytes.
    lines_of: fn(u64) -> u64,
}

/// The place of a message.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// The first line, counted from the first line of the block. Messages with the same bytes share
    /// their lines.
    pub(super) at: u32,
    pub(super) bytes: u32,
}

impl Link {
    /// Links the schedules of all ranks of a file, as one block. All ranks must call this with
    /// equal bytes, because each decides by the result if it writes to its board.
    ///
    /// # Errors
    /// The schedule of a rank can't be linked, or does not fit a block.
    pub fn in_one_block(nisa: &Nisa, lines: &Lines) -> Result<Self, Refusal> {
        let ranks: Vec<u32> = (0..nisa.num_ranks()).collect();
        let sections: Vec<_> = ranks.iter().map(|&rank| nisa.section(rank)).collect();
        Self::of_all(&sections, &ranks, lines, true)
    }

    /// Links the sections of a communicator's ranks, by rank. `ranks` has these ranks as the
    /// sections name them. All ranks must call this with equal sections.
    ///
    /// # Errors
    /// There are too many ranks, or messages of one rank and tag without a forced order. A message
    /// lacks its receive, or a receive its message. Or actions that wait for each other fit no
    /// block.
    pub fn new(sections: &[Section<'_>], ranks: &[u32], lines: &Lines) -> Result<Self, Refusal> {
        Self::of_all(sections, ranks, lines, false)
    }

    fn of_all(
        sections: &[Section<'_>],
        ranks: &[u32],
        lines: &Lines,
        is_one_block: bool,
    ) -> Result<Self, Refusal> {
        if sections.len() > RANKS_MAX {
            return Err(Refusal { rank: 0, action: None, why: "there are too many ranks".into() });
        }
        let of = |(&section, me): (&Section<'_>, u32)| Messages::of(section, ranks, me);
        let all: Vec<Messages> = sections.iter().zip(0..).map(of).collect::<Result<_, _>>()?;
        let pairs = pair(&all)?;
        let refused = |rank: usize, why: &'static str| Refusal {
            rank: rank as u32,
            action: None,
            why: why.into(),
        };
        let mut whole = None;
        match all.iter().position(|one| one.actions() > OPS_MAX) {
            Some(rank) if is_one_block => return Err(refused(rank, "it has more than 64 actions")),
            Some(_) => {}
            None => whole = Some(Places::new(&all, None, lines.of)),
        }
        let [few, most] = [lines.rings[0] / 8, lines.rings[1] / 4];
        if is_one_block && let Some(rank) = whole.as_ref().and_then(|places| places.above(most)) {
            return Err(refused(rank, "it writes more bytes than a block has"));
        }
        let (places, cut) = match whole.filter(|places| places.above(most).is_none()) {
            Some(places) => (places, None),
            None => {
                let cut = cut(&all, &pairs, most, lines.of)?;
                (Places::new(&all, Some(&cut), lines.of), Some(cut))
            }
        };
        let is_short = cut.is_none() && places.above(few).is_none();
        let has_pieces = |one: &Messages| {
            let pieces = one.pieces.iter().map(|&pieces| u64::from(pieces)).sum::<u64>();
            pieces <= OPS_MAX as u64
        };
        let readers = |one: &Messages| one.sends.iter().fold(0, |mask, sent| mask | 1 << sent.peer);
        Ok(Self {
            readers: all.iter().map(readers).collect(),
            lines: places.most().collect(),
            written: places.written,
            has_pieces: all.iter().all(has_pieces),
            cut,
            ring: if is_short { Ring::Short } else { Ring::Long },
            lines_of: lines.of,
        })
    }

    /// Returns the message from one rank to another with this tag and turn.
    pub(super) fn message(&self, from: u32, key: (u32, u32, u32)) -> Option<Place> {
        self.written.get(from as usize)?.get(&key).copied()
    }

    /// Returns the lines of a message from its bytes.
    pub(super) fn lines_of(&self, bytes: u64) -> u32 {
        (self.lines_of)(bytes) as u32
    }

    /// Returns the bytes of each piece of a message or of a copy in a block. The last piece may be
    /// shorter.
    pub(super) fn piece_bytes(&self, block: usize) -> u64 {
        let has_pieces = match &self.cut {
            Some(cut) => cut.has_pieces[block],
            None => self.has_pieces,
        };
        if has_pieces { PIECE_BYTES } else { u64::MAX }
    }

    /// Returns the block of an action of a rank; `None` if there is no such action.
    pub(super) fn block_of(&self, rank: u32, action: u32) -> Option<usize> {
        match &self.cut {
            Some(cut) => {
                let blocks = cut.block_of.get(rank as usize)?;
                blocks.get(action as usize).map(|&block| block as usize)
            }
            None => Some(0),
        }
    }

    /// Returns the most lines that any rank writes in each block.
    pub(super) fn lines(&self) -> &[u32] {
        &self.lines
    }

    /// Returns the ring of the messages.
    pub fn ring(&self) -> Ring {
        self.ring
    }

    /// Returns the ranks that read messages of `rank`, as a mask.
    pub fn readers_of(&self, rank: u32) -> u64 {
        self.readers[rank as usize]
    }
}

/// Checks that each message has its receive, and each receive its message. Returns the rank and the
/// action of the send for each receive of each rank.
fn pair(all: &[Messages]) -> Result<Vec<Vec<(u32, u32)>>, Refusal> {
    let by_key = |messages: &[Message]| -> FxHashMap<_, Message> {
        messages.iter().map(|message| (message.key(), *message)).collect()
    };
    let sends: Vec<_> = all.iter().map(|one| by_key(&one.sends)).collect();
    let receives: Vec<_> = all.iter().map(|one| by_key(&one.receives)).collect();
    let find = |others: &[FxHashMap<_, Message>], rank: u32, message: &Message| {
        let key = (rank, message.tag, message.turn);
        others.get(message.peer as usize).and_then(|of| of.get(&key)).copied()
    };
    let mut pairs = Vec::new();
    for (rank, own) in (0..).zip(all) {
        for sent in &own.sends {
            let why = match find(&receives, rank, sent) {
                Some(received) if received.bytes == sent.bytes => continue,
                Some(Message { number, bytes, .. }) => format!(
                    "has another size than its receive: recv number {number} of rank {} has {bytes} bytes",
                    sent.peer
                ),
                None => "has no receive".to_owned(),
            };
            return Err(sent.refused(rank, Work::sent, why));
        }
        // The sizes are compared at the sends, of this rank or of another one.
        let send_of = |received: &Message| match find(&sends, rank, received) {
            Some(sent) => Ok((received.peer, sent.number)),
            None => Err(received.refused(rank, Work::received, "has no send")),
        };
        pairs.push(own.receives.iter().map(send_of).collect::<Result<_, _>>()?);
    }
    Ok(pairs)
}

/// The places of all messages.
struct Places {
    written: Vec<FxHashMap<(u32, u32, u32), Place>>,
    /// The lines of each block on the boards of each rank.
    ends: Vec<Vec<u64>>,
}

impl Places {
    fn new(all: &[Messages], cut: Option<&Cut>, lines_of: fn(u64) -> u64) -> Self {
        let blocks = cut.map_or(1, |cut| cut.has_pieces.len());
        let (mut written, mut all_ends) = (Vec::new(), Vec::new());
        for (rank, own) in all.iter().enumerate() {
            let (mut ends, mut shared) = (vec![0; blocks], FxHashMap::default());
            let place = |sent: &Message| {
                let block = cut.map_or(0, |cut| cut.block_of[rank][sent.number as usize]);
                let end = &mut ends[block as usize];
                let mut next = || {
                    *end += lines_of(sent.bytes.into());
                    *end - lines_of(sent.bytes.into())
                };
                let at = match sent.is_first {
                    true => *shared.entry((block, sent.piece)).or_insert_with(next),
                    false => next(),
                };
                (sent.key(), Place { at: at as u32, bytes: sent.bytes })
            };
            written.push(own.sends.iter().map(place).collect());
            all_ends.push(ends);
        }
        Self { written, ends: all_ends }
    }

    /// Returns the first rank that writes more lines than these in a block.
    fn above(&self, lines: u64) -> Option<usize> {
        self.ends.iter().position(|ends| ends.iter().any(|&end| end > lines))
    }

    /// Returns the most lines that any rank writes in each block.
    fn most(&self) -> impl Iterator<Item = u32> {
        let blocks = self.ends.first().map_or(1, Vec::len);
        let of_block = |block| self.ends.iter().map(move |ends| ends[block] as u32).max();
        (0..blocks).map(move |block| of_block(block).unwrap_or(0))
    }
}
