//! Local operations: opcodes, datatypes and which of their combinations are legal (paper III.A,
//! thesis 2.2.3).

/// The table of the predefined operations, one row each. The codes are stored in binary files.
macro_rules! opcodes {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $text:literal;)*) => {
        /// The operation that a local operation applies to each pair of elements.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Op { $($(#[$doc])* $name = $code,)* }

        impl Op {
            /// Every opcode, in the order of its code.
            pub const ALL: &'static [Op] = &[$(Op::$name),*];

            /// The spelling in text, without the datatype.
            pub const fn name(self) -> &'static str {
                match self { $(Op::$name => $text,)* }
            }

            /// The opcode with this code, or `None` for an unknown code.
            pub const fn from_code(code: u8) -> Option<Op> {
                match code { $($code => Some(Op::$name),)* _ => None }
            }
        }
    };
}

opcodes! {
    /// The larger element (floats: IEEE 754-2019 maximumNumber).
    Max = 1, "max";
    /// The smaller element (floats: IEEE 754-2019 minimumNumber).
    Min = 2, "min";
    /// The sum; integers wrap.
    Sum = 3, "sum";
    /// The product; integers wrap.
    Prod = 4, "prod";
    /// Logical and: 1 where both are nonzero, else 0.
    Land = 5, "land";
    /// Logical or.
    Lor = 6, "lor";
    /// Logical exclusive or.
    Lxor = 7, "lxor";
    /// Bitwise and; integers only.
    Band = 8, "band";
    /// Bitwise or; integers only.
    Bor = 9, "bor";
    /// Bitwise exclusive or; integers only.
    Bxor = 10, "bxor";
    /// The first operand. Takes no third buffer.
    Copy = 11, "copy";
    /// The first operand less the second; integers wrap (thesis 2.2.3).
    Sub = 12, "sub";
    /// The first operand divided by the second; integers truncate, MIN / -1 wraps, a zero divisor
    /// is a run-time error.
    Div = 13, "div";
}

impl Op {
    /// Returns true for a bitwise operation. Floats have none.
    pub const fn is_bitwise(self) -> bool {
        matches!(self, Op::Band | Op::Bor | Op::Bxor)
    }
}

macro_rules! datatypes {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $text:literal, $width:literal;)*) => {
        /// The type of a buffer's elements. Elements are little-endian and need no alignment.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Datatype { $($(#[$doc])* $name = $code,)* }

        impl Datatype {
            /// Every datatype, in the order of its code.
            pub const ALL: &'static [Datatype] = &[$(Datatype::$name),*];

            /// The spelling in text.
            pub const fn name(self) -> &'static str {
                match self { $(Datatype::$name => $text,)* }
            }

            /// The bytes of an element.
            pub const fn width(self) -> u64 {
                match self { $(Datatype::$name => $width,)* }
            }

            /// The datatype with this code, or `None` for an unknown code.
            pub const fn from_code(code: u8) -> Option<Datatype> {
                match code { $($code => Some(Datatype::$name),)* _ => None }
            }
        }
    };
}

datatypes! {
    /// Signed, 1 byte.
    Int8 = 1, "Int8", 1;
    /// Signed, 2 bytes.
    Int16 = 2, "Int16", 2;
    /// Signed, 4 bytes.
    Int32 = 3, "Int32", 4;
    /// Signed, 8 bytes.
    Int64 = 4, "Int64", 8;
    /// Unsigned, 1 byte.
    UInt8 = 5, "UInt8", 1;
    /// Unsigned, 2 bytes.
    UInt16 = 6, "UInt16", 2;
    /// Unsigned, 4 bytes.
    UInt32 = 7, "UInt32", 4;
    /// Unsigned, 8 bytes.
    UInt64 = 8, "UInt64", 8;
    /// Named by the paper's grammar, but no such format is agreed on: always illegal.
    Float8 = 9, "Float8", 1;
    /// IEEE 754 binary16.
    Float16 = 10, "Float16", 2;
    /// IEEE 754 binary32.
    Float32 = 11, "Float32", 4;
    /// IEEE 754 binary64.
    Float64 = 12, "Float64", 8;
}

impl Datatype {
    /// Returns true if the elements are floating-point numbers.
    pub const fn is_float(self) -> bool {
        matches!(self, Datatype::Float8 | Datatype::Float16 | Datatype::Float32 | Datatype::Float64)
    }

    /// Returns true if an element with these bits is a NaN.
    pub const fn is_nan(self, bits: u64) -> bool {
        match self {
            Datatype::Float16 => bits <= 0xffff && bits & 0x7fff > 0x7c00,
            Datatype::Float32 => bits <= 0xffff_ffff && bits & 0x7fff_ffff > 0x7f80_0000,
            Datatype::Float64 => bits & (u64::MAX >> 1) > 0x7ff << 52,
            _ => false,
        }
    }

    /// Returns true if the bits are a NaN that text can't write as `nan`. The word `nan` stands for
    /// the NaN that is quiet, positive and without a payload.
    pub const fn is_odd_nan(self, bits: u64) -> bool {
        let plain = match self {
            Datatype::Float16 => 0x7e00,
            Datatype::Float32 => 0x7fc0_0000,
            _ => 0xfff << 51,
        };
        self.is_nan(bits) && bits != plain
    }
}

/// The prefix of a NaN in text whose bits follow in hexadecimal digits.
pub const ODD_NAN: &str = "nan_";

/// Returns true if `op` is defined on `datatype`: all combinations are, except those with Float8
/// and bitwise operations on floats.
pub const fn is_legal(op: Op, datatype: Datatype) -> bool {
    !(matches!(datatype, Datatype::Float8) || op.is_bitwise() && datatype.is_float())
}
