//! Lists the messages of one rank's schedule. The other ranks must know them to link it.
//!
//! Threat: the section may be one of another rank. It is verified, so its graph has no circle and
//! all its places lie in it. Everything else may be anything: [`Messages::of`] refuses what a
//! linked run can't execute. [`Link`](super::Link) computes the places of messages itself, so no
//! message lies outside of its run's lines.

use super::message::Message;
use super::order::{Graph, Order};
use crate::engine::{Underway, Work};
use goal_asm::nisa::{Buffer, Operation, Section};
use goal_lang::{ANY, Op, Piece};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::fmt;

/// The most operations of one rank in a block. A mask has a bit for each.
pub(super) const OPS_MAX: usize = 64;

/// The bytes of a piece of a message. The C library copies a piece by `rep movsb`. Other stores
/// take twice as long to lines that a peer has read.
pub(super) const PIECE_BYTES: u64 = 32 << 10;

/// The messages that a rank's schedule writes and reads.
#[derive(Debug, Clone)]
pub(super) struct Messages {
    /// The messages in the order of their actions.
    pub(super) sends: Vec<Message>,
    pub(super) receives: Vec<Message>,
    /// The number of operations of each action, if long messages and copies are split.
    pub(super) pieces: Vec<u32>,
    /// The dependencies.
    pub(super) graph: Graph,
}

/// The reason why the schedule of a rank can't be linked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The rank.
    pub rank: u32,
    /// The action that the reason is about; `None` for the schedule as a whole.
    pub action: Option<Underway>,
    /// The cause, as the rest of a sentence about the action or the schedule.
    pub why: Cow<'static, str>,
}

/// Names the action and the reason: `recv number 3 from any rank, tag 5, has a wildcard`.
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.action {
            Some(Underway { work: Work::Local, number, .. }) => {
                write!(f, "action number {number} {}", self.why)
            }
            Some(action) => write!(f, "{}, {}", action.name(), self.why),
            None => f.write_str(&self.why),
        }
    }
}

impl Messages {
    /// Returns the messages of a rank's section. `ranks` has the ranks of the communicator, by
    /// number, as the section names them; `me` is this rank's number there.
    ///
    /// # Errors
    /// A linked run can't execute the section.
    pub(super) fn of(section: Section<'_>, ranks: &[u32], me: u32) -> Result<Self, Refusal> {
        let (mut sends, mut receives, mut pieces) = (Vec::new(), Vec::new(), Vec::new());
        let members: FxHashMap<u32, u32> = ranks.iter().copied().zip(0..).collect();
        for (number, (offset, record)) in (0..).zip(section.records()) {
            let underway = Underway { number: number.into(), offset, work: Work::of(&record) };
            let refused =
                |why: &'static str| Refusal { rank: me, action: Some(underway), why: why.into() };
            if record.start_dependents.iter().next().is_some() {
                return Err(refused("lets an action wait for its start"));
            }
            let message = |peer: u32, tag, piece: Piece| {
                let Some(&peer) = members.get(&peer).filter(|&&peer| peer != me) else {
                    return Err(refused("names no other rank of the communicator"));
                };
                let bytes = u32::try_from(piece.size).map_err(|_| refused("is too long"))?;
                let is_first = record.sources == 0;
                Ok(Message { number, peer, tag, turn: 0, bytes, piece, is_first })
            };
            let split = match record.operation() {
                Operation::Send { payload, .. } | Operation::Recv { payload, .. } => payload.size(),
                Operation::Exec { op: Op::Copy, a, .. } => a.size(),
                _ => 0,
            };
            pieces.push(u32::try_from(split.div_ceil(PIECE_BYTES).max(1)).unwrap_or(u32::MAX));
            match record.operation() {
                Operation::Send { peer, tag, payload: Buffer::One(piece), reduce: None } => {
                    sends.push(message(peer, tag, piece)?);
                }
                Operation::Recv { peer, tag, .. } if peer == ANY || tag == ANY => {
                    return Err(refused("has a wildcard"));
                }
                Operation::Recv { peer, tag, payload: Buffer::One(piece), reduce }
                    if reduce.is_none_or(|(op, _)| op != Op::Div) =>
                {
                    receives.push(message(peer, tag, piece)?);
                }
                Operation::Exec { op, a: Buffer::One(a), b: Buffer::One(_), c, .. }
                    if op != Op::Div
                        && matches!(c, None | Some(Buffer::One(_)))
                        && u32::try_from(a.size).is_ok() => {}
                Operation::Nop => {}
                other => return Err(refused(why_refused(&other))),
            }
        }
        let graph = Graph::of(section, pieces.len());
        let mut order = Order::new(&graph);
        let unordered = "has the rank and the tag of an earlier send that it does not wait for";
        order.number(&mut sends).map_err(|sent| sent.refused(me, Work::sent, unordered))?;
        let unordered = "has the rank and the tag of an earlier receive that it does not wait for";
        order.number(&mut receives).map_err(|got| got.refused(me, Work::received, unordered))?;
        Ok(Self { sends, receives, pieces, graph })
    }

    /// Returns the number of actions.
    pub(super) fn actions(&self) -> usize {
        self.pieces.len()
    }
}

/// Returns the reason why a linked run can't execute an operation.
fn why_refused(operation: &Operation<'_>) -> &'static str {
    match operation {
        Operation::Exec { op: Op::Div, .. }
        | Operation::Send { reduce: Some((Op::Div, ..)), .. }
        | Operation::Recv { reduce: Some((Op::Div, _)), .. } => {
            "divides: only the engine can tell of a division by zero"
        }
        Operation::Send { reduce: Some(_), .. } => "is a local operation and a send in one",
        Operation::Exec { a: Buffer::One(a), .. } if u32::try_from(a.size).is_err() => {
            "is too long"
        }
        Operation::Send { .. } | Operation::Recv { .. } | Operation::Exec { .. } => {
            "has several pieces, or a size only"
        }
        Operation::Calc { .. } => "is a calc, whose time only the engine awaits",
        Operation::User { .. } => "calls a function of the program, as only the engine does",
        Operation::Wtime { .. } => "stores the time, as only the engine does",
        Operation::Nop | Operation::Marker { .. } => "is a marker, which only the engine executes",
    }
}

impl Work {
    /// Returns the work of the send of a message.
    pub(super) fn sent(message: &Message) -> Self {
        Self::Send { to: message.peer, tag: message.tag, bytes: message.bytes.into() }
    }

    /// Returns the work of the receive of a message.
    pub(super) fn received(message: &Message) -> Self {
        Self::Recv { from: message.peer, tag: message.tag, bytes: message.bytes.into() }
    }
}

impl Message {
    pub(super) fn refused(
        &self,
        rank: u32,
        work: fn(&Self) -> Work,
        why: impl Into<Cow<'static, str>>,
    ) -> Refusal {
        let action = Underway { number: self.number.into(), offset: 0, work: work(self) };
        Refusal { rank, action: Some(action), why: why.into() }
    }

    /// Returns the rank, the tag and the turn. No other send of the rank has them, and no other
    /// receive.
    pub(super) fn key(&self) -> (u32, u32, u32) {
        (self.peer, self.tag, self.turn)
    }
}
