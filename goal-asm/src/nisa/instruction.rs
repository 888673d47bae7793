//! The instruction table: every action type of NISA once, with its fields and operands.
//!
//! An action is laid out as the paper has it (III.C): `<num sources u16> <type u16> <parameters>
//! <dependent>`. The type is an opcode in its low byte and, above it, what the parameters look like
//! ([`Type`]). The parameters are, in this order:
//!
//! 1. one word `cpu u8, nic u8, 0 u16` where [`Type::PLACED`] is set;
//! 2. the instruction's [`Field`]s;
//! 3. its operands, each in the [`Form`] that the type word names.
//!
//! `<dependent>` is `<count u32> <offset u32>*`: who waits for this action's completion; where
//! [`Type::START_LIST`] is set a second such list follows: who waits for its start.

/// A fixed field of an instruction's parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// `u32`: the other rank; in a receive `u32::MAX` is any.
    Peer,
    /// `u32`: the tag; in a receive `u32::MAX` is any.
    Tag,
    /// `u64`: nanoseconds.
    Nanos,
    /// `u8` opcode, `u8` datatype, `u16` 0: a predefined operation.
    Operation,
    /// `u32`: number of a registered function.
    UserFunction,
}

impl Field {
    /// Bytes of the field.
    pub const fn size(self) -> usize {
        match self {
            Field::Nanos => 8,
            _ => 4,
        }
    }
}

/// How an operand is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
pub enum Form {
    /// In a message: `size u64`, a pattern. In a local operation: nothing, there is no such
    /// operand.
    Plain = 0,
    /// `addr u64, size u64` in the rank's memory.
    Memory = 1,
    /// `offset u64, size u64` in scratch memory.
    Scratch = 2,
    /// `count u32`, then for each piece `addr u64, size u64, space u32` (0 memory, 1 scratch).
    Vector = 3,
}

/// Bytes of one piece of a vector.
pub const PIECE_SIZE: usize = 20;

/// What an instruction takes as one of its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperandRule {
    /// A message's payload: any form.
    Payload,
    /// A buffer that must be there: memory, scratch or vector.
    Buffer,
    /// A buffer that may be absent.
    Optional,
    /// Eight bytes of memory or scratch.
    Timestamp,
    /// A buffer in one piece: memory or scratch.
    Contiguous,
}

impl OperandRule {
    /// Whether an operand may be given in `form`.
    pub const fn allows(self, form: Form) -> bool {
        match self {
            OperandRule::Payload | OperandRule::Optional => true,
            OperandRule::Buffer => !matches!(form, Form::Plain),
            OperandRule::Timestamp | OperandRule::Contiguous => {
                matches!(form, Form::Memory | Form::Scratch)
            }
        }
    }
}

impl OperandRule {
    /// Bytes of an operand in a form of fixed size.
    pub(super) const fn size(self, form: Form) -> usize {
        match (self, form) {
            (OperandRule::Payload, Form::Plain) => 8,
            (_, Form::Plain | Form::Vector) => 0,
            (_, Form::Memory | Form::Scratch) => 16,
        }
    }
}

/// One row of the instruction table.
#[derive(Debug, Clone, Copy)]
pub struct Instruction {
    /// The name in documents and messages.
    pub name: &'static str,
    /// The first major version of the format that has it.
    pub since: u16,
    /// Whether it may have a cpu and a nic.
    pub placed: bool,
    /// Fixed fields, in order.
    pub fields: &'static [Field],
    /// Operands, in order.
    pub operands: &'static [OperandRule],
}

impl Instruction {
    /// Bytes of the fixed fields.
    pub(super) const fn fields_size(&self) -> usize {
        let (mut size, mut i) = (0, 0);
        while i < self.fields.len() {
            size += self.fields[i].size();
            i += 1;
        }
        size
    }
}

macro_rules! instructions {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $text:literal, since $since:literal, $placed:literal, [$($field:ident),*], [$($operand:ident),*];)*) => {
        /// What an action does: the low byte of its type.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Opcode { $($(#[$doc])* $name = $code,)* }

        impl Opcode {
            /// Every opcode, ascending.
            pub const ALL: &'static [Opcode] = &[$(Opcode::$name),*];

            /// The opcode stored as `code`.
            #[inline]
            pub const fn from_code(code: u8) -> Option<Opcode> {
                match code { $($code => Some(Opcode::$name),)* _ => None }
            }

            /// Its row of the table.
            #[inline]
            pub const fn instruction(self) -> &'static Instruction {
                match self { $(Opcode::$name => {
                    const ROW: &Instruction = &Instruction {
                        name: $text,
                        since: $since,
                        placed: $placed,
                        fields: &[$(Field::$field),*],
                        operands: &[$(OperandRule::$operand),*],
                    };
                    ROW
                })* }
            }
        }
    };
}

instructions! {
    /// A message to a rank.
    Send = 1, "send", since 1, true, [Peer, Tag], [Payload];
    /// A message from a rank.
    Recv = 2, "recv", since 1, true, [Peer, Tag], [Payload];
    /// Computation of a given length.
    Calc = 3, "calc", since 1, true, [Nanos], [];
    /// A predefined local operation.
    Exec = 4, "exec", since 1, false, [Operation], [Buffer, Buffer, Optional];
    /// A registered local operation.
    User = 5, "user", since 1, false, [UserFunction], [Buffer, Buffer];
    /// The time of the caller's clock, in seconds as a Float64.
    Wtime = 6, "wtime", since 1, false, [], [Timestamp];
    /// Nothing.
    Nop = 7, "nop", since 1, false, [], [];
    /// A message from a rank, combined with a buffer.
    RecvReduce = 8, "recv-reduce", since 2, true, [Peer, Tag, Operation], [Contiguous];
    /// A message to a rank, computed from two buffers into the second.
    ReduceSend = 9, "reduce-send", since 2, true, [Peer, Tag, Operation], [Contiguous, Contiguous];
}

/// The type word of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Type(pub u16);

impl Type {
    /// A list of start dependents follows the list of completion dependents.
    pub const START_LIST: u16 = 1 << 8;
    /// The parameters begin with cpu and nic; otherwise both are 0.
    pub const PLACED: u16 = 1 << 9;
    const FORMS_SHIFT: u16 = 10;

    /// A type word from its parts.
    pub fn new(opcode: Opcode, placed: bool, start_list: bool, forms: [Form; 3]) -> Self {
        let mut word = opcode as u16;
        if placed {
            word |= Self::PLACED;
        }
        if start_list {
            word |= Self::START_LIST;
        }
        for (i, form) in forms.into_iter().enumerate() {
            word |= (form as u16) << (Self::FORMS_SHIFT + 2 * i as u16);
        }
        Self(word)
    }

    /// The opcode; `None` for a code that the table doesn't have.
    #[inline]
    pub const fn opcode(self) -> Option<Opcode> {
        Opcode::from_code(self.0 as u8)
    }

    /// Whether a list of start dependents follows.
    #[inline]
    pub const fn has_start_list(self) -> bool {
        self.0 & Self::START_LIST != 0
    }

    /// Whether cpu and nic are given.
    #[inline]
    pub const fn is_placed(self) -> bool {
        self.0 & Self::PLACED != 0
    }

    /// Bytes of cpu and nic.
    #[inline]
    pub(super) const fn placement_size(self) -> usize {
        if self.is_placed() { 4 } else { 0 }
    }

    /// Bytes of the parameters; `None` where an operand is a vector, whose size its count tells.
    #[inline]
    pub(super) fn parameters_size(self) -> Option<usize> {
        const FORMS: usize = 1 << 6;
        const VECTOR: u8 = u8::MAX;
        /// By opcode and forms.
        static SIZES: [[u8; FORMS]; 16] = {
            let mut sizes = [[VECTOR; FORMS]; 16];
            let mut i = 0;
            while i < Opcode::ALL.len() {
                let instruction = Opcode::ALL[i].instruction();
                let mut forms = 0;
                while forms < FORMS {
                    let word = Type((forms as u16) << Type::FORMS_SHIFT);
                    let (mut size, mut operand, mut is_fixed) =
                        (instruction.fields_size(), 0, true);
                    while operand < instruction.operands.len() {
                        is_fixed &= !matches!(word.form(operand), Form::Vector);
                        size += instruction.operands[operand].size(word.form(operand));
                        operand += 1;
                    }
                    if is_fixed {
                        sizes[Opcode::ALL[i] as usize][forms] = size as u8;
                    }
                    forms += 1;
                }
                i += 1;
            }
            sizes
        };
        let size = SIZES[(self.0 & 15) as usize][(self.0 >> Self::FORMS_SHIFT) as usize];
        (size != VECTOR).then_some(size as usize + self.placement_size())
    }

    /// The form of operand `i` (0 to 2).
    #[inline]
    pub const fn form(self, i: usize) -> Form {
        match (self.0 >> (Self::FORMS_SHIFT + 2 * i as u16)) & 3 {
            0 => Form::Plain,
            1 => Form::Memory,
            2 => Form::Scratch,
            _ => Form::Vector,
        }
    }
}
