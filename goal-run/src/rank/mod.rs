//! One rank of a job: the loop around the engine, as a process or as a thread.
//!
//! The loop starts the schedule as often as asked, sets the memory up and compares it with what the program expects. It
//! never waits for other ranks between instances. When nothing can be done it says so in the rank's status and sleeps in
//! its ring; what that means for the job is decided by the launcher, which looks at all ranks.

mod clock;
mod image;
mod pause;
mod settings;

pub use clock::now_ns;
pub(crate) use image::mismatch;
pub use settings::Settings;
pub(crate) use settings::{layout, split_instance};

use crate::engine::{Engine, Failure, Handle, Schedule, Storage, Waiting};
use crate::monitor::Place;
use crate::shm::{Segment, State};
use crate::transport::ShmTransport;
use goal_asm::Nisa;
use pause::Pause;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The communicator that schedules of a job run in.
const COMMUNICATOR: u32 = 0;

/// Runs a rank until the launcher stops the job. An error is left in the rank's failure record, and so is the first
/// instance that did not end as the program expects.
pub fn run(segment: &Segment, nisa: &Arc<Nisa>, rank: u32, settings: &Settings) {
    let schedule = Arc::new(Schedule::new(Arc::clone(nisa), rank));
    let storage = storage(segment, &schedule, settings);
    image::start(nisa, rank, &storage);
    if segment.gate().pass(segment.num_ranks(), now_ns) {
        segment.status(rank).enter(State::Running);
        let mut job = Job::new(segment, schedule, storage, settings);
        match job.run() {
            Err(failure) => segment.fail(rank, &describe(nisa, rank, &failure, settings)),
            Ok(()) => {
                if let Some(text) = job.unexpected {
                    segment.note(rank, &text);
                }
            }
        }
    }
}

fn storage(segment: &Segment, schedule: &Schedule, settings: &Settings) -> Storage {
    let areas = segment.rank(schedule.rank());
    let (counters, finished) = split_instance(schedule.state_sizes(), &areas.instance);
    Storage {
        memory: segment.region(&areas.memory),
        scratch: segment.region(&areas.scratch),
        counters: segment.cells(&counters),
        finished: segment.cells(&finished),
        matches: settings.record.then(|| segment.cells(&areas.matches)),
    }
}

struct Job<'a> {
    segment: &'a Segment,
    settings: &'a Settings,
    schedule: Arc<Schedule>,
    engine: Engine<ShmTransport<'a>>,
    running: Option<Handle>,
    /// Instances that have not ended.
    left: u64,
    /// What an instance left otherwise than expected, in words; of the first one only.
    unexpected: Option<String>,
}

impl<'a> Job<'a> {
    fn new(segment: &'a Segment, schedule: Arc<Schedule>, storage: Storage, settings: &'a Settings) -> Self {
        let rank = schedule.rank();
        let mut engine = Engine::new(rank, ShmTransport::new(segment, rank), settings.engine());
        let running = Some(engine.start(&schedule, COMMUNICATOR, storage));
        segment.status(rank).instance.store(1, Ordering::Relaxed);
        Self { segment, settings, schedule, engine, running, left: settings.repeat, unexpected: None }
    }

    fn run(&mut self) -> Result<(), Failure> {
        let gate = self.segment.gate();
        let status = self.segment.status(self.schedule.rank());
        let mut pause = Pause::new(self.settings.crowded);
        let mut told = false;
        // The clock is not read where no action depends on it.
        let asks_time = self.schedule.asks_time();
        while !gate.is_stopped() {
            let progress = self.engine.poll(if asks_time { now_ns() } else { 0 })?;
            if self.next_instance() {
                continue;
            }
            if progress.worked {
                pause.over(status);
                continue;
            }
            if self.running.is_none() && !told && progress.waiting == Waiting::Nothing {
                told = true;
                gate.finish(self.segment.num_ranks());
            }
            pause.rest(status, self.engine.transport(), progress.waiting);
        }
        Ok(())
    }

    /// Ends an instance whose actions are complete and starts the next one; whether there is one.
    fn next_instance(&mut self) -> bool {
        let Some(handle) = self.running.take_if(|handle| self.engine.test(handle)) else { return false };
        let storage = self.engine.finish(handle);
        let (nisa, rank) = (self.schedule.nisa(), self.schedule.rank());
        let status = self.segment.status(rank);
        if self.settings.check && self.unexpected.is_none() {
            let instance = (self.settings.repeat > 1).then(|| self.settings.repeat - self.left);
            self.unexpected = image::unexpected(nisa, rank, storage.memory, instance);
        }
        self.left -= 1;
        let stats = self.engine.stats();
        status.messages.store(stats.messages, Ordering::Relaxed);
        status.bytes.store(stats.bytes, Ordering::Relaxed);
        status.verified_bytes.store(stats.verified_bytes, Ordering::Relaxed);
        if self.left == 0 {
            status.ended_ns.store(now_ns(), Ordering::Relaxed);
            return false;
        }
        storage.memory.whole().write(|bytes| bytes.fill(0));
        image::start(nisa, rank, &storage);
        self.running = Some(self.engine.start(&self.schedule, COMMUNICATOR, storage));
        status.instance.fetch_add(1, Ordering::Relaxed);
        true
    }
}

/// The error of a rank: where, what, and the other end of a message that doesn't fit.
fn describe(nisa: &Nisa, rank: u32, failure: &Failure, settings: &Settings) -> String {
    use crate::engine::Cause;
    let mut text = format!("{}: {}", Place::new(nisa, rank, failure.action), failure.cause);
    if let Cause::SizeMismatch { source_rank, source_action, .. } = failure.cause {
        text.push_str(&format!("; it was sent by {}", Place::new(nisa, source_rank, source_action)));
    }
    if settings.repeat > 1 {
        text.push_str(&format!(" (instance {} of {})", failure.instance + 1, settings.repeat));
    }
    text
}
