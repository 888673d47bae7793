//! One poll: the paper's Listing 1.

use super::incoming::Receive;
use super::instance::Code;
use super::{Cause, Engine, Failure, Progress, Waiting};
use crate::transport::Transport;
use goal_asm::nisa::{Buffer, Operation, Record};
use std::rc::Rc;

/// Actions that one poll starts or passes on for each instance.
pub(super) const ACTIONS_PER_POLL: usize = 1024;

impl<T: Transport> Engine<T> {
    /// Does what can be done, but a bounded amount of it: takes messages, lets ended actions release their dependents,
    /// starts ready actions, sends what waited for room. `now_ns` is the caller's clock; it must not go back.
    ///
    /// # Errors
    /// The first failure of an action, again on every further call.
    pub fn poll(&mut self, now_ns: u64) -> Result<Progress, Failure> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let mut worked = self.take_messages();
        worked |= !self.arrivals.direct.is_empty() && self.fetch();
        worked |= !self.outbox.is_empty() && self.flush();
        worked |= self.locals.has_timers() && self.end_calcs(now_ns);
        for _ in 0..self.runnable.len() {
            let Some(key) = self.runnable.pop_front() else { break };
            worked |= self.run(key, now_ns);
        }
        self.announce_room();
        match &self.failure {
            None => Ok(Progress { worked, waiting: self.waiting() }),
            Some(failure) => Err(failure.clone()),
        }
    }

    fn waiting(&self) -> Waiting {
        let room = !self.outbox.is_empty();
        if let Some(time_ns) = self.locals.next_timer() {
            Waiting::Until { time_ns, room }
        } else if room {
            Waiting::Room
        } else if self.unfinished > 0 {
            Waiting::Messages
        } else {
            Waiting::Nothing
        }
    }

    fn end_calcs(&mut self, now_ns: u64) -> bool {
        let mut worked = false;
        for _ in 0..ACTIONS_PER_POLL {
            let Some((instance, action)) = self.locals.due(now_ns) else { break };
            self.end_action(Receive { instance, action });
            worked = true;
        }
        worked
    }

    /// Lets an instance make progress. Whether it did.
    fn run(&mut self, key: usize, now_ns: u64) -> bool {
        let schedule = match &self.instances[key].code {
            Code::Whole(schedule) => Rc::clone(schedule),
            Code::Window(_) => return self.run_in_window(key, now_ns),
        };
        let section = schedule.section();
        let was_finished = self.instances[key].progress.is_finished();
        let mut actions = 0;
        while actions < ACTIONS_PER_POLL && self.failure.is_none() {
            let progress = &mut self.instances[key].progress;
            if progress.pass_ended(section) {
                actions += 1;
                continue;
            }
            let Some(offset) = progress.next_ready(section) else { break };
            actions += 1;
            let record = section.record(offset);
            progress.start(&record);
            let has_ended = self.start_action(key, offset, &record, now_ns);
            if has_ended {
                self.instances[key].progress.end_now(offset, &record);
            }
        }
        let instance = &mut self.instances[key];
        if instance.progress.is_finished() && !was_finished {
            self.unfinished -= 1;
        }
        instance.is_queued = instance.progress.has_work(section);
        if instance.is_queued {
            self.runnable.push_back(key);
        }
        actions > 0
    }

    /// Starts an action. Whether it has ended.
    #[inline(always)]
    pub(super) fn start_action(&mut self, key: usize, offset: u32, record: &Record<'_>, now_ns: u64) -> bool {
        match record.operation() {
            Operation::Send { peer, tag, payload, reduce: None } => {
                self.start_send(key, offset, peer, tag, payload)
            }
            Operation::Send { peer, tag, payload, reduce: Some((op, datatype, a)) } => {
                let instance = &self.instances[key];
                let operands = (Buffer::One(a), payload, None);
                let result = self.locals.exec(&instance.memory, (op, datatype), operands);
                self.has_ended(key, offset, result) && self.start_send(key, offset, peer, tag, payload)
            }
            Operation::Recv { peer, tag, .. } => {
                self.split().1.post(Receive { instance: key, action: offset }, peer, tag)
            }
            Operation::Calc { nanos } => {
                let cpu = record.placement().cpu;
                self.locals.calc(self.options.calc, nanos, cpu, now_ns, (key, offset))
            }
            Operation::Nop => true,
            Operation::Exec { op, datatype, a, b, c } => {
                let instance = &self.instances[key];
                let result = self.locals.exec(&instance.memory, (op, datatype), (a, b, c));
                self.has_ended(key, offset, result)
            }
            Operation::User { function, a, b } => {
                let instance = &self.instances[key];
                let result = self.locals.call(&instance.memory, function, a, b);
                self.has_ended(key, offset, result)
            }
            Operation::Wtime { buffer } => {
                let seconds = now_ns as f64 / 1e9;
                self.instances[key].memory.scatter(buffer, 0, &seconds.to_le_bytes());
                true
            }
        }
    }

    /// Whether a function has ended; if it failed, so does the job.
    #[inline]
    fn has_ended(&mut self, key: usize, offset: u32, result: Result<(), Cause>) -> bool {
        match result {
            Ok(()) => true,
            Err(cause) => {
                self.failure = Some(self.instances[key].failure(offset, cause));
                false
            }
        }
    }
}
