//! The way from the last end of a run back to time 0.

use super::pieces::{self, Piece};
use super::record::{How, Reason, Recorder};
use super::step::{Path, Step, Work};
use crate::channels::NONE;
use crate::workload::Kind;

/// An event of a run, with its action. A message has the number of its send.
#[derive(Debug, Clone, Copy)]
enum Event {
    Start(u32),
    Taken(u32),
    End(u32),
}

/// Returns the critical path of a run.
pub(super) fn back(recorder: &Recorder<'_>) -> Path {
    let last = (recorder.last != NONE).then_some(recorder.last);
    let mut walk = Walk { recorder, steps: Vec::new() };
    let mut next = last.map(Event::End);
    while let Some(event) = next {
        next = walk.before(event);
    }
    let mut steps = walk.steps;
    steps.reverse();
    let mut now = 0;
    for step in &mut steps {
        step.start_ps = now;
        now += step.duration_ps;
    }
    Path { steps, finish_ps: recorder.finish, last }
}

struct Walk<'r> {
    recorder: &'r Recorder<'r>,
    /// The last step of the run comes first. They have no start yet.
    steps: Vec<Step>,
}

impl Walk<'_> {
    /// Adds the steps between an event and its reason. Returns the reason, or `None` at 0.
    fn before(&mut self, event: Event) -> Option<Event> {
        let recorder = self.recorder;
        match event {
            Event::Start(action) => self.reason(recorder.reasons[action as usize].start),
            Event::Taken(send) => self.reason(recorder.reasons[send as usize].taken),
            Event::End(action) if recorder.has_reason_to_end(action) => {
                Some(self.before_end(action))
            }
            Event::End(action) => {
                self.hold_processor(action);
                Some(Event::Start(action))
            }
        }
    }

    /// Adds the steps between the end of a receive or a large send and its reason.
    fn before_end(&mut self, action: u32) -> Event {
        let reason = self.recorder.reasons[action as usize].end;
        let is_taken = reason.how() == How::Taken;
        let is_receive = self.recorder.workload.record(action).kind == Kind::Recv;
        let [send, receive] =
            if is_receive { [reason.from, action] } else { [action, reason.from] };
        match (is_receive, is_taken) {
            (true, true) => self.take_in(send),
            (true, false) => {}
            (false, _) => {
                self.add(Work::Release, send, [pieces::of_latency(self.recorder.machine)]);
            }
        }
        if is_taken { Event::Taken(send) } else { Event::Start(receive) }
    }

    fn reason(&mut self, reason: Reason) -> Option<Event> {
        let (machine, from) = (self.recorder.machine, reason.from);
        match reason.how() {
            How::Begin => None,
            How::Started => Some(Event::Start(from)),
            How::Ended => Some(Event::End(from)),
            How::Taken => Some(Event::Taken(from)),
            How::Arrived => {
                self.add(Work::Travel, from, [pieces::of_latency(machine)]);
                self.add(Work::Send, from, [pieces::of_overhead(machine)]);
                Some(Event::Start(from))
            }
            How::CpuOfAction => {
                self.hold_processor(from);
                Some(Event::Start(from))
            }
            How::SideOfAction => {
                self.add(Work::Send, from, pieces::of_interface(machine, self.size(from)));
                Some(Event::Start(from))
            }
            How::CpuOfMessage => {
                self.take_in(from);
                Some(Event::Taken(from))
            }
            How::SideOfMessage => {
                self.add(Work::Receive, from, pieces::of_interface(machine, self.size(from)));
                Some(Event::Taken(from))
            }
        }
    }

    fn size(&self, action: u32) -> u64 {
        self.recorder.workload.record(action).size
    }

    /// Adds the time for which an action holds its processor.
    fn hold_processor(&mut self, action: u32) {
        let record = self.recorder.workload.record(action);
        match record.kind {
            Kind::Send => {
                self.add(Work::Send, action, pieces::of_send(self.recorder.machine, record.size));
            }
            Kind::Calc | Kind::Local => {
                self.add(Work::Compute, action, [pieces::of_computation(record.picos())]);
            }
            Kind::Recv | Kind::Dummy => {}
        }
    }

    /// Adds the time for which a message holds the processor of its receiver.
    fn take_in(&mut self, send: u32) {
        self.add(Work::Receive, send, pieces::of_receive(self.recorder.machine, self.size(send)));
    }

    /// Adds steps that follow each other. A message has the number of its send.
    fn add<const N: usize>(&mut self, work: Work, action: u32, pieces: [Piece; N]) {
        let Recorder { workload, reasons, .. } = self.recorder;
        let partner = match work {
            Work::Compute => NONE,
            Work::Send | Work::Travel | Work::Receive | Work::Release => {
                reasons[action as usize].end.from
            }
        };
        // In a run that ends, each message has a receive.
        let [action, partner] =
            if work == Work::Receive { [partner, action] } else { [action, partner] };
        let rank = workload.rank_of(action);
        for Piece { cost, picos, units } in pieces.into_iter().rev() {
            let partner = (partner != NONE).then_some(partner);
            let [start_ps, duration_ps] = [0, picos];
            if units > 0 {
                self.steps.push(Step {
                    start_ps,
                    duration_ps,
                    rank,
                    action,
                    partner,
                    work,
                    cost,
                    units,
                });
            }
        }
    }
}
