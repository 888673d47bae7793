//! The decoded actions of a schedule. Each action is decoded once, into a single cache line.
//!
//! A very long schedule is executed from its section, action by action: decoded, it takes two to
//! six times the memory of the section.

use super::ids::{Action, ChannelId, DestinationId, Rank};
use super::routes::Routes;
use crate::transport::SHARED_MIN;
use goal_asm::nisa::{Buffer, Operation, Record, Section};
use goal_lang::{Datatype, Op, Piece, Space};

/// The longest section in bytes that is decoded. A decoded action takes 64 bytes, 4 more for each
/// dependent and 4 for each slot.
pub(super) const BYTES_MAX: usize = 16 << 20;
/// The longest section in bytes that a process decodes if it acts for the rank of another process.
pub(super) const HELPER_BYTES_MAX: usize = 128 << 10;

/// All actions of a schedule.
#[derive(Debug)]
pub(super) struct Steps {
    /// The index in `steps` of the action at each slot.
    numbers: Box<[u32]>,
    steps: Box<[Step]>,
    /// Lists of actions, one behind the other: the actions without dependencies, then the
    /// dependents of each action.
    lists: Box<[Action]>,
    /// The number of actions without dependencies.
    independent: u32,
}

/// An action.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(super) struct Step {
    pub(super) kind: StepKind,
    /// For a local operation: its function. For a receive: the operation that combines the message
    /// with its buffer; `None` if it only stores the message.
    pub(super) function: Option<(Op, Datatype)>,
    /// The other rank of a message, and its tag. For a local operation: the halves of the address
    /// of its result.
    pub(super) peer: Rank,
    pub(super) tag: u32,
    /// For a send: the number of its destination. For a receive: the number of its channel.
    pub(super) number: u32,
    /// The buffer of a message, or the first operand.
    pub(super) piece: Piece,
    /// The address of the second operand, which has the size of the first.
    second_addr: u64,
    second_space: Space,
    /// The space of the result of a local operation, which has the size of its operands.
    result_space: Space,
    /// Three indices into `Steps::lists`. Between the first two are the actions that wait for the
    /// end of this one. Between the last two are the actions that wait for its start.
    lists: [u32; 3],
}

const _: () = assert!(size_of::<Step>() == 64);

/// The kind of a decoded action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StepKind {
    /// A send of consecutive bytes.
    Send,
    /// A receive into consecutive bytes.
    Receive,
    /// A local operation that can't fail, on short contiguous operands.
    Exec,
    Nop,
    /// Any other action. It is read from the section.
    Other,
}

impl Steps {
    /// Decodes the `actions` actions of a section. Returns `None` if a receive has wildcards.
    pub(super) fn new(section: Section<'_>, actions: u32, routes: &Routes) -> Option<Self> {
        if routes.has_wildcards() {
            return None;
        }
        let bytes = section.bytes().len();
        let mut numbers = vec![0; Action(bytes as u32).slot() + 1];
        let (mut steps, mut lists) = (Vec::with_capacity(actions as usize), Vec::new());
        lists.extend(section.independent().iter().map(Action));
        let independent = lists.len() as u32;
        for (offset, record) in section.records() {
            numbers[Action(offset).slot()] = steps.len() as u32;
            let ends = lists.len() as u32;
            lists.extend(record.dependents.iter().map(Action));
            let starts = lists.len() as u32;
            lists.extend(record.start_dependents.iter().map(Action));
            steps.push(Step {
                lists: [ends, starts, lists.len() as u32],
                ..Step::decode(routes, &record)
            });
        }
        Some(Self {
            numbers: numbers.into(),
            steps: steps.into(),
            lists: lists.into(),
            independent,
        })
    }

    /// Returns the decoded form of `action`.
    #[inline(always)]
    pub(super) fn step(&self, action: Action) -> &Step {
        &self.steps[self.numbers[action.slot()] as usize]
    }

    /// Returns the actions without dependencies.
    #[inline(always)]
    pub(super) fn independent(&self) -> &[Action] {
        &self.lists[..self.independent as usize]
    }

    /// Returns the actions that wait for the end of `step`.
    #[inline(always)]
    pub(super) fn dependents(&self, step: &Step) -> &[Action] {
        &self.lists[step.lists[0] as usize..step.lists[1] as usize]
    }

    /// Returns the actions that wait for the start of `step`.
    #[inline(always)]
    pub(super) fn start_dependents(&self, step: &Step) -> &[Action] {
        &self.lists[step.lists[1] as usize..step.lists[2] as usize]
    }
}

impl Step {
    /// Returns the second operand of a local operation.
    #[inline]
    pub(super) fn second(&self) -> Piece {
        Piece { addr: self.second_addr, size: self.piece.size, space: self.second_space }
    }

    /// Returns the buffer for the result of a local operation.
    #[inline]
    pub(super) fn result(&self) -> Piece {
        let addr = u64::from(self.tag) << 32 | u64::from(self.peer.0);
        Piece { addr, size: self.piece.size, space: self.result_space }
    }

    /// Decodes an action, except for its lists.
    fn decode(routes: &Routes, record: &Record<'_>) -> Self {
        let nothing = Piece { addr: 0, size: 0, space: Space::Memory };
        let other = Step {
            kind: StepKind::Other,
            function: None,
            peer: Rank(0),
            tag: 0,
            number: 0,
            piece: nothing,
            second_addr: 0,
            second_space: Space::Memory,
            result_space: Space::Memory,
            lists: [0; 3],
        };
        match record.operation() {
            Operation::Send { peer, tag, payload: Buffer::One(piece), reduce: None } => {
                let peer = Rank(peer);
                let DestinationId(number) =
                    routes.destination(peer).expect("a send has its destination");
                Step { kind: StepKind::Send, peer, tag, number, piece, ..other }
            }
            Operation::Recv { peer, tag, payload: Buffer::One(piece), reduce: function } => {
                let ChannelId(number) =
                    routes.channel(peer, tag).expect("a receive has its channel");
                let peer = Rank(peer);
                Step { kind: StepKind::Receive, peer, tag, number, piece, function, ..other }
            }
            Operation::Exec { op, datatype, a: Buffer::One(piece), b: Buffer::One(b), c }
                if op != Op::Div && piece.size == b.size && piece.size < SHARED_MIN =>
            {
                let result = match c {
                    None => b,
                    Some(Buffer::One(c)) if c.size == b.size => c,
                    Some(_) => return other,
                };
                Step {
                    kind: StepKind::Exec,
                    function: Some((op, datatype)),
                    piece,
                    second_addr: b.addr,
                    second_space: b.space,
                    peer: Rank(result.addr as u32),
                    tag: (result.addr >> 32) as u32,
                    result_space: result.space,
                    ..other
                }
            }
            Operation::Nop | Operation::Marker { .. } => Step { kind: StepKind::Nop, ..other },
            _ => other,
        }
    }
}
