//! The reasons of events: why each job started when it did, and why each receive and each large
//! send ended when it did.

use super::pieces;
use crate::channels::NONE;
use crate::machine::Machine;
use crate::model::{Cause, Held, Job, Observer};
use crate::workload::{Kind, Workload};

/// The kind of a [`Reason`]. `from` is the action that it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// Nothing: the event is at 0.
    Begin,
    /// `from` has started.
    Started,
    /// `from` has ended.
    Ended,
    /// The message of the send `from` has begun to be taken in.
    Taken,
    /// The message of the send `from` has arrived.
    Arrived,
    /// The processor is free that the action `from` held.
    CpuOfAction,
    /// The interface is free that the send `from` held.
    SideOfAction,
    /// The processor is free that the message of the send `from` held.
    CpuOfMessage,
    /// The interface is free that the message of the send `from` held.
    SideOfMessage,
}

/// The bits of a [`Reason`] that hold its [`How`].
const HOW_BITS: u32 = 4;

/// The largest number of latencies that a [`Reason`] counts to.
const LATENCIES_MAX: u32 = (1 << (u32::BITS - HOW_BITS)) - 1;

/// Why an event takes place when it does, and the number of latencies on the path to it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reason {
    pub(super) from: u32,
    /// The number of latencies, and in the low bits the [`How`].
    packed: u32,
}

impl Reason {
    const BEGIN: Self = Self { from: NONE, packed: How::Begin as u32 };

    fn new(how: How, from: u32, latencies: u32) -> Self {
        Self { from, packed: latencies.min(LATENCIES_MAX) << HOW_BITS | how as u32 }
    }

    pub(super) fn how(self) -> How {
        const ALL: [How; 9] = [
            How::Begin,
            How::Started,
            How::Ended,
            How::Taken,
            How::Arrived,
            How::CpuOfAction,
            How::SideOfAction,
            How::CpuOfMessage,
            How::SideOfMessage,
        ];
        ALL[(self.packed & ((1 << HOW_BITS) - 1)) as usize]
    }

    fn latencies(self) -> u32 {
        self.packed >> HOW_BITS
    }

    /// Returns the reason that counts of two with one time: the other if it has more latencies, and
    /// so would come later if the latency grew.
    fn or(self, other: Self) -> Self {
        if other.latencies() > self.latencies() { other } else { self }
    }
}

/// The reasons of an action's events.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reasons {
    /// The time at which the action is ready, in picoseconds, as far as is known.
    ready: u64,
    pub(super) start: Reason,
    /// Of a send, the start of taking its message in.
    pub(super) taken: Reason,
    /// Of a receive and a large send. Of a smaller send, only the receive is known.
    pub(super) end: Reason,
}

/// The job that held a processor or an interface last.
#[derive(Debug, Clone, Copy)]
struct Holder {
    end: u64,
    /// [`NONE`] before the first job.
    action: u32,
    is_message: bool,
}

/// Records the reasons of all events of a run.
pub(super) struct Recorder<'w> {
    pub(super) workload: &'w Workload,
    pub(super) machine: &'w Machine,
    /// By action.
    pub(super) reasons: Vec<Reasons>,
    /// By place of a processor or interface.
    holders: Vec<Holder>,
    /// The action that ends last. [`NONE`] before the first end.
    pub(super) last: u32,
    pub(super) finish: u64,
}

impl<'w> Recorder<'w> {
    pub(super) fn new(workload: &'w Workload, machine: &'w Machine) -> Self {
        let [start, taken, end] = [Reason::BEGIN; 3];
        Self {
            workload,
            machine,
            reasons: vec![Reasons { ready: 0, start, taken, end }; workload.len()],
            holders: Vec::new(),
            last: NONE,
            finish: 0,
        }
    }

    /// Returns the number of latencies on the path to the end of an action.
    fn latencies_to_end(&self, action: u32) -> u32 {
        let reasons = &self.reasons[action as usize];
        if self.has_reason_to_end(action) { &reasons.end } else { &reasons.start }.latencies()
    }

    /// Returns true for a receive and a large send: both may have to wait for more than their own
    /// work.
    pub(super) fn has_reason_to_end(&self, action: u32) -> bool {
        let record = self.workload.record(action);
        match record.kind {
            Kind::Recv => true,
            Kind::Send => record.size > self.machine.eager_bytes_max,
            Kind::Calc | Kind::Local | Kind::Dummy => false,
        }
    }

    /// Returns the reason that the holder of a place gives to a job that starts at `start`.
    fn reason_of_holder(&self, held: Held, start: u64, is_cpu: bool) -> Option<Reason> {
        let holder = self.holders.get(held.place as usize)?;
        if holder.action == NONE || holder.end != start {
            return None;
        }
        let reasons = &self.reasons[holder.action as usize];
        let begun = if holder.is_message { reasons.taken } else { reasons.start };
        let how = match (is_cpu, holder.is_message) {
            (true, false) => How::CpuOfAction,
            (false, false) => How::SideOfAction,
            (true, true) => How::CpuOfMessage,
            (false, true) => How::SideOfMessage,
        };
        Some(Reason::new(how, holder.action, begun.latencies()))
    }

    fn hold(&mut self, held: Held, job: &Job) {
        let Held { place, end } = held;
        let place = place as usize;
        if place >= self.holders.len() {
            let none = Holder { end: 0, action: NONE, is_message: false };
            self.holders.resize(place + 1, none);
        }
        self.holders[place] = Holder { end, action: job.action, is_message: job.is_message };
    }
}

impl Observer for Recorder<'_> {
    fn delay(&mut self, action: u32, cause: Cause, time: u64) {
        let reason = match cause {
            Cause::Start(from) => {
                let latencies = self.reasons[from as usize].start.latencies();
                Reason::new(How::Started, from, latencies)
            }
            Cause::End(from) => Reason::new(How::Ended, from, self.latencies_to_end(from)),
        };
        let reasons = &mut self.reasons[action as usize];
        let is_later = time > reasons.ready;
        reasons.start = if is_later { reason } else { reasons.start.or(reason) };
        reasons.ready = time;
    }

    fn start(&mut self, job: Job) {
        let reasons = &self.reasons[job.action as usize];
        let own = if job.is_message {
            Reason::new(How::Arrived, job.action, reasons.start.latencies().saturating_add(1))
        } else {
            reasons.start
        };
        let own = (job.ready == job.start).then_some(own);
        let cpu = job.cpu.and_then(|held| self.reason_of_holder(held, job.start, true));
        let side = job.side.and_then(|held| self.reason_of_holder(held, job.start, false));
        let reason = [own, cpu, side].into_iter().flatten().reduce(Reason::or);
        let reason =
            reason.expect("a job starts when it is ready or the last thing it needs is free");
        let reasons = &mut self.reasons[job.action as usize];
        *if job.is_message { &mut reasons.taken } else { &mut reasons.start } = reason;
        for held in [job.cpu, job.side].into_iter().flatten() {
            self.hold(held, &job);
        }
    }

    fn receive(&mut self, receive: u32, send: u32, posted: u64, taken: u64, end: u64) {
        let size = self.workload.record(send).size;
        let of_message = self.reasons[send as usize].taken.latencies();
        let of_receive = self.reasons[receive as usize].start.latencies();
        let later = |at: [u64; 2], from: u32, more: u32| {
            let reasons = [
                Reason::new(How::Taken, from, of_message.saturating_add(more)),
                Reason::new(How::Started, from, of_receive.saturating_add(more)),
            ];
            match at[0].cmp(&at[1]) {
                std::cmp::Ordering::Greater => reasons[0],
                std::cmp::Ordering::Less => reasons[1],
                std::cmp::Ordering::Equal => reasons[0].or(reasons[1]),
            }
        };
        let taken_in =
            taken.saturating_add(pieces::time_of(pieces::of_receive(self.machine, size)));
        debug_assert_eq!(end, taken_in.max(posted));
        self.reasons[receive as usize].end = later([taken_in, posted], send, 0);
        self.reasons[send as usize].end = later([taken, posted], receive, 1);
    }

    fn end(&mut self, _rank: u32, action: u32, time: u64) {
        let better = |known: u32| {
            let key = |action| (self.latencies_to_end(action), std::cmp::Reverse(action));
            time > self.finish || time == self.finish && key(action) > key(known)
        };
        if self.last == NONE || better(self.last) {
            self.last = action;
            self.finish = time;
        }
    }
}
