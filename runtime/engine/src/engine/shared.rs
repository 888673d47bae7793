//! Splits large operations into chunks that idle ranks may take: copies and receives from a peer's
//! memory, and local operations.
#![allow(unsafe_code)] // opens tasks on memory of instances

use super::Core;
use super::code::Code;
use super::combined::Combination;
use super::error::Cause;
use super::fetch::in_place;
use super::ids::{ActionRef, MessageKey, Rank};
use super::local::LocalOperation;
use super::send::SendMessage;
use super::state::SharedOperation;
use crate::memory::Span;
use crate::ops::{self, DivisionByZero};
use crate::transport::{SHARED_MIN, SharedTask, Transport};
use goal_asm::nisa::Operation;
use goal_lang::{Datatype, Op};

/// The most chunks that one poll works on: of all operations together, and of one operation at a
/// time.
const CHUNKS_PER_POLL: u32 = 16;
const CHUNKS_AT_ONCE: u32 = 4;
/// The bytes of a local operation that the engine does alone before it checks again for idle ranks.
const ALONE: usize = 128 << 10;

impl Core {
    /// Executes a large local operation, or the operation of a send. Returns `None` if the rest of
    /// it is shared and ends later.
    #[inline(never)]
    pub(super) fn exec_large<T: Transport>(
        &mut self,
        transport: &T,
        action: ActionRef,
        operation: LocalOperation<'_>,
    ) -> Option<Result<(), Cause>> {
        let LocalOperation { op, datatype, a, b, c } = operation;
        let memory = &self.homes[action.instance.index()].memory;
        let (Some(of_a), Some(of_b), Some(of_c)) =
            (memory.contiguous(a), memory.contiguous(b), memory.contiguous(c.unwrap_or(b)))
        else {
            return Some(self.locals.exec(memory, operation));
        };
        let mut done = 0;
        while done < of_a.len() {
            let left = |operand: Span| operand.part(done..operand.len());
            let operands = [of_a, of_b, of_c].map(|operand| (self.rank.0, left(operand)));
            if self.share(transport, (op, datatype), operands, done as u64, None, action) {
                return None;
            }
            let end = of_a.len().min(done + ALONE);
            let part = |operand: Span| operand.part(done..end);
            if let Err(DivisionByZero { element }) =
                ops::apply(op, datatype, part(of_a), part(of_b), part(of_c))
            {
                let element = done as u64 / datatype.width() + element;
                return Some(Err(Cause::DivisionByZero { element }));
            }
            done = end;
        }
        Some(Ok(()))
    }

    /// Shares the rest of a receive whose message lies in its sender's memory. Returns false if the
    /// engine must continue alone for now.
    #[inline(never)]
    pub(super) fn share_fetch<T: Transport>(
        &mut self,
        transport: &T,
        codes: &[Code],
        key: MessageKey,
        receive: ActionRef,
    ) -> bool {
        let message = self.held.arrivals.messages.get(&self.held.heap, key);
        let (header, before) = (message.header, message.arrived as usize);
        if header.size < SHARED_MIN {
            return false;
        }
        let (payload, reduce) = self.target_of(codes, receive);
        let memory = &self.homes[receive.instance.index()].memory;
        let (Some(from), Some(to)) = (in_place(transport, &header), memory.contiguous(payload))
        else {
            return false;
        };
        if !from.is_disjoint(to) {
            return false;
        }
        let (from, to) = ((header.source, from), (self.rank.0, to));
        let (function, operands) = match self.combination(codes, receive) {
            Some(Combination { function, a, .. }) => (function, [(self.rank.0, a), from, to]),
            None => (reduce.unwrap_or((Op::Copy, Datatype::UInt8)), [from, to, to]),
        };
        let operands = operands.map(|(rank, span)| (rank, span.part(before..span.len())));
        self.share(transport, function, operands, before as u64, Some(key), receive)
    }

    /// Opens a task for the rest of an operation, if it is large enough and a rank is idle. Returns
    /// true if the task was opened.
    fn share<T: Transport>(
        &mut self,
        transport: &T,
        function: (Op, Datatype),
        operands: [(u32, Span); 3],
        before: u64,
        message: Option<MessageKey>,
        action: ActionRef,
    ) -> bool {
        let Some(workers) = transport.workers() else { return false };
        let bytes = operands[0].1.len() as u64;
        if bytes < SHARED_MIN || !workers.is_wanted() {
            return false;
        }
        // Chunks would race if the result overlapped an operand partly. The verifier refuses such
        // an operation, and `ops` panics if the bytes were not verified.
        let [a, b, c] = operands.map(|(_, operand)| operand);
        if [a, b].into_iter().any(|operand| !operand.is_same(c) && !operand.is_disjoint(c)) {
            return false;
        }
        let task = SharedTask { function, operands, before };
        // SAFETY: the operands lie in the memory of an instance and, for a receive, of the sender,
        // for which the contract of `Region::new` holds. The action ends only in `finish_shared`,
        // which follows the end of the task, and tells the sender only then. Until then the engine
        // leaves the operands alone, and other code does by the contract. The operands are as
        // `SharedTask::operands` says.
        let Some((task, chunks)) = (unsafe { workers.open(&task) }) else { return false };
        let shared = SharedOperation { task, chunks, own: 0, message, action };
        let heap = &self.heap();
        self.held.shared.push(heap, shared);
        true
    }

    /// Works on shared operations, and finishes those that are done. Returns true if any of them
    /// made progress.
    #[inline(never)]
    pub(super) fn work_on_shared<T: Transport>(
        &mut self,
        transport: &mut T,
        codes: &[Code],
    ) -> bool {
        let heap = &self.heap();
        let mut left = CHUNKS_PER_POLL;
        let mut worked = false;
        for _ in 0..self.held.shared.len() {
            let Some(mut shared) = self.held.shared.pop(heap) else { break };
            let workers = transport.workers().expect("the task was opened with them");
            let most = left.min(CHUNKS_AT_ONCE);
            let mut taken = 0;
            while taken < most && workers.work(shared.task) {
                taken += 1;
            }
            left -= taken;
            shared.own += taken;
            worked |= taken > 0;
            // SAFETY: the task was opened in `share`. It leaves the queue when it has ended.
            match unsafe { workers.end(shared.task) } {
                None => self.held.shared.push(heap, shared),
                Some(divided) => {
                    worked = true;
                    self.finish_shared(transport, codes, shared, divided);
                }
            }
        }
        worked
    }

    fn finish_shared<T: Transport>(
        &mut self,
        transport: &mut T,
        codes: &[Code],
        SharedOperation { chunks, own, message, action, .. }: SharedOperation,
        divided: Option<u64>,
    ) {
        let heap = &self.heap();
        let stats = &mut self.held.stats;
        stats.shared_chunks += u64::from(chunks);
        stats.helped_chunks += u64::from(chunks - own);
        if let Some(workers) = transport.workers()
            && own == chunks
        {
            workers.forget_wanted();
        }
        if let Some(element) = divided {
            return self.fail(codes, action, Cause::DivisionByZero { element });
        }
        match message {
            None => self.finish_exec(transport, codes, action),
            Some(key) => {
                let header = self.held.arrivals.messages.get(heap, key).header;
                self.finish_fetch(transport, codes, key, action, &header);
            }
        }
    }

    /// Finishes the action of a completed local operation, or sends its result.
    fn finish_exec<T: Transport>(&mut self, transport: &mut T, codes: &[Code], action: ActionRef) {
        let has_ended = match self.record_of(codes, action).operation() {
            Operation::Send { peer, tag, payload, .. } => self.start_send(
                transport,
                codes,
                action,
                SendMessage { to: Rank(peer), tag, payload },
            ),
            _ => true,
        };
        if has_ended {
            self.finish_later(action);
        }
    }
}
