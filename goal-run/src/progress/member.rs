//! A rank's end of a job.
#![allow(unsafe_code)] // the ends of the rank that it has claimed

use super::node::Together;
use super::poll_now;
use super::thread::{Driver, drive};
use crate::job::{Job, Mode};
use crate::limits::named;
use crate::transport::Ends;
use crate::wait::Pause;
use goal_engine::transport::Wakeup;
use goal_engine::within;
use goal_engine::{
    Depths, Engine, Failure, Handle, Progress, Schedule, Stats, Storage, UsedUp, Waiting,
    state_bytes,
};
use goal_eth::{AnyDriver, OpenError};
use goal_shm::{Part, RankCounts};
use std::cell::RefCell;
use std::sync::Arc;
use std::{io, thread};

/// A rank's end of a job. Between two calls its schedules go on as the job's [`Mode`] says.
pub struct Member<'a> {
    job: Job<'a>,
    rank: u32,
    pause: Pause,
    own: Own<'a>,
}

/// Where the rank's engine is.
enum Own<'a> {
    /// Here, for nobody else.
    Alone(Box<Engine<'a, Ends<'a>>>),
    /// Shared with a thread.
    Thread(Arc<Driver<'a>>),
    /// Here, over a state that others use too.
    Together(Box<Together<'a>>),
}

/// The job has ended while a rank waited.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Interrupted {
    /// An action of the rank can't be executed.
    #[error(transparent)]
    Failed(#[from] Failure),
    /// The launcher stopped the job.
    #[error("the job was stopped")]
    Stopped,
    /// A rank on another host is lost.
    #[error("{0}")]
    Lost(String),
    /// The state of its engine has no more room.
    #[error(transparent)]
    UsedUp(#[from] UsedUp),
    /// The thread for the rank's progress panicked.
    #[error("the thread for its progress panicked: {0}")]
    Panicked(String),
}

/// Why a rank has no end of its job.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// There is no way to ranks on other hosts.
    #[error(transparent)]
    Driver(#[from] OpenError),
    /// The system has no room for what its engine remembers.
    #[error("no address space for {} MiB of what the rank remembers: {}", bytes >> 20, named(cause))]
    Memory {
        /// Bytes.
        bytes: u64,
        /// The system's error.
        cause: io::Error,
    },
    /// The system starts no thread.
    #[error("no thread for the progress of the rank: {}", named(cause))]
    Thread {
        /// The system's error.
        cause: io::Error,
    },
    /// Ranks can't act for each other where some are on other hosts: a rank's streams are its
    /// process's.
    #[error(
        "ranks can't act for each other where some are on other hosts: take another mode of progress"
    )]
    OtherHosts,
    /// Ranks can't act for each other where each reads its schedule through a window, which only
    /// its process has.
    #[error(
        "ranks can't act for each other where each reads its schedule through a window: take another mode of progress"
    )]
    Windows,
    /// Another member of the rank is still there in this process.
    #[error("the rank has a member in this process: one at a time")]
    Taken,
    /// A member of the rank was there before, and has not finished what it started.
    #[error(
        "a member of the rank was there before and left instances that it had not finished: finish them first"
    )]
    Left,
}

/// An engine that only this process uses.
pub(super) fn engine<'a>(
    job: Job<'a>,
    rank: u32,
    driver: Option<AnyDriver>,
) -> Result<Engine<'a, Ends<'a>>, StartError> {
    let (paths, network) = (&job.settings.paths, job.settings.network.as_ref());
    // SAFETY: a member has claimed the rank in this process, and a rank is one process's.
    let ends = unsafe { Ends::open(job.segment, rank, paths, network, driver)? };
    let options = job.settings.engine();
    let bytes = state_bytes(options.unexpected_limit);
    let state = goal_shm::zeroed(bytes as usize);
    let state = state.map_err(|cause| StartError::Memory { bytes, cause })?;
    Ok(job.equip(rank, Engine::new(rank, ends, options, state)))
}

/// Calls `f` with the end of `rank` where all ranks are on this host, and ends what makes its
/// schedules go on afterwards.
///
/// # Errors
/// [`StartError`]; `f` was not called.
pub fn with_member<'a, R>(
    job: Job<'a>,
    rank: u32,
    f: impl FnOnce(&mut Member<'a>) -> R,
) -> Result<R, StartError> {
    with_member_over(job, rank, None, f)
}

/// The same with the driver that the launcher opened for the rank where there are other hosts.
///
/// # Errors
/// As [`with_member`], or there is no way to ranks on other hosts.
pub fn with_member_over<'a, R>(
    job: Job<'a>,
    rank: u32,
    driver: Option<AnyDriver>,
    f: impl FnOnce(&mut Member<'a>) -> R,
) -> Result<R, StartError> {
    let _claim = job.segment.claim(rank, Part::Member).ok_or(StartError::Taken)?;
    let member =
        |own| Member { job, rank, pause: Pause::new(job.settings.crowded, job.settings.wait), own };
    Ok(match job.settings.progress {
        Mode::Caller => f(&mut member(Own::Alone(Box::new(engine(job, rank, driver)?)))),
        Mode::Node => {
            if job.settings.network.is_some() {
                return Err(StartError::OtherHosts);
            }
            if job.settings.window.is_some() {
                return Err(StartError::Windows);
            }
            let together = Together::new(job, rank).ok_or(StartError::Left)?;
            f(&mut member(Own::Together(Box::new(together))))
        }
        Mode::Thread => thread::scope(|scope| {
            let driver = Arc::new(Driver::new(job, rank, driver)?);
            let of_thread = Arc::clone(&driver);
            let name = format!("progress {rank}");
            let thread =
                thread::Builder::new().name(name).spawn_scoped(scope, move || drive(&of_thread));
            thread.map_err(|cause| StartError::Thread { cause })?;
            let _stop = StopOnDrop(&driver);
            Ok::<R, StartError>(f(&mut member(Own::Thread(Arc::clone(&driver)))))
        })?,
    })
}

/// Ends the thread, also where the rank panics.
struct StopOnDrop<'a, 'b>(&'b Driver<'a>);

impl Drop for StopOnDrop<'_, '_> {
    fn drop(&mut self) {
        self.0.stop();
    }
}

impl<'a> Member<'a> {
    /// Does something with the rank's engine. `None` if the job has ended while somebody else had
    /// it, or the thread that had it panicked.
    #[inline(always)]
    pub fn with<R>(&mut self, f: impl FnOnce(&mut Engine<'a, Ends<'a>>) -> R) -> Option<R> {
        match &mut self.own {
            Own::Alone(engine) => Some(f(engine)),
            Own::Thread(driver) => Some(f(&mut *driver.engine()?)),
            Own::Together(together) => together.with(f),
        }
    }

    /// Why the engine can't be had.
    #[cold]
    pub(crate) fn gone(&self) -> Interrupted {
        match &self.own {
            Own::Thread(driver) => driver.fallen().cloned().unwrap_or(Interrupted::Stopped),
            Own::Alone(_) | Own::Together(_) => Interrupted::Stopped,
        }
    }

    /// Starts the next instance of a schedule, and what can be done of it at once.
    ///
    /// # Errors
    /// [`Interrupted`].
    pub fn start(
        &mut self,
        schedule: &Arc<Schedule>,
        storage: Storage<'a>,
    ) -> Result<Handle, Interrupted> {
        self.come();
        within(|| {
            let started = self.with(|engine| engine.start(schedule, 0, storage));
            let handle = started.ok_or_else(|| self.gone())?;
            self.poll()?;
            self.go()?;
            Ok(handle)
        })?
    }

    /// Whether an instance has ended; if not, goes on with what there is for a bounded time.
    ///
    /// # Errors
    /// [`Interrupted`].
    pub fn test(&mut self, handle: &Handle) -> Result<bool, Interrupted> {
        if self.has_ended(handle)? {
            return Ok(true);
        }
        self.come();
        within(|| {
            self.poll()?;
            self.go()?;
            self.has_ended(handle)
        })?
    }

    /// Returns when an instance has ended.
    ///
    /// # Errors
    /// [`Interrupted`].
    pub fn wait(&mut self, handle: &Handle) -> Result<(), Interrupted> {
        self.come();
        within(|| {
            while !self.has_ended(handle)? {
                let progress = self.step()?;
                if !progress.worked {
                    self.rest(progress.waiting)?;
                }
            }
            self.go()
        })?
    }

    /// Gives back what an ended instance used.
    ///
    /// # Errors
    /// [`Interrupted`].
    pub fn finish(&mut self, handle: Handle) -> Result<Storage<'a>, Interrupted> {
        self.with(|engine| engine.finish(handle)).ok_or_else(|| self.gone())
    }

    // Inlined where it is asked again and again, so that its answer is never stored.
    #[inline(always)]
    fn has_ended(&mut self, handle: &Handle) -> Result<bool, Interrupted> {
        self.with(|engine| engine.test(handle)).ok_or_else(|| self.gone())
    }

    /// Polls the rank's engine, and where that did nothing, acts for others.
    ///
    /// # Errors
    /// [`Interrupted`].
    #[inline]
    pub fn step(&mut self) -> Result<Progress, Interrupted> {
        let mut progress = self.poll()?;
        if !progress.worked {
            progress.worked = match &mut self.own {
                Own::Together(together) => together.help(),
                Own::Alone(_) | Own::Thread(_) => false,
            } || self.job.segment.help(self.rank, self.pause.has_waited());
        }
        if progress.worked {
            self.pause.over();
        }
        Ok(progress)
    }

    #[inline(always)]
    fn poll(&mut self) -> Result<Progress, Interrupted> {
        let progress = match &mut self.own {
            Own::Together(together) => together.poll(),
            _ => self.with(poll_now),
        };
        Ok(progress.ok_or_else(|| self.gone())??)
    }

    /// After a step that did nothing: lets time pass until there may be something to do.
    ///
    /// # Errors
    /// [`Interrupted`], but for failures.
    pub fn rest(&mut self, waiting: Waiting) -> Result<(), Interrupted> {
        if self.pause.is_silent() {
            self.tell_counts();
        }
        let (segment, rank) = (self.job.segment, self.rank);
        let status = || segment.status(rank);
        // What takes the place of a sleep where a rank never sleeps: until somebody rings, there is
        // a part to take in something, or a frame comes, for which nobody rings.
        let look_for = |has_frame: &dyn Fn() -> bool| {
            let endpoint = segment.endpoint(rank);
            let goes_on = || segment.gate().is_stopped() || has_frame() || segment.help(rank, true);
            while endpoint.is_armed() && !goes_on() {
                thread::yield_now();
            }
            endpoint.disarm();
        };
        let mut loss = None;
        match &mut self.own {
            Own::Alone(engine) => {
                let transport = engine.transport();
                if self.pause.begins_silence() {
                    transport.publish();
                }
                if self.pause.is_over(waiting, || transport.has_message()) && transport.arm() {
                    let sleeper = RefCell::new(&mut *transport);
                    let wait = |limit| sleeper.borrow_mut().wait(limit);
                    let look = || look_for(&|| sleeper.borrow().has_frame());
                    self.pause.sleep(status(), waiting, wait, look);
                }
                loss = transport.loss();
            }
            Own::Thread(driver) => {
                let endpoint = self.job.segment.endpoint(self.rank);
                let has_message = || endpoint.has_message() || driver.has_frame();
                if self.pause.is_over(waiting, has_message)
                    && let Some(sleeper) = driver.arm()
                {
                    let look = || look_for(&|| driver.has_frame());
                    self.pause.sleep(status(), waiting, |limit| sleeper.wait(limit), look);
                }
                let of_engine =
                    |mut engine: super::thread::Guard<'_, '_>| engine.transport().loss();
                loss = driver.engine().map(of_engine).ok_or_else(|| self.gone())?;
            }
            Own::Together(together) => {
                let endpoint = self.job.segment.endpoint(self.rank);
                // Whoever runs may act for a rank that has no processor.
                if self.job.settings.crowded {
                    together.go();
                }
                if self.pause.is_over(waiting, || endpoint.has_message()) {
                    let may_sleep = together.lie_down(|engine| engine.transport().arm());
                    if may_sleep == Some(true) {
                        let look = || look_for(&|| false);
                        self.pause.sleep(status(), waiting, |limit| endpoint.wait(limit), look);
                    } else {
                        endpoint.disarm();
                    }
                    together.get_up();
                }
                together.come();
            }
        }
        match loss {
            _ if self.job.segment.gate().is_stopped() => Err(Interrupted::Stopped),
            Some(loss) => Err(Interrupted::Lost(loss)),
            None => Ok(()),
        }
    }

    /// Leaves what was counted where the launcher finds it.
    pub(crate) fn tell_counts(&mut self) {
        let slept = self.pause.slept();
        if let Some(counts) = self.with(|engine| counts(engine.stats(), engine.depths(), slept)) {
            self.job.segment.store_counts(self.rank, &counts);
        }
    }

    /// The rank acts for itself.
    #[inline]
    pub fn come(&mut self) {
        match &mut self.own {
            Own::Alone(_) => {}
            Own::Thread(driver) => driver.come(),
            Own::Together(together) => together.come(),
        }
    }

    /// The rank does something else.
    #[inline]
    fn go(&mut self) -> Result<(), Interrupted> {
        match &mut self.own {
            Own::Alone(_) => Ok(()),
            Own::Thread(driver) => Ok(driver.go().ok_or_else(|| self.gone())??),
            Own::Together(together) => {
                together.go();
                Ok(())
            }
        }
    }
}

/// The counts of an engine; `slept` says how often its rank slept, and how many nanoseconds.
fn counts(stats: &Stats, depths: Depths, slept: (u64, u64)) -> RankCounts {
    RankCounts {
        messages: stats.messages,
        bytes: stats.bytes,
        eager: stats.messages - stats.in_parts - stats.requests,
        in_parts: stats.in_parts,
        read_in_place: stats.read_in_place,
        in_messages: stats.requests - stats.read_in_place,
        unexpected: stats.unexpected,
        unexpected_bytes_max: stats.unexpected_max,
        posted_max: depths.posted,
        kept_max: depths.kept,
        ready_max: stats.ready_max,
        blocked_max: depths.blocked,
        shared_chunks: stats.shared_chunks,
        helped_chunks: stats.helped_chunks,
        polls: stats.polls,
        sleeps: slept.0,
        slept_ns: slept.1,
    }
}
