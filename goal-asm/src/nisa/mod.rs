//! NISA, the Network Instruction Set Architecture: the binary form of a schedule (paper III.C).

mod instruction;
mod section;

pub use instruction::{Field, Form, Instruction, Opcode, OperandRule, PIECE_SIZE, Type};
pub use section::{Buffer, Offsets, Operation, PieceList, Record, Section};
