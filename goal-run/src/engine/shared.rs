//! Large operations that whoever waits may take chunks of: copies and receives from a peer's memory, local operations.

use super::Core;
use super::code::Code;
use super::error::Cause;
use super::incoming::Receive;
use crate::heap::flat;
use crate::memory::Span;
use crate::ops::{self, DivisionByZero};
use crate::shm::{Chunk, Segment, Task};
use crate::transport::{Header, Transport};
use goal_asm::nisa::{Buffer, Operation};
use goal_lang::{Datatype, Op};

/// Least bytes of an operation that others may take a part of.
pub(super) const SHARED_MIN: u64 = 128 << 10;
/// Chunks that one poll works on, of all operations, and of one at a time.
const CHUNKS_PER_POLL: u32 = 16;
const CHUNKS_AT_ONCE: u32 = 4;

/// An operation under way.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Shared {
    /// Number of its task in the segment.
    task: u32,
    /// Its chunks, and how many of these the engine did itself.
    chunks: u32,
    own: u32,
    /// The message that is received; `None` for a local operation.
    message: Option<u32>,
    action: Receive,
}

flat!(Shared);

impl Core {
    /// Shares a local operation, or that of a send, if all of its operands lie in the segment, each in one piece. False if it has to be done at once.
    #[inline(never)]
    pub(super) fn share_exec<T: Transport>(
        &mut self,
        transport: &T,
        (instance, action): (u32, u32),
        function: (Op, Datatype),
        (a, b, c): (Buffer<'_>, Buffer<'_>, Option<Buffer<'_>>),
    ) -> bool {
        let memory = &self.homes[instance as usize].memory;
        let (Some(a), Some(b), Some(c)) =
            (memory.contiguous(a), memory.contiguous(b), memory.contiguous(c.unwrap_or(b)))
        else {
            return false;
        };
        self.share(transport, function, (self.rank, a, b, c), None, Receive { instance, action })
    }

    /// Shares a receive that has just begun and whose message lies in its sender's memory. False if it has to go on as it began.
    #[inline(never)]
    pub(super) fn share_fetch<T: Transport>(
        &mut self,
        transport: &T,
        codes: &[Code],
        key: u32,
        receive: Receive,
    ) -> bool {
        let message = self.held.arrivals.messages.get(&self.held.heap, key);
        let Header { source, offset, size, flags, .. } = message.header;
        if size < SHARED_MIN || message.arrived > 0 || flags & Header::DIRECT == 0 {
            return false;
        }
        let (payload, reduce) = self.target_of(codes, receive);
        let memory = &self.homes[receive.instance as usize].memory;
        let (Some(from), Some(to)) = (transport.import(source, offset, size), memory.contiguous(payload))
        else {
            return false;
        };
        let function = reduce.unwrap_or((Op::Copy, Datatype::UInt8));
        from.is_disjoint(to) && self.share(transport, function, (source, from, to, to), Some(key), receive)
    }

    /// Opens a task for an operation of which A lies with the given rank.
    fn share<T: Transport>(
        &mut self,
        transport: &T,
        (op, datatype): (Op, Datatype),
        (rank, a, b, c): (u32, Span, Span, Span),
        message: Option<u32>,
        action: Receive,
    ) -> bool {
        let Some(segment) = transport.segment() else { return false };
        let bytes = a.len() as u64;
        let [Some(a), Some(b), Some(c)] = [a, b, c].map(|operand| segment.place_of(operand)) else {
            return false;
        };
        let (function, ranks, operands) = ([op as u32, datatype as u32], [rank, self.rank], [a, b, c]);
        let task = Task { function, ranks, operands, bytes };
        let Some(number) = segment.tasks().open(task) else { return false };
        let shared = Shared { task: number as u32, chunks: task.chunks(), own: 0, message, action };
        let heap = &self.heap();
        self.held.shared.push(heap, shared);
        true
    }

    /// Goes on with shared operations, and ends those that are done. Whether there was something to do.
    #[inline(never)]
    pub(super) fn go_on_shared<T: Transport>(&mut self, transport: &mut T, codes: &[Code]) -> bool {
        let heap = &self.heap();
        let mut left = CHUNKS_PER_POLL;
        let mut worked = false;
        for _ in 0..self.held.shared.len() {
            let Some(mut shared) = self.held.shared.pop(heap) else { break };
            let segment = transport.segment().expect("it was there when the operation was shared");
            let tasks = segment.tasks();
            let number = shared.task as usize;
            let most = left.min(CHUNKS_AT_ONCE);
            let mut taken = 0;
            while taken < most
                && let Some(chunk) = tasks.take(number, self.rank)
            {
                work(segment, chunk);
                taken += 1;
            }
            left -= taken;
            shared.own += taken;
            worked |= taken > 0;
            match tasks.end(number) {
                None => self.held.shared.push(heap, shared),
                Some(divided) => {
                    worked = true;
                    self.end_shared(transport, codes, shared, divided);
                }
            }
        }
        worked
    }

    fn end_shared<T: Transport>(
        &mut self,
        transport: &mut T,
        codes: &[Code],
        Shared { chunks, own, message, action, .. }: Shared,
        divided: Option<u64>,
    ) {
        let heap = &self.heap();
        let stats = &mut self.held.stats;
        stats.shared_chunks += u64::from(chunks);
        stats.helped_chunks += u64::from(chunks - own);
        if let Some(element) = divided {
            return self.fail(codes, action, Cause::DivisionByZero { element });
        }
        match message {
            None => self.end_exec(transport, codes, action),
            Some(key) => {
                let header = self.held.arrivals.messages.get(heap, key).header;
                self.end_fetch(transport, codes, key, action, &header);
            }
        }
    }

    /// A local operation is done: the action ends, or sends its result.
    fn end_exec<T: Transport>(&mut self, transport: &mut T, codes: &[Code], action: Receive) {
        let Receive { instance, action: offset } = action;
        let code = self.held.instances.get(&self.held.heap, instance).code;
        let has_ended = match codes[code as usize].record(offset).operation() {
            Operation::Send { peer, tag, payload, .. } => {
                self.start_send(transport, codes, (instance, offset), (peer, tag, payload))
            }
            _ => true,
        };
        if has_ended {
            self.end(action);
        }
    }
}

/// For a rank that waits: does a chunk of somebody's operation. Whether there was one.
#[inline]
pub(crate) fn help(segment: &Segment, rank: u32) -> bool {
    segment.tasks().find(rank).map(|chunk| work(segment, chunk)).is_some()
}

/// Does a chunk.
fn work(segment: &Segment, chunk: Chunk) {
    let Task { function, ranks: [of_a, owner], operands: [a, b, c], bytes } = chunk.task;
    let part = chunk.bytes();
    let first = part.start as u64;
    let at = |rank, place| segment.bytes_at(rank, place, bytes).expect("memory of a rank").part(part.clone());
    let [op, datatype] = function.map(|code| code as u8);
    let (op, datatype) = Op::from_code(op).zip(Datatype::from_code(datatype)).expect("a function's codes");
    let result = ops::apply(op, datatype, at(of_a, a), at(owner, b), at(owner, c));
    let divided = result.err().map(|DivisionByZero { element }| first / datatype.width() + element);
    segment.tasks().done(chunk, divided);
}
