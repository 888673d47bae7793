//! One rank's dependency graph.

use super::action::{Action, Operand, Payload, Piece, Pieces, Space};
use super::collectives::CollectiveStatement;
use super::csr::Csr;
use super::debug::Debug;
use crate::function::{Datatype, Op};
use crate::ids::ActionId;

/// The actions of a rank and both kinds of dependencies between them. Ranks with equal schedules
/// share one body.
///
/// Bodies come from a [`BodyBuilder`](super::BodyBuilder), the parser or a binary file. They are
/// immutable; passes build new ones.
#[derive(Debug, Clone, Default)]
pub struct Body {
    /// The actions, in the order in which ready ones are started and binary files store them.
    pub actions: Vec<Action>,
    /// Completion dependencies (`requires`, `requ`): a row lists the actions that wait for one
    /// action's end.
    pub requires: Csr,
    /// Start dependencies (`irequires`): a row lists the actions that wait for one action's start.
    pub irequires: Csr,
    /// The pieces of all scattered buffers.
    pub pieces: Vec<Piece>,
    /// Bytes of scratch memory.
    pub scratch: u64,
    /// The length of each buffer if memory is a table of buffers ([`buffer_address`]); empty if
    /// memory is one region.
    ///
    /// [`buffer_address`]: super::buffer_address
    pub buffers: Vec<u64>,
    /// The collective statements, in the order of their actions.
    pub collectives: Vec<CollectiveStatement>,
    /// Names and places of the text; empty after [`Program::strip`](super::Program::strip).
    pub debug: Debug,
}

/// The operation of a local action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Function {
    /// A predefined operation on elements of a type.
    Predefined(Op, Datatype),
    /// A function registered by the embedding program.
    User(u32),
}

/// A local operation with its buffers, in one form for all kinds of actions.
#[derive(Debug, Clone, Copy)]
pub struct LocalOperation<'a> {
    /// The operation or registered function.
    pub function: Function,
    /// The first buffer.
    pub a: Operand<'a>,
    /// The second buffer: the accumulator if there is no third.
    pub b: Operand<'a>,
    /// The buffer of the result, if it is not the second.
    pub c: Option<Operand<'a>>,
}

/// The operation that a message carries along ([`Payload::Reduced`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reduction {
    /// The operation.
    pub op: Op,
    /// The type of the elements.
    pub datatype: Datatype,
    /// The first operand of a send. `None` for a receive, whose first operand is the message.
    pub a: Option<Piece>,
    /// The second operand, which takes the result.
    pub b: Piece,
}

/// The access of an action to bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// The action reads the bytes.
    Read,
    /// The action writes all of the bytes, without reading them.
    Write,
    /// The action reads the bytes and writes all of them.
    Update,
}

impl Access {
    /// Returns true if the action depends on the bytes' former values.
    pub const fn reads(self) -> bool {
        !matches!(self, Access::Write)
    }

    /// Returns true if the action changes the bytes.
    pub const fn writes(self) -> bool {
        !matches!(self, Access::Read)
    }
}

impl LocalOperation<'_> {
    /// Returns the buffer that is written. A user function may write both of its buffers.
    pub fn result(&self) -> Operand<'_> {
        self.c.unwrap_or(self.b)
    }
}

impl Body {
    /// Number of actions.
    pub fn len(&self) -> usize {
        self.actions.len()
    }

    /// Returns true if there is no action.
    pub fn is_empty(&self) -> bool {
        self.actions.is_empty()
    }

    /// The ids of all actions, in order.
    pub fn ids(&self) -> impl Iterator<Item = ActionId> + use<> {
        (0..self.actions.len()).map(ActionId::new)
    }

    /// The action `id`.
    pub fn action(&self, id: ActionId) -> &Action {
        &self.actions[id.index()]
    }

    /// The pieces of a scattered buffer.
    pub fn slice(&self, pieces: Pieces) -> &[Piece] {
        &self.pieces[pieces.first as usize..pieces.first as usize + pieces.len as usize]
    }

    /// Returns the collective statement that an action stands for, if it stands for one.
    pub fn collective(&self, id: ActionId) -> Option<&CollectiveStatement> {
        let at = self.collectives.binary_search_by_key(&id, |stated| stated.action).ok()?;
        Some(&self.collectives[at])
    }

    /// Returns a scattered buffer as an operand. One piece counts as contiguous.
    pub fn operand(&self, pieces: Pieces) -> Operand<'_> {
        match self.slice(pieces) {
            [piece] => Operand::One(*piece),
            many => Operand::Many(many),
        }
    }

    /// Returns the buffer behind a payload, or `None` for a pattern.
    pub fn payload_operand(&self, payload: Payload) -> Option<Operand<'_>> {
        match payload {
            Payload::Pattern { .. } => None,
            Payload::Buffer(piece) => Some(Operand::One(piece)),
            Payload::Vector(pieces) => Some(self.operand(pieces)),
            Payload::Reduced { operands, .. } => Some(Operand::One(self.pieces[operands as usize])),
        }
    }

    /// The operation that an action applies to its message, if it is a receive-reduce or a
    /// reduce-send.
    pub fn reduction(&self, action: &Action) -> Option<Reduction> {
        let (Action::Send { payload, .. } | Action::Recv { payload, .. }) = *action else {
            return None;
        };
        let Payload::Reduced { op, datatype, operands } = payload else { return None };
        let operands = &self.pieces[operands as usize..];
        let a = matches!(action, Action::Send { .. }).then(|| operands[1]);
        Some(Reduction { op, datatype, a, b: operands[0] })
    }

    /// Bytes of a payload.
    pub fn payload_size(&self, payload: Payload) -> u64 {
        match payload {
            Payload::Pattern { size } => size,
            other => self.payload_operand(other).map_or(0, |operand| operand.size()),
        }
    }

    /// Returns an action as a local operation, or `None` if it is no local operation with operands.
    pub fn local_operation(&self, action: &Action) -> Option<LocalOperation<'_>> {
        match *action {
            Action::Exec { op, datatype, spaces, has_c, a, b, c, size } => {
                let piece = |addr, space| Operand::One(Piece { addr, size, space });
                Some(LocalOperation {
                    function: Function::Predefined(op, datatype),
                    a: piece(a, spaces[0]),
                    b: piece(b, spaces[1]),
                    c: has_c.then(|| piece(c, spaces[2])),
                })
            }
            Action::ExecVector { op, datatype, operands: [a, b, c] } => Some(LocalOperation {
                function: Function::Predefined(op, datatype),
                a: self.operand(a),
                b: self.operand(b),
                c: (c.len > 0).then(|| self.operand(c)),
            }),
            Action::User { function, operands: [a, b] } => Some(LocalOperation {
                function: Function::User(function),
                a: self.operand(a),
                b: self.operand(b),
                c: None,
            }),
            _ => None,
        }
    }

    /// Calls `visit` with every piece that an action reads or writes: one operand after the other,
    /// the pieces of each in their order.
    pub fn visit_pieces(&self, action: &Action, mut visit: impl FnMut(&Piece)) {
        self.visit_accesses(action, |piece, _| visit(piece));
    }

    /// Calls `visit` with every piece that an action touches and the access to that piece, in the
    /// order of [`visit_pieces`](Self::visit_pieces). An accumulator is updated, and a user
    /// function updates both of its buffers.
    pub fn visit_accesses(&self, action: &Action, mut visit: impl FnMut(&Piece, Access)) {
        let mut operand = |operand: Operand<'_>, access| {
            operand.pieces().iter().for_each(|piece| visit(piece, access));
        };
        match *action {
            Action::Send { payload, .. } | Action::Recv { payload, .. } => {
                let access = match (action, payload) {
                    (_, Payload::Reduced { .. }) => Access::Update,
                    (Action::Send { .. }, _) => Access::Read,
                    _ => Access::Write,
                };
                if let Some(a) = self.reduction(action).and_then(|reduction| reduction.a) {
                    operand(Operand::One(a), Access::Read);
                }
                if let Some(buffer) = self.payload_operand(payload) {
                    operand(buffer, access);
                }
            }
            Action::Wtime { addr, space } => {
                operand(Operand::One(Piece { addr, size: 8, space }), Access::Write);
            }
            _ => {
                let Some(local) = self.local_operation(action) else { return };
                let (a, b) = match (local.function, local.c) {
                    (Function::User(_), _) => (Access::Update, Access::Update),
                    (Function::Predefined(..), Some(_)) => (Access::Read, Access::Read),
                    (Function::Predefined(Op::Copy, _), None) => (Access::Read, Access::Write),
                    (Function::Predefined(..), None) => (Access::Read, Access::Update),
                };
                operand(local.a, a);
                operand(local.b, b);
                if let Some(c) = local.c {
                    operand(c, Access::Write);
                }
            }
        }
    }

    /// Returns the first byte past everything that actions touch in `space`. For memory that is a
    /// table of buffers, returns the bytes of all buffers ([`flat_size`](Self::flat_size)).
    pub fn extent(&self, space: Space) -> u64 {
        if space == Space::Memory && !self.buffers.is_empty() {
            return self.flat_size();
        }
        let mut end = 0;
        for action in &self.actions {
            self.visit_pieces(action, |piece| {
                if piece.space == space {
                    end = end.max(piece.addr.saturating_add(piece.size));
                }
            });
        }
        end
    }

    /// Returns the number of dependencies that each action waits for, both kinds together.
    pub fn indegrees(&self) -> Vec<u32> {
        let mut indegrees = vec![0; self.len()];
        for waiter in self.requires.waiters().iter().chain(self.irequires.waiters()) {
            indegrees[waiter.index()] += 1;
        }
        indegrees
    }

    /// Returns true if two bodies describe the same graph. Names and places are ignored.
    pub fn same_graph(&self, other: &Body) -> bool {
        self.actions == other.actions
            && self.requires == other.requires
            && self.irequires == other.irequires
            && self.pieces == other.pieces
            && self.scratch == other.scratch
            && self.buffers == other.buffers
            && self.collectives == other.collectives
    }
}
