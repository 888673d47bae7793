//! Executes local operations: predefined functions, registered functions and `calc`.

use super::error::Cause;
use super::home::Memory;
use super::ids::ActionRef;
use super::options::Calc;
use crate::heap::{Heap, MinHeap, Table, flat};
use crate::memory::Span;
use crate::ops::{self, DivisionByZero};
use goal_asm::nisa::Buffer;
use goal_lang::{Datatype, Op};
use rustc_hash::FxHashMap;
use std::fmt;

/// The function that `exec user N with A, B` calls with the bytes of both buffers. Scattered
/// buffers are gathered first and scattered afterwards. If the buffers overlap, B is stored last.
pub type UserFunction = Box<dyn FnMut(&mut [u8], &mut [u8]) + Send>;

/// The `calc` actions that have not ended.
#[derive(Debug, Default)]
pub(super) struct Timers {
    /// The end time in nanoseconds of each `calc`, and its action.
    ends: MinHeap<(u64, ActionRef)>,
    /// The time at which each cpu becomes free.
    free_at: Table<u32, u64>,
}

flat!(struct Timers { ends, free_at });

impl Timers {
    /// Starts a `calc`. Returns true if it has ended.
    pub(super) fn calc(
        &mut self,
        heap: &Heap,
        duration_ns: u64,
        cpu: u16,
        now_ns: u64,
        at: ActionRef,
    ) -> bool {
        if duration_ns == 0 {
            return true;
        }
        let free_at = self.free_at.entry(heap, cpu.into());
        *free_at = now_ns.max(*free_at).saturating_add(duration_ns);
        self.ends.push(heap, (*free_at, at));
        false
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the end time of the `calc` that ends next.
    #[inline]
    pub(super) fn next(&self, heap: &Heap) -> Option<u64> {
        self.ends.first(heap).map(|(time, _)| time)
    }

    /// Removes and returns a `calc` that has ended by `now_ns`.
    pub(super) fn due(&mut self, heap: &Heap, now_ns: u64) -> Option<ActionRef> {
        if self.next(heap)? > now_ns {
            return None;
        }
        self.ends.pop(heap).map(|(_, at)| at)
    }
}

impl Calc {
    /// Returns the duration of a `calc` whose nominal duration is `nanos` nanoseconds.
    #[inline]
    pub(super) fn duration_ns(self, nanos: u64) -> u64 {
        match self {
            Calc::Skip => 0,
            Calc::Scaled(scale) => (nanos as f64 * scale) as u64,
        }
    }
}

/// A local operation `C = A op B` for each element. Without `c`, the result replaces B.
#[derive(Clone, Copy)]
pub(super) struct LocalOperation<'a> {
    pub(super) op: Op,
    pub(super) datatype: Datatype,
    pub(super) a: Buffer<'a>,
    pub(super) b: Buffer<'a>,
    pub(super) c: Option<Buffer<'a>>,
}

/// The registered functions, and buffers that local operations reuse. They belong to this process.
#[derive(Default)]
pub(super) struct LocalOps {
    functions: FxHashMap<u32, UserFunction>,
    spans: [Vec<Span>; 3],
}

impl LocalOps {
    pub(super) fn register(&mut self, function: u32, call: UserFunction) -> Option<UserFunction> {
        self.functions.insert(function, call)
    }

    pub(super) fn take_functions(&mut self) -> Vec<(u32, UserFunction)> {
        std::mem::take(&mut self.functions).into_iter().collect()
    }

    /// Executes a predefined function.
    // Inlined into the code that decodes the operands, so that they stay in registers.
    #[inline(always)]
    pub(super) fn exec(
        &mut self,
        memory: &Memory,
        operation: LocalOperation<'_>,
    ) -> Result<(), Cause> {
        let LocalOperation { op, datatype, a, b, c } = operation;
        let result = match (a, b, c) {
            (Buffer::One(a), Buffer::One(b), None) => {
                let b = memory.span(b);
                ops::apply(op, datatype, memory.span(a), b, b)
            }
            (Buffer::One(a), Buffer::One(b), Some(Buffer::One(c))) => {
                ops::apply(op, datatype, memory.span(a), memory.span(b), memory.span(c))
            }
            (a, b, c) => {
                for (spans, operand) in self.spans.iter_mut().zip([a, b, c.unwrap_or(b)]) {
                    spans.clear();
                    memory.spans(operand, spans);
                }
                let [a, b, c] = &self.spans;
                ops::apply_scattered(op, datatype, a, b, c)
            }
        };
        result.map_err(|DivisionByZero { element }| Cause::DivisionByZero { element })
    }

    /// Calls a registered function on bytes.
    pub(super) fn call_on(&mut self, number: u32, a: &mut [u8], b: &mut [u8]) -> Result<(), Cause> {
        let function = self.functions.get_mut(&number).ok_or(Cause::UnknownUserFunction(number))?;
        function(a, b);
        Ok(())
    }

    /// Calls a registered function.
    pub(super) fn call(
        &mut self,
        memory: &Memory,
        number: u32,
        a: Buffer<'_>,
        b: Buffer<'_>,
    ) -> Result<(), Cause> {
        let function = self.functions.get_mut(&number).ok_or(Cause::UnknownUserFunction(number))?;
        if let (Some(a), Some(b)) = (memory.contiguous(a), memory.contiguous(b))
            && a.is_disjoint(b)
        {
            a.write(|a| b.write(|b| function(a, b)));
            return Ok(());
        }
        let gathered = |buffer: Buffer<'_>| {
            let mut bytes = vec![0; buffer.size() as usize];
            memory.gather(buffer, 0, &mut bytes);
            bytes
        };
        let (mut a_bytes, mut b_bytes) = (gathered(a), gathered(b));
        function(&mut a_bytes, &mut b_bytes);
        memory.scatter(a, 0, &a_bytes);
        memory.scatter(b, 0, &b_bytes);
        Ok(())
    }
}

impl fmt::Debug for LocalOps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let functions: Vec<&u32> = self.functions.keys().collect();
        f.debug_struct("LocalOps").field("functions", &functions).finish_non_exhaustive()
    }
}
