//! Combines a received message with the rank's buffer while it is stored, in one pass over the
//! bytes.
//!
//! This applies to a `recv` into a buffer that one `exec` then combines with another buffer of the
//! rank. Only that `exec` waits for the receive, and it waits for nothing else. So in a program
//! without races, no other action can observe the uncombined message in the buffer. The other
//! buffer is complete when the message arrives. An action that must write it before the `exec` is
//! ordered before the receive, because the `exec` has no other dependency. So that action ends
//! before the receive starts, or before another rank sends the message.

use super::Core;
use super::code::Code;
use super::ids::{Action, ActionRef};
use crate::memory::Span;
use goal_asm::nisa::{Buffer, Operation};
use goal_lang::{Datatype, Op, Piece};

/// The value that is stored instead of a message: `A op message`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Combination {
    pub(super) function: (Op, Datatype),
    pub(super) a: Span,
    /// The `exec` action.
    exec: Action,
}

impl Core {
    /// Returns the local operation that can be done together with a receive. Returns `None` if the
    /// receive has none.
    pub(super) fn combination(&self, codes: &[Code], receive: ActionRef) -> Option<Combination> {
        let instance = self.held.instances.get(&self.held.heap, receive.instance);
        let section = codes[instance.code as usize].whole()?.section();
        let record = section.record(receive.action.0);
        let Operation::Recv { payload: Buffer::One(payload), reduce: None, .. } =
            record.operation()
        else {
            return None;
        };
        if record.dependents.len() != 1 {
            return None;
        }
        let exec = record.dependents.get(0);
        let record = section.record(exec);
        let Operation::Exec { op, datatype, a: Buffer::One(a), b: Buffer::One(b), c } =
            record.operation()
        else {
            return None;
        };
        let is_result = |buffer| matches!(buffer, Buffer::One(piece) if is_same(piece, payload));
        // A division must name its own action if it fails, and a copy reads no second operand.
        if record.sources != 1
            || matches!(op, Op::Div | Op::Copy)
            || !is_same(b, payload)
            || !c.is_none_or(is_result)
        {
            return None;
        }
        let memory = &self.homes[receive.instance.index()].memory;
        let a = memory.span(a);
        a.is_disjoint(memory.span(payload)).then_some(Combination {
            function: (op, datatype),
            a,
            exec: Action(exec),
        })
    }

    /// Notes that a receive has ended together with its local operation.
    pub(super) fn note_combined(&mut self, receive: ActionRef, combination: Combination) {
        let heap = &self.heap();
        *self.held.combined.entry(heap, ActionRef { action: combination.exec, ..receive }) = 1;
    }

    /// Returns true if a local operation that starts was already done together with its receive.
    /// Forgets this then.
    #[inline]
    pub(super) fn was_combined(&mut self, exec: ActionRef) -> bool {
        !self.held.combined.is_empty() && self.take_combined(exec)
    }

    #[inline(never)]
    fn take_combined(&mut self, exec: ActionRef) -> bool {
        let heap = &self.heap();
        self.held.combined.remove(heap, exec).is_some()
    }
}

fn is_same(a: Piece, b: Piece) -> bool {
    (a.space, a.addr, a.size) == (b.space, b.addr, b.size)
}
