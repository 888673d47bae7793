//! The verifier of a section. The engine relies on it and checks nothing again.
//!
//! One pass over the records checks each by itself. It also keeps a balance for every word of the
//! section: the number of dependencies that end there minus the number of sources that the action
//! there declares. If all balances are 0 at the end, every offset is that of an action and every
//! number of sources is right. If all dependencies point forward, as the passes leave them, there
//! is no cycle; otherwise a second pass releases actions as the engine would.

#[cfg(test)]
mod tests;

use super::error::VerifyError;
use super::instruction::{
    Field, Form, Instruction, Opcode, OperandRule, PIECE_SIZE, Type, instructions,
};
use super::section::{Section, u32_at, u64_at};
use goal_lang::diag::Code;
use goal_lang::{ANY, Datatype, Op, Piece, Space, is_legal, overlaps_itself, partly_overlap};

type Result<T> = std::result::Result<T, VerifyError>;

/// The bounds on what a section refers to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// Major version of the format.
    pub(super) version: u16,
    pub(super) ranks: u32,
    pub(super) memory: u64,
    pub(super) scratch: u64,
    pub(super) actions: u32,
}

/// Verifies one section that begins at byte `base` of the file. `balance` is working memory, all
/// zero before and after.
pub(super) fn verify_section(
    bytes: &[u8],
    base: u64,
    bounds: Bounds,
    balance: &mut Vec<u16>,
) -> Result<()> {
    if balance.len() < bytes.len() / 4 {
        balance.resize(bytes.len() / 4, 0);
    }
    let mut verifier = Verifier { bytes, base, bounds, balance };
    let walked = verifier.walk();
    let checked = walked.and_then(|walk| verifier.check_graph(walk));
    if checked.is_err() {
        balance.fill(0);
    }
    checked
}

pub(super) struct Verifier<'a> {
    bytes: &'a [u8],
    base: u64,
    bounds: Bounds,
    balance: &'a mut [u16],
}

/// The parts of an action. Each list comes with the offset of its first entry.
pub(super) struct Parts<'a> {
    pub(super) sources: u16,
    pub(super) dependents: (usize, &'a [u8]),
    pub(super) start_dependents: (usize, &'a [u8]),
    /// The offset behind it.
    pub(super) end: usize,
}

/// The counts of the pass over the records.
#[derive(Default)]
struct Walk {
    actions: u64,
    sources: u64,
    edges: u64,
    backward: bool,
}

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

impl<'a> Verifier<'a> {
    /// A verifier of single actions, for bytes that begin at byte `base` of the file.
    pub(super) fn of_actions(bytes: &'a [u8], base: u64, bounds: Bounds) -> Self {
        Self { bytes, base, bounds, balance: &mut [] }
    }

    /// Checks the action at `at` by itself.
    #[inline]
    pub(super) fn parts(&self, at: usize) -> Result<Parts<'a>> {
        let head = self.word(at)?;
        let kind = Type((head >> 16) as u16);
        let after = self.operation(at, kind)?;
        let (dependents, mut end) = self.list(after)?;
        let list_at = end;
        let mut start_dependents: &[u8] = &[];
        if kind.has_start_list() {
            (start_dependents, end) = self.list(list_at)?;
            if start_dependents.is_empty() {
                return Err(self.action(
                    list_at,
                    "the list of start dependents is empty, and should be absent",
                ));
            }
        }
        Ok(Parts {
            sources: head as u16,
            dependents: (after + 4, dependents),
            start_dependents: (list_at + 4, start_dependents),
            end,
        })
    }

    fn walk(&mut self) -> Result<Walk> {
        let mut walk = Walk::default();
        let (mut independent, first) = self.list(0)?;
        let mut at = first;
        while at < self.bytes.len() {
            let Parts { sources, dependents, start_dependents, end } = self.parts(at)?;
            if sources == 0 {
                let listed = independent.split_first_chunk::<4>();
                match listed {
                    Some((offset, rest)) if u32::from_le_bytes(*offset) as usize == at => independent = rest,
                    _ => return Err(self.graph(
                        at,
                        "an action without sources is not in its place in the list of independent actions",
                    )),
                }
            }
            self.dependents(at, dependents, &mut walk)?;
            self.dependents(at, start_dependents, &mut walk)?;
            self.balance[at / 4] = self.balance[at / 4].wrapping_sub(sources);
            walk.sources += u64::from(sources);
            walk.actions += 1;
            at = end;
        }
        if !independent.is_empty() {
            return Err(self.graph(
                first - independent.len(),
                "this independent action has sources, or is none",
            ));
        }
        if walk.actions != u64::from(self.bounds.actions) {
            let declared = self.bounds.actions;
            return Err(self.graph(
                0,
                format!("the section has {} actions, and the table says {declared}", walk.actions),
            ));
        }
        Ok(walk)
    }

    /// Checks a list of dependents, and adds its entries to the balances of the actions that they
    /// name.
    #[inline]
    fn dependents(
        &mut self,
        at: usize,
        (list_at, list): (usize, &[u8]),
        walk: &mut Walk,
    ) -> Result<()> {
        let mut before = 0;
        for (i, offset) in list.chunks_exact(4).enumerate() {
            let target = u32_at(offset, 0);
            if target <= before || !target.is_multiple_of(4) || target as usize >= self.bytes.len()
            {
                let what = if target <= before {
                    "is not above the one before it"
                } else {
                    "is not one of an action"
                };
                return Err(self.graph(list_at + 4 * i, format!("the offset {target:#x} {what}")));
            }
            before = target;
            walk.backward |= target as usize <= at;
            let balance = &mut self.balance[target as usize / 4];
            *balance = balance.wrapping_add(1);
        }
        walk.edges += list.len() as u64 / 4;
        Ok(())
    }

    /// Checks the balances and, if a dependency points backwards, looks for a cycle.
    ///
    /// Balances are kept modulo 2^16. If all are 0, the number of dependencies that end in each
    /// action equals its sources modulo 2^16, and so is at least its sources. As the two sums are
    /// equal too, it can't be more, so no balance has wrapped around.
    fn check_graph(&mut self, walk: Walk) -> Result<()> {
        let words = self.bytes.len() / 4;
        if walk.edges != walk.sources || self.balance[..words].iter().any(|&balance| balance != 0) {
            self.balance[..words].fill(0);
            return Err(self.explain_counts());
        }
        if walk.backward { self.check_acyclic(walk.actions) } else { Ok(()) }
    }

    fn check_acyclic(&mut self, actions: u64) -> Result<()> {
        let section = Section::new(self.bytes);
        for (at, record) in section.records() {
            self.balance[at as usize / 4] = record.sources;
        }
        let mut ready: Vec<u32> = section.independent().iter().collect();
        let mut done = 0;
        while let Some(at) = ready.pop() {
            done += 1;
            let record = section.record(at);
            for target in record.dependents.iter().chain(record.start_dependents.iter()) {
                let waiting = &mut self.balance[target as usize / 4];
                *waiting -= 1;
                if *waiting == 0 {
                    ready.push(target);
                }
            }
        }
        if done == actions { Ok(()) } else { Err(self.explain_cycle()) }
    }

    /// Checks an action's type and parameters. Returns the offset behind them.
    #[inline]
    fn operation(&self, at: usize, kind: Type) -> Result<usize> {
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
            if !instruction.placed || placement == 0 || placement >> 16 != 0 {
                return Err(self.action(
                    cursor,
                    format!("this placement is not allowed in a {}", instruction.name),
                ));
            }
            cursor += 4;
        }
        self.fields_and_operands(at, cursor, kind, opcode)
    }

    /// Checks the fields and operands of the action at `at`, which begin at `cursor`, by a row of
    /// the table. Returns the offset behind them.
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

    /// Checks 16 bytes of address and size. Returns the size.
    #[inline]
    fn piece(&self, at: usize, space: Space) -> Result<u64> {
        self.word(at + 12)?;
        let (addr, size) = (u64_at(self.bytes, at), u64_at(self.bytes, at + 8));
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

    /// Checks the operands of the action at `at` against each other: they are those of the
    /// predefined operation at `function`, and the last one takes the result.
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

    /// Returns the offsets of a list, and its end.
    #[inline]
    fn list(&self, at: usize) -> Result<(&'a [u8], usize)> {
        let count = self.word(at)?;
        let end = at as u64 + 4 + 4 * u64::from(count);
        if end > self.bytes.len() as u64 {
            return Err(
                self.action(at, format!("a list of {count} offsets ends outside the section"))
            );
        }
        Ok((&self.bytes[at + 4..end as usize], end as usize))
    }

    #[inline]
    fn word(&self, at: usize) -> Result<u32> {
        match self.bytes.get(at..at + 4) {
            Some(word) => Ok(u32_at(word, 0)),
            None => Err(self.action(self.bytes.len(), "the section ends inside an action")),
        }
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

    #[cold]
    fn action(&self, at: usize, message: impl Into<String>) -> VerifyError {
        VerifyError::new(Code::NisaAction, self.base + at as u64, message)
    }

    #[cold]
    pub(super) fn graph(&self, at: usize, message: impl Into<String>) -> VerifyError {
        VerifyError::new(Code::NisaGraph, self.base + at as u64, message)
    }

    /// Finds the first action whose sources are wrong. The records are well-formed.
    #[cold]
    fn explain_counts(&self) -> VerifyError {
        let section = Section::new(self.bytes);
        let mut incoming = std::collections::HashMap::<u32, u64>::new();
        for (_, record) in section.records() {
            for target in record.dependents.iter().chain(record.start_dependents.iter()) {
                *incoming.entry(target).or_default() += 1;
            }
        }
        for (at, record) in section.records() {
            let found = incoming.remove(&at).unwrap_or(0);
            if found != u64::from(record.sources) {
                let message = format!(
                    "the action has {} sources, and {found} dependencies end in it",
                    record.sources
                );
                return self.graph(at as usize, message);
            }
        }
        let stray = incoming.keys().min().copied().unwrap_or(0);
        self.graph(stray as usize, "a dependency ends here, where no action begins")
    }

    /// Finds a cycle: the actions with a balance above 0 still wait.
    #[cold]
    fn explain_cycle(&self) -> VerifyError {
        let section = Section::new(self.bytes);
        let waiting = |at: u32| self.balance[at as usize / 4] > 0;
        let mut blocker = std::collections::HashMap::new();
        for (at, record) in section.records().filter(|&(at, _)| waiting(at)) {
            for target in record
                .dependents
                .iter()
                .chain(record.start_dependents.iter())
                .filter(|&at| waiting(at))
            {
                blocker.entry(target).or_insert(at);
            }
        }
        let mut seen = std::collections::HashSet::new();
        let mut at = blocker.keys().min().copied().unwrap_or(0);
        while seen.insert(at) {
            at = blocker[&at];
        }
        let mut path = vec![format!("{at:#x}")];
        let mut next = blocker[&at];
        while next != at && path.len() < 8 {
            path.push(format!("{next:#x}"));
            next = blocker[&next];
        }
        let more = if next == at { "" } else { ", ..." };
        let message = format!("actions wait for each other: offsets {}{more}", path.join(", "));
        self.graph(at as usize, message)
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
