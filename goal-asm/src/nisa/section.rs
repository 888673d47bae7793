//! The view of a verified section, which the engine executes in place.

use super::instruction::{Form, Opcode, PIECE_SIZE, Type, instructions};
use goal_lang::{Datatype, Op, Piece, Placement, Space};

/// The bytes of one rank's schedule: `<count u32> <offset u32>*` of independent actions, then the
/// actions.
///
/// Invariant: the bytes passed the verifier, or come from the encoder. Reading other bytes may
/// panic, and is never unsafe.
#[derive(Debug, Clone, Copy)]
pub struct Section<'a> {
    bytes: &'a [u8],
}

/// One action, read in place. Its lists are located; its parameters are decoded on demand.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    /// Number of dependencies that it waits for, both kinds together.
    pub sources: u16,
    kind: Type,
    parameters: &'a [u8],
    /// Offsets of the actions that wait for its completion.
    pub dependents: Offsets<'a>,
    /// Offsets of the actions that wait for its start.
    pub start_dependents: Offsets<'a>,
    /// Offset of the first byte behind it.
    pub end: u32,
}

/// The operation of an action, with its parameters.
#[derive(Debug, Clone, Copy)]
pub enum Operation<'a> {
    /// A message to `peer`.
    Send {
        /// Destination rank.
        peer: u32,
        /// Tag.
        tag: u32,
        /// The bytes to send.
        payload: Buffer<'a>,
        /// The computation before the send, if there is one: `payload` = A op `payload`.
        reduce: Option<(Op, Datatype, Piece)>,
    },
    /// A message from `peer`.
    Recv {
        /// Source rank or [`goal_lang::ANY`].
        peer: u32,
        /// Tag or [`goal_lang::ANY`].
        tag: u32,
        /// The buffer for the message.
        payload: Buffer<'a>,
        /// The combination with the buffer's content, if there is one: `payload` = message op
        /// `payload`.
        reduce: Option<(Op, Datatype)>,
    },
    /// Computation.
    Calc {
        /// Nanoseconds.
        nanos: u64,
    },
    /// A predefined local operation.
    Exec {
        /// Operation.
        op: Op,
        /// Type of the elements.
        datatype: Datatype,
        /// First operand.
        a: Buffer<'a>,
        /// Second operand.
        b: Buffer<'a>,
        /// The result, if it is not `b`.
        c: Option<Buffer<'a>>,
    },
    /// A registered local operation.
    User {
        /// Number of the function.
        function: u32,
        /// First buffer.
        a: Buffer<'a>,
        /// Second buffer.
        b: Buffer<'a>,
    },
    /// The time, stored as 8 bytes.
    Wtime {
        /// The buffer for it.
        buffer: Buffer<'a>,
    },
    /// Nothing.
    Nop,
}

/// An operand.
#[derive(Debug, Clone, Copy)]
pub enum Buffer<'a> {
    /// Bytes without an address.
    Pattern {
        /// Bytes.
        size: u64,
    },
    /// Consecutive bytes.
    One(Piece),
    /// Scattered bytes.
    Many(PieceList<'a>),
}

impl Buffer<'_> {
    /// Bytes in all.
    #[inline]
    pub fn size(&self) -> u64 {
        match self {
            Buffer::Pattern { size } => *size,
            Buffer::One(piece) => piece.size,
            Buffer::Many(pieces) => pieces.iter().map(|piece| piece.size).sum(),
        }
    }
}

/// The pieces of a scattered operand.
#[derive(Debug, Clone, Copy)]
pub struct PieceList<'a>(&'a [u8]);

impl<'a> PieceList<'a> {
    /// The pieces, in order.
    pub fn iter(self) -> impl ExactSizeIterator<Item = Piece> + 'a {
        self.0.chunks_exact(PIECE_SIZE).map(|piece| Piece {
            addr: u64_at(piece, 0),
            size: u64_at(piece, 8),
            space: if u32_at(piece, 16) == 0 { Space::Memory } else { Space::Scratch },
        })
    }
}

/// Offsets of actions in the section.
#[derive(Debug, Clone, Copy)]
pub struct Offsets<'a>(&'a [u8]);

impl<'a> Offsets<'a> {
    /// Splits off the list that `bytes` begin with. Returns it and the bytes behind it.
    #[inline(always)]
    fn split(bytes: &'a [u8]) -> (Self, &'a [u8]) {
        let (count, rest) = bytes.split_first_chunk().expect("four bytes");
        let (offsets, rest) = rest.split_at(4 * u32::from_le_bytes(*count) as usize);
        (Self(offsets), rest)
    }

    /// The offsets, in order.
    #[inline]
    pub fn iter(self) -> impl ExactSizeIterator<Item = u32> + 'a {
        self.0.chunks_exact(4).map(|offset| u32_at(offset, 0))
    }

    /// The offset number `index`.
    ///
    /// # Panics
    /// If there are not so many.
    #[inline]
    pub fn get(self, index: usize) -> u32 {
        u32_at(self.0, 4 * index)
    }

    /// Number of offsets.
    #[inline]
    pub fn len(self) -> usize {
        self.0.len() / 4
    }

    /// Returns true if there is none.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }
}

impl<'a> Section<'a> {
    /// A section over verified bytes.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// The bytes.
    pub fn bytes(self) -> &'a [u8] {
        self.bytes
    }

    /// Offsets of the actions that wait for nothing.
    #[inline]
    pub fn independent(self) -> Offsets<'a> {
        Offsets::split(self.bytes).0
    }

    /// Offset of the first action.
    pub fn first_action(self) -> u32 {
        (self.bytes.len() - Offsets::split(self.bytes).1.len()) as u32
    }

    /// Every action with its offset, in the section's order.
    pub fn records(self) -> impl Iterator<Item = (u32, Record<'a>)> {
        let mut at = self.first_action();
        std::iter::from_fn(move || {
            ((at as usize) < self.bytes.len()).then(|| {
                let record = self.record(at);
                (std::mem::replace(&mut at, record.end), record)
            })
        })
    }

    /// The action at `offset`.
    // Inlined into the engine, so that parts of the record that it doesn't use are not decoded.
    #[inline(always)]
    pub fn record(self, offset: u32) -> Record<'a> {
        let (head, rest) = self.bytes[offset as usize..].split_first_chunk().expect("four bytes");
        let head = u32::from_le_bytes(*head);
        let kind = Type((head >> 16) as u16);
        let size = match kind.parameters_size() {
            Some(size) => size,
            None => scattered_size(kind, rest),
        };
        let (parameters, rest) = rest.split_at(size);
        let (dependents, mut rest) = Offsets::split(rest);
        let mut start_dependents = Offsets(&[]);
        if kind.has_start_list() {
            (start_dependents, rest) = Offsets::split(rest);
        }
        let end = (self.bytes.len() - rest.len()) as u32;
        Record { sources: head as u16, kind, parameters, dependents, start_dependents, end }
    }
}

impl<'a> Record<'a> {
    /// cpu and nic.
    #[inline]
    pub fn placement(&self) -> Placement {
        match self.kind.is_placed() {
            true => Placement { cpu: self.parameters[0], nic: self.parameters[1] },
            false => Placement::default(),
        }
    }

    /// The action's operation, with its parameters.
    // Inlined into the caller's match, so that the operation itself is never built.
    #[inline(always)]
    pub fn operation(&self) -> Operation<'a> {
        decode(self.kind, self.parameters)
    }
}

/// Reads the value of a field or an operand.
macro_rules! read {
    ($cursor:ident, Peer) => {
        $cursor.u32()
    };
    ($cursor:ident, AnyPeer) => {
        $cursor.u32()
    };
    ($cursor:ident, Tag) => {
        $cursor.u32()
    };
    ($cursor:ident, AnyTag) => {
        $cursor.u32()
    };
    ($cursor:ident, Nanos) => {
        $cursor.u64()
    };
    ($cursor:ident, Function) => {
        $cursor.function()
    };
    ($cursor:ident, Combination) => {
        $cursor.function()
    };
    ($cursor:ident, UserFunction) => {
        $cursor.u32()
    };
    ($cursor:ident, Payload) => {
        $cursor.buffer()
    };
    ($cursor:ident, Buffer) => {
        $cursor.buffer()
    };
    ($cursor:ident, Optional) => {
        $cursor.optional()
    };
    ($cursor:ident, Argument) => {
        $cursor.buffer()
    };
    ($cursor:ident, Timestamp) => {
        $cursor.piece()
    };
    ($cursor:ident, Contiguous) => {
        $cursor.piece()
    };
}

macro_rules! decoder {
    ($(
        $(#[$doc:meta])* $opcode:ident = $code:literal, $name:literal, since $since:literal,
        placed $placed:literal, fields { $($field:ident: $kind:ident),* },
        operands { $($operand:ident: $rule:ident),* },
        decodes $operation:ident $({ $($value:tt)* })?;
    )*) => {
        /// The operation of an action of this type, with its parameters.
        #[inline(always)]
        fn decode(kind: Type, parameters: &[u8]) -> Operation<'_> {
            #[allow(unused_mut, reason = "a nop has no parameters")]
            let mut cursor = Cursor { bytes: parameters, at: kind.placement_size(), kind, operand: 0 };
            match kind.opcode().expect("verified") {
                $(Opcode::$opcode => {
                    $(let $field = read!(cursor, $kind);)*
                    $(let $operand = read!(cursor, $rule);)*
                    Operation::$operation $({ $($value)* })?
                })*
            }
        }
    };
}

instructions!(decoder);

/// Bytes of the parameters of an action with a scattered operand.
#[cold]
fn scattered_size(kind: Type, parameters: &[u8]) -> usize {
    let instruction = kind.opcode().expect("verified").instruction();
    let mut size = kind.placement_size() + instruction.fields_size();
    for (i, rule) in instruction.operands.iter().enumerate() {
        size += match kind.form(i) {
            Form::Vector => 4 + PIECE_SIZE * u32_at(parameters, size) as usize,
            form => rule.size(form),
        };
    }
    size
}

/// Reads parameters in their order.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    kind: Type,
    /// The number of the next operand.
    operand: usize,
}

impl<'a> Cursor<'a> {
    #[inline]
    fn u32(&mut self) -> u32 {
        self.at += 4;
        u32_at(self.bytes, self.at - 4)
    }

    #[inline]
    fn u64(&mut self) -> u64 {
        self.at += 8;
        u64_at(self.bytes, self.at - 8)
    }

    #[inline]
    fn function(&mut self) -> (Op, Datatype) {
        let function = self.u32();
        let op = Op::from_code(function as u8).expect("verified");
        (op, Datatype::from_code((function >> 8) as u8).expect("verified"))
    }

    /// The form of the next operand.
    #[inline(always)]
    fn form(&mut self) -> Form {
        self.operand += 1;
        self.kind.form(self.operand - 1)
    }

    #[inline(always)]
    fn buffer(&mut self) -> Buffer<'a> {
        let form = self.form();
        self.buffer_in(form)
    }

    #[inline(always)]
    fn optional(&mut self) -> Option<Buffer<'a>> {
        let form = self.form();
        (form != Form::Plain).then(|| self.buffer_in(form))
    }

    /// An operand of consecutive bytes.
    #[inline(always)]
    fn piece(&mut self) -> Piece {
        let space = match self.form() {
            Form::Scratch => Space::Scratch,
            _ => Space::Memory,
        };
        self.piece_in(space)
    }

    #[inline(always)]
    fn buffer_in(&mut self, form: Form) -> Buffer<'a> {
        match form {
            Form::Plain => Buffer::Pattern { size: self.u64() },
            Form::Memory => Buffer::One(self.piece_in(Space::Memory)),
            Form::Scratch => Buffer::One(self.piece_in(Space::Scratch)),
            Form::Vector => {
                let bytes = PIECE_SIZE * self.u32() as usize;
                self.at += bytes;
                Buffer::Many(PieceList(&self.bytes[self.at - bytes..self.at]))
            }
        }
    }

    #[inline(always)]
    fn piece_in(&mut self, space: Space) -> Piece {
        Piece { addr: self.u64(), size: self.u64(), space }
    }
}

#[inline]
pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

#[inline]
pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}
