//! Decodes one rank's schedule to the operations of a linked run.

use super::fold::{Uses, fold_messages, merge_puts};
use super::lanes::Ring;
use super::link::{Link, Place};
use super::message::Message;
use super::messages::{Messages, OPS_MAX};
use super::operation::{Draft, Kind, NONE, Op, Operands};
use crate::engine::{Schedule, Underway, Work};
use goal_asm::nisa::{Buffer, Operation, Record};
use goal_lang::{Op as Operator, Piece};
use std::sync::Arc;

/// The error that a rank's schedule does not fit the link of its communicator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unlinkable;

/// A linked schedule of one rank.
#[derive(Debug)]
pub struct Linked {
    pub(super) schedule: Arc<Schedule>,
    /// The blocks, in their order. There is at least one.
    pub(super) blocks: Box<[Block]>,
    /// True if the schedule is [simple](super::Run::is_simple).
    pub(super) is_simple: bool,
    pub(super) ring: Ring,
    /// The signature of the schedule, which lies in the cell of each of its messages.
    pub(super) signature: u16,
    board: u8,
    /// The ranks of the communicator that read this rank's messages.
    readers: u64,
    /// A send that waits for a receive; `None` if the schedule has one round.
    relay: Option<Underway>,
}

/// A part of a schedule that runs when the parts before it have ended on this rank. See
/// [`blocks`](super::blocks).
#[derive(Debug)]
pub(super) struct Block {
    /// The operations. Each needs only operations before it.
    pub(super) ops: Box<[Op]>,
    /// A bit for each operation.
    pub(super) all: u64,
    /// The operations that need no message, directly or not, as a mask.
    pub(super) initial: u64,
    /// The most lines that any rank writes.
    pub(super) lines: u32,
    /// The actions of each operation, for reports.
    actions: Box<[Underway]>,
}

impl Linked {
    /// Links the schedule of a rank. `ranks` has the ranks of the communicator in its order, with
    /// their numbers in the job, as the schedule names them. `me` is this rank's number in the
    /// communicator. `signature` must be equal on all ranks, and should differ from that of other
    /// schedules. `board` is the number of the communicator's boards.
    ///
    /// # Errors
    /// [`Unlinkable`] if the link is not one of this schedule, or if it sends to a rank above 63.
    pub fn new(
        schedule: Arc<Schedule>,
        link: &Link,
        ranks: &[u32],
        me: u32,
        signature: u16,
        board: u8,
    ) -> Result<(Self, Bindings), Unlinkable> {
        let mut drafts = drafts(&schedule, link, ranks, me)?;
        drafts.iter_mut().for_each(|drafts| merge_puts(drafts));
        let uses = Uses::of(&drafts);
        let (mut blocks, mut operands, mut relay) = (Vec::new(), Vec::new(), None);
        for (number, (mut drafts, &lines)) in drafts.into_iter().zip(link.lines()).enumerate() {
            fold_messages(&mut drafts, &uses);
            let drafts = compact(drafts).ok_or(Unlinkable)?;
            let drafts = compact(split(drafts, link, number)?).ok_or(Unlinkable)?;
            let all = of_kind(&drafts, |_| true);
            let later = after_messages(&drafts);
            let relays = of_kind(&drafts, |kind| matches!(kind, Kind::Put { .. })) & later;
            if relay.is_none() && relays != 0 {
                relay = Some(drafts[relays.trailing_zeros() as usize].underway);
            }
            let ops = drafts.iter().map(|draft| draft.op).collect();
            let actions = drafts.iter().map(|draft| draft.underway).collect();
            operands.extend(drafts.iter().map(|draft| draft.operands));
            blocks.push(Block { ops, all, initial: all & !later, lines, actions });
        }
        let is_simple = match &blocks[..] {
            [Block { ops, all, initial, .. }] => {
                let is_first_put =
                    *initial == 0 || *initial == 1 && matches!(ops[0].kind, Kind::Put { .. });
                link.ring() == Ring::Short && *all != 0 && is_first_put && relay.is_none()
            }
            _ => false,
        };
        let linked = Self {
            blocks: blocks.into(),
            is_simple,
            ring: link.ring(),
            signature,
            board,
            readers: link.readers_of(me),
            relay,
            schedule,
        };
        Ok((linked, Bindings(operands.into())))
    }

    /// Returns the number of the communicator's boards.
    #[inline(always)]
    pub fn board(&self) -> usize {
        self.board.into()
    }

    /// Returns the ring of the schedule's messages.
    #[inline]
    pub fn ring(&self) -> Ring {
        self.ring
    }

    /// Returns the ranks of the communicator that read this rank's messages, as a mask.
    #[inline]
    pub fn readers(&self) -> u64 {
        self.readers
    }

    /// Returns the signature of the schedule's messages.
    pub fn signature(&self) -> u16 {
        self.signature
    }

    /// Returns true if a send may wait for a receive, directly or not. Peers of such a run wait for
    /// later calls of this rank.
    #[inline(always)]
    pub fn has_relay(&self) -> bool {
        self.relay.is_some() || self.blocks.len() > 1
    }

    /// Returns the reason why a send waits for a receive; `None` if there is none.
    pub fn relay(&self) -> Option<String> {
        match self.relay {
            Some(send) => Some(format!("{}, waits for a receive", send.name())),
            None if self.blocks.len() > 1 => Some("it has more than one block".to_owned()),
            None => None,
        }
    }
}

impl Block {
    /// Returns those operations as actions of a report.
    pub(super) fn actions(&self, mask: u64) -> impl Iterator<Item = Underway> {
        let numbered = self.actions.iter().enumerate();
        numbered.filter(move |(at, _)| mask >> at & 1 != 0).map(|(_, action)| *action)
    }
}

/// The operands of each operation, as places in the rank's memory.
#[derive(Debug, Clone)]
pub struct Bindings(pub(super) Box<[Operands]>);

/// Decodes each action to an operation of its own. Returns the operations of each block.
fn drafts(
    schedule: &Schedule,
    link: &Link,
    ranks: &[u32],
    me: u32,
) -> Result<Vec<Vec<Draft>>, Unlinkable> {
    let section = schedule.section();
    let messages = Messages::of(section, ranks, me).map_err(|_| Unlinkable)?;
    let (mut sends, mut receives) = (messages.sends.iter(), messages.receives.iter());
    let mut blocks: Vec<Vec<Draft>> = link.lines().iter().map(|_| Vec::new()).collect();
    // The block of each action, and its number there.
    let mut places = Vec::with_capacity(messages.actions());
    for (number, (offset, record)) in (0..).zip(section.records()) {
        let operation = record.operation();
        let message = match operation {
            Operation::Send { .. } => sends.next().map(|sent| (me, sent.key(), sent)),
            Operation::Recv { .. } => receives.next().map(|received| {
                let Message { peer, tag, turn, .. } = *received;
                (peer, (me, tag, turn), received)
            }),
            _ => None,
        };
        let place = match message {
            Some((from, key, message)) => {
                let place = link.message(from, key).ok_or(Unlinkable)?;
                if place.bytes != message.bytes {
                    return Err(Unlinkable);
                }
                Some((place, message.peer))
            }
            None => None,
        };
        let (op, operands) = decode(&record, link, place)?;
        let block = link.block_of(me, number).ok_or(Unlinkable)?;
        let underway = Underway { number: number.into(), offset, work: Work::of(&record) };
        places.push((block, blocks[block].len()));
        blocks[block].push(Draft { op, operands, underway, is_merged: false });
        if blocks[block].len() > OPS_MAX {
            return Err(Unlinkable);
        }
    }
    for (number, &(block, at)) in (0..).zip(&places) {
        for &dependent in messages.graph.dependents(number) {
            match places[dependent as usize] {
                (later, place) if later == block => blocks[block][place].op.needs |= 1 << at,
                // The run has ended a block before it begins with the next one.
                (later, _) if later > block => {}
                _ => return Err(Unlinkable),
            }
        }
    }
    Ok(blocks)
}

/// Decodes an action, except for what it needs. `message` has its place and the other rank of the
/// communicator, if it is a message.
fn decode(
    record: &Record<'_>,
    link: &Link,
    message: Option<(Place, u32)>,
) -> Result<(Op, Operands), Unlinkable> {
    let size = |piece: Piece| u32::try_from(piece.size).map_err(|_| Unlinkable);
    match (record.operation(), message) {
        (
            Operation::Send { peer, payload: Buffer::One(piece), reduce: None, .. },
            Some((to, _)),
        ) => {
            let readers = 1u64.checked_shl(peer).ok_or(Unlinkable)?;
            let kind = Kind::Put { readers, lines: link.lines_of(piece.size) };
            Ok((Op { needs: 0, kind, len: to.bytes, at: to.at }, [piece, NONE, NONE]))
        }
        (Operation::Recv { payload: Buffer::One(piece), reduce, .. }, Some((from, writer))) => {
            let kind = match reduce {
                None => Kind::Take { writer },
                Some((operator, datatype)) => {
                    Kind::Fold { writer, operator, datatype, reversed: false }
                }
            };
            Ok((Op { needs: 0, kind, len: from.bytes, at: from.at }, [piece, piece, NONE]))
        }
        (Operation::Exec { op, datatype, a: Buffer::One(a), b: Buffer::One(b), c }, None) => {
            let c = match c {
                None => b,
                Some(Buffer::One(c)) => c,
                Some(_) => return Err(Unlinkable),
            };
            let kind = Kind::Exec { operator: op, datatype };
            Ok((Op { needs: 0, kind, len: size(a)?, at: 0 }, [a, b, c]))
        }
        (Operation::Nop, None) => Ok((Op { needs: 0, kind: Kind::Nop, len: 0, at: 0 }, [NONE; 3])),
        _ => Err(Unlinkable),
    }
}

/// Splits operations on long messages into pieces, so that peers read a piece while the next one is
/// written. A rank writes all its pieces, and copies its own bytes beside them, before it reads.
fn split(drafts: Vec<Draft>, link: &Link, block: usize) -> Result<Vec<Draft>, Unlinkable> {
    let most = link.piece_bytes(block);
    let count = |op: &Op| match op.kind {
        Kind::Exec { operator, .. } if operator != Operator::Copy => 1,
        _ => u64::from(op.len).div_ceil(most).max(1),
    };
    if drafts.iter().all(|draft| count(&draft.op) == 1) {
        return Ok(drafts);
    }
    let mut pieces = Vec::new();
    for (number, Draft { op, .. }) in drafts.iter().enumerate() {
        for piece in 0..count(op) {
            let turn = match op.kind {
                Kind::Put { .. } => (piece, 0),
                Kind::Exec { .. } | Kind::Nop => (piece, 1),
                Kind::Take { .. } | Kind::Fold { .. } => (u64::MAX, 0),
            };
            pieces.push((turn, number, piece));
        }
    }
    if pieces.len() > OPS_MAX {
        return Err(Unlinkable);
    }
    pieces.sort_unstable();
    let all_of = |needed: u64| {
        let numbered = pieces.iter().enumerate();
        let which = numbered.filter(|(_, (_, number, _))| needed >> number & 1 != 0);
        which.fold(0, |mask, (at, _)| mask | 1 << at)
    };
    let part = |&(_, number, piece): &(_, usize, u64)| {
        let (draft, first) = (&drafts[number], piece * most);
        let Op { len, at, .. } = draft.op;
        let mut op = Op { needs: all_of(draft.op.needs), ..draft.op };
        if count(&op) == 1 {
            return Draft { op, ..*draft };
        }
        let bytes = most.min(u64::from(len) - first);
        let before = if first == 0 { 0 } else { link.lines_of(first) };
        (op.len, op.at) = (bytes as u32, at + before);
        if let Kind::Put { lines, .. } = &mut op.kind {
            *lines = link.lines_of(bytes);
        }
        let of_part = |whole: Piece| match whole.size {
            0 => whole,
            _ => Piece { addr: whole.addr + first, size: bytes, ..whole },
        };
        Draft { op, operands: draft.operands.map(of_part), ..*draft }
    };
    Ok(pieces.iter().map(part).collect())
}

/// Removes the operations whose work others do, and numbers the rest anew. An operation needs only
/// operations with lower numbers then, and writes come as early as they can. Returns `None` if
/// operations need each other.
fn compact(drafts: Vec<Draft>) -> Option<Vec<Draft>> {
    let (mut numbers, mut order) = ([0; OPS_MAX], Vec::new());
    let mut left: Vec<usize> = (0..drafts.len()).filter(|&at| !drafts[at].is_merged).collect();
    let mut placed = 0u64;
    while !left.is_empty() {
        let is_ready = |&at: &usize| drafts[at].op.needs & !placed == 0;
        let is_put = |at: &usize| matches!(drafts[*at].op.kind, Kind::Put { .. });
        let put = left.iter().position(|at| is_ready(at) && is_put(at));
        let next = put.or_else(|| left.iter().position(is_ready))?;
        let next = left.remove(next);
        numbers[next] = order.len();
        placed |= 1 << next;
        order.push(next);
    }
    let renumber = |needs: u64| {
        let set = (0..OPS_MAX).filter(|at| needs >> at & 1 != 0);
        set.fold(0, |mask, at| mask | 1 << numbers[at])
    };
    let moved = |&at: &usize| {
        let Draft { op, operands, underway, is_merged } = drafts[at];
        Draft { op: Op { needs: renumber(op.needs), ..op }, operands, underway, is_merged }
    };
    Some(order.iter().map(moved).collect())
}

/// Returns the operations of this kind, as a mask.
fn of_kind(drafts: &[Draft], is_wanted: impl Fn(Kind) -> bool) -> u64 {
    let found = drafts.iter().enumerate().filter(|(_, draft)| is_wanted(draft.op.kind));
    found.fold(0, |mask, (at, _)| mask | 1 << at)
}

/// Returns the operations that need a message, directly or not, as a mask. Each needs only
/// operations before it.
fn after_messages(drafts: &[Draft]) -> u64 {
    let receives = of_kind(drafts, |kind| matches!(kind, Kind::Take { .. } | Kind::Fold { .. }));
    let numbered = drafts.iter().enumerate();
    numbered.fold(receives, |mask, (at, draft)| {
        mask | if draft.op.needs & mask != 0 { 1 << at } else { 0 }
    })
}
