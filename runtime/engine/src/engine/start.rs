//! Starts and ends single actions: sends, receives, local operations and computations.

use super::Core;
use super::code::Code;
use super::error::Cause;
use super::ids::{Action, ActionRef, InstanceKey, Rank};
use super::local::LocalOperation;
use super::send::SendMessage;
use super::state::EngineState;
use crate::transport::{SHARED_MIN, Transport};
use goal_asm::nisa::{Buffer, Operation, Record};

impl Core {
    /// Starts an action. Returns true if it has ended.
    #[inline(always)]
    pub(super) fn start_action<T: Transport>(
        &mut self,
        transport: &mut T,
        codes: &[Code],
        key: InstanceKey,
        action: Action,
        record: &Record<'_>,
        now_ns: u64,
    ) -> bool {
        let at = ActionRef { instance: key, action };
        self.note_start(codes, at, record);
        match record.operation() {
            Operation::Send { peer, tag, payload, reduce: None } => {
                self.start_send(transport, codes, at, SendMessage { to: Rank(peer), tag, payload })
            }
            Operation::Recv { peer, tag, .. } => self.post(codes, at, peer, tag),
            Operation::Nop | Operation::Marker { .. } => true,
            Operation::Exec { .. } if self.was_combined(at) => true,
            Operation::Exec { op, datatype, a, b, c } => {
                // Each branch makes its own value, so that the operands of the second one stay in
                // registers.
                let result = if a.size() >= SHARED_MIN {
                    self.exec_large(transport, at, LocalOperation { op, datatype, a, b, c })
                } else {
                    let memory = &self.homes[key.index()].memory;
                    Some(self.locals.exec(memory, LocalOperation { op, datatype, a, b, c }))
                };
                result.is_some_and(|result| self.has_ended(codes, at, result))
            }
            _ => self.start_other(transport, codes, at, now_ns),
        }
    }

    /// Starts an action of a less frequent kind. Returns true if it has ended.
    #[inline(never)]
    fn start_other<T: Transport>(
        &mut self,
        transport: &mut T,
        codes: &[Code],
        at: ActionRef,
        now_ns: u64,
    ) -> bool {
        let heap = &self.heap();
        let record = self.record_of(codes, at);
        let memory = &self.homes[at.instance.index()].memory;
        match record.operation() {
            Operation::Send { peer, tag, payload, reduce: Some((op, datatype, a)) } => {
                let a = Buffer::One(a);
                let operation = LocalOperation { op, datatype, a, b: payload, c: None };
                let result = if payload.size() >= SHARED_MIN {
                    self.exec_large(transport, at, operation)
                } else {
                    let memory = &self.homes[at.instance.index()].memory;
                    Some(self.locals.exec(memory, operation))
                };
                result.is_some_and(|result| self.has_ended(codes, at, result))
                    && self.start_send(
                        transport,
                        codes,
                        at,
                        SendMessage { to: Rank(peer), tag, payload },
                    )
            }
            Operation::Calc { nanos } => {
                let cpu = record.placement().cpu;
                self.held.timers.calc(heap, self.options.calc.duration_ns(nanos), cpu, now_ns, at)
            }
            Operation::User { function, a, b } => {
                let result = self.locals.call(memory, function, a, b);
                self.has_ended(codes, at, result)
            }
            Operation::Wtime { buffer } => {
                let seconds = now_ns as f64 / 1e9;
                memory.scatter(buffer, 0, &seconds.to_le_bytes());
                true
            }
            _ => unreachable!("it is started elsewhere"),
        }
    }

    /// Returns true if a local operation succeeded. If it failed, reports the failure, which ends
    /// the job.
    #[inline]
    fn has_ended(&mut self, codes: &[Code], at: ActionRef, result: Result<(), Cause>) -> bool {
        match result {
            Ok(()) => true,
            Err(cause) => {
                self.fail(codes, at, cause);
                false
            }
        }
    }

    /// Finishes an action later: queues it as ended. Its dependents are released when its instance
    /// runs next.
    #[inline]
    pub(super) fn finish_later(&mut self, action: ActionRef) {
        self.note_end(action);
        let heap = &self.heap();
        let EngineState { instances, runnable, .. } = &mut *self.held;
        let instance = instances.get_mut(heap, action.instance);
        instance.actions.ended.push(heap, action.action);
        instance.enqueue(heap, runnable, action.instance);
    }

    #[cold]
    pub(super) fn fail(&mut self, codes: &[Code], receive: ActionRef, cause: Cause) {
        let instance = self.held.instances.get(&self.held.heap, receive.instance);
        let number = match &codes[instance.code as usize] {
            Code::Window(window) => {
                window.number(&self.homes[receive.instance.index()], receive.action)
            }
            Code::Whole(schedule) => {
                let offsets = schedule.section().records().map(|(offset, _)| offset);
                offsets.zip(0..).find_map(|(at, number)| (at == receive.action.0).then_some(number))
            }
            Code::Ended => None,
        };
        let failure = instance.failure(receive.action, number, cause);
        let heap = &self.heap();
        self.held.fail(heap, &failure);
    }
}
