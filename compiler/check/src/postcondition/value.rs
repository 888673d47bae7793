//! Values of bytes as expressions over the ranks' inputs. Equal expressions are stored once and
//! shared.

use goal_lang::{Datatype, Function, Op};
use goal_opt::whole::Vertex;
use rustc_hash::FxHashMap;

/// The number of an expression. The inputs of ranks 0, 1, ... are the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Node(pub(super) u32);

/// Consecutive bytes of an expression from `offset` on. An offset below 0 wraps around.
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

/// An expression. It has a byte for every offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Expression {
    /// The input of a rank; the offset counts from its start.
    Input(u32),
    /// Scratch memory of a rank that no action wrote; the offset is the address.
    Unwritten(u32),
    /// One element of `width` bytes, repeated.
    Constant { bits: u64, width: u8 },
    /// The unknown result of an action; the operand distinguishes two results of the same action.
    Opaque { vertex: Vertex, operand: u8 },
    /// A function applied to elements of two expressions.
    Applied(Application),
}

/// An application of a function. Byte `o` comes from the element of `a` at `o` and the element of
/// `b` at `o + delta`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Application {
    pub(super) function: Function,
    /// The offset of the elements modulo their size.
    pub(super) phase: u8,
    pub(super) a: Node,
    pub(super) b: Node,
    pub(super) delta: u64,
}

/// All expressions of an execution.
#[derive(Debug)]
pub(super) struct Values {
    expressions: Vec<Expression>,
    ids: FxHashMap<Expression, Node>,
}

impl Values {
    pub(super) fn new(ranks: u32) -> Self {
        // Inputs need no entry in `ids`: their number is the rank.
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

    /// Computes `a f b`, both at the start of an element of `width` bytes. The operands of a
    /// commuting function are put into one order, with a constant last, and a neutral operand is
    /// dropped.
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

    /// The period of a constant in bytes; `None` for other expressions.
    fn period(&self, node: Node) -> Option<u64> {
        match self.expression(node) {
            Expression::Constant { width, .. } => Some(u64::from(width)),
            _ => None,
        }
    }

    /// Returns true if `next` continues `value` after `size` bytes.
    pub(super) fn continues(&self, value: Value, size: u64, next: Value) -> bool {
        let rest = next.offset.wrapping_sub(value.offset.wrapping_add(size));
        value.node == next.node && self.period(value.node).map_or(rest, |period| rest % period) == 0
    }

    /// Returns true if an expression is a constant that leaves every other operand unchanged; for a
    /// logical operation, one that keeps its truth value. +0 counts as neutral in a sum of floats,
    /// although -0 + +0 is +0.
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

/// Returns the bits of the neutral element, which leaves every other operand unchanged. `None` if
/// the operation has no such element.
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

/// Returns true if the order of two operands makes no difference.
pub(super) fn commutes(function: Function) -> bool {
    matches!(function, Function::Predefined(op, _) if !matches!(op, Op::Copy | Op::Sub | Op::Div))
}

/// Returns true if the result is always 1 or 0.
pub(super) fn is_logical(function: Function) -> bool {
    matches!(function, Function::Predefined(Op::Land | Op::Lor | Op::Lxor, _))
}

/// Returns true if `a f a` is `a`, or, for logical operations, has the truth value of `a`. Then
/// inputs may contribute more than once.
pub(super) fn is_idempotent(function: Function) -> bool {
    matches!(
        function,
        Function::Predefined(Op::Max | Op::Min | Op::Band | Op::Bor | Op::Land | Op::Lor, _)
    )
}

/// Maps functions that compute the same bits to one of them: signs make no difference to sums and
/// products that wrap, nor to logical operations, and bitwise operations work byte by byte.
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

/// The size in bytes of the elements of a function; `user` for a user function.
pub(super) fn width(function: Function, user: u64) -> u64 {
    match function {
        Function::Predefined(_, datatype) => datatype.width(),
        Function::User(_) => user,
    }
}
