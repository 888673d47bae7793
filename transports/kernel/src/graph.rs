//! The dependency graph of a rank, as the translation for the kernel reads it: the rank's actions,
//! each with the numbers of its dependents.

use crate::limits::FLOATS_MAX;
use crate::reason::Reason;
use goal_asm::Nisa;
use goal_asm::nisa::{Buffer, Operation};
use goal_lang::{Datatype, Op, Piece, Space, flat_offsets};

/// An operation C = A op B, with its operands and its result in pieces.
#[derive(Debug, Clone)]
pub(crate) struct Exec {
    pub op: Op,
    pub datatype: Datatype,
    pub a: Vec<Piece>,
    pub b: Vec<Piece>,
    pub c: Vec<Piece>,
}

/// The bytes of a message.
#[derive(Debug, Clone)]
pub(crate) enum Payload {
    Pattern(u64),
    Pieces(Vec<Piece>),
}

impl Payload {
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Payload::Pattern(bytes) => *bytes,
            Payload::Pieces(pieces) => pieces.iter().map(|piece| piece.size).sum(),
        }
    }
}

/// Work of a rank's process that is not an [`Exec`].
#[derive(Debug, Clone)]
pub(crate) enum Hand {
    /// The process computes for a time.
    Calc,
    /// The process stores the time.
    Time(Piece),
    /// The process calls a function of the program.
    Call { function: u32, a: Vec<Piece>, b: Vec<Piece> },
}

/// The actions that the processes of ranks do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abilities {
    /// True if the processes spend the time of `calc` actions. Otherwise these actions do nothing.
    pub calc: bool,
    /// True if the processes have the functions that `exec user` calls. Otherwise the kernel takes
    /// no schedule with such actions.
    pub functions: bool,
}

impl Default for Abilities {
    /// Returns the abilities of processes that `goal-run` starts for the ranks of a schedule.
    fn default() -> Self {
        Self { calc: true, functions: false }
    }
}

#[derive(Debug, Clone)]
pub(crate) enum Work {
    /// A send. `before` is an operation that is done before the message leaves.
    Send {
        peer: u32,
        tag: u32,
        payload: Payload,
        before: Option<Exec>,
    },
    /// A receive. `combine` is an operation that combines the message with the only piece of the
    /// payload. The peer and the tag may be [`ANY`](goal_lang::ANY).
    Recv {
        peer: u32,
        tag: u32,
        payload: Payload,
        combine: Option<(Op, Datatype)>,
    },
    Exec(Exec),
    Nothing,
    /// Work that the rank's process does.
    Handed(Hand),
    /// An action that the kernel cannot execute, for this reason.
    Refused(Reason),
}

#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub sources: u32,
    pub work: Work,
    /// The numbers of the actions that wait for the completion of this action.
    pub dependents: Vec<u32>,
    /// The numbers of the actions that wait for the start of this action.
    pub start_dependents: Vec<u32>,
}

/// The actions of a rank. All addresses of memory are places in one region.
#[derive(Debug, Clone)]
pub(crate) struct Graph {
    pub nodes: Vec<Node>,
    pub memory: u64,
    pub scratch: u64,
}

impl Graph {
    pub(crate) fn of(nisa: &Nisa, rank: u32, abilities: Abilities) -> Self {
        let section = nisa.section(rank);
        let starts: Vec<u32> = section.records().map(|(at, _)| at).collect();
        let number = |offset: u32| starts.binary_search(&offset).expect("verified") as u32;
        let places = Places::of(nisa, rank);
        let nodes = section
            .records()
            .map(|(_, record)| Node {
                sources: record.sources.into(),
                work: work(&record.operation(), &places, abilities),
                dependents: record.dependents.iter().map(number).collect(),
                start_dependents: record.start_dependents.iter().map(number).collect(),
            })
            .collect();
        Self { nodes, memory: nisa.memory_size(rank), scratch: nisa.scratch_size(rank) }
    }
}

/// The offsets of the rank's buffers in one region; empty if the rank's memory is one region
/// already.
struct Places(Vec<u64>);

impl Places {
    fn of(nisa: &Nisa, rank: u32) -> Self {
        let (offsets, _) = flat_offsets(nisa.buffers(rank)).expect("a verified table fits memory");
        Self(offsets)
    }

    fn piece(&self, piece: Piece) -> Piece {
        match (piece.space, self.0.as_slice()) {
            (Space::Scratch, _) | (_, []) => piece,
            (Space::Memory, offsets) => {
                let (buffer, offset) = goal_lang::buffer_of(piece.addr);
                Piece { addr: offsets[buffer] + offset, ..piece }
            }
        }
    }

    fn pieces(&self, buffer: Buffer<'_>) -> Vec<Piece> {
        match buffer {
            Buffer::Pattern { .. } => Vec::new(),
            Buffer::One(piece) => vec![self.piece(piece)],
            Buffer::Many(pieces) => pieces.iter().map(|piece| self.piece(piece)).collect(),
        }
    }

    fn payload(&self, buffer: Buffer<'_>) -> Payload {
        match buffer {
            Buffer::Pattern { size } => Payload::Pattern(size),
            buffer => Payload::Pieces(self.pieces(buffer)),
        }
    }
}

/// Returns true if an operation on `bytes` bytes would hold up interrupts for too long.
pub(crate) fn is_long(op: Op, datatype: Datatype, bytes: u64) -> bool {
    let is_computed = datatype.is_float() && op != Op::Copy;
    is_computed && bytes / datatype.width() > FLOATS_MAX.into()
}

fn work(operation: &Operation<'_>, places: &Places, abilities: Abilities) -> Work {
    match *operation {
        Operation::Send { peer, tag, payload, reduce } => {
            let before = reduce.map(|(op, datatype, a)| {
                let b = places.pieces(payload);
                Exec { op, datatype, a: vec![places.piece(a)], c: b.clone(), b }
            });
            Work::Send { peer, tag, payload: places.payload(payload), before }
        }
        Operation::Recv { peer, tag, payload, reduce } => {
            Work::Recv { peer, tag, payload: places.payload(payload), combine: reduce }
        }
        Operation::Calc { nanos: 0 } | Operation::Nop | Operation::Marker { .. } => Work::Nothing,
        Operation::Calc { .. } if !abilities.calc => Work::Nothing,
        Operation::Calc { .. } => Work::Handed(Hand::Calc),
        Operation::Exec { op, datatype, a, b, c } => Work::Exec(Exec {
            op,
            datatype,
            a: places.pieces(a),
            b: places.pieces(b),
            c: places.pieces(c.unwrap_or(b)),
        }),
        Operation::User { .. } if !abilities.functions => Work::Refused(Reason::UserFunction),
        Operation::User { function, a, b } => {
            let (a, b) = (places.pieces(a), places.pieces(b));
            Work::Handed(Hand::Call { function, a, b })
        }
        Operation::Wtime { buffer } => {
            let piece = places.pieces(buffer).first().copied();
            Work::Handed(Hand::Time(piece.expect("a verified record has a place")))
        }
    }
}
