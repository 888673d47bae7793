//! Decodes one rank's schedule to the operations of a linked run.

use super::lanes::Ring;
use super::link::{Link, OPS_MAX};
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
    pub(super) ops: Box<[Op]>,
    /// A bit for each operation.
    pub(super) all: u64,
    /// The operations that need no message and no other operation, as a mask.
    pub(super) initial: u64,
    pub(super) ring: Ring,
    /// The most lines that any rank writes.
    pub(super) lines: u32,
    /// The signature of the schedule, which lies in the cell of each of its messages.
    pub(super) signature: u16,
    board: u8,
    /// The ranks that read this rank's messages.
    readers: u64,
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
    /// Writes the first operand for these ranks, in this number of lines.
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
    /// Links the schedule of a rank. `ranks` has the ranks of the communicator, by number, as the
    /// schedule names them; `me` is this rank's number there. `signature` must be equal on all
    /// ranks, and should differ from that of other schedules.
    ///
    /// # Errors
    /// [`Unlinkable`] if the link is not one of this schedule.
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
        let drafts = split(compact(drafts), link)?;
        let all = if drafts.is_empty() { 0 } else { u64::MAX >> (64 - drafts.len()) };
        let is_initial =
            |op: &Op| op.needs == 0 && !matches!(op.kind, Kind::Take { .. } | Kind::Fold { .. });
        let numbered = drafts.iter().enumerate();
        let initial = numbered.filter(|(_, draft)| is_initial(&draft.op));
        let initial = initial.fold(0, |mask, (at, _)| mask | 1 << at);
        let linked = Self {
            all,
            initial,
            ring: link.ring(),
            lines: link.lines(),
            signature,
            board,
            readers: link.readers_of(me),
            ops: drafts.iter().map(|draft| draft.op).collect(),
            actions: drafts.iter().map(|draft| draft.underway).collect(),
            schedule,
        };
        Ok((linked, Bindings(drafts.iter().map(|draft| draft.operands).collect())))
    }

    /// Returns true if the schedule has no operations.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.all == 0
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

    /// Returns the ranks that read this rank's messages, as a mask.
    #[inline]
    pub fn readers(&self) -> u64 {
        self.readers
    }

    /// Returns the schedule.
    pub fn schedule(&self) -> &Arc<Schedule> {
        &self.schedule
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
        if message.bytes == piece.size { Ok(message.at) } else { Err(Unlinkable) }
    };
    match record.operation() {
        Operation::Send { peer, tag, payload: Buffer::One(piece), reduce: None } => {
            let to = member(peer)?;
            let at = message(me, to, tag, piece)?;
            let kind = Kind::Put { readers: 1 << to, lines: link.lines_of(piece.size) };
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
            (false, true) if c != b => (a, true),
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

/// Returns the operation that uses the scratch memory of the message of `at`. Returns `None` if
/// several operations use this memory, or if the one that does waits for another action.
fn only_user(drafts: &[Draft], at: usize) -> Option<usize> {
    let arrived = drafts[at].operands[0];
    if arrived.space != Space::Scratch {
        return None;
    }
    let overlaps = |piece: &Piece| {
        let (end, other_end) = (piece.addr + piece.size, arrived.addr + arrived.size);
        piece.space == Space::Scratch && piece.addr < other_end && arrived.addr < end
    };
    let uses = |draft: &Draft| !draft.is_merged && draft.operands.iter().any(overlaps);
    let mut users = (0..drafts.len()).filter(|&other| other != at && uses(&drafts[other]));
    let user = users.next()?;
    let waits = drafts[user].op.needs >> at & 1 != 0;
    (users.next().is_none() && waits).then_some(user)
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

/// Removes the operations whose work others do, and numbers the rest anew.
fn compact(drafts: Vec<Draft>) -> Vec<Draft> {
    let mut numbers = [0; OPS_MAX];
    let mut next = 0;
    for (at, draft) in drafts.iter().enumerate() {
        numbers[at] = next;
        next += u32::from(!draft.is_merged);
    }
    let renumber = |needs: u64| {
        let set = (0..OPS_MAX).filter(|at| needs >> at & 1 != 0);
        set.fold(0, |mask, at| mask | 1 << numbers[at])
    };
    let mut left: Vec<Draft> = drafts.into_iter().filter(|draft| !draft.is_merged).collect();
    for draft in &mut left {
        draft.op.needs = renumber(draft.op.needs);
    }
    left
}
