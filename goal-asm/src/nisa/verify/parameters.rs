//! The verification of an action's parameters, by the row of its instruction.

use super::{Result, Verifier};
use crate::nisa::bytes::{u32_at, u64_at};
use crate::nisa::error::VerifyError;
use crate::nisa::instruction::{
    Field, Form, Instruction, Opcode, OperandRule, PIECE_SIZE, Type, instructions,
};
use goal_lang::{
    ANY, Datatype, Op, Piece, Space, buffer_of, is_legal, is_marker, overlaps_itself,
    partly_overlap,
};

macro_rules! by_rows {
    ($(
        $(#[$doc:meta])* $opcode:ident = $code:literal, $name:literal, since $since:literal,
        placed $placed:literal, fields { $($field:ident: $kind:ident),* },
        operands { $($operand:ident: $rule:ident),* },
        decodes $operation:ident $({ $($value:tt)* })?;
    )*) => {
        impl Verifier<'_> {
            #[inline]
            fn fields_and_operands(&self, at: usize, cursor: usize, kind: Type, opcode: Opcode) -> Result<usize> {
                match opcode {
                    $(Opcode::$opcode => {
                        self.by_row(at, cursor, kind, const { Opcode::$opcode.instruction() })
                    })*
                }
            }
        }
    };
}

instructions!(by_rows);

impl Verifier<'_> {
    /// Checks the type and the parameters of the action at `at`. Returns the offset behind the
    /// parameters.
    #[inline]
    pub(super) fn operation(&self, at: usize, kind: Type) -> Result<usize> {
        let Some(opcode) = kind.opcode() else {
            return Err(self.action(at, format!("there is no instruction {}", kind.0 as u8)));
        };
        let instruction = opcode.instruction();
        if instruction.since > self.bounds.version {
            return Err(self.too_new(at, instruction));
        }
        let mut cursor = at + 4;
        if kind.is_placed() {
            let placement = self.word(cursor)?;
            if !instruction.placed || placement == 0 || placement >> 24 != 0 {
                return Err(self.action(
                    cursor,
                    format!("this placement is not allowed in a {}", instruction.name),
                ));
            }
            cursor += 4;
        }
        self.fields_and_operands(at, cursor, kind, opcode)
    }

    /// Checks the fields and operands of the action at `at` by its row of the table. They begin at
    /// offset `cursor`. Returns the offset behind the operands.
    // Inlined into a match on the opcode: the row is a constant in each arm.
    #[inline(always)]
    fn by_row(
        &self,
        at: usize,
        mut cursor: usize,
        kind: Type,
        instruction: &Instruction,
    ) -> Result<usize> {
        let parameters = cursor;
        for &field in instruction.fields {
            self.field(cursor, field)?;
            cursor += field.size();
        }
        let mut operands = [Operand { form: Form::Plain, at: 0, size: 0 }; 3];
        for (i, operand) in operands.iter_mut().enumerate() {
            let form = kind.form(i);
            match instruction.operands.get(i) {
                Some(rule) if rule.allows(form) => {
                    *operand = self.operand(cursor, form, *rule)?;
                    cursor = operand.end(*rule, self.bytes);
                }
                None if form == Form::Plain => {}
                _ => return Err(self.wrong_form(at, instruction, i)),
            }
        }
        if let Some(function) = instruction.function_at {
            let last = instruction.operands.len() - 1;
            let present = if operands[last].form == Form::Plain { last } else { last + 1 };
            self.local_operation(at, parameters + function, &operands[..present])?;
        }
        Ok(cursor)
    }

    #[inline(always)]
    fn field(&self, at: usize, field: Field) -> Result<()> {
        let value = self.word(at)?;
        match field {
            Field::AnyPeer if value == ANY => {}
            Field::Peer | Field::AnyPeer => {
                if value >= self.bounds.ranks {
                    return Err(self.action(
                        at,
                        format!("there is no rank {value} among {}", self.bounds.ranks),
                    ));
                }
            }
            Field::Tag => {
                if value == ANY {
                    return Err(self.action(at, "a send needs a tag"));
                }
            }
            Field::Function | Field::Combination => {
                let (op, datatype) =
                    (Op::from_code(value as u8), Datatype::from_code((value >> 8) as u8));
                match (op, datatype) {
                    (Some(op), Some(datatype)) if value >> 16 == 0 && is_legal(op, datatype) => {}
                    _ => return Err(self.action(at, format!("there is no operation {value:#x}"))),
                }
                if field == Field::Combination && op == Some(Op::Copy) {
                    return Err(self.action(at, "a copy combines nothing with a message"));
                }
            }
            Field::Nanos => {
                self.word(at + 4)?;
            }
            Field::MarkerNumber => {
                if !is_marker(0, value, self.bounds.ranks) {
                    return Err(self.action(at, format!("{value} is no number of a marker")));
                }
            }
            Field::AnyTag | Field::UserFunction => {}
        }
        Ok(())
    }

    /// Reads an operand and checks that its bytes lie in the declared memory.
    #[inline]
    fn operand(&self, at: usize, form: Form, rule: OperandRule) -> Result<Operand> {
        let size = match form {
            Form::Plain if rule == OperandRule::Payload => {
                self.word(at + 4)?;
                u64_at(self.bytes, at)
            }
            Form::Plain => 0,
            Form::Memory => self.piece(at, Space::Memory)?,
            Form::Scratch => self.piece(at, Space::Scratch)?,
            Form::Vector => {
                let count = self.word(at)?;
                if count == 1 && rule == OperandRule::Argument {
                    return Err(self.action(
                        at,
                        "a vector of one piece in a user function should be a plain buffer",
                    ));
                }
                let end = at as u64 + 4 + PIECE_SIZE as u64 * u64::from(count);
                if count == 0 || end > self.bytes.len() as u64 {
                    return Err(
                        self.action(at, format!("a vector of {count} pieces has no place here"))
                    );
                }
                let mut sum = 0u64;
                for piece in (at + 4..end as usize).step_by(PIECE_SIZE) {
                    let space = match u32_at(self.bytes, piece + 16) {
                        0 => Space::Memory,
                        1 => Space::Scratch,
                        other => {
                            return Err(
                                self.action(piece + 16, format!("there is no memory {other}"))
                            );
                        }
                    };
                    let size = self.piece(piece, space)?;
                    if size == 0 {
                        return Err(self.action(piece, "a piece of a vector is empty"));
                    }
                    sum = sum
                        .checked_add(size)
                        .ok_or_else(|| self.action(at, "a vector of more than 2^64 bytes"))?;
                }
                sum
            }
        };
        if rule == OperandRule::Timestamp && size != 8 {
            return Err(self.action(at, "the time takes 8 bytes"));
        }
        Ok(Operand { form, at, size })
    }

    /// Checks that the piece at `at`, an address and a size, lies in the rank's memory or scratch
    /// memory. Returns the size.
    #[inline]
    fn piece(&self, at: usize, space: Space) -> Result<u64> {
        self.word(at + 12)?;
        let (addr, size) = (u64_at(self.bytes, at), u64_at(self.bytes, at + 8));
        if space == Space::Memory && !self.bounds.buffers.is_empty() {
            return self.in_buffer(at, addr, size);
        }
        let (limit, name) = match space {
            Space::Memory => (self.bounds.memory, "memory"),
            Space::Scratch => (self.bounds.scratch, "scratch memory"),
        };
        if addr.checked_add(size).is_some_and(|end| end <= limit) {
            return Ok(size);
        }
        Err(self.action(
            at,
            format!("a buffer of {size} bytes at {addr} ends outside the {limit} bytes of {name}"),
        ))
    }

    /// Checks that `size` bytes at `addr` lie in the buffer that the address names. Returns `size`.
    fn in_buffer(&self, at: usize, addr: u64, size: u64) -> Result<u64> {
        let (buffer, offset) = buffer_of(addr);
        let Some(length) = self.bounds.buffers.chunks_exact(8).nth(buffer) else {
            let count = self.bounds.buffers.len() / 8;
            return Err(self.action(at, format!("there is no buffer {buffer} among {count}")));
        };
        let length = u64_at(length, 0);
        if offset.checked_add(size).is_some_and(|end| end <= length) {
            return Ok(size);
        }
        let message =
            format!("{size} bytes at {offset} of buffer {buffer} end outside its {length} bytes");
        Err(self.action(at, message))
    }

    /// Checks that the operands of the action at `at` fit each other and the predefined operation
    /// stored at `function`. The last operand takes the result.
    fn local_operation(&self, at: usize, function: usize, present: &[Operand]) -> Result<()> {
        let word = u32_at(self.bytes, function);
        let (op, datatype) = (Op::from_code(word as u8), Datatype::from_code((word >> 8) as u8));
        let (Some(a), Some(result)) = (present.first(), present.last()) else { return Ok(()) };
        let vectors = present.iter().filter(|operand| operand.form == Form::Vector).count();
        let width = datatype.map_or(1, Datatype::width);
        let fault = if vectors != 0 && vectors != present.len() {
            "either all buffers of an operation are vectors or none"
        } else if op == Some(Op::Copy) && present.len() == 3 {
            "a copy has no third buffer"
        } else if present.iter().any(|operand| operand.size != a.size) {
            "the buffers of an operation differ in size"
        } else if a.size % width != 0 {
            "the size of the buffers is no multiple of the element's width"
        } else {
            let pieces = |operand: &Operand| operand.pieces(self.bytes);
            let overlap = |x: &Operand, y: &Operand| match (x.one(self.bytes), y.one(self.bytes)) {
                (Some(x), Some(y)) => partly_overlap(&[x], &[y]),
                _ => partly_overlap(&pieces(x), &pieces(y)),
            };
            let has_overlap = match present {
                [a, b] => overlap(a, b),
                [a, b, c] => overlap(a, b) || overlap(a, c) || overlap(b, c),
                _ => false,
            };
            if !(has_overlap || vectors > 0 && overlaps_itself(&pieces(result))) {
                return Ok(());
            }
            "buffers of an operation overlap partly"
        };
        Err(self.action(at, fault))
    }

    #[cold]
    fn wrong_form(&self, at: usize, instruction: &Instruction, operand: usize) -> VerifyError {
        self.action(
            at,
            format!(
                "operand {operand} of this {} has a form that it doesn't take",
                instruction.name
            ),
        )
    }

    #[cold]
    fn too_new(&self, at: usize, instruction: &Instruction) -> VerifyError {
        let (name, since, version) = (instruction.name, instruction.since, self.bounds.version);
        self.action(
            at,
            format!(
                "a {name} in format version {version}, which has none: it came with version {since}"
            ),
        )
    }
}

/// An operand whose bytes have been checked.
#[derive(Clone, Copy)]
struct Operand {
    form: Form,
    at: usize,
    size: u64,
}

impl Operand {
    fn end(self, rule: OperandRule, bytes: &[u8]) -> usize {
        self.at
            + match self.form {
                Form::Plain if rule == OperandRule::Payload => 8,
                Form::Plain => 0,
                Form::Memory | Form::Scratch => 16,
                Form::Vector => 4 + PIECE_SIZE * u32_at(bytes, self.at) as usize,
            }
    }

    fn one(self, bytes: &[u8]) -> Option<Piece> {
        let space = match self.form {
            Form::Memory => Space::Memory,
            Form::Scratch => Space::Scratch,
            Form::Plain | Form::Vector => return None,
        };
        Some(Piece { addr: u64_at(bytes, self.at), size: self.size, space })
    }

    fn pieces(self, bytes: &[u8]) -> Vec<Piece> {
        if self.form != Form::Vector {
            return self.one(bytes).into_iter().collect();
        }
        let list = &bytes[self.at + 4..self.end(OperandRule::Buffer, bytes)];
        let piece = |piece: &[u8]| Piece {
            addr: u64_at(piece, 0),
            size: u64_at(piece, 8),
            space: if u32_at(piece, 16) == 0 { Space::Memory } else { Space::Scratch },
        };
        list.chunks_exact(PIECE_SIZE).map(piece).collect()
    }
}
