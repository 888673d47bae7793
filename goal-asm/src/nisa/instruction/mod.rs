//! The instruction table: each instruction of NISA in one row.
//!
//! The encoder, the decoder, the lengths and the verifier follow the rows, and a test compares
//! `docs/nisa.md` with them. A new instruction needs a row here, and the action that becomes the
//! instruction (`encode::visit`). Unless it varies an existing instruction, it also needs an
//! [`Operation`](super::Operation).
//!
//! An action is laid out as the paper has it (III.C): `<num sources u16> <type u16> <parameters>
//! <dependent>`. The type is an opcode in its low byte; its high byte describes the parameters
//! ([`Type`]). The parameters are, in this order:
//!
//! 1. the low byte of the cpu, the nic, the high byte of the cpu and 0 if [`Type::PLACED`] is set;
//! 2. the instruction's [`Field`]s;
//! 3. its operands, each in the [`Form`] that the type names.
//!
//! `<dependent>` is `<count u32> <offset u32>*`: the actions that wait for this one's completion.
//! If [`Type::START_LIST`] is set, a second such list follows: the actions that wait for its start.

use goal_lang::Space;

#[cfg(test)]
mod tests;

/// Passes all rows of the table to the macro `$use`.
///
/// A row names its fields and operands, in their order in the file. `decodes` is the
/// [`Operation`](super::Operation) that the decoder makes of the fields and operands.
macro_rules! instructions {
    ($use:ident) => {
        $use! {
            /// A message to a rank.
            Send = 1, "send", since 1, placed true,
                fields { peer: Peer, tag: Tag }, operands { payload: Payload },
                decodes Send { peer, tag, payload, reduce: None };
            /// A message from a rank.
            Recv = 2, "recv", since 1, placed true,
                fields { peer: AnyPeer, tag: AnyTag }, operands { payload: Payload },
                decodes Recv { peer, tag, payload, reduce: None };
            /// Computation of a given length.
            Calc = 3, "calc", since 1, placed true,
                fields { nanos: Nanos }, operands {},
                decodes Calc { nanos };
            /// A predefined local operation.
            Exec = 4, "exec", since 1, placed false,
                fields { function: Function }, operands { a: Buffer, b: Buffer, c: Optional },
                decodes Exec { op: function.0, datatype: function.1, a, b, c };
            /// A registered local operation.
            User = 5, "user", since 1, placed false,
                fields { function: UserFunction }, operands { a: Argument, b: Argument },
                decodes User { function, a, b };
            /// The time of the caller's clock, in seconds as a Float64.
            Wtime = 6, "wtime", since 1, placed false,
                fields {}, operands { time: Timestamp },
                decodes Wtime { buffer: Buffer::One(time) };
            /// No work: the action only carries dependencies.
            Nop = 7, "nop", since 1, placed false,
                fields {}, operands {},
                decodes Nop;
            /// A message from a rank, combined with a buffer that takes the result.
            RecvReduce = 8, "recv-reduce", since 2, placed true,
                fields { peer: AnyPeer, tag: AnyTag, function: Combination },
                operands { b: Contiguous },
                decodes Recv { peer, tag, payload: Buffer::One(b), reduce: Some(function) };
            /// A message to a rank: two buffers are combined into the second, which is sent.
            ReduceSend = 9, "reduce-send", since 2, placed true,
                fields { peer: Peer, tag: Tag, function: Combination },
                operands { a: Contiguous, b: Contiguous },
                decodes Send {
                    peer,
                    tag,
                    payload: Buffer::One(b),
                    reduce: Some((function.0, function.1, a)),
                };
            /// No work: a simulator tells when it is reached.
            Marker = 10, "marker", since 4, placed true,
                fields { to: MarkerNumber, tag: Tag }, operands {},
                decodes Marker { to, tag };
        }
    };
}
pub(super) use instructions;

/// A field of fixed size among an instruction's parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    /// `u32`: the other rank.
    Peer,
    /// `u32`: the other rank, or `u32::MAX` for any.
    AnyPeer,
    /// `u32`: the tag.
    Tag,
    /// `u32`: the tag, or `u32::MAX` for any.
    AnyTag,
    /// `u64`: nanoseconds.
    Nanos,
    /// `u8` opcode, `u8` datatype, `u16` 0: a predefined operation on the operands.
    Function,
    /// `u8` opcode, `u8` datatype, `u16` 0: an operation that combines a message with the operands.
    /// A copy is not allowed.
    Combination,
    /// `u32`: number of a registered function.
    UserFunction,
    /// `u32`: a number of [`MARKERS`](goal_lang::MARKERS) that is no rank.
    MarkerNumber,
}

impl Field {
    /// Returns the size of the field in bytes.
    pub(super) const fn size(self) -> usize {
        match self {
            Field::Nanos => 8,
            _ => 4,
        }
    }
}

/// The way in which an operand is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
pub(super) enum Form {
    /// In a message: a pattern, stored as `size u64`. In a local operation: no operand, and nothing
    /// is stored.
    Plain = 0,
    /// `addr u64, size u64` in the rank's memory.
    Memory = 1,
    /// `offset u64, size u64` in scratch memory.
    Scratch = 2,
    /// `count u32`, then for each piece `addr u64, size u64, space u32` (0 memory, 1 scratch).
    Vector = 3,
}

impl Form {
    /// Returns the space of an operand in one piece: scratch memory for [`Form::Scratch`],
    /// otherwise memory.
    #[inline(always)]
    pub(super) const fn space(self) -> Space {
        match self {
            Form::Scratch => Space::Scratch,
            _ => Space::Memory,
        }
    }
}

/// Bytes of one piece of a vector.
pub(super) const PIECE_SIZE: usize = 20;

/// The forms of an operand that an instruction accepts at one position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OperandRule {
    /// A message's payload: any form.
    Payload,
    /// A buffer of a predefined operation: memory, scratch or vector.
    Buffer,
    /// A buffer of a predefined operation (memory, scratch or vector), or no operand.
    Optional,
    /// A buffer of a registered function: memory, scratch, or a vector of two pieces or more.
    Argument,
    /// Eight bytes of memory or scratch.
    Timestamp,
    /// A buffer in one piece: memory or scratch.
    Contiguous,
}

impl OperandRule {
    /// Returns true if an operand may be given in `form`.
    pub(super) const fn allows(self, form: Form) -> bool {
        match self {
            OperandRule::Payload | OperandRule::Optional => true,
            OperandRule::Buffer | OperandRule::Argument => !matches!(form, Form::Plain),
            OperandRule::Timestamp | OperandRule::Contiguous => {
                matches!(form, Form::Memory | Form::Scratch)
            }
        }
    }

    /// Returns the bytes of an operand in a form of fixed size. Returns 0 for a vector and for an
    /// absent operand.
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
pub(super) struct Instruction {
    /// The name in documents and messages.
    pub(super) name: &'static str,
    /// The first major version of the format that has the instruction.
    pub(super) since: u16,
    /// True if an action of this instruction may have a cpu and a nic.
    pub(super) placed: bool,
    /// The fixed fields, in the order of the file.
    pub(super) fields: &'static [Field],
    /// The operands, in the order of the file.
    pub(super) operands: &'static [OperandRule],
    /// The byte offset, among the fields, of the predefined operation that the operands must fit.
    /// `None` if the instruction has no such field.
    pub(super) function_at: Option<usize>,
}

impl Instruction {
    /// Returns the bytes of all fixed fields together.
    pub(super) const fn fields_size(&self) -> usize {
        let (mut size, mut i) = (0, 0);
        while i < self.fields.len() {
            size += self.fields[i].size();
            i += 1;
        }
        size
    }
}

/// Returns the value of [`Instruction::function_at`] for an instruction with these fields.
const fn function_at(fields: &[Field]) -> Option<usize> {
    let (mut at, mut i) = (0, 0);
    while i < fields.len() {
        if matches!(fields[i], Field::Function | Field::Combination) {
            return Some(at);
        }
        at += fields[i].size();
        i += 1;
    }
    None
}

macro_rules! opcodes {
    ($(
        $(#[$doc:meta])* $opcode:ident = $code:literal, $name:literal, since $since:literal,
        placed $placed:literal, fields { $($field:ident: $kind:ident),* },
        operands { $($operand:ident: $rule:ident),* },
        decodes $operation:ident $({ $($value:tt)* })?;
    )*) => {
        /// The instruction of an action: the low byte of its type.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub(super) enum Opcode { $($(#[$doc])* $opcode = $code,)* }

        impl Opcode {
            /// Every opcode, ascending.
            pub(super) const ALL: &'static [Opcode] = &[$(Opcode::$opcode),*];

            /// Returns the opcode stored as `code`, or `None` for an unknown code.
            #[inline]
            pub(super) const fn from_code(code: u8) -> Option<Opcode> {
                match code { $($code => Some(Opcode::$opcode),)* _ => None }
            }

            /// Returns the opcode's row of the table.
            #[inline]
            pub(super) const fn instruction(self) -> &'static Instruction {
                match self { $(Opcode::$opcode => {
                    const ROW: &Instruction = &Instruction {
                        name: $name,
                        since: $since,
                        placed: $placed,
                        fields: &[$(Field::$kind),*],
                        operands: &[$(OperandRule::$rule),*],
                        function_at: function_at(&[$(Field::$kind),*]),
                    };
                    ROW
                })* }
            }
        }
    };
}

instructions!(opcodes);

/// The type word of an action: its opcode, two flags, and the forms of its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Type(pub(super) u16);

impl Type {
    /// Set if a list of start dependents follows the list of completion dependents.
    pub(super) const START_LIST: u16 = 1 << 8;
    /// Set if the parameters begin with cpu and nic. Otherwise both are 0.
    pub(super) const PLACED: u16 = 1 << 9;
    const FORMS_SHIFT: u16 = 10;

    /// Returns the type word made of its parts.
    pub(super) fn new(opcode: Opcode, placed: bool, start_list: bool, forms: [Form; 3]) -> Self {
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

    /// The opcode, or `None` for a code that the table doesn't have.
    #[inline]
    pub(super) const fn opcode(self) -> Option<Opcode> {
        Opcode::from_code(self.0 as u8)
    }

    /// Returns true if a list of start dependents follows.
    #[inline]
    pub(super) const fn has_start_list(self) -> bool {
        self.0 & Self::START_LIST != 0
    }

    /// Returns true if cpu and nic are given.
    #[inline]
    pub(super) const fn is_placed(self) -> bool {
        self.0 & Self::PLACED != 0
    }

    /// Returns the bytes that cpu and nic take: 4, or 0 if they are not given.
    #[inline]
    pub(super) const fn placement_size(self) -> usize {
        if self.is_placed() { 4 } else { 0 }
    }

    /// Returns the bytes of the parameters, or `None` if an operand is a vector: its count has to
    /// be read.
    #[inline]
    pub(super) fn parameters_size(self) -> Option<usize> {
        const FORMS: usize = 1 << 6;
        const VECTOR: u8 = u8::MAX;
        /// The bytes of the parameters without cpu and nic, by opcode and forms.
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
    pub(super) const fn form(self, i: usize) -> Form {
        match (self.0 >> (Self::FORMS_SHIFT + 2 * i as u16)) & 3 {
            0 => Form::Plain,
            1 => Form::Memory,
            2 => Form::Scratch,
            _ => Form::Vector,
        }
    }
}
