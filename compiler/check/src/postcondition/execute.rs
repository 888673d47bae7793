//! Executes the program on expressions instead of bytes.

use super::layout::Layout;
use super::memory::{Memory, Part};
use super::start::Start;
use super::trail::{Source, Step, Trail};
use super::value::{Expression, Value, Values, canonical, width};
use crate::limits::FOLLOWED_RANGES_MAX;
use goal_lang::{Action, Function, Op, Operand, Payload, Piece, Reduction};
use goal_opt::whole::{Trace, Vertex, Whole};
use rustc_hash::FxHashMap;

/// The memories of all ranks after the execution, and the way on which each byte got there.
pub(super) struct Execution<'a> {
    whole: &'a Whole<'a>,
    layout: &'a Layout,
    pub(super) values: Values,
    pub(super) trail: Trail,
    start: Start<'a>,
    /// By rank, its memory and its scratch memory.
    memories: Vec<[Memory; 2]>,
    /// By send, the content of a message that is not received yet.
    under_way: FxHashMap<Vertex, Vec<Part>>,
    /// The number of ranges read so far.
    ranges: u64,
}

/// The error that actions read more than [`FOLLOWED_RANGES_MAX`] ranges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooManyRanges;

impl<'a> Execution<'a> {
    /// Runs the actions in the order of a complete trace of a program without races. Work and
    /// memory grow with the ranges that actions read and write, not with their bytes.
    ///
    /// # Errors
    /// If the ranges are more than a bound.
    pub(super) fn run(
        whole: &'a Whole<'a>,
        trace: &Trace,
        layout: &'a Layout,
    ) -> Result<Self, TooManyRanges> {
        let ranks = whole.program.num_ranks();
        let mut execution = Self {
            whole,
            layout,
            values: Values::new(ranks),
            trail: Trail::default(),
            start: Start::new(whole.program, layout),
            memories: (0..ranks).map(|_| Default::default()).collect(),
            under_way: FxHashMap::default(),
            ranges: 0,
        };
        let mut before = Vertex::NONE;
        for &vertex in &trace.order {
            let partner = trace.partner[vertex.index()];
            let is_send = matches!(whole.action(vertex), Action::Send { .. });
            // The receive has already read the message of a send that ends right after it.
            if !(is_send && before != Vertex::NONE && partner == before) {
                execution.execute(vertex, partner);
            }
            if execution.ranges > FOLLOWED_RANGES_MAX {
                return Err(TooManyRanges);
            }
            before = vertex;
        }
        Ok(execution)
    }

    /// The content of a piece of a rank's memory.
    pub(super) fn read(&mut self, rank: u32, piece: Piece) -> Vec<Part> {
        let mut parts = Vec::new();
        self.read_into(rank, piece, &mut parts);
        parts
    }

    /// Executes an action. `partner` is the other end of its message, if it has one.
    fn execute(&mut self, vertex: Vertex, partner: Vertex) {
        let (whole, rank) = (self.whole, self.whole.rank(vertex));
        let body = whole.body(vertex);
        match *whole.action(vertex) {
            Action::Send { payload, .. } => {
                if partner != Vertex::NONE {
                    let parts = self.sent(vertex, payload);
                    self.under_way.insert(vertex, parts);
                }
            }
            Action::Recv { payload, .. } => {
                let sent = self.under_way.remove(&partner).unwrap_or_else(|| {
                    match *whole.action(partner) {
                        Action::Send { payload, .. } => self.sent(partner, payload),
                        _ => Vec::new(),
                    }
                });
                if let Some(reduction) = body.reduction(whole.action(vertex)) {
                    self.reduce(vertex, reduction, &sent);
                } else if let Some(buffer) = body.payload_operand(payload) {
                    self.store(vertex, buffer, sent);
                }
            }
            Action::Wtime { addr, space } => {
                let buffer = Operand::One(Piece { addr, size: 8, space });
                self.store_opaque(vertex, buffer, 0);
            }
            ref action => {
                let Some(local) = body.local_operation(action) else { return };
                let a = self.gather(rank, local.a);
                if let Function::Predefined(Op::Copy, _) = local.function {
                    self.store(vertex, local.b, a);
                    return;
                }
                let function = canonical(local.function);
                let element = width(function, self.layout.collective.datatype.width());
                let is_followed = match function {
                    Function::Predefined(..) => true,
                    Function::User(_) => {
                        function == self.layout.collective.function
                            && local.a.size() == local.b.size()
                            && local.a.size() % element == 0
                    }
                };
                if is_followed {
                    let b = self.gather(rank, local.b);
                    let combined = self.combine(vertex, function, element, &a, &b);
                    self.write(rank, local.result(), &combined);
                } else {
                    self.store_opaque(vertex, local.a, 0);
                    self.store_opaque(vertex, local.b, 1);
                }
            }
        }
    }

    /// The content of a message. A send that combines computes it first.
    fn sent(&mut self, send: Vertex, payload: Payload) -> Vec<Part> {
        if let Some(reduction) = self.whole.body(send).reduction(self.whole.action(send))
            && let Some(a) = reduction.a
        {
            let a = self.gather(self.whole.rank(send), Operand::One(a));
            self.reduce(send, reduction, &a);
        }
        match self.whole.body(send).payload_operand(payload) {
            Some(buffer) => self.gather(self.whole.rank(send), buffer),
            None => {
                let size = self.whole.body(send).payload_size(payload);
                let node = self.values.node(Expression::Opaque { vertex: send, operand: 0 });
                vec![Part { size, value: Value::at(node, 0), step: Step::NONE }]
            }
        }
    }

    /// Combines `a` with the accumulator of a send or receive, and stores the result in the
    /// accumulator.
    fn reduce(&mut self, vertex: Vertex, reduction: Reduction, a: &[Part]) {
        let rank = self.whole.rank(vertex);
        let function = canonical(Function::Predefined(reduction.op, reduction.datatype));
        let b = self.gather(rank, Operand::One(reduction.b));
        let combined = self.combine(vertex, function, width(function, 1), a, &b);
        self.write(rank, Operand::One(reduction.b), &combined);
    }

    fn read_into(&mut self, rank: u32, piece: Piece, parts: &mut Vec<Part>) {
        let Self { memories, start, values, .. } = self;
        memories[rank as usize][piece.space as usize].read(
            piece.addr,
            piece.size,
            parts,
            |addr, size, parts| {
                start.read(rank, Piece { addr, size, space: piece.space }, values, parts);
            },
        );
    }

    /// The content of the pieces of a buffer, one after the other.
    fn gather(&mut self, rank: u32, buffer: Operand<'_>) -> Vec<Part> {
        let mut parts = Vec::new();
        for &piece in buffer.pieces() {
            self.read_into(rank, piece, &mut parts);
        }
        self.ranges += parts.len() as u64;
        parts
    }

    /// Stores parts unchanged into a buffer.
    fn store(&mut self, vertex: Vertex, buffer: Operand<'_>, mut parts: Vec<Part>) {
        for part in &mut parts {
            part.step = self.trail.push(vertex, [part.source(); 2]);
        }
        self.write(self.whole.rank(vertex), buffer, &parts);
    }

    /// Stores an unknown result of an action into a buffer.
    fn store_opaque(&mut self, vertex: Vertex, buffer: Operand<'_>, operand: u8) {
        let node = self.values.node(Expression::Opaque { vertex, operand });
        let step = self.trail.push(vertex, [Source { node, step: Step::NONE }; 2]);
        let part = Part { size: buffer.size(), value: Value::at(node, 0), step };
        self.write(self.whole.rank(vertex), buffer, &[part]);
    }

    /// Writes parts to the pieces of a buffer until either ends.
    fn write(&mut self, rank: u32, buffer: Operand<'_>, parts: &[Part]) {
        let memories = &mut self.memories[rank as usize];
        if let Operand::One(piece) = buffer
            && parts.iter().map(|part| part.size).sum::<u64>() == piece.size
        {
            memories[piece.space as usize].write(piece.addr, parts);
            return;
        }
        let mut parts = parts.iter().copied();
        let mut rest: Option<Part> = None;
        for piece in buffer.pieces() {
            let mut at = piece.addr;
            let end = piece.addr + piece.size;
            while at < end {
                let Some(part) = rest.take().or_else(|| parts.next()) else { return };
                let (now, later) = part.split(part.size.min(end - at));
                memories[piece.space as usize].write(at, &[now]);
                at += now.size;
                rest = (later.size > 0).then_some(later);
            }
        }
    }

    /// Computes `a f b`. Combines whole ranges where a part of each operand holds whole elements,
    /// and otherwise single elements.
    fn combine(
        &mut self,
        vertex: Vertex,
        function: Function,
        element: u64,
        a: &[Part],
        b: &[Part],
    ) -> Vec<Part> {
        let (mut a, mut b) = (Cursor::new(a), Cursor::new(b));
        let mut combined: Vec<Part> = Vec::with_capacity(a.parts.len().max(b.parts.len()));
        let mut at = 0;
        while let (Some(x), Some(y)) = (a.rest, b.rest) {
            let whole = x.size.min(y.size) / element * element;
            let mut from = [x.source(), y.source()];
            let (size, value) = if whole > 0 {
                (whole, self.values.apply(function, element, x.value, y.value))
            } else {
                let operands = [&a, &b].map(|operand| operand.element(element, &self.values));
                let value = if let [Some(x), Some(y)] = operands {
                    self.values.apply(function, element, x, y)
                } else {
                    let node = self.values.node(Expression::Opaque { vertex, operand: 0 });
                    for ((source, operand), whole) in from.iter_mut().zip([&a, &b]).zip(operands) {
                        if whole.is_none() {
                            let parts = operand.sources(element);
                            let joined = |one, other| Source {
                                node,
                                step: self.trail.push(vertex, [one, other]),
                            };
                            *source = parts.reduce(joined).unwrap_or(*source);
                        }
                    }
                    Value::at(node, at)
                };
                (element, value)
            };
            let step = self.trail.push(vertex, from);
            combined.push(Part { size, value, step });
            a.skip(size);
            b.skip(size);
            at += size;
        }
        combined
    }
}

/// A position in a list of parts.
struct Cursor<'p> {
    parts: &'p [Part],
    next: usize,
    /// The rest of the part at the cursor.
    rest: Option<Part>,
}

impl<'p> Cursor<'p> {
    fn new(parts: &'p [Part]) -> Self {
        Self { parts, next: 1, rest: parts.first().copied() }
    }

    fn skip(&mut self, mut bytes: u64) {
        while bytes > 0
            && let Some(rest) = self.rest
        {
            let skipped = bytes.min(rest.size);
            bytes -= skipped;
            let later = rest.split(skipped).1;
            self.rest = Some(later).filter(|later| later.size > 0).or_else(|| {
                self.next += 1;
                self.parts.get(self.next - 1).copied()
            });
        }
    }

    /// The sources of the next `size` bytes, one for each part.
    fn sources(&self, size: u64) -> impl Iterator<Item = Source> {
        let later = self.parts.get(self.next..).unwrap_or_default();
        let mut before = 0;
        self.rest.iter().chain(later).map_while(move |part| {
            let is_inside = before < size;
            before += part.size;
            is_inside.then(|| part.source())
        })
    }

    /// The next `size` bytes as one value, if the parts that contain them continue each other.
    fn element(&self, size: u64, values: &Values) -> Option<Value> {
        let first = self.rest?;
        let mut covered = first.size;
        for part in &self.parts[self.next.min(self.parts.len())..] {
            if covered >= size {
                break;
            }
            if !values.continues(first.value, covered, part.value) {
                return None;
            }
            covered += part.size;
        }
        (covered >= size).then_some(first.value)
    }
}
