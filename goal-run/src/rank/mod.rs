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
pub use pause::Pause;
pub use settings::{Settings, WindowSettings};
pub(crate) use settings::{layout, split_instance};

use crate::engine::{Cause, Engine, Failure, Handle, Schedule, Storage, Waiting, Windowed};
use crate::monitor::Place;
use crate::shm::{Segment, State};
use crate::trace;
use crate::transport::{Ends, announce};
use goal_asm::Nisa;
use goal_asm::nisa::SectionPlace;
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The communicator that schedules of a job run in.
const COMMUNICATOR: u32 = 0;

/// Where a rank's section is read where it is run through a window.
#[derive(Debug, Clone)]
pub struct SectionFile {
    /// The file.
    pub file: Arc<File>,
    /// Where the section lies in it.
    pub place: SectionPlace,
}

/// Runs a rank until the launcher stops the job. Its section is that of `nisa`, or lies in a file and is run through the window
/// of the settings. An error is left in the rank's failure record, and so is the first instance that did not end as the
/// program expects.
pub fn run(
    segment: &Segment,
    nisa: &Arc<Nisa>,
    rank: u32,
    section: Option<SectionFile>,
    settings: &Settings,
) {
    let code = match section.zip(settings.window) {
        None => Code::Whole(Arc::new(Schedule::new(Arc::clone(nisa), rank))),
        Some((SectionFile { file, place }, WindowSettings { size, limits })) => {
            Code::Window(Windowed { file, place, memory: nisa.memory_size(rank), size, limits })
        }
    };
    let storage = storage(segment, nisa, rank, settings);
    image::start(nisa, rank, &storage);
    announce(segment, rank);
    let ends = Ends::new(segment, rank, &settings.paths);
    // Before any rank sends: this announces its room.
    let mut engine = Engine::new(rank, ends, settings.engine());
    if let Some(recorder) = trace::recorder(segment, rank, now_ns) {
        engine.record(recorder);
    }
    if segment.gate().pass(segment.num_ranks(), now_ns) {
        segment.status(rank).enter(State::Running);
        let mut job = Job {
            segment,
            settings,
            nisa: Arc::clone(nisa),
            rank,
            code,
            engine,
            running: None,
            left: settings.repeat,
            unexpected: None,
        };
        match job.run(storage) {
            Err(failure) => segment.fail(rank, &describe(nisa, rank, &failure, settings)),
            Ok(()) => {
                if let Some(text) = job.unexpected {
                    segment.note(rank, &text);
                }
            }
        }
    }
}

fn storage(segment: &Segment, nisa: &Nisa, rank: u32, settings: &Settings) -> Storage {
    let areas = segment.rank(rank);
    let (counters, finished) = split_instance(settings.state_sizes(nisa, rank), &areas.instance);
    Storage {
        memory: segment.region(&areas.memory),
        scratch: segment.region(&areas.scratch),
        counters: segment.cells(&counters),
        finished: segment.cells(&finished),
        matches: settings.record.then(|| segment.cells(&areas.matches)),
    }
}

/// What a rank executes.
enum Code {
    Whole(Arc<Schedule>),
    Window(Windowed),
}

struct Job<'a> {
    segment: &'a Segment,
    settings: &'a Settings,
    nisa: Arc<Nisa>,
    rank: u32,
    code: Code,
    engine: Engine<Ends<'a>>,
    running: Option<Handle>,
    /// Instances that have not ended.
    left: u64,
    /// What an instance left otherwise than expected, in words; of the first one only.
    unexpected: Option<String>,
}

impl Job<'_> {
    /// Starts an instance.
    fn start(&mut self, storage: Storage) -> Result<(), Failure> {
        let started = match &self.code {
            Code::Whole(schedule) => Ok(self.engine.start(schedule, COMMUNICATOR, storage)),
            Code::Window(windowed) => self.engine.start_in_window(windowed, COMMUNICATOR, storage),
        };
        let instance = self.segment.status(self.rank).instance.fetch_add(1, Ordering::Relaxed);
        self.running = Some(started.map_err(|error| Failure {
            communicator: COMMUNICATOR,
            instance: instance as u32,
            action: 0,
            number: None,
            cause: Cause::Schedule(error.to_string()),
        })?);
        Ok(())
    }

    fn run(&mut self, storage: Storage) -> Result<(), Failure> {
        self.start(storage)?;
        let gate = self.segment.gate();
        let status = self.segment.status(self.rank);
        let mut pause = Pause::new(self.settings.crowded);
        let mut told = false;
        // The clock is not read where no action depends on it.
        let asks_time = match &self.code {
            Code::Whole(schedule) => schedule.asks_time(),
            Code::Window(_) => true,
        };
        while !gate.is_stopped() {
            let progress = self.engine.poll(if asks_time { now_ns() } else { 0 })?;
            if self.next_instance()? {
                continue;
            }
            if progress.worked {
                pause.over();
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
    fn next_instance(&mut self) -> Result<bool, Failure> {
        let Some(handle) = self.running.take_if(|handle| self.engine.test(handle)) else { return Ok(false) };
        let window = self.engine.window_stats(&handle);
        let storage = self.engine.finish(handle);
        let (nisa, rank) = (&self.nisa, self.rank);
        let status = self.segment.status(rank);
        let asks_clock = window.is_some_and(|window| window.stores_time);
        if self.settings.check && !asks_clock && self.unexpected.is_none() {
            let instance = (self.settings.repeat > 1).then(|| self.settings.repeat - self.left);
            self.unexpected = image::unexpected(nisa, rank, storage.memory, instance);
        }
        self.left -= 1;
        let stats = self.engine.stats();
        status.messages.store(stats.messages, Ordering::Relaxed);
        status.bytes.store(stats.bytes, Ordering::Relaxed);
        status.verified_bytes.store(stats.verified_bytes, Ordering::Relaxed);
        if let Some(window) = window {
            status.receives.fetch_add(window.receives, Ordering::Relaxed);
            status.table_max.fetch_max(window.table_max, Ordering::Relaxed);
        }
        if self.left == 0 {
            status.ended_ns.store(now_ns(), Ordering::Relaxed);
            return Ok(false);
        }
        storage.memory.whole().write(|bytes| bytes.fill(0));
        image::start(nisa, rank, &storage);
        self.start(storage)?;
        Ok(true)
    }
}

/// The error of a rank: where, what, and the other end of a message that doesn't fit.
fn describe(nisa: &Nisa, rank: u32, failure: &Failure, settings: &Settings) -> String {
    let place = |rank, action, number: Option<u64>| match (settings.window, number) {
        (None, _) => Place::new(nisa, rank, action).to_string(),
        (Some(_), Some(number)) => format!("rank {rank}, action number {number}"),
        (Some(_), None) => format!("rank {rank}, action at offset {action:#x}"),
    };
    let mut text = format!("{}: {}", place(rank, failure.action, failure.number), failure.cause);
    if let Cause::SizeMismatch { source_rank, source_action, .. } = failure.cause {
        text.push_str(&format!("; it was sent by {}", place(source_rank, source_action, None)));
    }
    if settings.repeat > 1 {
        text.push_str(&format!(" (instance {} of {})", failure.instance + 1, settings.repeat));
    }
    text
}
