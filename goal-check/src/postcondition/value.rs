//! What bytes are, as expressions over the ranks' inputs: every expression once, shared by all that
//! hold it.

use goal_lang::{Datatype, Function, Op};
use goal_opt::whole::Vertex;
use rustc_hash::FxHashMap;

/// An expression. The inputs of ranks 0, 1, ... are the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Node(pub(super) u32);

/// Consecutive bytes of an expression, from `offset` on. An offset may lie before 0: it wraps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Value {
    pub(super) node: Node,
    pub(super) offset: u64,
}

impl Value {
    pub(super) fn at(node: Node, offset: u64) -> Self {
        Self { node, offset }
    }

    pub(super) fn skip(self, bytes: u64) -> Self {
        Self { offset: self.offset.wrapping_add(bytes), ..self }
    }
}

/// What an expression is. Each has bytes of any offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Expression {
    /// The input of a rank; the offset counts from its start.
    Input(u32),
    /// Scratch memory of a rank that nothing wrote; the offset is the address.
    Unwritten(u32),
    /// The same element again and again, `width` bytes each.
    Constant { bits: u64, width: u8 },
    /// What an action made in a way that is not followed; the operand tells two results of one
    /// action apart.
    Opaque { vertex: Vertex, operand: u8 },
    /// A function applied to elements of two expressions.
    Applied(Application),
}

/// Byte `o` comes from the element of `a` at `o` and that of `b` at `o + delta`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Application {
    pub(super) function: Function,
    /// Elements begin at offsets that leave this rest when divided by their size.
    pub(super) phase: u8,
    pub(super) a: Node,
    pub(super) b: Node,
    pub(super) delta: u64,
}

/// All expressions of a run.
#[derive(Debug)]
pub(super) struct Values {
    expressions: Vec<Expression>,
    ids: FxHashMap<Expression, Node>,
}

impl Values {
    pub(super) fn new(ranks: u32) -> Self {
        // Inputs are found by their number.
        Self { expressions: (0..ranks).map(Expression::Input).collect(), ids: FxHashMap::default() }
    }

    pub(super) fn input(rank: u32) -> Node {
        Node(rank)
    }

    pub(super) fn expression(&self, node: Node) -> Expression {
        self.expressions[node.0 as usize]
    }

    /// The node of an expression that is no input.
    pub(super) fn node(&mut self, expression: Expression) -> Node {
        let next = Node(self.expressions.len() as u32);
        *self.ids.entry(expression).or_insert_with(|| {
            self.expressions.push(expression);
            next
        })
    }

    /// `a f b`, both at the start of an element of `width` bytes. The operands of what commutes are
    /// put into one order, a constant last, and one that changes nothing is left out.
    pub(super) fn apply(&mut self, function: Function, width: u64, a: Value, b: Value) -> Value {
        let (mut a, mut b) = (a, b);
        let place = |value: Value| (self.period(value.node).is_some(), value.node, value.offset);
        if commutes(function) && place(b) < place(a) {
            std::mem::swap(&mut a, &mut b);
        }
        if commutes(function)
            && !is_logical(function)
            && self.is_neutral(b.node, b.offset, function)
        {
            return a;
        }
        let mut delta = b.offset.wrapping_sub(a.offset);
        if let Some(period) = self.period(b.node) {
            delta %= period;
        }
        let phase = (a.offset % width) as u8;
        let application = Application { function, phase, a: a.node, b: b.node, delta };
        Value::at(self.node(Expression::Applied(application)), a.offset)
    }

    /// After how many bytes a constant repeats itself.
    fn period(&self, node: Node) -> Option<u64> {
        match self.expression(node) {
            Expression::Constant { width, .. } => Some(u64::from(width)),
            _ => None,
        }
    }

    /// Whether `next` goes on where `value` ends after `size` bytes.
    pub(super) fn continues(&self, value: Value, size: u64, next: Value) -> bool {
        let rest = next.offset.wrapping_sub(value.offset.wrapping_add(size));
        value.node == next.node && self.period(value.node).map_or(rest, |period| rest % period) == 0
    }

    /// Whether an expression is a constant that leaves every other operand as it is; of a logical
    /// operation, as true as it is. +0 counts as neutral in a sum of floats, though -0 + +0 is +0.
    pub(super) fn is_neutral(&self, node: Node, offset: u64, function: Function) -> bool {
        let Expression::Constant { bits, width } = self.expression(node) else { return false };
        let Function::Predefined(op, datatype) = function else { return false };
        let Some(neutral) = neutral(op, datatype) else { return false };
        let element = datatype.width();
        // Both periods are powers of two.
        (0..element.max(u64::from(width))).all(|at| {
            let byte = bits >> (8 * (offset.wrapping_add(at) % u64::from(width)));
            let wanted = neutral >> (8 * (at % element));
            byte as u8 == wanted as u8
        })
    }
}

/// The bits of the element that leaves every other as it is.
pub(super) fn neutral(op: Op, datatype: Datatype) -> Option<u64> {
    let is_signed =
        matches!(datatype, Datatype::Int8 | Datatype::Int16 | Datatype::Int32 | Datatype::Int64);
    let ones = u64::MAX >> (64 - 8 * datatype.width());
    let sign = ones ^ (ones >> 1);
    match op {
        Op::Sum | Op::Lor | Op::Lxor | Op::Bor | Op::Bxor => Some(0),
        Op::Band => Some(ones),
        Op::Prod | Op::Land => Some(match datatype {
            Datatype::Float16 => 0x3c00,
            Datatype::Float32 => u64::from(1f32.to_bits()),
            Datatype::Float64 => 1f64.to_bits(),
            _ => 1,
        }),
        Op::Max | Op::Min if datatype.is_float() => None,
        Op::Max => Some(if is_signed { sign } else { 0 }),
        Op::Min => Some(if is_signed { ones ^ sign } else { ones }),
        Op::Copy | Op::Sub | Op::Div => None,
    }
}

/// Whether the order of two operands makes no difference.
pub(super) fn commutes(function: Function) -> bool {
    matches!(function, Function::Predefined(op, _) if !matches!(op, Op::Copy | Op::Sub | Op::Div))
}

/// Whether the result is 1 or 0, whatever the operands are.
pub(super) fn is_logical(function: Function) -> bool {
    matches!(function, Function::Predefined(Op::Land | Op::Lor | Op::Lxor, _))
}

/// Whether an operand may be there several times: `a f a` is `a`, or, of logical operations, as
/// true.
pub(super) fn is_idempotent(function: Function) -> bool {
    matches!(
        function,
        Function::Predefined(Op::Max | Op::Min | Op::Band | Op::Bor | Op::Land | Op::Lor, _)
    )
}

/// One function for all that compute the same bits: signs make no difference to sums and products
/// that wrap, nor do they to logical operations, and bitwise operations go byte by byte.
pub(super) fn canonical(function: Function) -> Function {
    let Function::Predefined(op, datatype) = function else { return function };
    let datatype = match (op, datatype) {
        (Op::Band | Op::Bor | Op::Bxor, _) => Datatype::UInt8,
        (Op::Max | Op::Min | Op::Div, _) => datatype,
        (_, Datatype::UInt8) => Datatype::Int8,
        (_, Datatype::UInt16) => Datatype::Int16,
        (_, Datatype::UInt32) => Datatype::Int32,
        (_, Datatype::UInt64) => Datatype::Int64,
        _ => datatype,
    };
    Function::Predefined(op, datatype)
}

/// Bytes of an element that a function works on; `user` bytes where it is the embedding program's.
pub(super) fn width(function: Function, user: u64) -> u64 {
    match function {
        Function::Predefined(_, datatype) => datatype.width(),
        Function::User(_) => user,
    }
}
