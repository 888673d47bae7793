//! The operation of an action: its parameters, decoded by the row of its instruction.

use super::bytes::{u32_at, u64_at};
use super::instruction::{Form, Opcode, PIECE_SIZE, Type, instructions};
use goal_lang::{Datatype, Op, Piece, Space};

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
        /// The computation before the send: `payload` = A op `payload`. `None` for a plain send.
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
        /// The combination with the buffer's content: `payload` = message op `payload`. `None` for
        /// a plain receive.
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
        /// The buffer that takes the time.
        buffer: Buffer<'a>,
    },
    /// No work: the action only carries dependencies.
    Nop,
    /// No work: a simulator tells when it is reached.
    Marker {
        /// One of [`goal_lang::MARKERS`].
        to: u32,
        /// Tag.
        tag: u32,
    },
}

/// An operand of an operation, or the payload of a message.
#[derive(Debug, Clone, Copy)]
pub enum Buffer<'a> {
    /// A pattern: bytes without an address.
    Pattern {
        /// The number of bytes.
        size: u64,
    },
    /// Consecutive bytes.
    One(Piece),
    /// Scattered bytes.
    Many(PieceList<'a>),
}

impl Buffer<'_> {
    /// Returns the number of bytes of all pieces together.
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
    /// Returns the pieces in order.
    pub fn iter(self) -> impl ExactSizeIterator<Item = Piece> + 'a {
        self.0.chunks_exact(PIECE_SIZE).map(|piece| Piece {
            addr: u64_at(piece, 0),
            size: u64_at(piece, 8),
            space: if u32_at(piece, 16) == 0 { Space::Memory } else { Space::Scratch },
        })
    }
}

/// Reads the value of a field or an operand of the given kind at the cursor.
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
    ($cursor:ident, MarkerNumber) => {
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
        /// Returns the operation with these parameters, of an action of type `kind`.
        #[inline(always)]
        pub(super) fn decode(kind: Type, parameters: &[u8]) -> Operation<'_> {
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

/// Returns the bytes of the parameters of an action with a vector among its operands.
#[cold]
pub(super) fn scattered_size(kind: Type, parameters: &[u8]) -> usize {
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

    /// Returns the form of the next operand and goes on to the one behind it.
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

    /// Reads an operand of consecutive bytes.
    #[inline(always)]
    fn piece(&mut self) -> Piece {
        let form = self.form();
        self.piece_in(form.space())
    }

    #[inline(always)]
    fn buffer_in(&mut self, form: Form) -> Buffer<'a> {
        match form {
            Form::Plain => Buffer::Pattern { size: self.u64() },
            Form::Memory | Form::Scratch => Buffer::One(self.piece_in(form.space())),
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
