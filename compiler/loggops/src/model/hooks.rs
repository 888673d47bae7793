//! The hooks of a simulation: noise changes its times, and observers see its events.

/// Gives times that differ from those of the machine's parameters. Methods are functions of their
/// arguments: they give the same answer at each call, in any order of calls.
///
/// `()` changes nothing.
pub trait Noise {
    /// Returns the least latency of all messages if that of the machine is `latency`. Both are in
    /// picoseconds.
    fn latency_min(&self, latency: u64) -> u64 {
        latency
    }

    /// Returns a message's latency in picoseconds: at least [`latency_min`](Self::latency_min).
    fn latency(&self, message: Message, latency: u64) -> u64 {
        let _ = message;
        latency
    }

    /// Returns the processor time of `rank` for sending or receiving a message, in picoseconds. The
    /// time for its bytes is not included.
    fn overhead(&self, rank: u32, send: u32, overhead: u64) -> u64 {
        let _ = (rank, send);
        overhead
    }

    /// Returns the time of a computation in picoseconds.
    fn computation(&self, rank: u32, action: u32, time: u64) -> u64 {
        let _ = (rank, action);
        time
    }

    /// Returns the end of `work` picoseconds of a processor that begin at `start`.
    fn end_of_work(&self, rank: u32, start: u64, work: u64) -> u64 {
        let _ = rank;
        start.saturating_add(work)
    }
}

impl Noise for () {}

/// A message on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// The send.
    pub send: u32,
    /// The rank that sends.
    pub from: u32,
    /// The rank that receives.
    pub to: u32,
}

/// A job that starts. Times are in picoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Job {
    /// The rank.
    pub rank: u32,
    /// The action; of a message, its send.
    pub action: u32,
    /// True if the rank takes a message in.
    pub is_message: bool,
    /// The time at which the job was ready.
    pub ready: u64,
    /// The time at which it starts.
    pub start: u64,
    /// The processor, and the time at which it is free again. `None` if the job needs none.
    pub cpu: Option<Held>,
    /// The side of an interface, and the time at which it is free again. `None` if the job needs
    /// none.
    pub side: Option<Held>,
}

/// A processor or a side of an interface that a job holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held {
    /// Its number among those of all ranks.
    pub place: u32,
    /// The time at which it is free again, in picoseconds.
    pub end: u64,
}

/// A dependency of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The end of an action of the rank.
    End(u32),
    /// The start of an action of the rank.
    Start(u32),
}

/// Sees a simulation. Calls about one rank come in the order of its times; ranks take turns. Times
/// are in picoseconds.
///
/// `()` sees nothing.
pub trait Observer {
    /// Returns true if [`Held::place`] has to be right in all calls.
    fn needs_places(&self) -> bool {
        true
    }

    /// Makes an action wait until `time` for what it depends on. No call about it has an earlier
    /// time than the one before. The causes with the last time are those of its readiness. Without
    /// a call it is ready at 0.
    fn delay(&mut self, action: u32, cause: Cause, time: u64) {
        let _ = (action, cause, time);
    }

    /// Starts a job, before what depends on its start is delayed. Receives that need nothing, and
    /// dummies, are no jobs.
    fn start(&mut self, job: Job) {
        let _ = job;
    }

    /// Ends a receive at `end`: it was posted at `posted`, and its message began to be taken in at
    /// `taken`.
    fn receive(&mut self, receive: u32, send: u32, posted: u64, taken: u64, end: u64) {
        let _ = (receive, send, posted, taken, end);
    }

    /// Ends an action.
    fn end(&mut self, rank: u32, action: u32, time: u64) {
        let _ = (rank, action, time);
    }
}

impl Observer for () {
    fn needs_places(&self) -> bool {
        false
    }
}

impl<O: Observer> Observer for &mut O {
    fn needs_places(&self) -> bool {
        O::needs_places(self)
    }

    fn delay(&mut self, action: u32, cause: Cause, time: u64) {
        O::delay(self, action, cause, time);
    }

    fn start(&mut self, job: Job) {
        O::start(self, job);
    }

    fn receive(&mut self, receive: u32, send: u32, posted: u64, taken: u64, end: u64) {
        O::receive(self, receive, send, posted, taken, end);
    }

    fn end(&mut self, rank: u32, action: u32, time: u64) {
        O::end(self, rank, action, time);
    }
}
