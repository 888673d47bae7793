//! Decodes one rank's schedule to the operations of a linked run.

use super::lanes::Ring;
use super::link::Link;
use super::messages::OPS_MAX;
use crate::engine::{Schedule, Underway, Work};
use goal_asm::nisa::{Buffer, Operation, Record};
use goal_lang::{Datatype, Op as Operator, Piece, Space};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The error that a rank's schedule does not fit the link of its communicator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unlinkable;

/// A linked schedule of one rank.
#[derive(Debug)]
pub struct Linked {
    pub(super) schedule: Arc<Schedule>,
    /// The operations. Each needs only operations before it.
    pub(super) ops: Box<[Op]>,
    /// A bit for each operation.
    pub(super) all: u64,
    /// The operations that need no message, directly or not, as a mask.
    pub(super) initial: u64,
    /// True if the schedule is [simple](super::Run::is_simple).
    pub(super) is_simple: bool,
    pub(super) ring: Ring,
    /// The most lines that any rank writes.
    pub(super) lines: u32,
    /// The signature of the schedule, which lies in the cell of each of its messages.
    pub(super) signature: u16,
    board: u8,
    /// The ranks of the communicator that read this rank's messages.
    readers: u64,
    /// A send that waits for a receive; `None` if the schedule has one round.
    relay: Option<u32>,
    /// The actions of each operation, for reports.
    actions: Box<[Underway]>,
}

/// An operation, which needs other operations to have ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct Op {
    /// The operations that must have ended, as a mask.
    pub(super) needs: u64,
    pub(super) kind: Kind,
    /// The bytes of the message or of an operand.
    pub(super) len: u32,
    /// The first line of the message in the run.
    pub(super) at: u32,
}

/// The work of an operation. Operands are in [`Op::operands`].
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// Writes the first operand for these ranks of the job, in this number of lines.
    Put { readers: u64, lines: u32 },
    /// Reads a message of the rank into the first operand.
    Take { writer: u32 },
    /// Reads a message of the rank, and stores it, combined with the first operand, in the second.
    /// The message is the left operand of the operation unless `reversed`.
    Fold { writer: u32, operator: Operator, datatype: Datatype, reversed: bool },
    /// Stores the combination of the first and the second operand in the third.
    Exec { operator: Operator, datatype: Datatype },
    /// Nothing.
    Nop,
}

/// The operands of an operation in the rank's memory.
pub(super) type Operands = [Piece; 3];

const NONE: Piece = Piece { addr: 0, size: 0, space: Space::Memory };

/// An operation while it is built.
struct Draft {
    op: Op,
    operands: Operands,
    underway: Underway,
    /// True if another operation does the work of this one.
    is_merged: bool,
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
        merge_puts(&mut drafts);
        fold_messages(&mut drafts);
        let pieces = split(compact(drafts).ok_or(Unlinkable)?, link)?;
        let drafts = compact(pieces).ok_or(Unlinkable)?;
        let all = of_kind(&drafts, |_| true);
        let puts = of_kind(&drafts, |kind| matches!(kind, Kind::Put { .. }));
        let later = after_messages(&drafts);
        let (initial, relays) = (all & !later, puts & later);
        let is_first_put = initial == 0 || initial == 1 && puts & 1 != 0;
        let is_simple = link.ring() == Ring::Short && all != 0 && is_first_put && relays == 0;
        let linked = Self {
            all,
            initial,
            is_simple,
            ring: link.ring(),
            lines: link.lines(),
            signature,
            board,
            readers: link.readers_of(me),
            relay: (relays != 0).then(|| relays.trailing_zeros()),
            ops: drafts.iter().map(|draft| draft.op).collect(),
            actions: drafts.iter().map(|draft| draft.underway).collect(),
            schedule,
        };
        Ok((linked, Bindings(drafts.iter().map(|draft| draft.operands).collect())))
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

    /// Returns the lines by which a start of the schedule advances the position.
    #[inline]
    pub fn lines(&self) -> u64 {
        self.lines.into()
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

    /// Returns true if a send waits for a receive, directly or not. Peers of such a run wait for
    /// later calls of this rank.
    #[inline(always)]
    pub fn has_relay(&self) -> bool {
        self.relay.is_some()
    }

    /// Returns the name of a send that waits for a receive; `None` if there is none.
    pub fn relay(&self) -> Option<String> {
        self.relay.map(|at| self.actions[at as usize].name().to_string())
    }

    /// Returns those operations as actions of a report.
    pub(super) fn actions(&self, mask: u64) -> impl Iterator<Item = Underway> {
        let numbered = self.actions.iter().enumerate();
        numbered.filter(move |(at, _)| mask >> at & 1 != 0).map(|(_, action)| *action)
    }
}

/// The operands of each operation, as places in the rank's memory.
#[derive(Debug, Clone)]
pub struct Bindings(pub(super) Box<[Operands]>);

/// Decodes each action to an operation of its own.
fn drafts(
    schedule: &Schedule,
    link: &Link,
    ranks: &[u32],
    me: u32,
) -> Result<Vec<Draft>, Unlinkable> {
    let section = schedule.section();
    let numbers: FxHashMap<u32, usize> = section.records().map(|(at, _)| at).zip(0..).collect();
    if numbers.len() > OPS_MAX {
        return Err(Unlinkable);
    }
    let mut drafts = Vec::new();
    for (number, (offset, record)) in section.records().enumerate() {
        let work = Work::of(&record);
        let underway = Underway { number: number as u64, offset, work };
        let (op, operands) = decode(&record, link, ranks, me)?;
        drafts.push(Draft { op, operands, underway, is_merged: false });
    }
    for (number, (_, record)) in section.records().enumerate() {
        for dependent in record.dependents.iter() {
            drafts[numbers[&dependent]].op.needs |= 1 << number;
        }
        if record.start_dependents.iter().next().is_some() {
            return Err(Unlinkable);
        }
    }
    Ok(drafts)
}

/// Decodes an action, except for what it needs.
fn decode(
    record: &Record<'_>,
    link: &Link,
    ranks: &[u32],
    me: u32,
) -> Result<(Op, Operands), Unlinkable> {
    let member = |rank: u32| {
        let number = ranks.iter().position(|&other| other == rank).ok_or(Unlinkable)?;
        Ok(number as u32)
    };
    let size = |piece: Piece| u32::try_from(piece.size).map_err(|_| Unlinkable);
    let message = |from, to, tag, piece: Piece| {
        let message = link.message(from, to, tag).ok_or(Unlinkable)?;
        if u64::from(message.bytes) == piece.size { Ok(message.at) } else { Err(Unlinkable) }
    };
    match record.operation() {
        Operation::Send { peer, tag, payload: Buffer::One(piece), reduce: None } => {
            let to = member(peer)?;
            let at = message(me, to, tag, piece)?;
            let readers = 1u64.checked_shl(peer).ok_or(Unlinkable)?;
            let kind = Kind::Put { readers, lines: link.lines_of(piece.size) };
            Ok((Op { needs: 0, kind, len: size(piece)?, at }, [piece, NONE, NONE]))
        }
        Operation::Recv { peer, tag, payload: Buffer::One(piece), reduce } => {
            let writer = member(peer)?;
            let at = message(writer, me, tag, piece)?;
            let kind = match reduce {
                None => Kind::Take { writer },
                Some((operator, datatype)) => {
                    Kind::Fold { writer, operator, datatype, reversed: false }
                }
            };
            Ok((Op { needs: 0, kind, len: size(piece)?, at }, [piece, piece, NONE]))
        }
        Operation::Exec { op, datatype, a: Buffer::One(a), b: Buffer::One(b), c }
            if op != Operator::Div =>
        {
            let c = match c {
                None => b,
                Some(Buffer::One(c)) => c,
                Some(_) => return Err(Unlinkable),
            };
            let kind = Kind::Exec { operator: op, datatype };
            Ok((Op { needs: 0, kind, len: size(a)?, at: 0 }, [a, b, c]))
        }
        Operation::Nop => Ok((Op { needs: 0, kind: Kind::Nop, len: 0, at: 0 }, [NONE; 3])),
        _ => Err(Unlinkable),
    }
}

/// Merges writes of one message for several ranks.
fn merge_puts(drafts: &mut [Draft]) {
    for at in 0..drafts.len() {
        let Kind::Put { mut readers, lines } = drafts[at].op.kind else { continue };
        if drafts[at].is_merged {
            continue;
        }
        let (first, operand) = (drafts[at].op, drafts[at].operands[0]);
        for other in at + 1..drafts.len() {
            let Draft { op, operands, .. } = &drafts[other];
            if let Kind::Put { readers: more, .. } = op.kind
                && (op.at, op.needs, operands[0]) == (first.at, first.needs, operand)
            {
                readers |= more;
                replace(drafts, other, at);
            }
        }
        drafts[at].op.kind = Kind::Put { readers, lines };
    }
}

/// Lets the operation `by` do the work of the operation `which`.
fn replace(drafts: &mut [Draft], which: usize, by: usize) {
    drafts[which].is_merged = true;
    for draft in drafts {
        if draft.op.needs >> which & 1 != 0 {
            draft.op.needs = draft.op.needs & !(1 << which) | 1 << by;
        }
    }
}

/// Combines messages where they lie: a message that only one operation uses need not be copied to
/// scratch memory before.
fn fold_messages(drafts: &mut [Draft]) {
    for at in 0..drafts.len() {
        let Kind::Take { writer } = drafts[at].op.kind else { continue };
        let arrived = drafts[at].operands[0];
        let Some(user) = only_user(drafts, at) else { continue };
        let Kind::Exec { operator, datatype } = drafts[user].op.kind else { continue };
        let [a, b, c] = drafts[user].operands;
        let (own, reversed) = match (a == arrived, b == arrived) {
            (true, false) => (b, false),
            (false, true) => (a, true),
            _ => continue,
        };
        let place = drafts[at].op.at;
        let (taken, underway) = (drafts[at].op.needs, drafts[at].underway);
        let fold = &mut drafts[user];
        fold.op.kind = match operator {
            // A copy is B = A.
            Operator::Copy if !reversed => Kind::Take { writer },
            Operator::Copy => continue,
            _ => Kind::Fold { writer, operator, datatype, reversed },
        };
        fold.op.at = place;
        fold.op.needs = fold.op.needs & !(1 << at) | taken;
        fold.operands = if operator == Operator::Copy { [b, b, NONE] } else { [own, c, NONE] };
        // The report of a rank that waits names the receive.
        fold.underway = underway;
        replace(drafts, at, user);
    }
}

/// Returns the operation that uses the memory into which `at` reads its message. Nobody else sees
/// the message there: it is scratch memory, or the operation overwrites all of it. Returns `None`
/// if several operations use this memory, or if others wait for the message. They must not wait for
/// what the user waits for.
fn only_user(drafts: &[Draft], at: usize) -> Option<usize> {
    let arrived = drafts[at].operands[0];
    let overlaps = |piece: &Piece| {
        let (end, other_end) = (piece.addr + piece.size, arrived.addr + arrived.size);
        piece.space == arrived.space && piece.addr < other_end && arrived.addr < end
    };
    let others = || (0..drafts.len()).filter(|&other| other != at && !drafts[other].is_merged);
    let mut users = others().filter(|&other| drafts[other].operands.iter().any(overlaps));
    let user = users.next()?;
    let waits = others().filter(|&other| drafts[other].op.needs >> at & 1 != 0);
    let is_unseen = arrived.space == Space::Scratch || drafts[user].operands[2] == arrived;
    (users.next().is_none() && waits.eq([user]) && is_unseen).then_some(user)
}

/// Splits operations on long messages into pieces, so that peers read a piece while the next one is
/// written. A rank writes all its pieces, and copies its own bytes beside them, before it reads.
fn split(drafts: Vec<Draft>, link: &Link) -> Result<Vec<Draft>, Unlinkable> {
    let most = link.piece_bytes();
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
