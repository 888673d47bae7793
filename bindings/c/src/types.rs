//! Defines the types of `goal.h`, and translates their numbers.

use crate::border::{Outcome, group};
use goal::raw::Ticket;
use goal::{Error, ErrorCode, Result};
use goal_lang::{Datatype, Op, Space};
use std::ffi::c_int;

/// Defines the types of handles. In C a handle is a pointer to an incomplete type, and here it is a
/// number.
macro_rules! handles {
    ($($name:ident: $kind:literal),*) => {$(
        #[derive(Debug, Clone, Copy)]
        #[repr(transparent)]
        pub(crate) struct $name(pub(crate) usize);

        impl Outcome for $name {
            const KIND: &str = $kind;

            fn failed(_: ErrorCode) -> Self {
                Self(0)
            }
        }
    )*};
}

handles!(
    GOAL_Graph: "graph",
    GOAL_Schedule: "schedule",
    GOAL_Handle: "handle",
    GOAL_Comm: "communicator"
);

/// An action of a graph, as a number from 0 on.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub(crate) struct GOAL_Vertex(pub(crate) i64);

impl Outcome for GOAL_Vertex {
    const KIND: &str = "vertex";

    fn failed(_: ErrorCode) -> Self {
        Self(-1)
    }
}

// The enumerations of C are plain numbers here, because a program may pass any number.
pub(crate) type GOAL_MemType = c_int;
pub(crate) type GOAL_Op = c_int;
pub(crate) type GOAL_DataType = c_int;
pub(crate) type GOAL_Type = c_int;
pub(crate) type GOAL_Progress = c_int;
pub(crate) type GOAL_ExtensionId = c_int;

/// The number of the operation that stores the time (`GOAL_WTIME`).
pub(crate) const WTIME: GOAL_Op = 11;
/// The number of the first operation that stands for a registered function. The number of the
/// function is added to it.
pub(crate) const USER_OP: GOAL_Op = 0x10000;

/// Returns the address space that a memory type stands for.
pub(crate) fn space(of: GOAL_MemType, argument: &str) -> Result<Space> {
    match of {
        0 => Ok(Space::Memory),
        1 => Ok(Space::Scratch),
        _ => {
            let text =
                format!("{argument} is {of}: there are GOAL_USERSPACE (0) and GOAL_SCRATCHPAD (1)");
            Err(Error::new(ErrorCode::MemType, text))
        }
    }
}

/// The type of a buffer's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Element {
    pub(crate) datatype: Datatype,
    /// True for GOAL_UINT of width 1: each element is a byte, and stands for false if it is 0.
    pub(crate) is_logical: bool,
}

/// Returns the type of elements for a type of C and a width in bits.
pub(crate) fn element(datatype: GOAL_DataType, width: c_int) -> Result<Element> {
    use Datatype::*;
    let known = match (datatype, width) {
        (0, 8) => Int8,
        (0, 16) => Int16,
        (0, 32) => Int32,
        (0, 64) => Int64,
        (1, 1 | 8) => UInt8,
        (1, 16) => UInt16,
        (1, 32) => UInt32,
        (1, 64) => UInt64,
        (2, 16) => Float16,
        (2, 32) => Float32,
        (2, 64) => Float64,
        _ => {
            let name = ["GOAL_SINT", "GOAL_UINT", "GOAL_FLOAT"].get(datatype as usize);
            let text = match name {
                Some(name) => format!(
                    "there is no {name} of {width} bits (GOAL_SINT: 8, 16, 32, 64; GOAL_UINT: also 1; GOAL_FLOAT: 16, 32, 64)"
                ),
                None => format!("there is no datatype {datatype}"),
            };
            return Err(Error::new(ErrorCode::Datatype, text));
        }
    };
    Ok(Element { datatype: known, is_logical: width == 1 })
}

/// Returns the type of elements for a type of C that includes the width, such as GOAL_INT32.
pub(crate) fn whole_type(of: GOAL_Type) -> Result<Element> {
    if of < 0 {
        return Err(Error::new(ErrorCode::Datatype, format!("there is no type {of}")));
    }
    element(of >> 8, of & 0xff)
}

/// Returns the predefined operation `op` on elements of a type.
pub(crate) fn operation(op: GOAL_Op, element: Element) -> Result<Op> {
    let Element { datatype, is_logical } = element;
    let of = |name: &str| {
        let what = if is_logical { "logical values" } else { datatype.name() };
        Err(Error::new(ErrorCode::Operation, format!("{name} is not defined for {what}")))
    };
    let known = match (op, is_logical) {
        (0, false) => Op::Max,
        (1, false) => Op::Min,
        (2, false) => Op::Sum,
        (3, false) => Op::Sub,
        (4, false) => Op::Div,
        (5, false) => Op::Prod,
        (6, _) => Op::Copy,
        (7, false) => Op::Band,
        (8, false) => Op::Bor,
        (9, false) => Op::Bxor,
        // Since true is larger than false, the maximum is a logical OR, and the minimum a logical
        // AND.
        (0 | 8, true) | (13, _) => Op::Lor,
        (1 | 7, true) | (12, _) => Op::Land,
        (9, true) | (14, _) => Op::Lxor,
        (2..=5, true) => {
            return of(["GOAL_ADD", "GOAL_SUB", "GOAL_DIV", "GOAL_MUL"][op as usize - 2]);
        }
        (WTIME, _) => return of("GOAL_WTIME"),
        _ => return Err(Error::new(ErrorCode::Operation, format!("there is no operation {op}"))),
    };
    if !goal_lang::is_legal(known, datatype) {
        return of(["GOAL_AND", "GOAL_OR", "GOAL_XOR"][(op as usize).saturating_sub(7).min(2)]);
    }
    Ok(known)
}

/// Returns the ticket of the run that a handle names.
#[inline]
pub(crate) fn ticket(GOAL_Handle(number): GOAL_Handle) -> Result<Ticket> {
    Ticket::from_number(number as u64).ok_or_else(|| unknown(number))
}

#[cold]
fn unknown(number: usize) -> Error {
    match group() {
        Err(error) => error,
        Ok(_) if number == 0 => Error::new(ErrorCode::Handle, "the handle is NULL"),
        Ok(_) => Error::new(ErrorCode::Handle, "the handle is not one that GOAL_Run returned"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combinations() {
        let legal = |op, datatype, width| {
            element(datatype, width).and_then(|element| operation(op, element)).is_ok()
        };
        let mut counts = [0; 3];
        for (datatype, count) in (0..).zip(&mut counts) {
            for op in 0..=9 {
                for width in [1, 8, 16, 32, 64] {
                    *count += usize::from(legal(op, datatype, width));
                }
            }
        }
        // Signed: 10 operations of 4 widths. Unsigned: also 6 on logical values. Floats: 7 of 3.
        assert_eq!(counts, [40, 46, 21]);
        assert!(!legal(15, 0, 32) && !legal(-1, 0, 32) && !legal(0, 3, 32) && !legal(0, -1, 32));
        assert!(!legal(0, 0, 128) && !legal(0, 2, 8) && !legal(7, 2, 64) && !legal(11, 0, 32));
    }
}
