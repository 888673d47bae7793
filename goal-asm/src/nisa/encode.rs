//! A body as a section's bytes.

use super::instruction::{Form, Opcode, PIECE_SIZE, Type};
use goal_lang::{Action, ActionId, Body, Payload, Piece, Pieces, Placement, Reduction, Space};

/// Bytes of a record before its parameters and of each list of dependents before its offsets.
const WORD: u64 = 4;

/// Bytes of the section that `body` becomes.
pub(super) fn section_length(body: &Body) -> u64 {
    let edges = (body.requires.len() + body.irequires.len()) as u64;
    let records: u64 = body.ids().map(|id| record_length(body, id)).sum();
    let independent = body.indegrees().iter().filter(|&&sources| sources == 0).count() as u64;
    WORD + WORD * independent + records + WORD * edges
}

/// Bytes of an action without the offsets of its dependents.
fn record_length(body: &Body, id: ActionId) -> u64 {
    let start_list = !body.irequires.is_empty() && !body.irequires.row(id).is_empty();
    2 * WORD + if start_list { WORD } else { 0 } + parameters_length(body, body.action(id))
}

fn parameters_length(body: &Body, action: &Action) -> u64 {
    let pieces = |pieces: Pieces| WORD + (PIECE_SIZE as u64) * u64::from(pieces.len);
    let operand = |operand: Pieces| match body.slice(operand) {
        [_] => 16,
        _ => pieces(operand),
    };
    let placed = |placement: Placement| if placement == Placement::default() { 0 } else { WORD };
    match *action {
        Action::Send { payload, placement, .. } | Action::Recv { payload, placement, .. } => {
            let payload = match payload {
                Payload::Pattern { .. } => 8,
                Payload::Buffer(_) => 16,
                Payload::Vector(vector) => pieces(vector),
                Payload::Reduced { .. } if matches!(action, Action::Send { .. }) => WORD + 32,
                Payload::Reduced { .. } => WORD + 16,
            };
            placed(placement) + 8 + payload
        }
        Action::Calc { placement, .. } => placed(placement) + 8,
        Action::Exec { has_c, .. } => WORD + 32 + if has_c { 16 } else { 0 },
        Action::ExecVector { operands: [a, b, c], .. } => {
            WORD + pieces(a) + pieces(b) + if c.len > 0 { pieces(c) } else { 0 }
        }
        Action::User { operands: [a, b], .. } => WORD + operand(a) + operand(b),
        Action::Wtime { .. } => 16,
        Action::Nop => 0,
    }
}

/// Encodes one body; [`next`](Self::next) in bounded steps, so that a large section needs no buffer
/// of its size.
pub(super) struct SectionEncoder<'a> {
    body: &'a Body,
    offsets: Vec<u32>,
    sources: Vec<u32>,
    next: usize,
}

impl<'a> SectionEncoder<'a> {
    /// The section must be no longer than the format allows.
    pub(super) fn new(body: &'a Body) -> Self {
        let sources = body.indegrees();
        let independent = sources.iter().filter(|&&sources| sources == 0).count();
        let mut at = WORD + WORD * independent as u64;
        let offsets = body
            .ids()
            .map(|id| {
                let offset = at as u32;
                let edges = body.requires.row(id).len() + body.irequires.row(id).len();
                at += record_length(body, id) + WORD * edges as u64;
                offset
            })
            .collect();
        Self { body, offsets, sources, next: 0 }
    }

    /// The list of independent actions, with which a section begins.
    pub(super) fn independent(&self, out: &mut Vec<u8>) {
        let independent = || (0..self.body.len()).filter(|&i| self.sources[i] == 0);
        put_u32(out, independent().count() as u32);
        for i in independent() {
            put_u32(out, self.offsets[i]);
        }
    }

    /// Appends actions until `out` holds `enough` bytes; whether there are more.
    pub(super) fn records(&mut self, enough: usize, out: &mut Vec<u8>) -> bool {
        while self.next < self.body.len() && out.len() < enough {
            self.record(ActionId::new(self.next), out);
            self.next += 1;
        }
        self.next < self.body.len()
    }

    fn record(&self, id: ActionId, out: &mut Vec<u8>) {
        let dependents = self.body.requires.row(id);
        let start_dependents = self.body.irequires.row(id);
        let head = Head {
            sources: self.sources[id.index()] as u16,
            start_list: !start_dependents.is_empty(),
        };
        parameters(self.body, self.body.action(id), head, out);
        self.list(dependents, out);
        if head.start_list {
            self.list(start_dependents, out);
        }
    }

    fn list(&self, row: &[ActionId], out: &mut Vec<u8>) {
        put_u32(out, row.len() as u32);
        for waiter in row {
            put_u32(out, self.offsets[waiter.index()]);
        }
    }
}

#[derive(Clone, Copy)]
struct Head {
    sources: u16,
    start_list: bool,
}

impl Head {
    fn put(self, opcode: Opcode, placement: Placement, forms: [Form; 3], out: &mut Vec<u8>) {
        let placed = placement != Placement::default();
        let kind = Type::new(opcode, placed, self.start_list, forms);
        put_u32(out, u32::from(self.sources) | u32::from(kind.0) << 16);
        if placed {
            out.extend_from_slice(&[placement.cpu, placement.nic, 0, 0]);
        }
    }
}

fn parameters(body: &Body, action: &Action, head: Head, out: &mut Vec<u8>) {
    let plain = Placement::default();
    match *action {
        Action::Send { payload, to: peer, tag, placement }
        | Action::Recv { payload, from: peer, tag, placement } => {
            let reduction = body.reduction(action);
            let first = match (payload, reduction) {
                (Payload::Pattern { .. }, _) => Form::Plain,
                (Payload::Buffer(piece), _) => form_of(piece.space),
                (Payload::Vector(_), _) => Form::Vector,
                (Payload::Reduced { .. }, reduction) => reduction
                    .map_or(Form::Plain, |Reduction { a, b, .. }| form_of(a.unwrap_or(b).space)),
            };
            let second = match reduction {
                Some(Reduction { a: Some(_), b, .. }) => form_of(b.space),
                _ => Form::Plain,
            };
            head.put(opcode(action), placement, [first, second, Form::Plain], out);
            put_u32(out, peer);
            put_u32(out, tag);
            if let Some(Reduction { op, datatype, a, b }) = reduction {
                out.extend_from_slice(&[op as u8, datatype as u8, 0, 0]);
                for piece in a.into_iter().chain([b]) {
                    put_buffer(out, piece.addr, piece.size);
                }
            }
            match payload {
                Payload::Pattern { size } => put_u64(out, size),
                Payload::Buffer(piece) => put_buffer(out, piece.addr, piece.size),
                Payload::Vector(pieces) => put_vector(out, body.slice(pieces)),
                Payload::Reduced { .. } => {}
            }
        }
        Action::Calc { nanos, placement } => {
            head.put(opcode(action), placement, [Form::Plain; 3], out);
            put_u64(out, nanos);
        }
        Action::Exec { op, datatype, spaces, has_c, a, b, c, size } => {
            let third = if has_c { form_of(spaces[2]) } else { Form::Plain };
            head.put(opcode(action), plain, [form_of(spaces[0]), form_of(spaces[1]), third], out);
            out.extend_from_slice(&[op as u8, datatype as u8, 0, 0]);
            put_buffer(out, a, size);
            put_buffer(out, b, size);
            if has_c {
                put_buffer(out, c, size);
            }
        }
        Action::ExecVector { op, datatype, operands } => {
            let third = if operands[2].len > 0 { Form::Vector } else { Form::Plain };
            head.put(opcode(action), plain, [Form::Vector, Form::Vector, third], out);
            out.extend_from_slice(&[op as u8, datatype as u8, 0, 0]);
            for pieces in operands.into_iter().filter(|pieces| pieces.len > 0) {
                put_vector(out, body.slice(pieces));
            }
        }
        Action::User { function, operands } => {
            let operands = operands.map(|pieces| body.slice(pieces));
            let [a, b] = operands.map(|pieces| match pieces {
                [piece] => form_of(piece.space),
                _ => Form::Vector,
            });
            head.put(opcode(action), plain, [a, b, Form::Plain], out);
            put_u32(out, function);
            for pieces in operands {
                match pieces {
                    [piece] => put_buffer(out, piece.addr, piece.size),
                    _ => put_vector(out, pieces),
                }
            }
        }
        Action::Wtime { addr, space } => {
            head.put(opcode(action), plain, [form_of(space), Form::Plain, Form::Plain], out);
            put_buffer(out, addr, 8);
        }
        Action::Nop => head.put(opcode(action), plain, [Form::Plain; 3], out),
    }
}

/// The instruction that an action becomes.
fn opcode(action: &Action) -> Opcode {
    match action {
        Action::Send { payload: Payload::Reduced { .. }, .. } => Opcode::ReduceSend,
        Action::Recv { payload: Payload::Reduced { .. }, .. } => Opcode::RecvReduce,
        Action::Send { .. } => Opcode::Send,
        Action::Recv { .. } => Opcode::Recv,
        Action::Calc { .. } => Opcode::Calc,
        Action::Exec { .. } | Action::ExecVector { .. } => Opcode::Exec,
        Action::User { .. } => Opcode::User,
        Action::Wtime { .. } => Opcode::Wtime,
        Action::Nop => Opcode::Nop,
    }
}

/// The lowest major version of the format that has all instructions of a body.
pub(super) fn version(body: &Body) -> u16 {
    body.actions.iter().map(|action| opcode(action).instruction().since).max().unwrap_or(1)
}

fn form_of(space: Space) -> Form {
    match space {
        Space::Memory => Form::Memory,
        Space::Scratch => Form::Scratch,
    }
}

fn put_vector(out: &mut Vec<u8>, pieces: &[Piece]) {
    put_u32(out, pieces.len() as u32);
    for piece in pieces {
        put_buffer(out, piece.addr, piece.size);
        put_u32(out, piece.space as u32);
    }
}

fn put_buffer(out: &mut Vec<u8>, addr: u64, size: u64) {
    put_u64(out, addr);
    put_u64(out, size);
}

pub(super) fn put_u32(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_le_bytes());
}

pub(super) fn put_u64(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(&value.to_le_bytes());
}
