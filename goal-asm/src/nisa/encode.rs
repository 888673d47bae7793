//! Encodes a body as the bytes of a section.

use super::bytes::{put_u32, put_u64};
use super::instruction::{Form, Opcode, PIECE_SIZE, Type};
use goal_lang::{Action, ActionId, Body, Datatype, Op, Payload, Piece, Placement, Space};
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// The bytes of a word. The head of a record, the count of a list and each offset are one word.
const WORD: u64 = 4;

/// Returns the bytes of an action's record without the offsets of its dependents.
fn record_length(body: &Body, id: ActionId) -> u64 {
    let has_start_list = !body.irequires.is_empty() && !body.irequires.row(id).is_empty();
    let lists = if has_start_list { 2 * WORD } else { WORD };
    WORD + visit(body, body.action(id), Length) + lists
}

/// Encodes one body in bounded steps, so that a large section needs no buffer of its size.
pub(super) struct SectionEncoder<'a> {
    body: &'a Body,
    offsets: Vec<u32>,
    sources: Vec<u32>,
    next: usize,
}

impl<'a> SectionEncoder<'a> {
    /// Prepares the encoding of `body`. Its section must be no longer than the format allows.
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

    /// Appends the list of independent actions, with which a section begins.
    pub(super) fn independent(&self, out: &mut Vec<u8>) {
        let independent = || (0..self.body.len()).filter(|&i| self.sources[i] == 0);
        put_u32(out, independent().count() as u32);
        for i in independent() {
            put_u32(out, self.offsets[i]);
        }
    }

    /// Appends actions until `out` holds `enough` bytes or more. Returns true if actions are left.
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
        let has_start_list = !start_dependents.is_empty();
        let sources = self.sources[id.index()] as u16;
        visit(self.body, self.body.action(id), Put { sources, has_start_list, out });
        self.list(dependents, out);
        if has_start_list {
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

/// An operand of an instruction, in the form in which a section stores it.
enum Operand<'a> {
    Absent,
    /// A pattern of this many bytes.
    Pattern(u64),
    One(Piece),
    Many(&'a [Piece]),
}

/// The parameters of an action in the terms of the instruction table.
///
/// Everything here is inlined into each arm of [`visit`], where the opcode is a constant: so the
/// rows of the table cost nothing at run time.
struct Parts<'a, const FIELDS: usize, const OPERANDS: usize> {
    opcode: Opcode,
    placement: Placement,
    /// The value of each field of the instruction's row, in order.
    fields: [u64; FIELDS],
    /// The value of each operand of the instruction's row, in order.
    operands: [Operand<'a>; OPERANDS],
}

impl<const FIELDS: usize, const OPERANDS: usize> Parts<'_, FIELDS, OPERANDS> {
    #[inline(always)]
    fn is_placed(&self) -> bool {
        self.placement != Placement::default()
    }
}

/// Work that is done with the parameters of an action.
trait Visitor {
    type Output;

    fn parts<const F: usize, const O: usize>(self, parts: Parts<'_, F, O>) -> Self::Output;
}

/// Calls `visitor` with the parameters of the instruction that `action` becomes. Returns the
/// visitor's result.
#[inline(always)]
fn visit<V: Visitor>(body: &Body, action: &Action, visitor: V) -> V::Output {
    use Operand::{Absent, Many, One};
    let function = |op: Op, datatype: Datatype| op as u64 | (datatype as u64) << 8;
    let unplaced = Placement::default();
    match *action {
        Action::Send {
            payload: Payload::Reduced { op, datatype, operands },
            to,
            tag,
            placement,
        } => {
            let [b, a] = body.pieces[operands as usize..][..2] else { unreachable!("two pieces") };
            visitor.parts(Parts {
                opcode: Opcode::ReduceSend,
                placement,
                fields: [to.into(), tag.into(), function(op, datatype)],
                operands: [One(a), One(b)],
            })
        }
        Action::Send { payload, to, tag, placement } => visitor.parts(Parts {
            opcode: Opcode::Send,
            placement,
            fields: [to.into(), tag.into()],
            operands: [Operand::payload(body, payload)],
        }),
        Action::Recv {
            payload: Payload::Reduced { op, datatype, operands },
            from,
            tag,
            placement,
        } => visitor.parts(Parts {
            opcode: Opcode::RecvReduce,
            placement,
            fields: [from.into(), tag.into(), function(op, datatype)],
            operands: [One(body.pieces[operands as usize])],
        }),
        Action::Recv { payload, from, tag, placement } => visitor.parts(Parts {
            opcode: Opcode::Recv,
            placement,
            fields: [from.into(), tag.into()],
            operands: [Operand::payload(body, payload)],
        }),
        Action::Calc { nanos, placement } => {
            visitor.parts(Parts { opcode: Opcode::Calc, placement, fields: [nanos], operands: [] })
        }
        Action::Exec { op, datatype, spaces, has_c, a, b, c, size } => {
            let piece = |addr, space| One(Piece { addr, size, space });
            let c = if has_c { piece(c, spaces[2]) } else { Absent };
            visitor.parts(Parts {
                opcode: Opcode::Exec,
                placement: unplaced,
                fields: [function(op, datatype)],
                operands: [piece(a, spaces[0]), piece(b, spaces[1]), c],
            })
        }
        Action::ExecVector { op, datatype, operands: [a, b, c] } => {
            let c = if c.len > 0 { Many(body.slice(c)) } else { Absent };
            visitor.parts(Parts {
                opcode: Opcode::Exec,
                placement: unplaced,
                fields: [function(op, datatype)],
                operands: [Many(body.slice(a)), Many(body.slice(b)), c],
            })
        }
        Action::User { function, operands } => visitor.parts(Parts {
            opcode: Opcode::User,
            placement: unplaced,
            fields: [function.into()],
            operands: operands.map(|pieces| match body.slice(pieces) {
                &[piece] => One(piece),
                pieces => Many(pieces),
            }),
        }),
        Action::Wtime { addr, space } => visitor.parts(Parts {
            opcode: Opcode::Wtime,
            placement: unplaced,
            fields: [],
            operands: [One(Piece { addr, size: 8, space })],
        }),
        Action::Nop => visitor.parts(Parts {
            opcode: Opcode::Nop,
            placement: unplaced,
            fields: [],
            operands: [],
        }),
        Action::Marker { to, tag, placement } => visitor.parts(Parts {
            opcode: Opcode::Marker,
            placement,
            fields: [to.into(), tag.into()],
            operands: [],
        }),
    }
}

/// A visitor that returns the bytes of an action's parameters.
struct Length;

impl Visitor for Length {
    type Output = u64;

    #[inline(always)]
    fn parts<const F: usize, const O: usize>(self, parts: Parts<'_, F, O>) -> u64 {
        let placement = if parts.is_placed() { WORD } else { 0 };
        let operands = parts.operands.iter().map(Operand::length).sum::<u64>();
        placement + parts.opcode.instruction().fields_size() as u64 + operands
    }
}

/// A visitor that sums up the parameters of all actions of a body.
#[derive(Default)]
pub(super) struct Sum {
    /// The bytes of all parameters together.
    bytes: u64,
    /// The first byte past all memory that the actions name.
    pub(super) memory: u64,
    /// The lowest major version of the format that has all instructions, or 0 without actions.
    pub(super) version: u16,
    /// The hash of all parameters. Equal sections have equal hashes.
    pub(super) hasher: FxHasher,
}

impl Sum {
    /// Returns the sum over all actions of `body`, from one pass.
    pub(super) fn from_body(body: &Body) -> Self {
        let mut sum = Self::default();
        for action in &body.actions {
            visit(body, action, &mut sum);
        }
        sum
    }

    /// Returns the bytes of the section that `body` becomes. `independent` is the number of actions
    /// that wait for nothing.
    pub(super) fn section_length(&self, body: &Body, independent: usize) -> u64 {
        let start_lists = match body.irequires.is_empty() {
            true => 0,
            false => body.ids().filter(|&id| !body.irequires.row(id).is_empty()).count(),
        };
        let edges = body.requires.len() + body.irequires.len();
        // Each action has two words: the head of its record, and the count of its dependents. One
        // word is the count of the independent actions.
        let words = 1 + independent + 2 * body.len() + start_lists + edges;
        self.bytes + WORD * words as u64
    }

    #[inline(always)]
    fn piece(&mut self, piece: &Piece) {
        if piece.space == Space::Memory {
            self.memory = self.memory.max(piece.addr.saturating_add(piece.size));
        }
        piece.hash(&mut self.hasher);
    }
}

impl Visitor for &mut Sum {
    type Output = ();

    #[inline(always)]
    fn parts<const F: usize, const O: usize>(self, parts: Parts<'_, F, O>) {
        self.version = self.version.max(parts.opcode.instruction().since);
        // Two fields of 32 bits share a word.
        let join = |word: u64, field: &u64| word.rotate_left(32) ^ field;
        self.hasher.write_u64(parts.fields.iter().fold(parts.opcode as u64, join));
        for operand in &parts.operands {
            match *operand {
                Operand::Absent => {}
                Operand::Pattern(size) => self.hasher.write_u64(size),
                Operand::One(ref piece) => self.piece(piece),
                Operand::Many(pieces) => pieces.iter().for_each(|piece| self.piece(piece)),
            }
        }
        self.bytes += Length.parts(parts);
    }
}

/// A visitor that appends the head of an action's record and its parameters to `out`.
struct Put<'a> {
    sources: u16,
    has_start_list: bool,
    out: &'a mut Vec<u8>,
}

impl Visitor for Put<'_> {
    type Output = ();

    #[inline(always)]
    fn parts<const F: usize, const O: usize>(self, parts: Parts<'_, F, O>) {
        let Self { sources, has_start_list, out } = self;
        let row = parts.opcode.instruction();
        debug_assert!(row.fields.len() == F && row.operands.len() == O, "{}", row.name);
        let mut forms = [Form::Plain; 3];
        for (form, operand) in forms.iter_mut().zip(&parts.operands) {
            *form = operand.form();
        }
        let kind = Type::new(parts.opcode, parts.is_placed(), has_start_list, forms);
        put_u32(out, u32::from(sources) | u32::from(kind.0) << 16);
        if parts.is_placed() {
            let [low, high] = parts.placement.cpu.to_le_bytes();
            out.extend_from_slice(&[low, parts.placement.nic, high, 0]);
        }
        for (field, value) in row.fields.iter().zip(parts.fields) {
            match field.size() {
                8 => put_u64(out, value),
                _ => put_u32(out, value as u32),
            }
        }
        for operand in &parts.operands {
            operand.put(out);
        }
    }
}

impl<'a> Operand<'a> {
    /// Returns the operand of a payload without an operation. [`Payload::Reduced`] becomes
    /// `Absent`.
    #[inline(always)]
    fn payload(body: &'a Body, payload: Payload) -> Self {
        match payload {
            Payload::Pattern { size } => Operand::Pattern(size),
            Payload::Buffer(piece) => Operand::One(piece),
            Payload::Vector(pieces) => Operand::Many(body.slice(pieces)),
            Payload::Reduced { .. } => Operand::Absent,
        }
    }

    #[inline(always)]
    fn form(&self) -> Form {
        match self {
            Operand::Absent | Operand::Pattern(_) => Form::Plain,
            Operand::One(Piece { space: Space::Memory, .. }) => Form::Memory,
            Operand::One(Piece { space: Space::Scratch, .. }) => Form::Scratch,
            Operand::Many(_) => Form::Vector,
        }
    }

    #[inline(always)]
    fn length(&self) -> u64 {
        match self {
            Operand::Absent => 0,
            Operand::Pattern(_) => 8,
            Operand::One(_) => 16,
            Operand::Many(pieces) => WORD + (PIECE_SIZE * pieces.len()) as u64,
        }
    }

    #[inline(always)]
    fn put(&self, out: &mut Vec<u8>) {
        match *self {
            Operand::Absent => {}
            Operand::Pattern(size) => put_u64(out, size),
            Operand::One(piece) => put_buffer(out, &piece),
            Operand::Many(pieces) => {
                put_u32(out, pieces.len() as u32);
                for piece in pieces {
                    put_buffer(out, piece);
                    put_u32(out, piece.space as u32);
                }
            }
        }
    }
}

fn put_buffer(out: &mut Vec<u8>, piece: &Piece) {
    put_u64(out, piece.addr);
    put_u64(out, piece.size);
}
